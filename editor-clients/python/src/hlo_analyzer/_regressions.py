"""``regressions``: what became worse between two tables of ``check_dataset``."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._compile_rows import Row

if TYPE_CHECKING:
    import pyarrow

_Kind = Literal["error", "missing", "time", "kernel", "memory", "finding"]
#: The module of a compile.
_Module = tuple[str, str]


@dataclass(frozen=True)
class Regression:
    """Something of a module that became worse."""

    compile: str
    module: str | None
    #: ``error``: it cannot be read any more; ``missing``: it is not there any more; ``time`` and ``kernel``: estimated
    #: microseconds; ``memory``: bytes at the peak; ``finding``: the number of findings of a code at a source line
    kind: _Kind
    #: The source line or op name of a kernel or a finding.
    where: str | None
    before: float
    after: float
    message: str

    @property
    def ratio(self) -> float:
        return self.after / self.before if self.before else float("inf")


@dataclass(frozen=True)
class Regressions:
    """What became worse: compiles that fail, then the largest loss of time, then memory and findings."""

    found: list[Regression]
    #: The number of modules in both tables.
    compared: int
    #: Modules that are new.
    added: int

    def __str__(self) -> str:
        worse = len({(one.compile, one.module) for one in self.found})
        head = f"{self.compared} modules compared, {worse} failing or worse, {self.added} new"
        lines = [head]
        place = None
        for one in self.found:
            if place != (one.compile, one.module):
                place = (one.compile, one.module)
                lines += ["", one.compile if one.module is None else f"{one.compile} · {one.module}"]
            lines.append(f"  {one.kind:8} {one.message}")
        return "\n".join(lines)

    def __len__(self) -> int:
        return len(self.found)


def regressions(
    before: str | os.PathLike[str] | pyarrow.Table,
    after: str | os.PathLike[str] | pyarrow.Table,
    *,
    time: float = 0.02,
    at_least_us: float = 1.0,
    memory: float = 0.02,
) -> Regressions:
    """Compares two tables of :func:`hlo_analyzer.check_dataset`, paired by the names of compiles and modules.

    Args:
        before, after: folders of Parquet, or tables.
        time: the growth of the estimated time from which a module or a kernel is worse; 0.02 is 2 %.
        at_least_us: the growth in microseconds that it must have, too.
        memory: the growth of the peak from which a module is worse.

    Raises:
        AnalyzerError: a table is not there, or another version of this package wrote it.
    """
    old, new = _by_module(before, "before"), _by_module(after, "after")
    found: list[tuple[float, list[Regression]]] = []
    failing = {compile_ for (compile_, module), rows in new.items() if not module and _compile(rows)["error"]}
    for place, rows in old.items():
        one = _Compared(place, rows, new.get(place))
        if one.after is None and place[0] in failing:
            continue  # the compile has an error of its own
        if worse := one.regressions(time, at_least_us, memory):
            found.append((one.lost_us(), worse))
    # What was not there, or had failed, and fails, is no regression of what was there; it is still a failure of this night.
    for place in new.keys() - old.keys():
        row = _compile(new[place])
        if row["error"]:
            found.append((float("inf"), [Regression(place[0], place[1] or None, "error", None, 0, 1, row["error"])]))
    found.sort(key=lambda one: (-one[0], one[1][0].compile, one[1][0].module or ""))
    worse = [regression for _, group in found for regression in group]
    return Regressions(worse, len(old.keys() & new.keys()), len(new.keys() - old.keys()))


def _by_module(table: Any, name: str) -> dict[_Module, list[Row]]:
    from ._dataset import checked, read_dataset

    table = read_dataset(table) if isinstance(table, (str, os.PathLike)) else checked(table, name)
    rows: dict[_Module, list[Row]] = defaultdict(list)
    for row in table.to_pylist():
        rows[row["compile"], row["module"] or ""].append(row)
    return rows


def _compile(rows: list[Row]) -> Row:
    return next(row for row in rows if row["row"] == "compile")


def _where(row: Row) -> str:
    """What a kernel or a finding has in every compile: XLA numbers instructions anew."""
    if row["source_file"]:
        file = row["source_file"].rsplit("/", 1)[-1]
        return file if row["source_line"] is None else f"{file}:{row['source_line']}"
    return row["op_name"] or row["kind"] or "an unknown place"


class _Compared:
    """A module in both tables, or in the first alone."""

    def __init__(self, place: _Module, before: list[Row], after: list[Row] | None) -> None:
        self.place, self.before, self.after = place, before, after

    def _worse(self, kind: _Kind, where: str | None, before: float, after: float, message: str) -> Regression:
        compile_, module = self.place
        return Regression(compile_, module or None, kind, where, before, after, message)

    def lost_us(self) -> float:
        if self.after is None or _compile(self.after)["error"]:
            return float("inf")
        return (_compile(self.after)["total_us"] or 0) - (_compile(self.before)["total_us"] or 0)

    def regressions(self, time: float, at_least_us: float, memory: float) -> list[Regression]:
        old = _compile(self.before)
        if self.after is None:
            return [] if old["error"] else [self._worse("missing", None, 1, 0, "it was there before, and is not now")]
        new = _compile(self.after)
        if new["error"]:
            message = new["error"].splitlines()[0]
            if old["error"]:
                return [self._worse("error", None, 1, 1, f"as before: {message}")]
            return [self._worse("error", None, 0, 1, message)]
        if old["error"]:
            return []
        found: list[Regression] = []

        def is_slower(before: float, after: float) -> bool:
            return after - before >= at_least_us and after > before * (1 + time)

        before, after = old["total_us"] or 0, new["total_us"] or 0
        if is_slower(before, after):
            found.append(self._worse("time", None, before, after, f"{before:.1f} µs → {after:.1f} µs{_growth(before, after)}"))
        before, after = old["peak_bytes"] or 0, new["peak_bytes"] or 0
        if after > before * (1 + memory):
            message = f"{_bytes(before)} → {_bytes(after)} at the peak{_growth(before, after)}"
            found.append(self._worse("memory", None, before, after, message))
        kernels = [_sums(rows, "kernel", _where, "time_us") for rows in (self.before, self.after)]
        slower = [(where, kernels[0][where], us) for where, us in kernels[1].items() if is_slower(kernels[0][where], us)]
        for where, before, after in sorted(slower, key=lambda one: one[1] - one[2]):
            message = f"{where}: {before:.1f} µs → {after:.1f} µs{_growth(before, after)}"
            found.append(self._worse("kernel", where, before, after, message))
        findings = [_sums(rows, "finding", lambda row: (_where(row), row["severity"], row["code"])) for rows in (self.before, self.after)]
        for key, count in findings[1].items():
            if count > findings[0][key]:
                where, severity, code = key
                message = f"{where}: {severity}[{code}], {findings[0][key]:g} → {count:g}"
                found.append(self._worse("finding", where, findings[0][key], count, message))
        return found


def _sums(rows: list[Row], kind: str, key: Any, column: str | None = None) -> Counter[Any]:
    """The sum of a column, or the number of rows, for each key."""
    sums: Counter[Any] = Counter()
    for row in rows:
        if row["row"] == kind:
            sums[key(row)] += (row[column] or 0) if column else 1
    return sums


def _growth(before: float, after: float) -> str:
    return f" (+{100 * (after / before - 1):.1f} %)" if before else " (new)"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
