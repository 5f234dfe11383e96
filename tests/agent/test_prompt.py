"""Prompts: what each layout shows, how it is cut to fit, and chat templates."""

from dataclasses import replace

import pytest

from trajevolve.agent.agents import LanguageAgent
from trajevolve.agent.contract import Completion, Turn, TurnError
from trajevolve.agent.parse import Parsed, parse_response, write_response
from trajevolve.agent.prompt import PromptRenderer
from trajevolve.config import AgentConfig
from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.contract import Observation, Task
from trajevolve.errors import UserError
from trajevolve.models.alfworld_words import tokenizer_of
from trajevolve.trajectory import Step

TASK = Task("t/1", "alfworld", "pick", "put a mug in desk 1.", "d")
START = Observation("You see a desk 1, and a mug 2.", ("go to desk 1", "look"))
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<eos>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture
def tokenizer():
    words = "you see go to look put in nothing happens take from arrive at task step"
    return tokenizer_of([words], {"desk": 9, "mug": 9})


def turn(history=(), observation=START):
    return Turn(0, TASK, observation, tuple(history), 0, None)


def played(agent, replies, observations):
    """Play recorded replies through the agent's own prompts."""
    history = []
    for reply, observation in zip(replies, observations, strict=True):
        decision = agent.force(turn(history, observation), reply, ())
        history.append(
            Step(
                observation.text,
                observation.admissible,
                decision.response,
                decision.action,
                True,
                prompt_ids=decision.prompt_ids,
                response_ids=decision.response_ids,
            )
        )
    return history


def test_dialogue_tokens_are_the_whole_conversation(tokenizer):
    agent = LanguageAgent(None, tokenizer, AgentConfig(), 1.0)
    second = Observation("Nothing happens.", ())
    history = played(agent, ["go to desk 1", "look"], [START, second])
    ids = [i for step in history for i in (*step.prompt_ids, *step.response_ids)]
    assert tokenizer.decode(ids) == (
        "<bos> <obs> see desk 1 mug 2 <act> go to desk 1 <eos> "
        "<obs> nothing happens <act> look <eos>"
    )


def test_dialogue_of_a_chat_model_equals_its_own_template(tokenizer):
    tokenizer.chat_template = CHATML
    config = AgentConfig(answer="tagged", max_response_tokens=64)
    renderer = PromptRenderer(tokenizer, config)
    response = "<think>hm</think><action>look</action>"
    step = Step("", (), response, "look", True, response_ids=(tokenizer.eos_token_id,))
    unfinished = Step("", (), response, "look", True, response_ids=(20,))
    ended = renderer._suffix("you see", step)
    assert ended == "\n<|im_start|>user\nyou see<eos>\n<|im_start|>assistant\n"
    assert renderer._suffix("you see", unfinished) == "<eos>" + ended


def test_window_shows_task_history_and_admissible_actions(tokenizer):
    config = AgentConfig(layout="window", answer="tagged", history_length=2)
    renderer = PromptRenderer(tokenizer, config)
    steps = [Step(f"seen {n}", (), "", f"go to desk {n}", True) for n in range(1, 5)]
    text = renderer._window_text(turn(steps), 2)
    assert "put a mug in desk 1." in text and "you have taken 4 step(s)" in text
    assert "[step 3] Observation: seen 3" in text and "[step 4] Action: go to desk 4" in text
    assert "seen 2" not in text
    assert "Admissible actions: go to desk 1, look" in text and "<action> </action>" in text


class Shelf(AlfworldEnvironment):
    """Names what can be acted on, where nothing is listed."""

    def objects(self):
        return ("mug 2", "desk 1")


def test_window_shows_how_actions_are_made_where_none_are_listed(tokenizer):
    renderer = PromptRenderer(tokenizer, AgentConfig(layout="window"))
    unlisted = Observation("seen", None, ("take OBJ",))
    text = renderer._window_text(replace(turn((), unlisted), environment=Shelf()), 0)
    assert "take OBJ" in text and "mug 2, desk 1" in text and "Admissible" not in text


def test_an_environment_that_cannot_name_its_things_fails_its_turn_alone(tokenizer):
    class Bare(Shelf):
        def objects(self):
            raise LookupError("no names")

    renderer = PromptRenderer(tokenizer, AgentConfig(layout="window"))
    with pytest.raises(TurnError) as caught:
        renderer.render(replace(turn((), Observation("seen", None)), environment=Bare()))
    assert caught.value.slot == 0 and isinstance(caught.value.__cause__, LookupError)


def test_long_window_loses_history_first_then_observation(tokenizer):
    long = Observation("mug " * 60, ("look",))
    steps = [Step("desk " * 50, (), "", "look", True)] * 2
    free = PromptRenderer(tokenizer, AgentConfig(layout="window")).render(turn(steps, long))
    assert free.truncated == 0
    limit = len(free.ids) - 20
    cut = PromptRenderer(tokenizer, AgentConfig(layout="window", max_prompt_tokens=limit))
    prompt = cut.render(turn(steps, long))
    assert len(prompt.ids) <= limit and prompt.truncated > 0
    text = tokenizer.decode(prompt.ids)
    assert text.count("mug") >= 60 and text.count("desk") < 100
    tight = len(cut.render(turn((), Observation("", ("look",)))).ids) + 10
    small = PromptRenderer(tokenizer, AgentConfig(layout="window", max_prompt_tokens=tight))
    assert len(small.render(turn(steps, long)).ids) <= tight


def test_a_prompt_that_cannot_fit_is_one_clear_error(tokenizer):
    for layout in ("window", "dialogue"):
        renderer = PromptRenderer(tokenizer, AgentConfig(layout=layout, max_prompt_tokens=3))
        with pytest.raises(UserError, match=r"task t/1.*max_prompt_tokens = 3"):
            renderer.render(turn())


def test_a_full_dialogue_shortens_the_observation_and_then_answers_nothing(tokenizer):
    agent = LanguageAgent(None, tokenizer, AgentConfig(max_prompt_tokens=40), 1.0)
    history = played(agent, ["look"], [START])
    long = agent.renderer.render(turn(history, Observation("mug " * 50, ())))
    assert long.truncated > 0 and 0 < len(long.ids) <= 40
    used = sum(len(step.prompt_ids) + len(step.response_ids) for step in history)
    full = AgentConfig(max_prompt_tokens=used + 1)
    stuck = LanguageAgent(None, tokenizer, full, 1.0)
    prompt = stuck.renderer.render(turn(history, Observation("mug " * 50, ())))
    assert prompt.ids == ()
    assert prompt.truncated > long.truncated + len(long.ids) - 1  # nothing of it is left
    assert stuck.renderer.render(turn(history, Observation("", ()))).truncated > 0

    class Nobody:
        def complete(self, requests, temperature, limit):
            return [Completion((), ()) for _ in requests]

    stuck.backend = Nobody()
    assert stuck.act([turn(history, Observation("mug " * 50, ()))])[0].action is None


def test_no_chat_template_is_one_clear_error(tokenizer):
    tokenizer.chat_template = None
    with pytest.raises(UserError, match="no chat template"):
        PromptRenderer(tokenizer, AgentConfig())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>a</think><action> Go To Desk 1 </action>", Parsed("go to desk 1", "a")),
        ("<think>a</think><action>x</action><action>y</action>", Parsed("x", "a")),
        ("<action>look</action>", Parsed(None)),
        ("<think>a</think><action>look", Parsed(None, "a")),
        ("<think></think><action> </action>", Parsed(None)),
        ("", Parsed(None)),
    ],
)
def test_tagged_answers(text, expected):
    assert parse_response(text) == expected


def test_plain_answers_and_the_compatible_fallback():
    assert parse_response("  Go  to desk 1\n", "action") == Parsed("go to desk 1")
    assert parse_response("", "action").action is None
    tail = parse_response("x" * 50 + "look", "tagged", "verl_agent_compat")
    assert tail.action is None and tail.fallback == "x" * 26 + "look"


def test_written_answers_are_read_back():
    for answer in ("action", "tagged"):
        assert parse_response(write_response("look", answer), answer).action == "look"
