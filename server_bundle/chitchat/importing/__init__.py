"""Brings a foreign checkpoint folder into the form the server reads, and checks it.

A process of its own (``python -m server_bundle.chitchat.importing``): it needs torch and
transformers, may be cancelled at any moment, and gives its memory back.
"""
