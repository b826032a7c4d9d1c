"""White space put right, and changes that the editor offers."""

from lsprotocol import types as t

CROOKED = "HloModule m\n\nENTRY %e {\n  %p=f32[8]{0}   parameter( 0 )\n    ROOT %n = f32[8]{0} negate(%p)\n}\n"
STRAIGHT = "HloModule m\n\nENTRY %e {\n  %p = f32[8]{0} parameter(0)\n  ROOT %n = f32[8]{0} negate(%p)\n}\n"
OPTIONS = t.FormattingOptions(tab_size=2, insert_spaces=True)


async def test_a_document_is_formatted(editor):
    document = editor.open(CROOKED)
    edits = await editor.client.text_document_formatting_async(
        document.all(t.DocumentFormattingParams, options=OPTIONS)
    )
    assert document.patched(edits) == STRAIGHT


async def test_a_range_is_formatted_alone(editor):
    document = editor.open(CROOKED)
    line = document.range("%p=f32[8]{0}   parameter( 0 )")
    edits = await editor.client.text_document_range_formatting_async(
        document.all(t.DocumentRangeFormattingParams, range=line, options=OPTIONS)
    )
    assert document.patched(edits).split("\n")[3:5] == [STRAIGHT.split("\n")[3], CROOKED.split("\n")[4]]


async def test_a_line_is_formatted_when_it_is_done(editor):
    document = editor.open(CROOKED.replace("( 0 )\n", "( 0 )\n|"))
    edits = await editor.client.text_document_on_type_formatting_async(
        document.here(t.DocumentOnTypeFormattingParams, ch="\n", options=OPTIONS)
    )
    assert document.patched(edits).split("\n")[3] == STRAIGHT.split("\n")[3]


async def repairs(editor, text: str, needle: str, title: str) -> str | None:
    """The text after the code action whose title has these words."""
    document = editor.open(text)
    findings = await editor.diagnostics(document)
    actions = await editor.client.text_document_code_action_async(
        document.all(
            t.CodeActionParams, range=document.range(needle), context=t.CodeActionContext(diagnostics=findings)
        )
    )
    action = next((a for a in actions if isinstance(a, t.CodeAction) and title in a.title), None)
    assert action, [a.title for a in actions]
    if action.edit is None:
        action = await editor.client.code_action_resolve_async(action)
    edits = (action.edit.changes or {}).get(document.uri)
    if edits is None:
        edits = action.edit.document_changes[0].edits
    return document.patched(edits)


async def test_a_wrong_shape_is_set_right(editor):
    wrong = STRAIGHT.replace("%n = f32[8]{0}", "%n = f32[9]{0}")
    assert await repairs(editor, wrong, "f32[9]{0}", "f32[8]") == STRAIGHT


async def test_a_misspelt_operand_is_found(editor):
    wrong = STRAIGHT.replace("%p = ", "%param.1 = ").replace("negate(%p)", "negate(%parm.1)")
    right = wrong.replace("%parm.1", "%param.1")
    assert await repairs(editor, wrong, "%parm.1", "param.1") == right


async def test_operand_shapes_are_written(editor):
    found = await repairs(editor, STRAIGHT, "%n", "operand shapes")
    assert "negate(f32[8]{0} %p)" in found
