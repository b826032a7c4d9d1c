"""``check_dataset``: the compiles of a fleet as one table, a task each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._compile_rows import COLUMNS, SCHEMA_VERSION, check_compile, is_of_a_compile
from ._program import AnalyzerError

if TYPE_CHECKING:
    import pyarrow

#: Rows per file of Parquet, at least: a file per compile would be thousands of small ones.
_ROWS_PER_FILE = 100_000


def schema() -> pyarrow.Schema:
    """The schema of the tables, for pyarrow. Its metadata has the version, as the column ``schema_version`` has."""
    pa = _pyarrow()
    types = {"bool": pa.bool_(), "float64": pa.float64(), "int32": pa.int32(), "int64": pa.int64(), "string": pa.string()}
    fields = [pa.field(name, types[kind], nullable=place >= 4) for place, (name, kind) in enumerate(COLUMNS.items())]
    return pa.schema(fields, metadata={"hlo_analyzer.schema_version": str(SCHEMA_VERSION)})


def check_dataset(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    engine: Literal["ray", "threads"] = "ray",
    device: str | None = None,
    timeout: float = 600,
    retries: int = 1,
) -> None:
    """Checks many compiles and writes what is known of them to ``output``, a folder of Parquet, as :func:`check_compile` says it.

    Each compile is a task. One that cannot be read, or whose analysis dies, is a row with an ``error``; the others are not affected.

    Args:
        paths: a folder with compiles below it, each a folder of ``--xla_dump_to``: compiles are named by their path in that folder.
            Or the folders or files of compiles, which are named by the last part of their path.
        output: an empty folder, or one that does not exist. With Ray, an address of a store that all workers can write to, too.
        engine: ``"ray"`` runs the tasks in the cluster that ``ray.init`` connects to, or on this machine (``pip install
            'hlo-analyzer[ray]'``); ``"threads"`` runs them on this machine (``pip install 'hlo-analyzer[parquet]'``).
        device, timeout, retries: as for :func:`check_compile`.

    Raises:
        AnalyzerError: nothing is there to check, two compiles have one name, or ``output`` has files.
    """
    compiles = _named(paths)
    output = os.fspath(output)
    if os.path.isdir(output) and os.listdir(output):
        raise AnalyzerError(f"{output} is not empty: a table of another run would be mixed with this one")
    check = partial(check_compile, device=device, timeout=timeout, retries=retries)
    if engine == "ray":
        _with_ray(compiles, output, check)
    elif engine == "threads":
        _with_threads(compiles, output, check)
    else:
        raise AnalyzerError(f"the engine is ray or threads, not {engine}")


def read_dataset(path: str | os.PathLike[str]) -> pyarrow.Table:
    """The table that :func:`check_dataset` wrote, with the columns of :func:`schema`.

    Raises:
        AnalyzerError: there is none, or another version of this package wrote it.
    """
    pa = _pyarrow()
    import pyarrow.dataset

    try:
        table = pyarrow.dataset.dataset(os.fspath(path), format="parquet").to_table()
    except (OSError, pa.ArrowInvalid) as error:
        raise AnalyzerError(f"{os.fspath(path)} is no table of Parquet: {error}") from error
    return checked(table, os.fspath(path))


def checked(table: pyarrow.Table, name: str) -> pyarrow.Table:
    """The columns of the schema, if the table has them."""
    versions = set(table["schema_version"].to_pylist()) if "schema_version" in table.column_names else {None}
    if versions - {SCHEMA_VERSION}:
        found = ", ".join(str(version) for version in sorted(versions, key=str))
        raise AnalyzerError(f"{name} has schema version {found}, this package reads {SCHEMA_VERSION}: check the compiles again")
    return table.select(list(COLUMNS)).cast(schema())


def _named(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[tuple[str, str]]:
    """The names of the compiles, and their paths."""
    if isinstance(paths, (str, os.PathLike)):
        root = Path(paths)
        folders = sorted({file.parent for file in root.rglob("*") if is_of_a_compile(file) and file.is_file()})
        found = [(folder.relative_to(root).as_posix() if folder != root else root.name, str(folder)) for folder in folders]
    else:
        found = [(os.path.basename(os.path.normpath(path)), os.fspath(path)) for path in paths]
    if not found:
        raise AnalyzerError(f"there is no compile in {paths}")
    names = [name for name, _ in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise AnalyzerError(f"two compiles are called {min(twice)}: pass the folder that both are in")
    return found


def _table(compiles: Iterable[tuple[str, str]], check: Any) -> pyarrow.Table:
    rows = [row for name, path in compiles for row in check(path, name=name)]
    return _pyarrow().Table.from_pylist(rows, schema=schema())


def _with_threads(compiles: list[tuple[str, str]], output: str, check: Any) -> None:
    pa = _pyarrow()
    import pyarrow.dataset

    # The work is done by the program, outside of Python's lock.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tables = pool.map(lambda one: _table([one], check), compiles)
        batches = (batch for table in tables for batch in table.to_batches())
        pyarrow.dataset.write_dataset(
            pa.RecordBatchReader.from_batches(schema(), batches), output, format="parquet", min_rows_per_group=_ROWS_PER_FILE
        )


def _with_ray(compiles: list[tuple[str, str]], output: str, check: Any) -> None:
    _pyarrow()
    try:
        import ray.data
    except ImportError as error:
        raise AnalyzerError("this Python has no Ray: pip install 'hlo-analyzer[ray]', or pass engine=\"threads\"") from error

    def checked_block(block: pyarrow.Table) -> pyarrow.Table:
        return _table(zip(block["name"].to_pylist(), block["path"].to_pylist(), strict=True), check)

    items = [{"name": name, "path": path} for name, path in compiles]
    # A block per compile, so that a worker that dies costs one task, which Ray runs again.
    dataset = ray.data.from_items(items, override_num_blocks=len(items))
    # Materialized, because Ray would do the map inside the tasks that write, of which there is one per file.
    tables = dataset.map_batches(checked_block, batch_format="pyarrow", batch_size=1, num_cpus=1).materialize()
    tables.write_parquet(output, min_rows_per_file=_ROWS_PER_FILE)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise AnalyzerError("this Python has no pyarrow: pip install 'hlo-analyzer[parquet]'") from error
    return pyarrow
