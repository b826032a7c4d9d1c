"""The protocol: what the server says of itself, pages, resources, errors, and what it leaves alone."""

import hashlib
import json
import re
import subprocess
import time
from pathlib import Path

from conftest import ROOT, SERVER
from questions import BEFORE, DUMP, OPTIMISED


def test_the_server_introduces_itself(server):
    assert server.initialized.server_info.name == "hlo-analyzer"
    assert "dump folder" in server.initialized.instructions
    tools = server.wait(server.session.list_tools()).tools
    assert len(tools) >= 16
    for tool in tools:
        assert re.fullmatch(r"[a-z_]+", tool.name) and tool.description.endswith(".")
        assert tool.annotations.read_only_hint and tool.input_schema["additionalProperties"] is False
    # They are in the context of every conversation.
    assert sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools) / 4 < 4000


def test_pages_have_each_item_once(server):
    cursor, lines = 0, []
    while cursor is not None:
        answer = server.call("blame", path=DUMP, limit=7, cursor=cursor)
        assert not answer.is_error and answer.text.startswith("31 of 36 instructions")
        lines += [line for line in answer.text.splitlines() if line.startswith("%")]
        more = re.search(r'the same call with "cursor": (\d+)', answer.text)
        cursor = int(more[1]) if more else None
    names = [line.split()[0] for line in lines]
    assert len(names) == len(set(names)) == 31
    beyond = server.call("blame", path=DUMP, cursor=31)
    assert beyond.text.endswith("no more: there are 31 instructions") or "%" not in beyond.text


def test_answers_are_small_unless_more_is_asked_for(server):
    small = server.call("kernel_code", path=DUMP, instruction="input_multiply_reduce_fusion")
    assert small.bytes < 3600 and "more lines" in small.text
    large = server.call("kernel_code", path=DUMP, instruction="input_multiply_reduce_fusion", limit=10_000)
    assert len(small.text) < len(large.text) < 16_500


def test_links_lead_to_all_of_it(server):
    answer = server.call("kernel_code", path=DUMP, instruction="loop_tanh_fusion", emit="mlir", limit=3)
    [link] = answer.links
    text, mime_type = server.read(link.uri)
    assert mime_type == "text/plain" and text.count("\n") > 20 and "func.func" in text
    for tool, arguments in (("memory", {}), ("access_pattern", {"instruction": "loop_tanh_fusion"})):
        [link] = server.call(tool, path=DUMP, **arguments).links
        svg, mime_type = server.read(link.uri)
        assert mime_type == link.mime_type == "image/svg+xml" and svg.startswith("<svg")
    templates = server.wait(server.session.list_resource_templates()).resource_templates
    assert any(template.uri_template.startswith("hlo-analyzer:/memory.svg{?path") for template in templates)


def test_errors_say_what_to_do(server):
    def refused(tool, **arguments):
        answer = server.call(tool, **arguments)
        assert answer.is_error, answer.text
        return answer.text

    assert "no tool fuse; there are compiles, kernels" in refused("fuse")
    assert 'kernels needs "path"' in refused("kernels")
    assert 'memory has no argument "file"; it has path' in refused("memory", path=DUMP, file="x")
    assert '"limit" of kernels is a number from 0, not "all"' in refused("kernels", path=DUMP, limit="all")
    missing = refused("kernels", path="no/such.hlo")
    assert f"no file or folder no/such.hlo: paths are absolute, or relative to {ROOT}" in missing
    assert "folder without an optimised module" in refused("kernels", path="server/docs")
    several = refused("kernels", path="server/compile-diff/tests/fixtures")
    assert "name a file" in several
    unknown = refused("kernel", path=BEFORE, instruction="loop_sine")
    assert "no instruction %loop_sine" in unknown and "`search`" in unknown
    assert "it has %loop_tanh_fusion, %loop_subtract_fusion" in unknown
    assert "it has %loop_tanh_fusion" in refused("kernel", path=BEFORE, instruction="loop_tanh_fusion.9")
    assert "`kernels` lists what runs as a kernel" in refused("kernel", path=DUMP, instruction="x.1")
    assert "h100-sxm" in refused("kernels", path=DUMP, device="toaster")
    assert "holds" in refused("kernels", path=f"{OPTIMISED}-buffer-assignment.txt")
    assert "give an HLO module" in refused("memory", path=f"{DUMP}/jax_ir0001_jit_step_compile.mlir")
    assert "search needs one of" in refused("search", path=DUMP)


def test_a_folder_with_several_modules_lists_them(server, tmp_path):
    source = (ROOT / f"{OPTIMISED}.txt").read_text()
    for number in (1, 2):
        (tmp_path / f"module_000{number}.jit_f{number}.sm_9.0a_gpu_after_optimizations.txt").write_text(source)
    answer = server.call("kernels", path=str(tmp_path))
    assert answer.is_error and "has 2 optimised modules" in answer.text
    listed = re.findall(r"^  (\S+)$", answer.text, re.MULTILINE)
    assert len(listed) == 2 and not server.call("kernels", path=listed[1]).is_error
    findings = server.call("findings", path=str(tmp_path))
    assert findings.text.startswith("0 errors, 2 warnings in 2 modules of")


def test_an_edited_file_is_read_again(server, tmp_path):
    file = tmp_path / "m.hlo"
    module = "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(OPERAND)\n}\n"
    file.write_text(module.replace("OPERAND", "q"))
    answer = server.call("findings", path=str(file))
    assert answer.text.startswith("1 error, 0 warnings") and "error[unknown-operand] line 5: " in answer.text
    file.write_text(module.replace("OPERAND", "p"))
    assert server.call("findings", path=str(file)).text.startswith("0 errors, 0 warnings")


def test_hostile_text_stays_text(server, tmp_path):
    file = tmp_path / "m.hlo"
    file.write_text("HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0), metadata={op_name=\"a\x1b[2J\u202e\"}\n}\n")
    text = server.call("search", path=str(file), opcode="parameter").text
    assert "\x1b" not in text and "\u202e" not in text and "1 instruction" in text
    file.write_bytes(b"\xff\xfe\x00" * 1000)
    for tool in ("kernels", "memory", "findings"):
        server.call(tool, path=str(file))
    assert not server.call("kernels", path=DUMP).is_error


def test_nothing_is_written(server):
    folder = Path(ROOT / DUMP)

    def state():
        return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}

    before = state()
    for tool in ("compiles", "kernels", "memory", "memory_advice", "findings", "blame"):
        server.call(tool, path=DUMP)
    assert state() == before


def test_the_server_ends_with_its_input():
    done = subprocess.run([SERVER, "mcp"], input=b"", capture_output=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    garbage = subprocess.run([SERVER, "mcp"], input=b"not json\n{}\n", capture_output=True, timeout=30)
    assert garbage.returncode in (0, 2) and b"panicked" not in garbage.stderr, garbage.stderr


def slow_module(instructions: int) -> str:
    """A module whose plan of memory takes long: values with users far away."""
    lines = ["HloModule m\n", "ENTRY e {", "  v0 = f32[64,64] parameter(0)"]
    operand = 7
    for number in range(1, instructions):
        operand = operand * 1103515245 % 2**31
        near = [number - 1 - operand % min(number, 50), number - 1 - operand // 64 % min(number, 50)]
        lines.append(f"  v{number} = f32[64,64] add(v{near[0]}, v{near[1]})")
    lines.append(f"  ROOT r = f32[64,64] negate(v{instructions - 1})\n}}\n")
    return "\n".join(lines)


def test_a_cancelled_call_stops(tmp_path):
    file = tmp_path / "slow.hlo"
    file.write_text(slow_module(25_000))
    process = subprocess.Popen([SERVER, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(method, number=None, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        process.stdin.write(json.dumps(message | ({} if number is None else {"id": number})) + "\n")
        process.stdin.flush()

    def answered(number) -> float:
        """Seconds until the answer to a request, which must be the next message."""
        start = time.monotonic()
        assert json.loads(process.stdout.readline())["id"] == number
        return time.monotonic() - start

    client = {"name": "test", "version": "1"}
    send("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    answered(0)
    send("notifications/initialized")
    send("tools/call", 1, name="memory_advice", arguments={"path": str(file)})
    whole = answered(1)
    file.write_text(file.read_text() + "// other text, so that nothing is known of it\n")
    send("tools/call", 2, name="memory_advice", arguments={"path": str(file)})
    time.sleep(whole / 10)
    send("notifications/cancelled", requestId=2)
    send("tools/call", 3, name="map", arguments={"path": str(file), "instruction": "r"})
    after = answered(3)
    process.stdin.close()
    assert process.wait(30) == 0
    print(f"whole {whole:.1f} s, after it was cancelled {after:.1f} s")
    assert after < whole / 2
