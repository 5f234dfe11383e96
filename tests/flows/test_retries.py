"""Which failures of a stage are tried again, and what is said of the first try."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from prefect.states import Failed

from trajevolve.errors import UserError
from trajevolve_tasks import stages

RUN: Any = SimpleNamespace(name="rollout 0003")


def test_the_first_failure_is_told_before_the_stage_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked = stages.rollout.retry_condition_fn
    assert asked is not None and stages.rollout.retries == 1
    with caplog.at_level(logging.WARNING):
        assert asked(stages.rollout, RUN, Failed(data=OSError("the engine died")))
    assert caplog.messages == ["rollout 0003: OSError: the engine died; trying once more"]


def test_a_mistake_of_the_user_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    asked = stages.rollout.retry_condition_fn
    assert asked is not None
    assert not asked(stages.rollout, RUN, Failed(data=UserError("no such folder")))
    assert not caplog.messages


def test_stages_that_train_are_not_tried_again() -> None:
    assert stages.update_policy.retries == stages.fine_tune_discriminator.retries == 0
