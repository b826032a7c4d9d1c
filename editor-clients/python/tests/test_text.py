"""Modules as text and as files: no jax."""

import pytest

import hlo_analyzer
from hlo_analyzer import AnalyzerError

TRANSPOSE = """HloModule m, is_scheduled=true

fused {
  p = f32[64,32]{1,0} parameter(0)
  ROOT t = f32[32,64]{1,0} transpose(p), dimensions={1,0}
}

ENTRY e {
  p = f32[64,32]{1,0} parameter(0)
  ROOT f = f32[32,64]{1,0} fusion(p), kind=kLoop, calls=fused, metadata={op_name="jit(f)/transpose" source_file="/src/model.py" source_line=7}
}
"""
WRONG = "ENTRY e {\n  p = f32[4]{0} parameter(0)\n  ROOT r = f32[5]{0} negate(p)\n}\n"


def test_a_report_has_kernels_memory_and_a_page(tmp_path):
    report = hlo_analyzer.report(TRANSPOSE)
    (kernel,) = report.kernels
    assert (kernel.name, kernel.executions, kernel.op_name) == ("f", 1, "jit(f)/transpose")
    assert str(kernel.source) == "/src/model.py:7"
    assert kernel.bytes_needed == 2 * 64 * 32 * 4
    assert report.total_us == pytest.approx(kernel.total_us)
    assert report.memory.total_bytes == 2 * 64 * 32 * 4
    assert {value.name for value in report.memory.at_peak} == {"p", "f"}
    page = tmp_path / "report.html"
    report.save(page)
    assert "jit(f)/transpose" in page.read_text()
    assert report._repr_html_().startswith("<iframe srcdoc=")
    assert "1 kernels" in repr(report)


def test_findings_have_places():
    (finding,) = hlo_analyzer.check(WRONG)
    assert (finding.severity, finding.code, finding.line) == ("error", "shape-mismatch", 3)


def test_a_file_is_as_its_text(tmp_path):
    path = tmp_path / "wrong.hlo"
    path.write_text(WRONG)
    assert hlo_analyzer.check(path) == hlo_analyzer.check(str(path)) == hlo_analyzer.check(WRONG)


def test_maps_and_kernels():
    (maps,) = hlo_analyzer.indexing_map(TRANSPOSE, "%t")
    assert maps == ["(d0, d1) -> (d1, d0), domain: d0 in [0, 31], d1 in [0, 63]"]
    assert ".entry" in hlo_analyzer.show_kernel(TRANSPOSE)
    assert "func.func" in hlo_analyzer.show_kernel(TRANSPOSE, "f", emit="mlir", device="a100-sxm-80")
    with pytest.raises(AnalyzerError, match="nothing"):
        hlo_analyzer.show_kernel(TRANSPOSE, "nothing")
    with pytest.raises(AnalyzerError, match="nothing"):
        hlo_analyzer.indexing_map(TRANSPOSE, "nothing")


def test_two_modules_differ():
    found = hlo_analyzer.diff(TRANSPOSE, TRANSPOSE.replace("f32", "f64"))
    assert "f64" in str(found) and len(found.modules) == 1


def test_what_is_wrong_is_said(tmp_path, monkeypatch):
    with pytest.raises(AnalyzerError, match="nowhere.hlo does not exist"):
        hlo_analyzer.report("nowhere.hlo")
    with pytest.raises(AnalyzerError, match="int is no function"):
        hlo_analyzer.report(3)
    with pytest.raises(AnalyzerError, match="takes no arguments"):
        hlo_analyzer.report(tmp_path, 1)
    with pytest.raises(AnalyzerError, match="no optimised module"):
        hlo_analyzer.report(tmp_path).save(tmp_path / "report.html")
    with pytest.raises(AnalyzerError, match="rtx-1"):
        hlo_analyzer.check(TRANSPOSE, device="rtx-1")
    monkeypatch.setenv("HLO_ANALYZER", str(tmp_path / "nowhere"))
    with pytest.raises(AnalyzerError, match="is not started"):
        hlo_analyzer.check(TRANSPOSE)
