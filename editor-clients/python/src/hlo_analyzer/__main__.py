"""``python -m hlo_analyzer`` is the program ``hlo-analyzer``."""

import subprocess
import sys

from ._program import program

sys.exit(subprocess.call([program(), *sys.argv[1:]]))
