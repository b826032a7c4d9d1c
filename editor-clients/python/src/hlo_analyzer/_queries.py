"""One kernel, one map."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal

from ._modules import module_of
from ._program import AnalyzerError, run
from ._report import Report


def show_kernel(
    target: Any,
    name: str | None = None,
    *args: Any,
    emit: Literal["ptx", "mlir", "xtile", "ttir"] = "ptx",
    device: str | None = None,
    compile_for: str | None = None,
    **kwargs: Any,
) -> str:
    """The code of the kernel of the fusion ``name``; of the only one, or of the module's result, without a name.

    The other arguments are those of :func:`hlo_analyzer.report`.
    """
    with tempfile.TemporaryDirectory(prefix="hlo-analyzer-") as folder:
        path = Report(module_of(target, args, kwargs, folder, compile_for), device)._module
        named = ["--fusion", name] if name else []
        on = ["--device", device] if device else []
        return run(["kernel", path, "--emit", emit, *named, *on])


def indexing_map(
    target: Any,
    instruction: str,
    *args: Any,
    direction: Literal["output_to_input", "input_to_output"] = "output_to_input",
    index: int = 0,
    **kwargs: Any,
) -> list[list[str]]:
    """The indexing maps of an instruction as texts: a list per operand, or per result with ``"input_to_output"``.

    ``index`` is the number of the result or the operand. ``target`` is that of :func:`hlo_analyzer.report`.
    """
    with tempfile.TemporaryDirectory(prefix="hlo-analyzer-") as folder:
        path = Report(module_of(target, args, kwargs, folder, None), None)._module
        params = {
            "path": path,
            "language": "mlir" if Path(path).suffix == ".mlir" else "hlo",
            "instruction": instruction.removeprefix("%"),
            "direction": direction,
            "index": index,
        }
        answer = json.loads(run(["query"], stdin=json.dumps({"id": 0, "method": "indexing", "params": params}) + "\n"))
    if "error" in answer:
        raise AnalyzerError(answer["error"]["message"])
    return [[one["map"] for one in maps] for maps in answer["result"]["operands"]]
