"""Unpacks modules of one kernel each: `pairs.py OUT FILE.jsonl.gz...` writes OUT/DEVICE/NUMBER.hlo."""

import gzip
import json
import os
import sys

out, *archives = sys.argv[1:]
number = 0
for archive in archives:
    with gzip.open(archive, "rt") as lines:
        for line in lines:
            pair = json.loads(line)
            folder = os.path.join(out, pair["device"])
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{number:05}.hlo"), "w", encoding="utf-8") as file:
                file.write(pair["hlo"])
            number += 1
