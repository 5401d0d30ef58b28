# Every target works on a fresh clone: what it needs is installed first, for readers into .venv, for tests into .venv-dev.
.PHONY: help book test lab bench notebooks links figure

help:
	@echo "make book       build the book and say where to open it"
	@echo "make test       run every check: style, types, tests, notebooks, book, browser"
	@echo "make lab        open the chapters in JupyterLab"
	@echo "make bench      measure the suites of coursepkg bench again (SUITE=name for one, DEVICE=cuda for a GPU)"
	@echo "make notebooks  execute every chapter again and store its outputs"
	@echo "make links      write the repository's address from pyproject.toml into badges and first cells"
	@echo "make figure     draw the picture of the README again"

book:
	@bash scripts/book.sh

test:
	@bash scripts/test.sh

lab:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/jupyter lab notebooks

bench:
	@bash scripts/setup_env.sh book,chapters 3
	@SUITE="$(SUITE)" DEVICE="$(DEVICE)" bash scripts/bench.sh

notebooks:
	@bash scripts/setup_env.sh book,chapters 6
	@bash scripts/setup_env.sh dev,triton 6 dev
	.venv-dev/bin/python scripts/build_notebook.py --execute notebooks/*/*.ipynb

links:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/links.py

figure:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/draw_readme_figure.py
