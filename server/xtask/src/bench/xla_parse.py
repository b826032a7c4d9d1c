"""Times XLA's own HLO parser: `xla_parse.py FILE REPEATS` prints JSON with the median time and the instruction count."""

import json
import sys
import time

from jaxlib import _hlo

path, repeats = sys.argv[1], int(sys.argv[2])
with open(path, encoding="utf-8") as file:
    text = file.read()

times = []
for _ in range(repeats):
    start = time.perf_counter()
    module = _hlo.hlo_module_from_text(text)
    times.append(time.perf_counter() - start)

instructions = sum(len(computation.instructions()) for computation in module.computations())
print(json.dumps({"parse_seconds": sorted(times)[repeats // 2], "instructions": instructions}))
