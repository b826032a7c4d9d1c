"""``check_compile``: what is known of a compile, as rows of a table. It needs nothing but this package."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ._program import AnalyzerError, ProgramDied, run
from ._report import Report

#: The version of :data:`COLUMNS`. A column that is added leaves it; one that is removed, or means something else, raises it.
SCHEMA_VERSION = 1

#: The columns with their types, as pyarrow names them. All but the first four may be null.
COLUMNS = {
    # of every row
    "schema_version": "int32",
    "row": "string",  # compile, finding, kernel or value
    "compile": "string",  # the name of the compile, the same in every table
    "path": "string",
    "module": "string",  # the file name without the parts that differ between compiles
    "analyzer": "string",  # the version of the program
    "device": "string",
    # of compiles
    "error": "string",  # why there is nothing else
    "seconds": "float64",  # that the analysis took
    "total_us": "float64",  # of all kernels
    "total_bytes": "int64",
    "peak_bytes": "int64",
    # of findings, kernels and values
    "name": "string",
    "kind": "string",
    "op_name": "string",
    "source_file": "string",
    "source_line": "int32",
    # of findings
    "severity": "string",
    "code": "string",
    "message": "string",
    "line": "int32",
    "column": "int32",
    # of kernels
    "executions": "int64",
    "time_us": "float64",  # of all executions
    "is_at_least": "bool",
    "share": "float64",
    "bound": "string",
    "bytes_needed": "int64",
    "bytes_moved": "int64",
    # of values alive at the peak
    "bytes": "int64",
}

Row = dict[str, Any]

#: The ends of the names of modules, where XLA did not name them.
_MODULES = (".hlo", ".hlo.pb")


def check_compile(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    device: str | None = None,
    timeout: float = 600,
    retries: int = 1,
) -> list[Row]:
    """What is known of a compile: rows with the columns of :func:`hlo_analyzer.schema`.

    A module has a row ``compile``, then its findings, its kernels with the heaviest first, and the values that are alive at the peak
    of its memory. What cannot be read is a row with an ``error``: no exception leaves this function. So it is a task for any engine:
    ``flatMap(check_compile)`` in Spark, ``beam.FlatMap(check_compile)`` in Beam.

    Args:
        path: a folder of ``--xla_dump_to``, or the file of a module.
        name: what the compile is called in the table. Default: the last part of ``path``.
        device: the GPU that kernels are estimated for. Default: that of the dump, else an H100.
        timeout: the seconds that each run of the program may take.
        retries: how often a module is tried again whose analysis was killed or took too long.
    """
    path = os.fspath(path)
    name = name or os.path.basename(os.path.normpath(path))
    try:
        version = run(["--version"], timeout=timeout).split()[-1]
        modules = _modules(Path(path))
    except (AnalyzerError, OSError) as error:
        return [_row("compile", compile=name, path=path, error=_reason(error))]
    rows: list[Row] = []
    for module in modules:
        shared = {"compile": name, "path": str(module), "module": _module_name(module), "analyzer": version, "device": device}
        rows += _tried(module, device, timeout, retries, shared)
    return rows


def _modules(path: Path) -> list[Path]:
    """The modules of a compile: those after optimizations, where XLA dumped any."""
    if not path.is_dir():
        return [path]
    # Folders below are other compiles, unless this one only holds such.
    modules = _optimized(path.iterdir()) or _optimized(path.rglob("*"))
    if not modules:
        raise AnalyzerError(f"{path} has no optimised module: a dump of --xla_dump_to with --xla_dump_hlo_as_text has one")
    return modules


def is_of_a_compile(file: Path) -> bool:
    """Whether XLA, or somebody who keeps its modules, wrote a file of this name."""
    return file.name.startswith("module_") or file.name.removesuffix(".gz").endswith(_MODULES)


def _optimized(entries: Iterable[Path]) -> list[Path]:
    files = sorted(file for file in entries if file.is_file())
    optimized = [file for file in files if file.name.removesuffix(".gz").endswith("after_optimizations.txt")]
    return optimized or [file for file in files if file.name.removesuffix(".gz").endswith(_MODULES)]


def _module_name(module: Path) -> str:
    """``module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt`` is ``jit_step``: XLA counts anew in every process."""
    parts = module.name.split(".")
    return parts[1] if len(parts) > 2 and parts[0].startswith("module_") else parts[0]


def _tried(module: Path, device: str | None, timeout: float, retries: int, shared: Row) -> list[Row]:
    started = time.monotonic()
    for left in reversed(range(retries + 1)):
        report = Report(str(module), device, timeout=timeout)
        found: list[Row] = []
        why: Exception
        try:
            return _rows(report, found, started, shared)
        except ProgramDied as error:
            why = error
            if left:
                continue
        except (AnalyzerError, OSError, ValueError, LookupError) as error:
            why = error
        seconds = round(time.monotonic() - started, 3)
        # A module with errors still says what they are.
        return [_row("compile", error=_reason(why), seconds=seconds, **shared), *found]
    raise AssertionError("there is at least one attempt")


def _reason(error: Exception) -> str:
    return str(error).removeprefix("error: ") or type(error).__name__


def _rows(report: Report, found: list[Row], started: float, shared: Row) -> list[Row]:
    """The row of a module, then those of ``found``, to which they are added as they become known."""
    for finding in report.findings:
        found.append(
            _row(
                "finding",
                severity=finding.severity,
                code=finding.code,
                message=finding.message,
                line=finding.line,
                column=finding.column,
                **_origin(finding),
                **shared,
            )
        )
    for kernel in report.kernels:
        found.append(
            _row(
                "kernel",
                name=kernel.name,
                kind=kernel.kind,
                executions=kernel.executions,
                time_us=kernel.total_us,
                is_at_least=kernel.is_at_least,
                share=kernel.share,
                bound=kernel.bound,
                bytes_needed=kernel.bytes_needed,
                bytes_moved=kernel.bytes_moved,
                **_origin(kernel),
                **shared,
            )
        )
    memory = report.memory
    for value in memory.at_peak:
        found.append(_row("value", name=value.name, kind=value.kind, bytes=value.bytes, **_origin(value), **shared))
    module = _row(
        "compile",
        seconds=round(time.monotonic() - started, 3),
        total_us=report.total_us,
        total_bytes=memory.total_bytes,
        peak_bytes=memory.peak_bytes,
        **shared,
    )
    return [module, *found]


def _origin(one: Any) -> Row:
    source = one.source
    return {"op_name": one.op_name, "source_file": source and source.file, "source_line": source and source.line}


def _row(row: str, **known: Any) -> Row:
    return {**dict.fromkeys(COLUMNS), "schema_version": SCHEMA_VERSION, "row": row, **known}
