"""The form of a text: folds, selections, colours."""

from lsprotocol import types as t

from sample import MODULE, marked


async def test_folds(editor):
    document = editor.open(MODULE)
    folds = await editor.client.text_document_folding_range_async(document.all(t.FoldingRangeParams))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(2, 5), (8, 12)]


async def test_selections_grow(editor):
    document = editor.open(marked("add(%fus|ion.1, %y)"))
    params = document.all(t.SelectionRangeParams, positions=document.marks)
    [selection] = await editor.client.text_document_selection_range_async(params)
    words = []
    while selection:
        words.append(document.word(selection.range))
        selection = selection.parent
    assert words[:3] == ["%fusion.1", "%fusion.1, %y", "(%fusion.1, %y)"]
    assert words[-1] == document.text
    assert all(inner in outer for inner, outer in zip(words, words[1:]))


def decoded(editor, document, data) -> list[tuple[str, str]]:
    legend = editor.capabilities.semantic_tokens_provider.legend.token_types
    line = column = 0
    words = []
    for at in range(0, len(data), 5):
        down, right, length, kind, _ = data[at : at + 5]
        line, column = line + down, right if down else column + right
        place = t.Range(t.Position(line, column), t.Position(line, column + length))
        words.append((document.word(place), legend[kind]))
    return words


async def test_colours(editor):
    document = editor.open(MODULE)
    tokens = await editor.client.text_document_semantic_tokens_full_async(document.all(t.SemanticTokensParams))
    words = decoded(editor, document, tokens.data)
    for expect in [
        ("HloModule", "keyword"),
        ("sample", "namespace"),
        ("%fused_computation", "function"),
        ("%param_0", "parameter"),
        ("multiply", "method"),
        ("f32", "type"),
        ("%fusion.1", "variable"),
        ("kind", "property"),
        ("kLoop", "enumMember"),
        ('"é😀"', "string"),
        ("128", "number"),
    ]:
        assert expect in words

    lines = t.Range(t.Position(11, 0), t.Position(12, 0))
    part = await editor.client.text_document_semantic_tokens_range_async(
        document.all(t.SemanticTokensRangeParams, range=lines)
    )
    some = decoded(editor, document, part.data)
    assert some[0] == ("%fusion.1", "variable") and some[-1] == ("%fused_computation", "function")

    delta = await editor.client.text_document_semantic_tokens_full_delta_async(
        document.all(t.SemanticTokensDeltaParams, previous_result_id=tokens.result_id)
    )
    assert not delta.edits, "nothing has changed"
