"""The program ``hlo-analyzer``: where it is, and how it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

_NAME = "hlo-analyzer.exe" if sys.platform == "win32" else "hlo-analyzer"


class AnalyzerError(RuntimeError):
    """What the program, or this package, says is wrong."""


class ProgramDied(AnalyzerError):
    """The program was ended from outside, as for want of memory, or took too long: another attempt may succeed."""


def program() -> str:
    """The path of the program.

    The environment variable ``HLO_ANALYZER`` names another one.

    Raises:
        AnalyzerError: there is none.
    """
    named = os.environ.get("HLO_ANALYZER")
    if named:
        return named
    folders = [sysconfig.get_path("scripts")]
    if user := sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")):
        folders.append(user)
    # pip install --target PATH
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        path = os.path.join(folder, _NAME)
        if os.path.isfile(path):
            return path
    if found := shutil.which(_NAME):
        return found
    raise AnalyzerError(f"{_NAME} is not found: reinstall the package, or set HLO_ANALYZER to the path of the program")


def run(
    arguments: list[str],
    *,
    ok: tuple[int, ...] = (0,),
    cwd: str | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
) -> str:
    """The standard output of the program, which may take ``timeout`` seconds.

    Raises:
        ProgramDied: a signal ended it, or it took longer.
        AnalyzerError: another exit code than those in ``ok``; its text is what the program wrote to standard error.
    """
    command = [program(), *arguments]
    try:
        done = subprocess.run(
            command, cwd=cwd, input=stdin, timeout=timeout, capture_output=True, text=True, encoding="utf-8", check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ProgramDied(f"{_NAME} {arguments[0]} took longer than {timeout:g} s") from error
    except OSError as error:
        raise AnalyzerError(f"{command[0]} is not started: {error}") from error
    if done.returncode < 0:
        raise ProgramDied(f"{_NAME} {arguments[0]} was ended by signal {-done.returncode}")
    if done.returncode not in ok:
        raise AnalyzerError(done.stderr.strip() or f"{_NAME} {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout
