"""The desktop application: command line, launchers, Triton client, store and windows."""
