"""Environments: the contract, its checker, the registry, and one package each."""
