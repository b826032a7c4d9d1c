"""Two compiles of a function."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from typing import Any

from ._modules import module_of
from ._program import run


@dataclass(frozen=True)
class Diff:
    """What two compiles have different: kernels, instructions, bytes and estimated time."""

    #: The report for people.
    text: str
    #: The same for programs: an object per pair of modules.
    modules: list[dict[str, Any]] = field(repr=False)

    def __str__(self) -> str:
        return self.text


def diff(before: Any, after: Any, *args: Any, device: str | None = None, compile_for: str | None = None, **kwargs: Any) -> Diff:
    """Compares two functions on the same arguments, or two modules, or two folders of dumps; see :func:`hlo_analyzer.report`."""
    with tempfile.TemporaryDirectory(prefix="before-") as one, tempfile.TemporaryDirectory(prefix="after-") as other:
        sides = ((before, one), (after, other))
        paths = [module_of(side, args, kwargs, folder, compile_for) for side, folder in sides]
        on = ["--device", device] if device else []
        return Diff(run(["diff", *paths, *on]), json.loads(run(["diff", *paths, "--format", "json", *on]))["modules"])
