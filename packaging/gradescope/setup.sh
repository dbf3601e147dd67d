#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image of the assignment.
set -euo pipefail

SOURCE=${AUTOGRADER_ROOT:-/autograder}/source
PYTHON=
for name in python3.14 python3.13 python3.12 python3.11 python3; do
    if command -v "$name" > /dev/null && "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; then
        PYTHON=$name
        break
    fi
done
if [ -z "$PYTHON" ]; then
    apt-get update
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    PYTHON=python3.11
fi

"$PYTHON" -m venv "$SOURCE/venv"
if [ -d "$SOURCE/wheels" ]; then
    "$SOURCE/venv/bin/pip" install --no-index --find-links "$SOURCE/wheels" -r "$SOURCE/requirements.txt"
else
    # PIP_EXTRA_INDEX_URL may name PyTorch's own index of wheels for CPUs, which are much smaller.
    "$SOURCE/venv/bin/pip" install --no-cache-dir -r "$SOURCE/requirements.txt"
fi
