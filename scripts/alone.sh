#!/usr/bin/env bash
# `make alone [PYTHON=python3.13] [NOTEBOOK=file]`: every notebook, or one, as a reader on Colab opens it. A fresh
# environment holds what Colab has; the package comes from a wheel by the first cell. Stores times and memory for the
# status page.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
folder=_build/alone/$version

echo "[1/3] Building the wheel"
rm -rf _build/alone/wheel
.venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir _build/alone/wheel .

echo "[2/3] Making an environment with Python $version and what Colab has"
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet torch numpy pandas matplotlib "ipywidgets<8" ipykernel
"$folder/bin/python" -m pip uninstall --quiet --yes coursepkg

echo "[3/3] Running the notebooks"
.venv/bin/python scripts/run_alone.py --python "$folder/bin/python" --wheel _build/alone/wheel/coursepkg-*.whl \
    --store "book/_data/notebooks/python-$version.json" ${NOTEBOOK:+"$NOTEBOOK"}
