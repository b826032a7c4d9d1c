"""What the GPU will do: lenses, warnings, popups, access patterns."""

from lsprotocol import types as t

MODULE = """HloModule kernels

%fused {
  %p = f32[512,512]{1,0} parameter(0)
  %q = f32[512,512]{0,1} parameter(1)
  ROOT %a = f32[512,512]{1,0} add(%p, %q)
}

ENTRY %e {
  %x = f32[512,512]{1,0} parameter(0)
  %y = f32[512,512]{0,1} parameter(1)
  ROOT %f|ast = f32[512,512]{1,0} fusion(%x, %y), kind=kLoop, calls=%fused
}
"""


async def test_lenses_say_how_a_kernel_runs(editor):
    document = editor.open(MODULE)
    lenses = await editor.client.text_document_code_lens_async(document.all(t.CodeLensParams))
    lenses = [lens for lens in lenses if document.word(lens.range) == "fast"]
    assert lenses[0].command is None, "titles are resolved"
    resolved = [lens if lens.command else await editor.client.code_lens_resolve_async(lens) for lens in lenses]
    titles = [lens.command.title for lens in resolved]
    # Where the editor can be shown a file, the kernel itself is one click away.
    assert len(titles) == 1 or titles[1] == "Show kernel"
    line = " · ".join(titles)
    assert line.startswith(("≈ ", "≥ ")) and "loop · 2048 × 128 threads" in line


async def test_hovers_tell_the_kernel(editor):
    document = editor.open(MODULE)
    hover = await editor.client.text_document_hover_async(document.here(t.HoverParams))
    for expect in ["loop", "grid 2048", "strided by 512, 32 sectors per request (ideal 4)", "th_x"]:
        assert expect in hover.contents.value


async def test_uncoalesced_reads_are_warnings(editor):
    # Smaller ones are over before the next could be launched.
    document = editor.open(MODULE.replace("512", "2048"))
    found = [d for d in await editor.diagnostics(document) if d.code == "uncoalesced"]
    [warning, cause] = sorted(found, key=lambda d: d.severity)
    assert (document.word(cause.range), cause.severity) == ("a", t.DiagnosticSeverity.Information)
    assert document.word(warning.range) == "y"
    assert warning.severity == t.DiagnosticSeverity.Warning
    for expect in ["stride of 8192 elements", "32 sectors per request, 4 would do", "lay out %y as {1,0}: 16.8 MB moved"]:
        assert expect in warning.message


async def test_access_patterns_are_drawn(editor):
    document = editor.open(MODULE)
    params = {
        "textDocument": {"uri": document.uri},
        "position": {"line": document.marks[0].line, "character": document.marks[0].character},
        "warp": 1,
    }
    pattern = await editor.client.protocol.send_request_async("hlo-analyzer/accessPattern", params)
    value = (lambda name: pattern[name]) if isinstance(pattern, dict) else (lambda name: getattr(pattern, name))
    assert value("title") == "%y read by %fast"
    assert (value("blocks"), value("warps"), value("warp")) == (2048, 4, 1)
    assert value("svg").startswith("<svg") and "lanes 0" in value("text")


async def test_the_access_pattern_is_an_action(editor):
    document = editor.open(MODULE)
    params = document.all(
        t.CodeActionParams, range=document.range("%fast"), context=t.CodeActionContext(diagnostics=[])
    )
    actions = await editor.client.text_document_code_action_async(params)
    assert "Show access pattern" in [action.title for action in actions]
