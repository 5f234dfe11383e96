"""The built-in small policy, its tokenizer and warm start, and loading of any local model."""
