"""New names, everywhere at once, or a reason."""

import pytest
from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from sample import MODULE, marked


async def test_an_instruction_gets_a_new_name(editor):
    document = editor.open(marked("add(%fusion.1, %|y)"))
    prepared = await editor.client.text_document_prepare_rename_async(document.here(t.PrepareRenameParams))
    assert (prepared.placeholder, document.word(prepared.range)) == ("y", "y")
    edit = await editor.client.text_document_rename_async(document.here(t.RenameParams, new_name="%input"))
    expect = (
        MODULE.replace("(x: f32[8,128], y:", "(x: f32[8,128], input:")
        .replace("%y = ", "%input = ")
        .replace(" %y)", " %input)")
    )
    assert document.patched(editor.edits(edit, document)) == expect


async def test_a_computation_gets_a_new_name(editor):
    document = editor.open(marked("calls=|%fused"))
    edit = await editor.client.text_document_rename_async(document.here(t.RenameParams, new_name="mul"))
    assert document.patched(editor.edits(edit, document)) == MODULE.replace("fused_computation", "mul")


@pytest.mark.parametrize("new_name, reason", [("x", "exists"), ("a b", "letters"), ("", "starts with")])
async def test_a_name_that_cannot_be_is_refused(editor, new_name, reason):
    document = editor.open(marked("add(%fusion.1, %|y)"))
    with pytest.raises(JsonRpcException, match=reason):
        await editor.client.text_document_rename_async(document.here(t.RenameParams, new_name=new_name))


async def test_what_is_no_name_is_refused(editor):
    document = editor.open(marked("kind=kL|oop"))
    with pytest.raises(JsonRpcException, match="no name"):
        await editor.client.text_document_prepare_rename_async(document.here(t.PrepareRenameParams))
