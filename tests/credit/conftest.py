"""Let the tests import the second implementation of verification as ``against_engine``."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
