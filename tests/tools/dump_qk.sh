#!/bin/sh
# dump_qk.sh ROOT PROGRAM: runs test_dump_qk.py by a Python that has torch and numpy; where there is none, says so and
# ends with status 77, "skipped".
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch, numpy' 2>/dev/null; then
        exec "$python" "$1/tests/tools/test_dump_qk.py" "$@"
    fi
done
echo "dump_qk: skipped: no Python here has torch and numpy (Debian: apt-get install python3-torch)"
exit 77
