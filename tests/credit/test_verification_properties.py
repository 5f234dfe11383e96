"""What every label must satisfy, held against replays that share nothing."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from toys.house import HouseEnvironment, house_task
from toys.lab import LabEnvironment
from toys.naive import Naive
from toys.play import clumsy
from toys.shop import ShopEnvironment
from toys.wrappers import Limited

from trajevolve.credit.verification import verify

HOUSES = [
    house_task("hand", "clothes", cabinet="clothes", bathroom="", shelf="ball"),
    house_task("shelf", "ball", cabinet="clothes,ball", bathroom="", shelf=""),
    house_task("cabinet", "ball", cabinet="", t="ball", b="cup"),
]
choices = st.lists(st.integers(0, 11), max_size=12)
LAB_STEPS = ["open door", "go kitchen", "go hall", "activate stove", "wait", "look around"]
lab_steps = st.lists(st.sampled_from([*LAB_STEPS, "examine stove", "dance"]), max_size=10)
LAB_WAY_OUT = ["open door", "go kitchen", "activate stove", "wait", "wait", "focus on water"]


@st.composite
def recorded(draw):
    """Draw an environment, a task and a successful, clumsy trajectory of it."""
    which = draw(st.sampled_from(["house", "shop", "lab"]))
    if which == "lab":
        lab = LabEnvironment()
        task = lab.task(draw(st.sampled_from(["1", "2", "3"])))
        return lab, task, draw(lab_steps) + LAB_WAY_OUT
    env = HouseEnvironment() if which == "house" else ShopEnvironment()
    task = draw(st.sampled_from(HOUSES if which == "house" else env.tasks("all")))
    return env, task, clumsy(env, task, draw(choices), junk="take the moon")


@settings(max_examples=80, deadline=None)
@given(recorded())
def test_labels_equal_those_of_naive_replay(record):
    env, task, actions = record
    naive = Naive(env, task, actions)
    assert naive.base()
    labels, dependents = naive.independent()
    independent = verify(env, task, actions, mode="independent")
    assert list(independent.labels) == labels
    assert [set(fallen) for fallen in independent.dependents] == dependents
    for order in ("backward", "forward"):
        labels, survivors = naive.cumulative(backward=order == "backward")
        result = verify(env, task, actions, order=order, loop_prepass=False)
        assert list(result.labels) == labels
        assert list(result.minimal) == survivors


@settings(max_examples=100, deadline=None)
@given(recorded(), st.sampled_from(["backward", "forward"]), st.booleans())
def test_survivors_succeed_and_are_one_minimal(record, order, loop_prepass):
    env, task, actions = record
    result = verify(env, task, actions, order=order, loop_prepass=loop_prepass)
    naive = Naive(env, task, actions)
    naive.base()
    success, executed, skipped = naive.replay(result.minimal)
    assert success
    assert (tuple(executed), skipped) == (result.minimal, set())
    for t in result.minimal:
        if not naive.is_information(t):
            rest = [p for p in result.minimal if p not in naive.group(t)]
            assert not naive.replay(rest)[0], f"step {t} can still be removed"
    # Survivors are labelled 1; what is gone and changes the state 0; information keeps its 1.
    for t, label in enumerate(result.labels):
        information = t in naive.kept and naive.is_information(t)
        assert label == int(t in result.minimal or information)


@settings(max_examples=100, deadline=None)
@given(recorded())
def test_propositions_3_6_and_3_7(record):
    env, task, actions = record
    result = verify(env, task, actions, mode="independent")
    naive = Naive(env, task, actions)
    naive.base()
    inherited: set[int] = set()
    for t in naive.kept:
        if naive.is_information(t):
            continue
        gone = naive.group(t) | set(result.dependents[t])
        succeeds, _, more = naive.replay([p for p in naive.kept if p not in gone])
        if result.labels[t] == 0 and t not in inherited:
            assert succeeds and not more  # 3.6: V(τ ∖ ({t} ∪ D(t))) = 1
            changing = {j for j in gone if not naive.is_information(j)}
            assert all(result.labels[j] == 0 for j in changing)  # 3.7
            inherited |= changing
        elif result.labels[t] == 1:
            assert not succeeds  # 3.4


@settings(max_examples=80, deadline=None)
@given(recorded(), st.sampled_from(["independent", "cumulative"]))
def test_how_replay_is_offered_does_not_change_the_labels(record, mode):
    env, task, actions = record
    replay_only = verify(Limited(env), task, actions, mode=mode)
    with_snapshots = verify(Limited(env, snapshots=True), task, actions, mode=mode)
    exact = verify(env, task, actions, mode=mode, loop_prepass=False)
    keyed = verify(Limited(env, exact=True), task, actions, mode=mode, loop_prepass=False)
    for other in (with_snapshots, exact, keyed):
        assert other.labels == replay_only.labels
        assert other.dependents == replay_only.dependents
        assert other.minimal == replay_only.minimal
    assert exact.transitions <= replay_only.transitions + len(actions)


@settings(max_examples=60, deadline=None)
@given(recorded())
def test_prefix_sharing_stays_within_its_bound(record):
    """One pass costs T(T+1)/2 transitions at most where prefixes are shared."""
    env, task, actions = record
    assume(env.spec.snapshots)
    result = verify(Limited(env, snapshots=True), task, actions, mode="independent")
    length = len(actions)
    # independent labels, plus the cumulative survivors on the same memo
    assert result.transitions <= length * (length + 1)
