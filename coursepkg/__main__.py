"""`python -m coursepkg`: the same as the `coursepkg` command."""

import sys

from coursepkg.cli import main

sys.exit(main())
