"""Whether anybody is behind an address, before work is begun that needs them."""

from __future__ import annotations

import urllib.error
import urllib.request

PATIENCE_S = 10.0


def reachable(url: str) -> bool:
    """Say whether a server answers at `url`; that it asks for a password is an answer too."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):  # the latter: it is no address
        return False
