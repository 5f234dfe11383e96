"""What a preset, an environment or a method sets; params.yaml lies over it."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "iterations": 150,
        "env": {"split": "train", "step_limit": 30},
        "agent": {"layout": "window", "answer": "tagged", "max_response_tokens": 512},
        "rollout": {"groups": 16, "group_size": 8, "temperature": 1.0},
        "credit": {"mode": "independent", "order": "forward", "loop_prepass": False},
        "learner": {"lr": 1e-6, "mini_batch_steps": 256, "kl": 0.01, "clip": 0.2},
        # Of what is published only rooms seen in training and unseen ones are left beside train,
        # and neither is spare for choosing a checkpoint. None is chosen here (every: 0); where one
        # is, `train` says that the result is optimistic.
        "evaluation": {"temperature": 0.4, "panel": "valid_seen", "selection": "valid_seen"},
    },
    "verl_agent_compat": {
        "env": {"step_limit": 50},
        "agent": {
            "layout": "window",
            "answer": "tagged",
            "max_response_tokens": 512,
            "compatibility": "verl_agent_compat",
        },
    },
}

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "scienceworld": {
        "env": {"split": "train", "step_limit": 30, "options": {"simplifications": "easy"}},
        "agent": {"max_prompt_tokens": 4096},
        "evaluation": {"panel": "test", "selection": "dev"},
    },
    "webshop": {
        "env": {"split": "train", "step_limit": 20},
        "agent": {"max_prompt_tokens": 4096},
        "learner": {"mini_batch_steps": 64},
        "evaluation": {"panel": "test", "selection": "dev"},
    },
}
"""What an environment needs otherwise than ALFWorld (paper, appendix B); lies over the preset."""

METHODS: dict[str, dict[str, Any]] = {
    "grpo": {"discriminator": {"enabled": False}, "evolution": {"enabled": False}},
}
"""What a baseline switches off unless it is asked for.

GRPO + evolution is ``evolution.enabled=true``, and ``discriminator.enabled=true`` for rollback,
which has to know the redundant steps of failures; without it only successes and failures with
invalid actions evolve.
"""
