"""The environment: its contract, labels of redundant looks, corrections, where data come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajevolve.config import parse_config
from trajevolve.credit.verification import verify
from trajevolve.envs.checker import check_environment
from trajevolve.envs.contract import Kind
from trajevolve.envs.registry import make_env
from trajevolve.envs.webshop import environment
from trajevolve.envs.webshop.catalogue import Catalogue
from trajevolve.envs.webshop.environment import WebshopEnvironment
from trajevolve.errors import UserError
from trajevolve.evolution.correction import correct, nearest_action
from trajevolve.trajectory import Step, Trajectory


@pytest.fixture(autouse=True)
def _no_data_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBSHOP_DATA", raising=False)


@pytest.fixture
def tiny_env(tiny_shop: Catalogue, monkeypatch: pytest.MonkeyPatch) -> WebshopEnvironment:
    monkeypatch.setattr(environment, "generated_catalogue", lambda: tiny_shop)
    return WebshopEnvironment()


@pytest.fixture
def real_env(real_shop: Catalogue, monkeypatch: pytest.MonkeyPatch) -> WebshopEnvironment:
    monkeypatch.setattr(environment, "generated_catalogue", lambda: real_shop)
    return WebshopEnvironment()


def test_keeps_the_contract() -> None:
    env = make_env("webshop")
    report = check_environment(env, env.tasks("train", 4))
    assert [c.name for c in report.checks if c.status != "pass"] == ["exploration"], str(report)


def test_keeps_the_contract_on_real_products(real_env: WebshopEnvironment) -> None:
    report = check_environment(real_env, real_env.tasks("dev", 4))
    assert [c.name for c in report.checks if c.status != "pass"] == ["exploration"], str(report)


BUY = ("search[blue mug]", "click[b000000002]", "click[blue]", "click[buy now]")


def test_purchase(tiny_env: WebshopEnvironment) -> None:
    task = tiny_env.task("0")
    assert task.type == "garden"
    assert tiny_env.reset(task).admissible == ("search[<your query>]",)
    outcomes = [tiny_env.step(action) for action in BUY]
    assert [outcome.done for outcome in outcomes] == [False, False, False, True]
    last = outcomes[-1]
    assert (last.success, last.score, last.reward, last.observation.admissible) == (True, 1, 1, ())
    assert tiny_env.success()


def test_poor_purchase_ends_without_success(tiny_env: WebshopEnvironment) -> None:
    tiny_env.reset(tiny_env.task("0"))
    for action in (BUY[0], BUY[1]):
        assert tiny_env.step(action).reward == 0.0
    bought = tiny_env.step("click[buy now]")
    assert (bought.done, bought.success) == (True, False)
    assert bought.score == bought.reward == pytest.approx(2 / 3)
    assert not tiny_env.step("click[back to search]").feasible


def test_invalid_actions_change_nothing(tiny_env: WebshopEnvironment) -> None:
    start = tiny_env.reset(tiny_env.task("0"))
    for action in ("click[buy now]", "search[]", "buy it", "", "search red"):
        outcome = tiny_env.step(action)
        assert (outcome.feasible, outcome.reward, outcome.done) == (False, 0.0, False)
        assert outcome.observation == start


def test_looks_are_information_and_detours_redundant(tiny_env: WebshopEnvironment) -> None:
    """A tab and its < prev are kept as information; another mug and the way back fall."""
    actions = [
        *("search[blue mug]", "click[b000000001]", "click[< prev]", "click[b000000002]"),
        *("click[features]", "click[< prev]", "click[red]", "click[blue]", "click[buy now]"),
    ]
    found = verify(tiny_env, tiny_env.task("0"), actions)
    assert found.labels == (1, 0, 0, 1, 1, 1, 0, 1, 1)


def test_kinds_and_coupling(tiny_env: WebshopEnvironment) -> None:
    assert tiny_env.kind("click[Features]") == Kind.INFORMATION
    for action in ("search[features]", "click[< prev]", "click[blue]", "click[buy now]", "look"):
        assert tiny_env.kind(action) == Kind.CHANGING
    actions = ["search[x]", "click[a]", "click[features]", "click[< prev]", "click[< prev]"]
    assert list(tiny_env.coupled(actions)) == [(2, 3)]
    assert list(tiny_env.coupled(["click[features]", "click[back to search]"])) == []


@pytest.mark.parametrize(
    ("where", "meant", "nearest"),
    [
        ((), "search red mug", "search[red mug]"),
        ((), "search[red mug", "search[red mug]"),
        ((), "search: [red mug]", "search[red mug]"),
        ((), "click[red mug]", "search[red mug]"),
        ((), "click[back to search]", None),
        ((), "search[]", None),
        (BUY[:1], "click[B000000002", "click[b000000002]"),
        (BUY[:1], "click[back to serch]", "click[back to search]"),
        (BUY[:1], "search[green cups]", None),
        (BUY[:2], "click[blu]", "click[blue]"),
        (BUY[:2], "click buy now", "click[buy now]"),
    ],
)
def test_nearest_action(
    tiny_env: WebshopEnvironment, where: tuple[str, ...], meant: str, nearest: str | None
) -> None:
    tiny_env.reset(tiny_env.task("0"))
    for action in where:
        tiny_env.step(action)
    found = nearest_action(tiny_env.canonical(meant), tiny_env.corrections(meant), 0.5)
    assert (found[0] if found else None) == nearest
    if found:
        assert tiny_env.advance(found[0]).feasible


def test_correction_searches_on_the_index_page(tiny_env: WebshopEnvironment) -> None:
    """A failed episode that began with a malformed search goes on from the corrected one."""
    meant = ("search blue mug", "click[b000000001]", "click[buy now]")
    steps = tuple(
        Step(
            observation="",
            admissible=None,
            response=action,
            action=action,
            valid=number > 0,
            kind=Kind.CHANGING,
            reward=0.0,
        )
        for number, action in enumerate(meant)
    )
    task = tiny_env.task("0")
    parent = Trajectory("0/0/0", task.id, task.type, task.text, 0, steps, False, 0.0, 0.0)
    plan = correct(parent, task, tiny_env, lambda action: action, 0.5)
    assert [kept.action for kept in plan.kept] == ["search[blue mug]", *meant[1:]]
    assert plan.t_err == 0


def test_published_limits_are_the_default() -> None:
    for preset in ("default", "paper"):
        config = parse_config({"preset": preset, "env": {"name": "webshop"}})
        assert (config.env.step_limit, config.agent.max_prompt_tokens) == (20, 4096)
        assert (config.env.split, config.evaluation.panel) == ("train", "test")
    chosen = parse_config({"env": {"name": "webshop", "step_limit": 15}})
    assert chosen.env.step_limit == 15
    assert parse_config({"preset": "paper"}).env.step_limit == 30


def test_tasks(tiny_env: WebshopEnvironment) -> None:
    env = WebshopEnvironment("generated")
    assert len(env.tasks("train")) == len(tiny_env.tasks("train")) == 1
    assert env.task(" 0 ").id == "0"
    for wrong in ("1", "-1", "x", "", "0/1", "²"):
        with pytest.raises(UserError, match="has goals 0 to 0"):
            env.task(wrong)
    with pytest.raises(UserError, match="split 'valid_seen'"):
        env.tasks("valid_seen")


def test_samples_of_a_split() -> None:
    env = make_env("webshop")
    some = [task.id for task in env.tasks("train", 9, seed=1)]
    assert some == [task.id for task in env.tasks("train", 9, seed=1)]
    assert some == sorted(some, key=int) and len(set(some)) == 9
    assert some != [task.id for task in env.tasks("train", 9, seed=2)]
    assert [task.id for task in env.tasks("test")[:3]] == ["0", "1", "2"]


def test_environments_share_one_catalogue_and_not_their_state() -> None:
    one, two = make_env("webshop"), make_env("webshop")
    assert isinstance(one, WebshopEnvironment) and isinstance(two, WebshopEnvironment)
    assert one.shop is two.shop
    one.reset(one.task("0"))
    two.reset(two.task("1"))
    one.step("search[lamp]")
    assert two.snapshot() != one.snapshot()


def test_where_data_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"holds no prepared WebShop catalogue.*webshop prepare"):
        WebshopEnvironment(tmp_path)
    monkeypatch.setenv("WEBSHOP_DATA", str(tmp_path / "none"))
    with pytest.raises(UserError, match="none: holds no prepared"):
        make_env("webshop")
    assert make_env("webshop", data="generated").task("0").id == "0"
    with pytest.raises(RuntimeError, match="reset"):
        WebshopEnvironment("generated").step("search[x]")
