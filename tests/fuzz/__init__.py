"""Seeded mutations of valid input, and what has to hold for whatever comes out."""
