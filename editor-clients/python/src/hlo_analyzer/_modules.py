"""The module behind what a user passes: a jitted function, something lowered or compiled, a text, a file or a folder."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from ._program import AnalyzerError, run

_HLO = re.compile(r"^\s*(HloModule|ENTRY)\b", re.MULTILINE)


def module_of(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], folder: str, device: str | None) -> str:
    """A path for the program: of a file or a folder that exists, or of a text that is written to ``folder``.

    With ``device``, XLA compiles the module for that GPU first, on this machine, which needs none.
    """
    path = _existing(target)
    if path is None:
        name, text, suffix = _text_of(target, args, kwargs, is_lowered=device is not None)
        path = os.path.join(folder, f"{_file_name(name)}{suffix}")
        Path(path).write_text(text, encoding="utf-8")
    elif args or kwargs:
        raise AnalyzerError(f"{path} is a file: it takes no arguments")
    if device is None:
        return path
    dump = os.path.join(folder, "dump")
    run(["compile", path, "--python", sys.executable, "--device", device, "--out", dump])
    return dump


def _existing(target: Any) -> str | None:
    if isinstance(target, os.PathLike) or (isinstance(target, str) and "\n" not in target and not _HLO.search(target)):
        path = os.path.abspath(os.fspath(target))
        if not os.path.exists(path):
            raise AnalyzerError(f"{os.fspath(target)} does not exist, and is no module as text")
        return path
    return None


def _text_of(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], is_lowered: bool) -> tuple[str, str, str]:
    """A name, the text of the module, and how the name of its file ends."""
    if isinstance(target, str):
        return "module", target, _suffix(target)
    name = getattr(target, "__name__", "module")
    if not hasattr(target, "as_text"):
        target = _jitted(target).lower(*args, **kwargs)
    elif args or kwargs:
        raise AnalyzerError("arguments are for functions: this is lowered or compiled already")
    if is_lowered:
        if not hasattr(target, "compile"):
            raise AnalyzerError("this is compiled already: pass the function, or what .lower() returns")
        text = _with_locations(target)
    else:
        text = (target.compile() if hasattr(target, "compile") else target).as_text()
    if not text:
        raise AnalyzerError("this compiled function has no text: its backend keeps none")
    return name, text, _suffix(text)


def _jitted(function: Any) -> Any:
    if hasattr(function, "lower"):
        return function
    if not callable(function):
        raise AnalyzerError(f"{type(function).__name__} is no function, module or path")
    try:
        import jax
    except ImportError as error:
        raise AnalyzerError("this Python has no jax: pip install jax, or pass the text of a module") from error
    return jax.jit(function)


def _with_locations(lowered: Any) -> str:
    try:
        return lowered.as_text(debug_info=True)
    except TypeError:  # jax before 0.4.36
        return lowered.as_text()


def _suffix(text: str) -> str:
    return ".hlo" if _HLO.search(text) else ".mlir"


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)[:100] or "module"
