"""Addresses that would give a password away. Secrets come from the environment alone."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

_SECRET_NAME = re.compile(r"pass|pwd|secret|token|key|sig|auth|credential", re.IGNORECASE)
_WEB = frozenset({"http", "https", "ftp", "databricks"})


def tells_secret(address: str) -> bool:
    """Say whether `address` holds a password, or something that is used like one.

    That is a password before the host, on the web the user's name too (many services take a token
    there), or a parameter named like a secret. Text that is no address is suspected with an @.
    """
    try:
        parts = urlsplit(address.strip())
        user, password = parts.username, parts.password
    except ValueError:
        return "@" in address
    if password or (user and parts.scheme.lower() in _WEB):
        return True
    return any(_SECRET_NAME.search(name) for name, _ in parse_qsl(parts.query, max_num_fields=1000))
