#!/usr/bin/env bash
# Make an environment with the package and some of its extras, at the versions of constraints.txt.
#
#     scripts/setup_env.sh EXTRAS STEPS          .venv: what readers have. EXTRAS: "book,chapters"; STEPS: how many
#                                                the caller announces
#     scripts/setup_env.sh EXTRAS STEPS dev      .venv-dev: what developers have besides; it sees all of .venv
#
# Prints one line for each of its three steps. Does nothing where the extras are installed and neither pyproject.toml
# nor constraints.txt has changed since. PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

extras=$1
steps=$2
folder=.venv${3:+-$3}
stamp=$folder/installed
state=$(cat pyproject.toml constraints.txt | cksum)

fail() {
    echo "error: $*" >&2
    exit 1
}

is_installed() {
    [ -x "$folder/bin/python" ] && [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$state" ] || return 1
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
    echo "[1-3/$steps] The environment in $folder is up to date"
    exit 0
fi

if [ -x "$folder/bin/python" ]; then
    echo "[1/$steps] Using the environment in $folder, $("$folder/bin/python" --version)"
else
    [ "$folder" = .venv ] || PYTHON=.venv/bin/python
    python=$(find_python) || fail "no Python 3.11 to 3.13 found; install one, or name it: make book PYTHON=python3.11"
    echo "[1/$steps] Making the environment in $folder with $("$python" --version)"
    "$python" -m venv "$folder" || {
        rm -rf "$folder"
        fail "'$python -m venv' does not work; on Debian or Ubuntu: apt-get install python3-venv"
    }
    # A second environment above the first: what is installed below is not installed again.
    [ "$folder" = .venv ] || "$folder/bin/python" - <<'LINK'
import sysconfig
from pathlib import Path

above = Path(sysconfig.get_path("purelib"))
below = Path(".venv", above.relative_to(Path(".venv-dev").resolve())).absolute()
(above / "below.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")
LINK
fi

install() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt "$@" ||
        fail "pip could not install $*; check the network and run the same command again (it goes on from here)"
}

if [ "$folder" = .venv ]; then
    echo "[2/$steps] Installing $(grep '^torch==' constraints.txt), the largest part: some minutes on a first run"
    install torch
fi

echo "[3/$steps] Installing coursepkg with the extras $extras"
install --editable ".[$extras]"

# Notebooks are tested and executed with what readers have, not with what developers have.
[ "$folder" = .venv ] ||
    .venv/bin/python -m ipykernel install --prefix "$folder" --name chapters --display-name Chapters >/dev/null

# What other scripts asked for earlier stays recorded as long as the versions are the same.
earlier=$([ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$state" ] && tail -n +2 "$stamp" || true)
{
    echo "$state"
    printf '%s\n' $earlier ${extras//,/ } | sort -u
} >"$stamp.part"
mv "$stamp.part" "$stamp"
