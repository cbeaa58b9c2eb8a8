"""``python -m graphfold`` is the command line."""

import sys

from graphfold.cli import main

sys.exit(main())
