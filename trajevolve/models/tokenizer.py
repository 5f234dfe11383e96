"""The built-in policy's tokenizer: one token a word of the environment's texts.

Articles and punctuation carry nothing here and are dropped, so a step costs about 25 tokens.
Actions hold neither, so the text of a sampled action is the joined words exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<obs>", "<act>")
JUDGE = ("<judge>", "<necessary>", "<redundant>")
NUMBERS = 100
DROPPED = r"\b(?:a|an|the|and)\b"
KEPT_CHARACTERS = r"[^a-z0-9 ]"

CHAT_TEMPLATE = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ '<act>' + message['content'] + '<eos>' }}"
    "{% else %}{{ '<obs>' + message['content'] }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<act>' }}{% endif %}"
)


def words_of(text: str) -> list[str]:
    """Split as the tokenizer does."""
    plain = re.sub(KEPT_CHARACTERS, " ", text.lower())
    return re.sub(DROPPED, " ", plain).split()


def build_tokenizer(texts: Iterable[str]) -> Any:
    """Make a PreTrainedTokenizerFast whose vocabulary is the words of `texts` and 0 … 99."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {str(number) for number in range(NUMBERS)}
    for text in texts:
        words.update(words_of(text))
    vocabulary = [*SPECIAL, *JUDGE, *sorted(words)]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>"))
    core.normalizer = normalizers.Sequence(
        [
            normalizers.Lowercase(),
            normalizers.Replace(Regex(KEPT_CHARACTERS), " "),
            normalizers.Replace(Regex(DROPPED), " "),
        ]
    )
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        additional_special_tokens=["<obs>", "<act>", *JUDGE],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
