"""``python -m desktop`` is ``tritalk``."""

import sys


def run() -> int:
    """The entry point: Ctrl+C while the modules are still being read is no error either."""
    try:
        from desktop import interpreter

        interpreter.clean_environment()
        if interpreter.run_as_python(sys.argv):
            return 0
        from desktop.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
