"""What XLA made of a function: its kernels, their memory accesses, its memory, and the source lines behind them.

    import hlo_analyzer
    hlo_analyzer.report(jitted, *args)

Everything is computed by the program ``hlo-analyzer``, which this package contains. jax is imported only by functions that get
something of jax's.
"""

from importlib import import_module

from ._program import AnalyzerError, program

#: The module of each public name: importing the package reads none of them.
_HOME = {
    "check": "_report",
    "check_compile": "_compile_rows",
    "check_dataset": "_dataset",
    "diff": "_diff",
    "Diff": "_diff",
    "Finding": "_report",
    "indexing_map": "_queries",
    "Kernel": "_report",
    "Memory": "_report",
    "read_dataset": "_dataset",
    "Regression": "_regressions",
    "Regressions": "_regressions",
    "regressions": "_regressions",
    "report": "_report",
    "Report": "_report",
    "show_kernel": "_queries",
    "schema": "_dataset",
    "Source": "_report",
    "Value": "_report",
}

__all__ = ["AnalyzerError", "program", *_HOME]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
