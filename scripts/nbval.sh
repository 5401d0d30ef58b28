#!/bin/sh
# Runs notebooks again and compares every text output with the stored one: all of them, or the files that are named.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- notebooks
export OMP_NUM_THREADS=1 PYDEVD_DISABLE_FILE_VALIDATION=1
# nbval hands a whole file to one worker (loadfile): its cells share a kernel.
exec "${PYTHON:-.venv-dev/bin/python}" -m pytest -p no:cacheprovider -q -n "${WORKERS:-2}" --dist loadfile \
    --nbval --nbval-kernel-name chapters --nbval-cell-timeout 300 \
    --nbval-sanitize-with tests/notebooks/nbval_sanitize.cfg "$@"
