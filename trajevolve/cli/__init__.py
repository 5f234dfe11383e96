"""The command line: one module a group of commands, everything heavy imported inside them."""
