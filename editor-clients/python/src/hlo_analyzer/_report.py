"""``report`` and ``check``: findings, kernels and memory of a module as objects, and as a page."""

from __future__ import annotations

import html
import json
import os
import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._modules import module_of
from ._program import run

#: The GPU that kernels are estimated for, where nothing else says one.
DEFAULT_DEVICE = "h100-sxm"


@dataclass(frozen=True)
class Source:
    """A line of the user's program."""

    file: str
    line: int | None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Finding:
    """An error or a warning about an instruction."""

    #: ``error``, ``warning``, ``information`` or ``hint``
    severity: str
    #: A stable name: ``uncoalesced``, ``syntax``, …
    code: str
    message: str
    #: In the text of the module, from 1.
    line: int
    column: int
    #: The framework's name: ``jit(step)/tanh``
    op_name: str | None
    source: Source | None


@dataclass(frozen=True)
class Kernel:
    """An instruction that runs as a kernel, with all its executions."""

    name: str
    #: The emitter of a fusion, or the opcode.
    kind: str
    executions: int
    #: Microseconds of all executions, without launches; a lower bound if ``is_at_least``.
    total_us: float
    is_at_least: bool
    #: Of the module's time, from 0 to 1.
    share: float
    #: ``memory``, ``compute`` or ``launch``
    bound: str
    bytes_needed: int
    #: Bytes of all sectors of all requests; ``None`` if they are not known.
    bytes_moved: int | None
    op_name: str | None
    source: Source | None


@dataclass(frozen=True)
class Value:
    """What is in memory when most of it is in use."""

    name: str
    bytes: int
    #: ``parameter``, ``constant``, ``output`` or ``temp``
    kind: str
    op_name: str | None
    source: Source | None


@dataclass(frozen=True)
class Memory:
    """Where the memory of a module goes."""

    total_bytes: int
    #: In use at the peak.
    peak_bytes: int
    #: Alive at the peak, the largest first.
    at_peak: list[Value]
    #: What would lower the peak, in words, the largest saving first.
    advice: list[str]


def _source(value: dict[str, Any] | None) -> Source | None:
    return Source(value["file"], value["line"]) if value else None


class Report:
    """What is known of a module. Each part is computed when it is first asked for."""

    def __init__(
        self,
        path: str,
        device: str | None,
        holds: tempfile.TemporaryDirectory[str] | None = None,
        timeout: float | None = None,
    ) -> None:
        self._path = path
        self._device = ["--device", device] if device else []
        self._holds = holds
        # In seconds, for each run of the program.
        self._timeout = timeout

    def _run(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> str:
        folder, name = os.path.split(self._path.rstrip(os.sep))
        return run([arguments[0], name, *arguments[1:], *self._device], ok=ok, cwd=folder or None, timeout=self._timeout)

    @cached_property
    def _module(self) -> str:
        """The optimised module of a dump folder, else the module itself."""
        if not os.path.isdir(self._path):
            return self._path
        for folder, _, names in sorted(os.walk(self._path)):
            for name in sorted(names):
                if name.removesuffix(".gz").endswith("after_optimizations.txt"):
                    return os.path.join(folder, name)
        return self._path

    @cached_property
    def _checked(self) -> dict[str, Any]:
        arguments = ["check", self._module, "--format", "json", "--kernels", "1000000", "--limit", "1000000", "--fail-on", "never"]
        files = json.loads(run([*arguments, *self._device], timeout=self._timeout))["files"]
        return files[0] if files else {"findings": []}

    @cached_property
    def findings(self) -> list[Finding]:
        """Errors, then warnings, in the order of the text."""
        found = [
            Finding(
                severity=one["severity"],
                code=one["code"],
                message=one["message"],
                line=one["at"]["line"],
                column=one["at"]["column"],
                op_name=one["op_name"],
                source=_source(one["source"]),
            )
            for one in self._checked["findings"]
        ]
        return sorted(found, key=lambda one: one.severity != "error")

    @cached_property
    def kernels(self) -> list[Kernel]:
        """The heaviest first; none of a module that XLA has not optimised for a GPU."""
        return [
            Kernel(
                name=one["name"],
                kind=one["kind"],
                executions=one["executions"],
                total_us=one["total_us"],
                is_at_least=one["is_at_least"],
                share=one["share"],
                bound=one["bound"],
                bytes_needed=one["bytes_needed"],
                bytes_moved=one["bytes_moved"],
                op_name=one["op_name"],
                source=_source(one["source"]),
            )
            for one in self._checked.get("kernels", [])
        ]

    @property
    def total_us(self) -> float | None:
        """Microseconds of all kernels by the estimate, without launches; ``None`` if no kernel is known."""
        totals = self._checked.get("kernel_totals")
        return totals["total_us"] if totals else None

    @cached_property
    def memory(self) -> Memory:
        """Planned as XLA's buffer assignment does it.

        Raises:
            AnalyzerError: the text is no module of HLO.
        """
        module = json.loads(run(["memory", self._module, "--json", *self._device], timeout=self._timeout))["modules"][0]
        values = []
        for one in module["at_peak"]["values"]:
            defined = one["defined"] or {}
            source = _source(defined.get("source"))
            values.append(Value(one["name"].removesuffix("{}"), one["bytes"], one["kind"], defined.get("op_name"), source))
        advice = [one["text"] for one in module["advice"]]
        return Memory(module["total_bytes"], module["at_peak"]["bytes"], values, advice)

    @cached_property
    def html(self) -> str:
        """The page: it needs no other file and no network."""
        return self._run("report")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox style="border: 0; height: 720px; width: 100%"></iframe>'

    def __repr__(self) -> str:
        parts = [f"{sum(one.severity == level for one in self.findings)} {level}s" for level in ("error", "warning")]
        if self.total_us is not None:
            parts.append(f"{len(self.kernels)} kernels, {self.total_us:.1f} µs")
        return f"<Report of {os.path.basename(self._module)}: {', '.join(parts)}>"


def report(target: Any, *args: Any, device: str | None = None, compile_for: str | None = None, **kwargs: Any) -> Report:
    """What XLA made of a function.

    Args:
        target: a function, jitted or not, with its arguments in ``args`` and ``kwargs``; what ``jax.jit(f).lower(…)`` or
            ``.compile()`` returns; the text of a module of HLO or StableHLO; the path of one, or of a folder of XLA's dumps.
        device: the GPU that kernels are estimated for, such as ``"a100-sxm-80"``. Default: that of the dump, else an H100.
        compile_for: a GPU that XLA compiles the function for first. That needs jax's CUDA plugin, and no GPU.

    Raises:
        AnalyzerError: there is no such module, or XLA does not compile it.
    """
    folder = tempfile.TemporaryDirectory(prefix="hlo-analyzer-")
    path = module_of(target, args, kwargs, folder.name, compile_for)
    return Report(path, device or compile_for, folder)


def check(target: Any, *args: Any, device: str | None = None, compile_for: str | None = None, **kwargs: Any) -> list[Finding]:
    """The findings alone; see :func:`report`."""
    return report(target, *args, device=device, compile_for=compile_for, **kwargs).findings
