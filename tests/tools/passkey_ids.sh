#!/bin/sh
# passkey_ids.sh ROOT PROGRAM: runs test_passkey_ids.py by a Python that has tokenizers and numpy ($ROPESCOPE_PYTHON, or
# one of the machine's); where there is none, says so and ends with status 77, "skipped".
for python in "${ROPESCOPE_PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$python" -c 'import tokenizers, numpy' 2>/dev/null; then
        exec "$python" "$1/tests/tools/test_passkey_ids.py" "$@"
    fi
done
echo "passkey_ids: skipped: no Python here has tokenizers and numpy (pip install tokenizers numpy)"
exit 77
