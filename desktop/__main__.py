"""``python -m desktop`` is ``tritalk``."""

import sys

from desktop.cli.main import main

sys.exit(main())
