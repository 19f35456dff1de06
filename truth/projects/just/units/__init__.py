"""Lengths, read from text."""
