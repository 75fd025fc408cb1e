"""``python -m desktop`` is ``tritalk``."""

import sys


def run() -> int:
    """The entry point: Ctrl+C while the modules are still being read is no error either."""
    try:
        from desktop.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
