"""Records in the form of WebShop's files, written by hand."""

from __future__ import annotations

from typing import Any


def entry(asin: str, name: str, **fields: Any) -> dict[str, Any]:
    """One product."""
    usual = {
        "asin": asin,
        "name": name,
        "full_description": f"about {asin.lower()}",
        "small_description": ["first feature", "second feature"],
        "pricing": "$10.00",
        "query": "Mugs ",
        "category": "garden",
        "product_category": "Home › Kitchen › Mugs",
        "customization_options": "",
    }
    return usual | fields


def options(**groups: list[str]) -> dict[str, Any]:
    """Groups of options."""
    return {name: [{"value": value} for value in values] for name, values in groups.items()}
