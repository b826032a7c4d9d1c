"""Many compiles as one table, and what is worse in a later one: no jax."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

import hlo_analyzer
from hlo_analyzer import AnalyzerError

TREE = Path(__file__).parents[3]
DUMP = TREE / "server/test-files/dump"
BEFORE = TREE / "server/compile-diff/tests/fixtures/before.hlo"
AFTER = TREE / "server/compile-diff/tests/fixtures/after.hlo"
PAGE = TREE / "server/docs/book/cookbook/last_night.md"


#: The source lines of the fixtures' kernels, by a part of the computation's name or the opcode.
LINES = {"multiply": 11, "scale": 12, "tanh": 12, "sum": 13, "reduce": 13, "shift": 14, "subtract": 14, "copy(": 14}


def _with_source_lines(module: str) -> str:
    entry = False
    lines = []
    for line in module.splitlines():
        entry = entry or line.startswith("ENTRY")
        called = line.rsplit("calls=", 1)[-1] if "calls=" in line else line.rsplit("=", 1)[-1]
        for part, number in LINES.items():
            if entry and part in called:
                line += f', metadata={{op_name="jit(step)/{part.strip("(")}" source_file="/src/train.py" source_line={number}}}'
                break
        lines.append(line)
    return "\n".join([*lines, ""])


def _fleet(folder: Path, step: Path) -> Path:
    """Four compiles, one of which is no dump of XLA."""
    shutil.copytree(DUMP, folder / "eval/layer")
    (folder / "eval/log.txt").write_text("no compile")
    (folder / "train/step").mkdir(parents=True)
    module = folder / "train/step/module_0007.jit_step.sm_9.0a_gpu_after_optimizations.txt"
    module.write_text(_with_source_lines(step.read_text()))
    (folder / "train/tokens").mkdir()
    shutil.copy(BEFORE, folder / "train/tokens/module_0001.jit_count.sm_9.0a_gpu_after_optimizations.txt")
    (folder / "train/torn").mkdir()
    (folder / "train/torn/module_0001.jit_torn.sm_9.0a_gpu_after_optimizations.txt").write_bytes(b"HloModule \xff\xfe\x00 {{{" * 9)
    return folder


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    yesterday = _fleet(folder / "2026-08-01", BEFORE)
    today = _fleet(folder / "2026-08-02", AFTER)
    shutil.rmtree(today / "train/tokens")
    return yesterday, today


def test_a_compile_is_rows_of_modules_findings_kernels_and_values():
    rows = hlo_analyzer.check_compile(DUMP)
    kinds = {kind: [row for row in rows if row["row"] == kind] for kind in ("compile", "finding", "kernel", "value")}
    (module,) = kinds["compile"]
    assert rows[0] == module and sum(map(len, kinds.values())) == len(rows)
    assert (module["compile"], module["module"], module["error"]) == ("dump", "jit_step", None)
    assert module["total_us"] == pytest.approx(sum(row["time_us"] for row in kinds["kernel"]))
    assert module["peak_bytes"] == sum(row["bytes"] for row in kinds["value"])
    assert {(row["code"], row["source_file"], row["source_line"]) for row in kinds["finding"]} == {("uncoalesced", "layer.py", 5)}


def test_a_file_is_a_compile():
    rows = hlo_analyzer.check_compile(str(BEFORE), name="train/step")
    assert {(row["compile"], row["module"]) for row in rows} == {("train/step", "before")}
    assert any(row["row"] == "kernel" for row in rows)


def test_a_folder_of_compiles_has_the_modules_of_all(tmp_path):
    shutil.copytree(DUMP, tmp_path / "one")
    shutil.copytree(DUMP, tmp_path / "other")
    rows = hlo_analyzer.check_compile(tmp_path)
    assert len({row["path"] for row in rows}) == 2
    shutil.copytree(DUMP, tmp_path / "one/below")
    assert len({row["path"] for row in hlo_analyzer.check_compile(tmp_path / "one")}) == 1


def test_what_cannot_be_read_is_a_row(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path):
        (row,) = hlo_analyzer.check_compile(path)
        assert row["row"] == "compile" and str(path) in row["error"]
    torn = tmp_path / "torn.hlo"
    torn.write_text(BEFORE.read_text()[:300])
    first, *others = hlo_analyzer.check_compile(torn)
    assert first["error"] and {row["row"] for row in others} <= {"finding"}


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands for the program")
def test_a_program_that_dies_is_tried_again(tmp_path, monkeypatch):
    real = hlo_analyzer.program()
    program = tmp_path / "hlo-analyzer"

    def install(check: str) -> None:
        program.write_text(f'#!/bin/sh\n[ "$1" != check ] || {check}\nexec {real} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    monkeypatch.setenv("HLO_ANALYZER", str(program))
    install(f"[ -e {tmp_path}/tried ] || {{ touch {tmp_path}/tried; kill -9 $$; }}")
    assert hlo_analyzer.check_compile(BEFORE)[0]["error"] is None
    os.unlink(tmp_path / "tried")
    (row,) = hlo_analyzer.check_compile(BEFORE, retries=0)
    assert row["error"] == "hlo-analyzer check was ended by signal 9"
    install("sleep 60")
    (row,) = hlo_analyzer.check_compile(BEFORE, timeout=0.5, retries=1)
    assert row["error"] == "hlo-analyzer check took longer than 0.5 s" and row["seconds"] < 20


def test_a_table_has_a_row_for_the_torn_one_and_all_of_the_others(nights, tmp_path):
    pytest.importorskip("pyarrow")
    hlo_analyzer.check_dataset(nights[0], tmp_path / "table", engine="threads")
    table = hlo_analyzer.read_dataset(tmp_path / "table")
    assert table.schema.equals(hlo_analyzer.schema())
    rows = [row for row in table.to_pylist() if row["row"] == "compile"]
    assert {row["compile"]: row["error"] is None for row in rows} == {
        "eval/layer": True,
        "train/step": True,
        "train/tokens": True,
        "train/torn": False,
    }
    with pytest.raises(AnalyzerError, match="is not empty"):
        hlo_analyzer.check_dataset(nights[0], tmp_path / "table", engine="threads")


def test_what_is_no_table_is_said(tmp_path):
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(AnalyzerError, match="no table of Parquet"):
        hlo_analyzer.read_dataset(tmp_path / "nowhere")
    newer = pa.table({"schema_version": [99]})
    with pytest.raises(AnalyzerError, match="schema version 99"):
        hlo_analyzer.regressions(newer, newer)
    with pytest.raises(AnalyzerError, match="no compile"):
        hlo_analyzer.check_dataset(tmp_path, tmp_path / "table")
    with pytest.raises(AnalyzerError, match="two compiles are called dump"):
        hlo_analyzer.check_dataset([DUMP, DUMP], tmp_path / "table")


def test_regressions_are_named(nights, tmp_path):
    pytest.importorskip("pyarrow")
    for night in nights:
        hlo_analyzer.check_dataset(night, tmp_path / night.name, engine="threads")
    before, after = (tmp_path / night.name for night in nights)
    found = hlo_analyzer.regressions(before, after)
    assert {(one.compile, one.kind) for one in found.found} >= {
        ("train/step", "time"),
        ("train/step", "memory"),
        ("train/step", "kernel"),
        ("train/tokens", "missing"),
    }
    assert not {one.compile for one in found.found} & {"eval/layer"}
    time = next(one for one in found.found if one.kind == "time")
    assert time.ratio > 4 and time.module == "jit_step"
    assert found.compared == 3 and found.added == 0
    same = hlo_analyzer.regressions(before, before)
    assert [one.kind for one in same.found] == ["error"]
    better = hlo_analyzer.regressions(after, before)
    assert [one.kind for one in better.found] == ["error"] and better.added == 1
    assert not [one for one in hlo_analyzer.regressions(before, after, time=9, memory=9).found if one.kind in ("time", "memory")]


def test_the_page_shows_real_output(nights, tmp_path, monkeypatch, capsys):
    """The code of the page is run as it is. ``UPDATE_EXPECT=1`` writes its output."""
    pytest.importorskip("pyarrow")
    shutil.copytree(nights[0], tmp_path / "dumps/2026-08-01")
    shutil.copytree(nights[1], tmp_path / "dumps/2026-08-02")
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    parts = page.split("```")
    names: dict[str, object] = {}
    for place, part in enumerate(parts):
        if part.startswith("python\n"):
            exec(compile(part.removeprefix("python\n").replace("output, ", 'output, engine="threads", '), str(PAGE), "exec"), names)
        elif part.startswith("text\n"):
            parts[place] = f"text\n{capsys.readouterr().out}"
    real = "```".join(parts)
    if os.environ.get("UPDATE_EXPECT"):
        PAGE.write_text(real, encoding="utf-8")
    assert page == real or os.environ.get("UPDATE_EXPECT"), "UPDATE_EXPECT=1 writes the page"
    assert "train/step" in real


def test_ray_runs_a_task_per_compile(nights, tmp_path, monkeypatch):
    """With two workers, and one of the compiles torn. ``cargo xtask editors`` runs it: Ray is large."""
    ray = pytest.importorskip("ray", reason="needs ray: cargo xtask editors")
    # The program notes which worker starts it, and takes long enough for both to be busy.
    program, workers = tmp_path / "hlo-analyzer", tmp_path / "workers"
    program.write_text(f'#!/bin/sh\necho $PPID >> {workers}\nsleep 1\nexec {hlo_analyzer.program()} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HLO_ANALYZER", str(program))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        hlo_analyzer.check_dataset(nights[0], tmp_path / "ray")
    finally:
        ray.shutdown()
    assert len(set(workers.read_text().split())) == 2
    monkeypatch.undo()
    hlo_analyzer.check_dataset(nights[0], tmp_path / "threads", engine="threads")

    def known(folder: str) -> list[str]:
        table = hlo_analyzer.read_dataset(tmp_path / folder).drop_columns("seconds")
        return sorted(map(str, table.to_pylist()))

    assert known("ray") == known("threads")
