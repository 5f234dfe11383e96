"""What a purchase is worth (Yao et al., 2022, §3 "reward"), with its parts.

reward = r_type · (n_attributes + n_options + r_price) / (|attributes| + |options| + 1)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, utils

from trajevolve.envs.webshop.goals import Goal
from trajevolve.envs.webshop.products import Product

ALIKE = 85
"""Two texts mean the same when ``token_set_ratio``, rounded, exceeds this."""

NO_NOUNS = 0.2

_COLOURS = (
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown "
    "burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee "
    "cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia "
    "gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki lavender "
    "lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor "
    "mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red "
    "rose royal rust sand sapphire seashell silver skull slate steel stone stonewash sunflower "
    "tan taupe teal tiger turquoise violet walnut wheat white wine yellow"
)
#: The colours that WebShop knows, in the order in which it looks for them.
COLOURS = tuple(_COLOURS.split())


@dataclass(frozen=True, slots=True)
class Reward:
    """The reward of a purchase.

    Attributes:
        total: in [0, 1]; 1 is success.
        r_type: 0, 0.1, 0.5 or 1: is it the kind of product that was asked for?
        r_att: share of the attributes wanted that it has; None where none were wanted.
        r_option: share of the options wanted that were chosen; None where none were wanted.
        r_price: it costs at most the bound.
        query_match: both products were found by the same query.
        category_match: they share two parts of their place in the shop's tree.
        title_score: share of the nouns of the wanted title that the bought one has.
    """

    total: float
    r_type: float
    r_att: float | None
    r_option: float | None
    r_price: bool
    query_match: bool
    category_match: bool
    title_score: float


def judge(product: Product, options: Iterable[str], goal: Goal) -> Reward:
    """Judge the purchase of `product` with the values of `options` chosen."""
    query_match = product.query == goal.query
    category_match = shared_categories(product.product_category, goal.product_category) >= 2
    score = title_score(product.nouns, goal.nouns)
    r_type = type_reward(query_match or category_match, score)
    attributes = sum(has_attribute(product, wanted) for wanted in goal.attributes)
    chosen = tuple(options)
    matched = sum(option_chosen(chosen, wanted) for _, wanted in goal.options)
    r_price = goal.bound is None or product.price <= goal.bound
    parts = len(goal.attributes) + len(goal.options) + 1
    return Reward(
        total=r_type * (attributes + matched + r_price) / parts,
        r_type=r_type,
        r_att=attributes / len(goal.attributes) if goal.attributes else None,
        r_option=matched / len(goal.options) if goal.options else None,
        r_price=r_price,
        query_match=query_match,
        category_match=category_match,
        title_score=score,
    )


def type_reward(same_kind: bool, score: float) -> float:
    """Return r_type.

    Args:
        same_kind: the queries are equal, or two category parts are shared.
        score: the title score.
    """
    if score == 0:
        return 0.0
    if score < 0.1:
        return 0.1
    return 1.0 if same_kind or score > 0.2 else 0.5


def shared_categories(one: str, two: str) -> int:
    """Count the different parts that two places in the shop's tree have in common."""
    return len({part.strip() for part in one.split("›")} & {p.strip() for p in two.split("›")})


def title_score(bought: Collection[str], wanted: Collection[str]) -> float:
    """Return |bought ∩ wanted| over the number of wanted nouns, repeats counted below only."""
    return len(set(bought) & set(wanted)) / len(wanted) if wanted else NO_NOUNS


def has_attribute(product: Product, wanted: str) -> bool:
    """Say whether an attribute is among the product's own or stands in one of its texts."""
    return (
        any(alike(own, wanted) for own in product.attributes)
        or wanted in product.title.lower()
        or wanted in " ".join(product.bullets).lower()
        or wanted in product.description.lower()
    )


def option_chosen(chosen: Iterable[str], wanted: str) -> bool:
    """Say whether one of the chosen values means the wanted one."""
    goal = colour_of(wanted)
    return any(alike(colour_of(value), goal) for value in chosen)


def colour_of(value: str) -> str:
    """Return the first known colour that `value` contains, else `value` itself."""
    return next((colour for colour in COLOURS if colour in value), value)


@lru_cache(maxsize=1 << 16)
def alike(one: str, two: str) -> bool:
    """Compare as sets of words; signs, case and letters outside ASCII do not count."""
    ratio = fuzz.token_set_ratio(_ascii(one), _ascii(two), processor=utils.default_process)
    return round(ratio) > ALIKE


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()
