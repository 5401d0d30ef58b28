#!/usr/bin/env bash
# `make bench [SUITE=name]`: run the suites that the book quotes, on one CPU thread, and store their result files.
set -euo pipefail
cd "$(dirname "$0")/.."

suites=${1:-$(.venv/bin/python -c 'from coursepkg.bench import SUITES; print(*SUITES)')}
mkdir -p book/_data/bench
for suite in $suites; do
    .venv/bin/coursepkg bench "$suite" --threads 1 --out "book/_data/bench/$suite.json"
done
