"""Typing a line: completion, signature help, warnings and their repairs."""

from lsprotocol import types as t

LINE = "HloModule m\n\nENTRY %e {\n  %p = f32[8]{0} parameter(0)\n  "


async def first(editor, line: str):
    document = editor.open(LINE + line + "\n}\n")
    found = await editor.client.text_document_completion_async(document.here(t.CompletionParams))
    return document, min(found.items, key=lambda item: item.sort_text)


async def test_an_opcode_is_completed_and_explained(editor):
    document, item = await first(editor, "%n = f32[8]{0} neg|")
    assert item.label == "negate"
    assert document.word(item.text_edit.range) == "neg"
    assert item.text_edit.new_text.startswith("negate(")
    resolved = await editor.client.completion_item_resolve_async(item)
    text = resolved.documentation
    assert "sign" in (text if isinstance(text, str) else text.value)


async def test_an_operand_that_fits_is_completed(editor):
    document, item = await first(editor, "%n = f32[8]{0} negate(%|")
    assert (item.label, item.text_edit.new_text) == ("p", "%p")
    assert document.word(item.text_edit.range) == "%"


async def test_signature_help_names_the_operand(editor):
    document = editor.open(LINE + "%n = f32[8]{0} add(%p, |\n}\n")
    help = await editor.client.text_document_signature_help_async(document.here(t.SignatureHelpParams))
    assert help.active_parameter == 1
    assert help.signatures[0].label.startswith("add(lhs: f32[8]")


async def test_what_is_unused_is_told(editor):
    optimized = LINE.replace("HloModule m", "HloModule m, is_scheduled=true")
    document = editor.open(optimized + "%n = f32[8]{0} negate(%p)\n  ROOT %r = f32[8]{0} abs(%p)\n}\n")
    found = await editor.diagnostics(document)
    assert [(f.code, document.word(f.range)) for f in found] == [("unused-instruction", "n")]
