#!/usr/bin/env bash
# `make bench [SUITE=name] [DEVICE=cpu|cuda]`: run the suites that the book quotes, on one CPU thread or on the GPU, and
# store their result files where the chapters look for them.
set -euo pipefail
cd "$(dirname "$0")/.."

device=${DEVICE:-cpu}
suites=${SUITE:-$(.venv/bin/python -c 'from coursepkg.bench import SUITES; print(*SUITES)')}
mkdir -p book/_data/bench
for suite in $suites; do
    .venv/bin/coursepkg bench "$suite" --device "$device" --out "book/_data/bench/$suite-$device.json"
done
