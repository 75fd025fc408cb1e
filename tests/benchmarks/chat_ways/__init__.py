"""The ways to make replies that the chat benchmark compares."""
