"""What importing the package costs."""

import subprocess
import sys


def test_importing_reads_nothing_else():
    script = (
        "import sys, hlo_analyzer; "
        "print([m for m in ('json', 'tempfile', 'html', 'jax', 'hlo_analyzer._report') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists():
    import hlo_analyzer

    for name in dir(hlo_analyzer):
        assert getattr(hlo_analyzer, name) is not None


def test_the_package_is_the_program():
    done = subprocess.run([sys.executable, "-m", "hlo_analyzer", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hlo-analyzer ")
