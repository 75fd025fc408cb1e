"""Fuzz tests of everything that reads what somebody else wrote; see ``__main__``."""
