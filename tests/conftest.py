"""Let every test import the toy environments as ``toys``, and take its time.

Each folder of tests is a package: files of the same name in two of them do not collide.
"""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing on a machine that does other things as well.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
