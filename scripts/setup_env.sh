#!/usr/bin/env bash
# Make .venv with the package and some of its extras, at the versions of constraints.txt.
#
#     scripts/setup_env.sh EXTRAS STEPS      EXTRAS: "book" or "book,dev,triton"; STEPS: how many the caller announces
#
# Prints one line for each of its three steps. Does nothing where the extras are installed and neither pyproject.toml
# nor constraints.txt has changed since. PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

extras=$1
steps=$2
stamp=.venv/installed
state=$(cat pyproject.toml constraints.txt | cksum)

fail() {
    echo "error: $*" >&2
    exit 1
}

is_installed() {
    [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$state" ] || return 1
    local extra
    for extra in ${extras//,/ }; do
        tail -n +2 "$stamp" | grep -qx "$extra" || return 1
    done
}

# A name on PATH proves nothing (a shim may stand for a version that is absent), so each candidate is run.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.11 python3.12 python3.13 python; do
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

if is_installed; then
    echo "[1-3/$steps] The environment in .venv is up to date"
    exit 0
fi

if [ -x .venv/bin/python ]; then
    echo "[1/$steps] Using the environment in .venv, $(.venv/bin/python --version)"
else
    python=$(find_python) || fail "no Python 3.11 to 3.13 found; install one, or name it: make book PYTHON=python3.11"
    echo "[1/$steps] Making the environment in .venv with $("$python" --version)"
    "$python" -m venv .venv || {
        rm -rf .venv
        fail "'$python -m venv' does not work; on Debian or Ubuntu: apt-get install python3-venv"
    }
fi

install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt "$@" ||
        fail "pip could not install $*; check the network and run the same command again (it goes on from here)"
}

echo "[2/$steps] Installing $(grep '^torch==' constraints.txt), the largest part: some minutes on a first run"
install torch

echo "[3/$steps] Installing coursepkg with the extras $extras"
install --editable ".[$extras]"

# What other scripts asked for earlier stays recorded as long as the versions are the same.
earlier=$([ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$state" ] && tail -n +2 "$stamp" || true)
{
    echo "$state"
    printf '%s\n' $earlier ${extras//,/ } | sort -u
} >"$stamp.part"
mv "$stamp.part" "$stamp"
