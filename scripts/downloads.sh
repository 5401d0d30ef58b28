#!/usr/bin/env bash
# Make what readers carry away, into _build/downloads, and build the page that links to it.
#
#     scripts/downloads.sh WHAT...     WHAT: wheel, pdf, zip
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/book.sh
for what in "$@"; do
    case $what in
        wheel)
            rm -f _build/downloads/coursepkg-*.whl
            .venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir _build/downloads .
            ;;
        pdf)
            bash scripts/setup_env.sh dev,triton 3 dev
            .venv-dev/bin/python scripts/print_book.py
            ;;
        zip) .venv/bin/python scripts/zip_book.py ;;
        *)
            echo "error: $what: no such file to make; need wheel, pdf or zip" >&2
            exit 2
            ;;
    esac
done
# The page with the links is written after what it links to.
bash scripts/book.sh
