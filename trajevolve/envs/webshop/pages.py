"""What an agent reads: the visible texts of a page, joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajevolve.envs.webshop.catalogue import Catalogue, Listing
from trajevolve.envs.webshop.products import Product
from trajevolve.envs.webshop.session import Page, State, shown

SEPARATOR = " [SEP] "
RATING = "N.A."
HEADING = "Instruction:"
THANKS = "Thank you for shopping with us!"


def observation(
    state: State, instruction: str, shop: Catalogue, show_attributes: bool = False
) -> str:
    """Write the page of `state`."""
    match state.page:
        case Page.INDEX:
            texts = iter(("WebShop", HEADING, instruction, "Search"))
        case Page.RESULTS:
            listings = [shop.listing(row) for row in shown(state, shop)]
            hits = len(shop.hits(state.query))
            texts = results_page(instruction, state.number, hits, listings)
        case Page.ITEM:
            texts = item_page(instruction, shop.product(state.asin), show_attributes)
        case Page.TAB:
            texts = tab_page(instruction, shop.product(state.asin), state.tab)
        case Page.DONE:
            texts = iter((THANKS,))
    return join(texts)


def join(texts: Iterable[str]) -> str:
    """Join texts as they stand on a page; blank ones are not seen."""
    return SEPARATOR.join(filter(None, (text.strip() for text in texts)))


def results_page(
    instruction: str, number: int, hits: int, listings: Iterable[Listing]
) -> Iterator[str]:
    """Yield the texts of a page of results."""
    yield from (HEADING, instruction, "Back to Search", f"Page {number} (Total results: {hits})")
    if number > 1:
        yield "< Prev"
    yield "Next >"
    for listing in listings:
        yield from (listing.asin, listing.title, listing.tag)


def item_page(instruction: str, product: Product, show_attributes: bool = False) -> Iterator[str]:
    """Yield the texts of a product's page; which options are chosen does not show."""
    yield from (HEADING, instruction, "Back to Search", "< Prev")
    for name, values in product.options:
        yield name
        yield from values
    yield from (product.title, f"Price: {product.tag}", f"Rating: {RATING}")
    yield from ("Description", "Features", "Reviews")
    if show_attributes:
        yield "Attributes"
    yield "Buy Now"


def tab_page(instruction: str, product: Product, tab: str) -> Iterator[str]:
    """Yield the texts of a page of details."""
    yield from (HEADING, instruction, "Back to Search", "< Prev")
    match tab:
        case "description":
            yield product.description
        case "features":
            yield from product.bullets
        case "attributes":
            yield from product.attributes
            yield from (product.category, product.query, product.product_category)
