"""Splits, ids and simplifications, without the simulator."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajevolve.envs.scienceworld.instance import Instance
from trajevolve.envs.scienceworld.simplifications import for_simulator, parse
from trajevolve.envs.scienceworld.splits import counts, members, variations
from trajevolve.envs.scienceworld.tasks import parse_ref, task_of
from trajevolve.envs.task_list import TaskList
from trajevolve.errors import UserError


def text(instance):
    return f"play {instance.name}"


def test_the_published_split():
    assert len(counts()) == 30
    sizes = {split: len(members(split, None, 0)) for split in ("train", "dev", "test")}
    assert sizes == {"train": 3592, "dev": 1796, "test": 1819}
    parts = [set(members(split, None, 0)) for split in sizes]
    assert len(set.union(*parts)) == 7207


def test_the_parts_of_one_type_follow_each_other():
    assert [variations("boil", each) for each in ("train", "dev", "test")] == [
        range(14), range(14, 21), range(21, 30),
    ]  # fmt: skip


def test_iid_and_ood_are_names_of_train_and_test():
    assert members("iid", None, 0) == members("train", None, 0)
    assert members("ood:boil", None, 0) == members("test:boil", None, 0)


@given(st.integers(1, 300), st.integers(0, 5), st.sampled_from(["train", "test:boil,melt,freeze"]))
def test_in_a_sample_the_types_take_turns(count, seed, split):
    drawn = members(split, count, seed)
    everyone = members(split, None, 0)
    assert len(drawn) == min(count, len(everyone)) == len(set(drawn))
    assert set(drawn) <= set(everyone) and drawn == members(split, count, seed)
    if split == "train" and count <= 100:  # the smallest type has four variations there
        per_type = [sum(name == each for name, _ in drawn) for each in counts()]
        assert max(per_type) - min(min(per_type), 4) <= 1


def test_other_seeds_draw_others():
    assert members("train", 8, 0) != members("train", 8, 1)


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("valid", "expected train, dev, test"),
        ("train:boill", "task type 'boill': unknown"),
        ("train:", "task type '': unknown"),
    ],
)
def test_unknown_splits_and_types(split, said):
    with pytest.raises(UserError, match=said):
        members(split, None, 0)


@pytest.mark.parametrize(
    ("ref", "instance"),
    [
        ("boil/12", Instance("boil", 12, "easy")),
        (" boil/12@none ", Instance("boil", 12, "none")),
        ("melt/0@teleportAction+openDoors", Instance("melt", 0, "openDoors,teleportAction")),
    ],
)
def test_an_id_says_what_is_loaded(ref, instance):
    assert parse_ref(ref, "easy") == instance
    assert parse_ref(str(instance), "none") == instance


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("boil", "expected <task type>/<variation>"),
        ("boil/-1", "expected <task type>/<variation>"),
        ("boil/٣", "expected <task type>/<variation>"),
        ("boil/999999999999", "expected <task type>/<variation>"),
        ("boil/30", "boil has variations 0 to 29"),
        ("boill/3", "task type 'boill': unknown; did you mean 'boil'?"),
        ("xyzzy/3", "task type 'xyzzy': unknown; known: boil,"),
        ("boil/3@", "simplifications '': expected easy, none"),
        ("boil/3@hard", "simplifications 'hard': expected easy, none"),
        ("test-conductivity/1@noElectricalAction", "needs electrical connections"),
    ],
)
def test_ids_that_name_nothing(ref, said):
    with pytest.raises(UserError, match=said):
        parse_ref(ref, "easy")


def test_other_simplifications_are_another_task():
    easy, none = (task_of(parse_ref(ref, "easy"), text) for ref in ("boil/1", "boil/1@none"))
    assert (easy.id, none.id) == ("boil/1@easy", "boil/1@none")
    assert easy.digest != none.digest
    assert (easy.type, easy.text, easy.env) == ("boil", "play boil", "scienceworld")


def test_tasks_are_described_when_they_are_looked_at():
    asked = []
    listed = TaskList(
        [Instance("boil", n, "easy") for n in range(5)],
        lambda instance: task_of(instance, lambda each: asked.append(each.variation) or ""),
    )
    assert len(listed) == 5 and listed[1:3][1].id == "boil/2@easy" and asked == [2]


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("easy", "easy"), (" none ", "none"), ("openDoors", "openDoors"),
        ("teleportAction, openDoors,openDoors", "openDoors,teleportAction"),
    ],
)  # fmt: skip
def test_simplifications_have_one_form(given, form):
    assert parse(given) == form == parse(form)


@pytest.mark.parametrize("given", ["", "hard", "easy,openDoors", "opendoors"])
def test_unknown_simplifications(given):
    with pytest.raises(UserError, match="expected easy, none, or some of"):
        parse(given)


def test_the_simulator_is_given_nothing_for_none():
    assert (for_simulator("none"), for_simulator("easy")) == ("", "easy")
