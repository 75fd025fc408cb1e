"""The command line: every job of the window, for terminals and scripts."""
