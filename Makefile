# Every target works on a fresh clone: what it needs is installed first, for readers into .venv, for tests into .venv-dev.
.PHONY: help book slides test lab bench notebooks links catalogues figure alone offline pdf downloads

help:
	@echo "make book       build the book and say where to open it"
	@echo "make slides     write the slides of every chapter again, from the built book"
	@echo "make test       run every check: style, types, tests, notebooks, book, browser"
	@echo "make lab        open the chapters in JupyterLab"
	@echo "make offline    one zip of the book, to open from a folder without a network"
	@echo "make pdf        the whole book as a PDF"
	@echo "make downloads  wheel, PDF and zip, linked from the built book"
	@echo "make bench      measure the suites of coursepkg bench again (SUITE=name for one, DEVICE=cuda for a GPU)"
	@echo "make notebooks  execute every chapter again and store its outputs"
	@echo "make alone      run every notebook from a wheel in an empty folder, as on Colab (PYTHON=python3.13, NOTEBOOK=file)"
	@echo "make links      write the repository's address from pyproject.toml into badges and first cells"
	@echo "make catalogues bring the messages to translate up to date with the English text (PAGE=name begins one more page)"
	@echo "make figure     draw the pictures of the README and of the landing page again"

book:
	@bash scripts/book.sh

slides:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/slides.py

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
	.venv-dev/bin/python scripts/build_notebook.py --execute notebooks/*/*.ipynb notebooks/exercises/*/*.ipynb

links:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/links.py

catalogues:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/catalogues.py $(PAGE)

figure:
	@bash scripts/setup_env.sh book,chapters 3
	.venv/bin/python scripts/draw_readme_figure.py
	.venv/bin/python scripts/draw_landing_pictures.py

offline:
	@bash scripts/downloads.sh zip

pdf:
	@bash scripts/downloads.sh pdf

downloads:
	@bash scripts/downloads.sh wheel pdf zip

alone:
	@bash scripts/setup_env.sh book,chapters 3
	@PYTHON="$(PYTHON)" NOTEBOOK="$(NOTEBOOK)" bash scripts/alone.sh
