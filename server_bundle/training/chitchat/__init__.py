"""Trains and fine-tunes the chat network: ``python -m server_bundle.training.chitchat``."""
