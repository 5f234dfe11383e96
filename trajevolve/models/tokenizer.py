"""The built-in policies' tokenizers: a token is a piece of text that is copied as a whole.

One token for a name makes copying names, the hardest thing for a small policy, a single attention
step and shortens episodes. What carries nothing is dropped before; actions hold none of it, so the
text of a sampled action is its pieces joined by spaces, exactly. What the pieces are is up to the
environment: :mod:`~trajevolve.models.alfworld_words`, :mod:`~trajevolve.models.webshop_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<obs>", "<act>")
JUDGE = ("<judge>", "<necessary>", "<redundant>")

CHAT_TEMPLATE = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ '<act>' + message['content'] + '<eos>' }}"
    "{% else %}{{ '<obs>' + message['content'] }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<act>' }}{% endif %}"
)


@dataclass(frozen=True)
class Reading:
    """How text becomes pieces and pieces become text; all of it is part of tokenizer.json.

    Attributes:
        dropped: patterns that become blanks, in order, in lower-cased text.
        pieces: pattern of a piece; what no piece covers is left out.
        joined: (found, instead) in the pieces joined by spaces, in order.
    """

    dropped: tuple[str, ...]
    pieces: str
    joined: tuple[tuple[str, str], ...] = ()

    def split(self, text: str) -> list[str]:
        """Split as the tokenizer does."""
        plain = text.lower()
        for pattern in self.dropped:
            plain = re.sub(pattern, " ", plain)
        return re.findall(self.pieces, re.sub(" +", " ", plain))


def build_tokenizer(reading: Reading, words: Iterable[str]) -> Any:
    """Make a PreTrainedTokenizerFast.

    Args:
        reading: of text.
        words: the pieces that are tokens, in the order of their numbers.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = [*SPECIAL, *JUDGE, *words]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>"))
    core.normalizer = normalizers.Sequence(
        [
            normalizers.Lowercase(),
            *(normalizers.Replace(Regex(pattern), " ") for pattern in reading.dropped),
            normalizers.Replace(Regex(" +"), " "),
        ]
    )
    core.pre_tokenizer = pre_tokenizers.Split(Regex(reading.pieces), "removed", invert=True)
    if reading.joined:
        core.decoder = _decoder(reading)
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


def _decoder(reading: Reading) -> Any:
    """Join by spaces, as is done without a decoder, then replace in the whole text."""
    from tokenizers import decoders

    replaced = (decoders.Replace(found, instead) for found, instead in reading.joined)
    spaced = decoders.WordPiece(prefix="\x00", cleanup=False)
    return decoders.Sequence([spaced, decoders.Fuse(), *replaced])
