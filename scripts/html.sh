#!/usr/bin/env bash
# Build the HTML of the book in every language, side by side; a warning is an error. Arguments go to jupyter-book
# (--all).
set -euo pipefail
cd "$(dirname "$0")/.."

html() {
    exec .venv/bin/jupyter-book build . --quiet -n -W --keep-going "$@"
}

languages=$(ls book/locale)
builds=()
trap 'kill "${builds[@]}" 2>/dev/null || true' EXIT
html "$@" &
builds+=($!)
# The same pages with the catalogues of book/locale are built in a folder of their own.
for language in $languages; do
    folder=_build/$language
    mkdir -p "$folder"
    sed "s/^    language: en\$/    language: $language/" _config.yml >"$folder/_config.yml"
    PYTHONPATH="book/_ext${PYTHONPATH:+:$PYTHONPATH}" html "$@" --config "$folder/_config.yml" --path-output "$folder" &
    builds+=($!)
done
failed=0
for build in "${builds[@]}"; do
    wait "$build" || failed=1
done
[ "$failed" = 0 ] || exit 1

.venv/bin/python scripts/slides.py
for language in $languages; do
    rm -rf "_build/html/$language"
    cp -r "_build/$language/_build/html" "_build/html/$language"
    .venv/bin/python scripts/slides.py --html "_build/html/$language"
done
