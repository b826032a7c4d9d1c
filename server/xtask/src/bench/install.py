"""What `cargo xtask bench --install` measures in a fresh environment: install.py MODULE, or without a large module."""

import subprocess
import sys
import time

import hlo_analyzer


def median(measure, rounds=5):
    return sorted(measure() for _ in range(rounds))[rounds // 2]


def importing():
    """In a process of its own; without the start of Python, which every script has."""
    script = "import time; start = time.perf_counter(); import hlo_analyzer; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def reporting():
    """All that a notebook shows, and the findings, kernels and memory as objects."""
    start = time.perf_counter()
    report = hlo_analyzer.report(sys.argv[1])
    report._repr_html_()
    page = time.perf_counter() - start
    assert report.findings and report.kernels and report.memory.at_peak
    objects.append(time.perf_counter() - start - page)
    return page


objects = []
print(f"import_ms {1000 * median(importing):.1f}")
if len(sys.argv) > 1:
    print(f"report_s {median(reporting, 3):.2f}")
    print(f"objects_s {sorted(objects)[1]:.2f}")
