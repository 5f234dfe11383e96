"""A product as the shop shows and judges it, and how it is read from WebShop's own records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajevolve.envs.webshop.prices import parse_prices, price_tag, sampled_price
from trajevolve.errors import UserError

LONGEST_ASIN = 10

Options = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        asin: its key.
        title: its name.
        description: the long text.
        bullets: the features.
        options: groups to choose from, ``(("color", ("black", "red")), …)``, lower case.
        prices: one price, or the two ends of a range, in dollars.
        price: the price a purchase is judged by, see
            :func:`~trajevolve.envs.webshop.prices.sampled_price`.
        query: the query it was found by when the data were collected, lower case.
        category: one of the five departments.
        product_category: its place in the shop's tree, parts joined by ``›``.
        attributes: what is said of it in few words.
        nouns: the nouns of the title, lower case, with repeats.
    """

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    options: Options
    prices: tuple[float, ...]
    price: float
    query: str
    category: str
    product_category: str
    attributes: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """The price as pages show it."""
        return price_tag(self.prices)

    def option_of(self, value: str) -> str | None:
        """Return the group in which `value` stands, the last of several; None without one."""
        return next((name for name, values in reversed(self.options) if value in values), None)

    def document(self) -> str:
        """Return the text it is found by."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options)
        first = self.bullets[0] if self.bullets else ""
        return " ".join((self.title, self.description, first, options)).lower()


def has_usable_asin(record: Mapping[str, Any]) -> bool:
    """Say whether WebShop would take the record: its asin is one and not too long.

    Raises:
        UserError: there is no asin.
    """
    asin = record.get("asin")
    if not isinstance(asin, str):
        raise UserError("no 'asin'; expected the records of WebShop's items_shuffle.json")
    return asin != "nan" and len(asin) <= LONGEST_ASIN


def parse_product(record: Mapping[str, Any], attributes: tuple[str, ...] = ()) -> Product:
    """Read one record of ``items_shuffle.json``.

    Args:
        record: the product.
        attributes: from ``items_ins_v2.json``.

    Returns:
        The product, without the nouns of its title.

    Raises:
        UserError: a field has another form than it should.
    """
    asin = str(record["asin"])
    prices = parse_prices(_text(record, "pricing"))
    return Product(
        asin=asin,
        title=_text(record, "name"),
        description=_text(record, "full_description"),
        bullets=_bullets(record.get("small_description")),
        options=_options(asin, record.get("customization_options")),
        prices=prices,
        price=sampled_price(asin, prices),
        query=_text(record, "query").lower().strip(),
        category=_text(record, "category"),
        product_category=_text(record, "product_category"),
        attributes=attributes,
    )


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return "" if value is None else str(value)


def _bullets(value: object) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(bullet) for bullet in value)
    return (str(value),) if value else ()


def _options(asin: str, groups: object) -> Options:
    """Read ``customization_options``; a group of a name that comes again replaces the first."""
    if not groups:
        return ()
    if not isinstance(groups, Mapping):
        raise UserError(f"product {asin}: customization_options is no mapping of option groups")
    read: dict[str, tuple[str, ...]] = {}
    for name, values in groups.items():
        if values is None:
            continue
        try:
            read[name.lower()] = tuple(_value(each["value"]) for each in values)
        except (TypeError, KeyError, AttributeError):
            raise UserError(
                f"product {asin}: option {name!r} is no list of objects with a 'value'"
            ) from None
    return tuple(read.items())


def _value(text: str) -> str:
    return text.strip().replace("/", " | ").lower()
