"""How often, how long and how slowly a server may be asked; how long it asks to wait."""

import re
import time
from email.utils import mktime_tz, parsedate_tz

# Wikimedia's dump server allows two per address (dumps.wikimedia.org/backup-index.html).
CONNECTIONS = 2
CONNECT = 20.0  # seconds to connect
SILENCE = 60.0  # seconds without a byte
HEAD = 120.0  # seconds for the head of an answer, even if its bytes drip
ATTEMPTS = 6  # in a row without progress
BACKOFF = 1.0  # seconds; doubles with every attempt in a row
WINDOW = 60.0  # seconds over which the rate is measured
LOWEST_RATE = 1_000  # bytes per second; what is slower is broken off, and asked for again
SLOW_RATE = 20_000  # bytes per second; what is slower is left for the next address, if any
LONGEST_WAIT = 10.0  # seconds that a server may ask to wait before another address is tried
# Seconds at one address, apart from those in which bytes come at the lowest rate or faster.
DEADLINE = 900.0
CHUNK = 1 << 18  # bytes read at once
REDIRECTS = 10


def retry_after(stated: str) -> float | None:
    """Return the seconds that a header Retry-After asks to wait; None if it says nonsense.

    It is a number of seconds, or a date (RFC 9110, 10.2.3).
    """
    stated = stated.strip()[:40]
    if re.fullmatch(r"\d+", stated, re.ASCII):
        return float(stated)
    try:
        date = parsedate_tz(stated)
        return None if date is None else max(0.0, mktime_tz(date) - time.time())
    except (ValueError, OverflowError):
        return None
