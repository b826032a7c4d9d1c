from ._diff import Diff as Diff, diff as diff
from ._program import AnalyzerError as AnalyzerError, program as program
from ._queries import indexing_map as indexing_map, show_kernel as show_kernel
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
