"""Conversations, messages and tokens, kept in SQLite; never loses one silently."""
