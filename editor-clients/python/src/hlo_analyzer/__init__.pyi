from ._compile_rows import check_compile as check_compile
from ._dataset import check_dataset as check_dataset, read_dataset as read_dataset, schema as schema
from ._diff import Diff as Diff, diff as diff
from ._program import AnalyzerError as AnalyzerError, program as program
from ._queries import indexing_map as indexing_map, show_kernel as show_kernel
from ._regressions import Regression as Regression, Regressions as Regressions, regressions as regressions
from ._report import (
    Finding as Finding,
    Kernel as Kernel,
    Memory as Memory,
    Report as Report,
    Source as Source,
    Value as Value,
    check as check,
    report as report,
)
