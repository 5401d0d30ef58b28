#!/usr/bin/env bash
# Build the HTML of the book in every language; a warning is an error. Arguments go to jupyter-book (--all).
set -euo pipefail
cd "$(dirname "$0")/.."

.venv/bin/jupyter-book build . --quiet -n -W --keep-going "$@"
.venv/bin/python scripts/slides.py

# The same pages with the catalogues of book/locale lie in a folder of their own.
for language in $(ls book/locale); do
    folder=_build/$language
    mkdir -p "$folder"
    sed "s/^    language: en\$/    language: $language/" _config.yml >"$folder/_config.yml"
    PYTHONPATH="book/_ext${PYTHONPATH:+:$PYTHONPATH}" .venv/bin/jupyter-book build . --quiet -n -W --keep-going "$@" \
        --config "$folder/_config.yml" --path-output "$folder"
    rm -rf "_build/html/$language"
    cp -r "$folder/_build/html" "_build/html/$language"
    .venv/bin/python scripts/slides.py --html "_build/html/$language"
done
