#!/usr/bin/env bash
# `make book`: the environment, the HTML (a warning is an error), and where to open it.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/setup_env.sh book,chapters,onnx 4
echo "[4/4] Building the book"
bash scripts/html.sh || {
    echo "error: the book was not built; the warnings above name the pages and lines to mend" >&2
    exit 1
}

echo "The book is ready: open _build/html/index.html"
