#!/usr/bin/env bash
# `make test`: every check of the repository. A check that fails does not hide the ones after it.
#
# With COURSEPKG_REQUIRE_BROWSER=1 a browser test that would be skipped fails instead.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/setup_env.sh book,chapters,onnx 10
bash scripts/setup_env.sh dev,triton 10 dev
python=.venv-dev/bin/python
failed=()

check() {
    local number=$1 label=$2
    shift 2
    echo "[$number/10] Checking $label"
    "$@" || failed+=("$label")
}

# Two workers each keep to one thread: the numbers stored in the notebooks were made so.
export OMP_NUM_THREADS=1 PYDEVD_DISABLE_FILE_VALIDATION=1

style() {
    "$python" -m ruff check . && "$python" -m ruff format --check .
}

# The types are checked on one core while the book is built on the other.
types_log=$(mktemp)
"$python" -m mypy >"$types_log" 2>&1 &
checked_types=$!

types() {
    local status=0
    wait "$checked_types" || status=$?
    cat "$types_log"
    rm "$types_log"
    return "$status"
}

check 7 style style
check 8 book bash scripts/html.sh --all
check 9 types types
check 10 "tests, notebooks and built pages" "$python" -m pytest -n 2 --dist loadfile --durations 15 \
    --nbval --nbval-kernel-name chapters --nbval-cell-timeout 300 \
    --nbval-sanitize-with tests/notebooks/nbval_sanitize.cfg tests notebooks

if [ ${#failed[@]} -gt 0 ]; then
    echo "error: failed: ${failed[*]}" >&2
    exit 1
fi
