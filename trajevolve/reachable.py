"""Whether anybody is behind an address, before work is begun that needs them."""

from __future__ import annotations

import urllib.error
import urllib.request

PATIENCE_S = 120.0


def reachable(url: str) -> bool:
    """Say whether a server answers at `url`.

    That it asks for a password is an answer too. One that takes the call and is busy is waited for;
    where nobody listens that is known at once.
    """
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):  # the latter: it is no address
        return False
