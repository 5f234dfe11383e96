"""ALFWorld's tokenizer: what a word is, exact actions, and loading by anybody's tools."""

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from trajevolve.models.alfworld_words import READING, name_groups, tokenizer_of
from trajevolve.models.small import SmallArchitecture, build_model

TEXTS = ["You see nothing. It is closed. Your task is to: take, move, put, on, in, from, with."]
START = """-= Welcome to TextWorld, ALFRED! =-

You are in the middle of a room. Looking quickly around you, you see a desk 1, and a mug 2.

Your task is to: put a mug in desk."""


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of([*TEXTS, "go to"], {"desk": 12, "mug": 3})


def encode(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize(
    "action",
    ["go to desk 11", "take mug 2 from desk 1", "move mug 3 to desk 12", "put mug 1 in desk 2"],
)
def test_actions_survive_exactly_and_names_are_one_token(tokenizer, action):
    ids = encode(tokenizer, action)
    assert tokenizer.decode(ids) == action
    assert len(ids) == len(READING.split(action)) and tokenizer.unk_token_id not in ids


def test_set_phrases_articles_and_punctuation_are_dropped(tokenizer):
    ids = encode(tokenizer, START)
    assert tokenizer.decode(ids) == "see desk 1 mug 2 your task is to put mug in desk"
    arrival = encode(
        tokenizer, "You arrive at desk 1. On the desk 1, you see a mug 2, and a mug 1."
    )
    assert tokenizer.decode(arrival) == "on desk 1 see mug 2 mug 1"
    closed = encode(tokenizer, "You arrive at desk 3. The desk 3 is closed.")
    assert tokenizer.decode(closed) == "desk 3 is closed"


def test_unknown_words_and_numbers_beyond_the_names_are_unknown(tokenizer):
    assert encode(tokenizer, "zebra") == [tokenizer.unk_token_id]
    assert encode(tokenizer, "mug 4") == [tokenizer.unk_token_id]
    assert encode(tokenizer, "<script>alert</script>").count(tokenizer.unk_token_id) == 3


def test_auto_classes_load_the_same_tokenizer_and_model(tokenizer, tmp_path):
    model = build_model(tokenizer, SmallArchitecture(hidden=32, layers=1, intermediate=32), 0)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path, local_files_only=True)
    text = f"<obs>{START}<act>go to desk 1<eos>"
    assert encode(loaded, text) == encode(tokenizer, text)
    chat = [{"role": "user", "content": "desk 1"}, {"role": "assistant", "content": "go to desk 2"}]
    rendered = loaded.apply_chat_template(chat, tokenize=False)
    assert rendered == "<bos><obs>desk 1<act>go to desk 2<eos>"
    again = AutoModelForCausalLM.from_pretrained(tmp_path, local_files_only=True)
    assert again.config.vocab_size == len(tokenizer)


def test_name_groups_hold_every_numbered_name(tokenizer):
    desks, mugs = name_groups(tokenizer)
    assert len(desks) == 12
    assert tokenizer.convert_ids_to_tokens(mugs) == ["mug 1", "mug 2", "mug 3"]
