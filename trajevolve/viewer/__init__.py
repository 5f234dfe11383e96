"""The trajectory viewer: one HTML file with every step, its label and the evidence for it."""
