"""What a product costs, and the price bound of an instruction.

Both are drawn where WebShop leaves them open; the seeds hold the asin and nothing else, so that
instructions and rewards are the same in every process and on every machine.
"""

from __future__ import annotations

import re

import numpy as np

from trajevolve.seeds import derive_seed

UNKNOWN = 100.0
BOUNDS = tuple(10.0 * step for step in range(1, 100))
CONSIDERED = 4

_REST = re.compile(r"[^0-9.]")


def parse_prices(text: str) -> tuple[float, ...]:
    """Read the ``pricing`` of a product: ``$24.49$39.99`` is a range.

    Returns:
        One price, or the two ends of a range as they stand; 100.0 where there is none.
    """
    found: list[float] = []
    for part in text.split("$")[1:]:
        try:
            found.append(float(_REST.sub("", part)))
        except ValueError:
            continue
    return tuple(found[:2]) or (UNKNOWN,)


def price_tag(prices: tuple[float, ...]) -> str:
    """Write prices as the pages show them."""
    return " to ".join(f"${price}" for price in prices)


def sampled_price(asin: str, prices: tuple[float, ...]) -> float:
    """Return the price a purchase is judged by: of a range, a uniform draw."""
    if len(prices) == 1:
        return prices[0]
    low, high = min(prices), max(prices)
    return float(np.random.default_rng(derive_seed("webshop price", asin)).uniform(low, high))


def price_bound(price: float, asin: str, instruction: int) -> float | None:
    """Draw the bound that an instruction puts on the price.

    Two of the first four multiples of 10 (up to 990) above `price` are drawn and the larger one
    counts.

    Args:
        price: the sampled price of the product wanted.
        asin: of the product wanted.
        instruction: number of the instruction among those of the product.

    Returns:
        The bound, None where fewer than two multiples are left.
    """
    above = [bound for bound in BOUNDS if bound > price][:CONSIDERED]
    if len(above) < 2:
        return None
    rng = np.random.default_rng(derive_seed("webshop bound", asin, instruction))
    return max(above[int(place)] for place in rng.choice(len(above), 2, replace=False))


def bound_text(bound: float | None) -> str:
    """Write the end of an instruction that names the bound."""
    return "" if bound is None else f", and price lower than {bound:.2f} dollars"
