"""One module a parser; what it must have says :mod:`tests.fuzz.harness`."""
