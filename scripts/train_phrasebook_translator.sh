#!/usr/bin/env bash
# Makes the small translator of the phrasebook, an example that ships: one model for zh-vi, vi-zh, en-vi and vi-en, learnt from the
# phrasebook alone. About half an hour on two cores.
#
#     bash scripts/train_phrasebook_translator.sh [FOLDER]
#
# The finished folder holds logs and checkpoints as well; what ships is model/, target.model and recipe.json.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-runs/translator}
.venv/bin/coursepkg translation train --preset tiny --from zh --also en --to vi --reverse 1 \
    --max-epochs 8 --max-seconds 5400 --schedule cosine --learning-rate 3e-3 --warmup 300 --dropout 0.05 --ema 0 \
    --out "$out" --resume
checkpoint=coursepkg/projects/translation/checkpoint_phrasebook
rm -rf "$checkpoint"
mkdir -p "$checkpoint"
cp -r "$out/model" "$out/target.model" "$out/recipe.json" "$checkpoint/"
chmod -R a+rX "$checkpoint"
du -sh "$checkpoint"
