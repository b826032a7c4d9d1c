"""Functions of jax, compiled for this machine's CPU."""

import jax
import jax.numpy as jnp
import pytest

import hlo_analyzer
from hlo_analyzer.testing import assert_memory_below, assert_no_findings

X, W = jnp.ones((128, 64)), jnp.ones((64, 32))


def layer(x, w):
    return jnp.tanh(x @ w).sum(axis=1)


@pytest.mark.parametrize(
    "target, arguments",
    [
        (layer, (X, W)),
        (jax.jit(layer), (X, W)),
        (jax.jit(layer).lower(X, W), ()),
        (jax.jit(layer).lower(X, W).compile(), ()),
    ],
    ids=["function", "jitted", "lowered", "compiled"],
)
def test_every_form_of_a_function_is_the_same_module(target, arguments):
    memory = hlo_analyzer.report(target, *arguments).memory
    parameters = {value.name.split(".")[0]: value.bytes for value in memory.at_peak if value.kind == "parameter"}
    assert parameters == {"x": X.nbytes, "w": W.nbytes}
    assert any(value.source and value.source.file.endswith("test_jax.py") for value in memory.at_peak)


def test_assertions_name_what_is_too_much():
    assert_no_findings(layer, X, W)
    assert_memory_below(1 << 20, layer, X, W)
    with pytest.raises(AssertionError, match=r"1000 allowed\n32768 bytes: %x"):
        assert_memory_below(1000, layer, X, W)
    wrong = "ENTRY e {\n  p = f32[4]{0} parameter(0)\n  ROOT r = f32[5]{0} negate(p)\n}"
    with pytest.raises(AssertionError, match=r"1 findings\nline 3: error\[shape-mismatch\]"):
        assert_no_findings(wrong)
    assert_no_findings(wrong, allowed={"shape-mismatch"})


def test_arguments_of_what_is_lowered_are_an_error():
    with pytest.raises(hlo_analyzer.AnalyzerError, match="arguments are for functions"):
        hlo_analyzer.report(jax.jit(layer).lower(X, W), X)
    with pytest.raises(hlo_analyzer.AnalyzerError, match="this is compiled already"):
        hlo_analyzer.report(jax.jit(layer).lower(X, W).compile(), compile_for="h100-sxm")
    with pytest.raises(hlo_analyzer.AnalyzerError, match="CUDA plugin"):
        hlo_analyzer.report(layer, X, W, compile_for="h100-sxm")
