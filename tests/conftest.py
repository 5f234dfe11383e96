"""Let every test import the toy environments as ``toys``.

Each folder of tests is a package: files of the same name in two of them do not collide.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
