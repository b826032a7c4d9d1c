"""Assertions for tests: a change that makes a kernel slower, or a module too large, fails where it is made."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ._report import report


def assert_no_findings(target: Any, *args: Any, allowed: Collection[str] = (), **kwargs: Any) -> None:
    """Fails if the module has an error or a warning. ``allowed`` are codes, such as ``"uncoalesced"``.

    The other arguments are those of :func:`hlo_analyzer.report`.
    """
    __tracebackhide__ = True
    found = [one for one in report(target, *args, **kwargs).findings if one.code not in allowed]
    lines = [f"{one.source or f'line {one.line}'}: {one.severity}[{one.code}]: {one.message}" for one in found]
    assert not found, "\n".join([f"{len(found)} findings", *lines])


def assert_memory_below(limit: int, target: Any, *args: Any, **kwargs: Any) -> None:
    """Fails if the module allocates more than ``limit`` bytes, and names what is alive at the peak."""
    __tracebackhide__ = True
    memory = report(target, *args, **kwargs).memory
    largest = [f"{value.bytes} bytes: %{value.name} {value.source or ''}".rstrip() for value in memory.at_peak[:10]]
    assert memory.total_bytes <= limit, "\n".join([f"{memory.total_bytes} bytes, {limit} allowed", *largest])
