"""From observations to actions: prompts, parsing, agents and sampling backends."""
