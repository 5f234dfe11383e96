"""Let every test import the toy environments as ``toys``, and take its time.

Each folder of tests is a package: files of the same name in two of them do not collide.
"""

import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing on a machine that does other things as well.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# A job in the background is started with interrupts ignored, and its children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
