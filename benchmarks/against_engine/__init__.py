"""The simulator and the step labels held against the real TextWorld engine."""
