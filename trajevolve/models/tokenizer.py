"""The built-in policy's tokenizer: a word is a token, and so is a numbered name (``desk 1``).

One token a name makes copying names, the hardest thing for a small policy, a single attention
step and halves the length of an episode. Articles, punctuation and set phrases that carry nothing
are dropped before; actions hold none of them, so the text of a sampled action is its pieces
joined by spaces, exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

SPECIAL = ("<pad>", "<unk>", "<bos>", "<eos>", "<obs>", "<act>")
JUDGE = ("<judge>", "<necessary>", "<redundant>")
NUMBERS = 100

# Patterns are applied in order, to lower-cased text; they are part of tokenizer.json.
DROPPED = (
    r"-= .*? =-",
    r"you are in the middle of a room\. looking quickly around you, ",
    r"you arrive at [^.]*\. (?=on the |the )",
    r"[^a-z0-9 ]",
    r"\b(?:a|an|the|and|you)\b",
)
PIECES = r"go to|pick up|[a-z]+ [0-9]+\b|[a-z]+|[0-9]+"

CHAT_TEMPLATE = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ '<act>' + message['content'] + '<eos>' }}"
    "{% else %}{{ '<obs>' + message['content'] }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<act>' }}{% endif %}"
)


def pieces_of(text: str) -> list[str]:
    """Split as the tokenizer does."""
    plain = text.lower()
    for pattern in DROPPED:
        plain = re.sub(pattern, " ", plain)
    return re.findall(PIECES, re.sub(" +", " ", plain))


def build_tokenizer(texts: Iterable[str], names: Mapping[str, int]) -> Any:
    """Make a PreTrainedTokenizerFast.

    Args:
        texts: every word in them becomes a token.
        names: base name -> highest number; ``desk: 2`` gives ``desk 1`` and ``desk 2``.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {str(number) for number in range(NUMBERS)} | set(names)
    for text in texts:
        words.update(piece for piece in pieces_of(text) if not re.search("[a-z] [0-9]", piece))
    numbered = [f"{name} {n}" for name in sorted(names) for n in range(1, names[name] + 1)]
    vocabulary = [*SPECIAL, *JUDGE, *sorted(words), *numbered]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocabulary)}, unk_token="<unk>"))
    core.normalizer = normalizers.Sequence(
        [
            normalizers.Lowercase(),
            *(normalizers.Replace(Regex(pattern), " ") for pattern in DROPPED),
            normalizers.Replace(Regex(" +"), " "),
        ]
    )
    core.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "removed", invert=True)
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


def name_groups(tokenizer: Any) -> dict[str, list[int]]:
    """Base name -> token ids of its numbered names, for renaming in training data."""
    groups: dict[str, list[int]] = {}
    for token, number in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
        match = re.fullmatch(r"([a-z]+) [0-9]+", token)
        if match:
            groups.setdefault(match.group(1), []).append(number)
    return groups
