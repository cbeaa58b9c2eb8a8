"""``python -m graphfold`` is the command line."""

import sys

from graphfold.cli import main

if __name__ == "__main__":  # worker processes import this module under another name
    sys.exit(main())
