"""Looking at things: hover, hints, findings, outline."""

from lsprotocol import types as t

from sample import MODULE, marked


async def test_hover_tells_the_shape_and_the_maps(editor):
    document = editor.open(marked("  %fus|ion.1 = "))
    hover = await editor.client.text_document_hover_async(document.here(t.HoverParams))
    assert "f32[8,128]" in hover.contents.value
    assert "%x" in hover.contents.value
    assert document.word(hover.range).startswith("%fusion.1 = ")


REDUCTIONS = """HloModule m

%sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY %e {
  p = f32[8,128] parameter(0)
  z = f32[] constant(0)
  r = f32[8] reduce(p, z), dimensions={1}, to_apply=%sum
  n = f32[8] negate(r)
  ROOT q = f32[] reduce(n, z), dimensions={0}, to_apply=%sum
}
"""


async def test_hints_stand_in_their_range(editor):
    document = editor.open(REDUCTIONS)
    lines = t.Range(t.Position(8, 0), t.Position(13, 0))
    hints = await editor.client.text_document_inlay_hint_async(document.all(t.InlayHintParams, range=lines))
    # The domain of the negation repeats its shape; the last reduction is below the range.
    assert [hint.position.line for hint in hints] == [11]


async def test_findings_are_sent_with_their_range(editor):
    document = editor.open("HloModule m\n\nENTRY e {\n  ROOT n = f32[] negate(nobody)\n}\n")
    found = await editor.diagnostics(document)
    assert [(f.code, document.word(f.range)) for f in found] == [("unknown-operand", "nobody")]


async def test_the_outline_is_nested(editor):
    document = editor.open(MODULE)
    symbols = await editor.client.text_document_document_symbol_async(document.all(t.DocumentSymbolParams))
    if isinstance(symbols[0], t.SymbolInformation):
        assert [s.name for s in symbols if s.container_name is None] == ["fused_computation", "main"]
        return
    assert [s.name for s in symbols] == ["fused_computation", "main"]
    assert [c.name for c in symbols[1].children] == ["x", "y", "fusion.1", "add.1"]
    assert "f32[8,128]" in symbols[1].children[2].detail


async def test_symbols_of_the_workspace(editor):
    editor.open(MODULE)
    found = await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams(query="FUSEDC"))
    assert {s.name for s in found} == {"fused_computation"}
