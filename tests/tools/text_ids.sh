#!/bin/sh
# text_ids.sh ROOT: runs test_text_ids.py by a Python that has numpy ($ROPESCOPE_PYTHON, or one of the machine's); where
# there is none, says so and ends with status 77, "skipped".
for python in "${ROPESCOPE_PYTHON:-python3}" python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        exec "$python" "$1/tests/tools/test_text_ids.py" "$@"
    fi
done
echo "text_ids: skipped: no Python here has numpy (pip install numpy)"
exit 77
