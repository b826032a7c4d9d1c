"""From name to name."""

from lsprotocol import types as t

from sample import marked


async def test_definition(editor):
    document = editor.open(marked("fusion(|%x", "calls=%fused_|computation", "multiply(%param_0, %|param_1)"))
    ask = editor.client.text_document_definition_async
    targets = [editor.links(await ask(document.here(t.DefinitionParams, mark))) for mark in range(3)]
    assert [uri for target in targets for uri, _ in target] == [document.uri] * 3
    found = [target[0][1] for target in targets]
    assert document.words(found) == ["param_1", "x", "fused_computation"]
    assert [r.start.line for r in found] == [4, 9, 2]


async def test_a_parameter_leads_to_its_operand(editor):
    document = editor.open(marked("%param_1 = f32[8,128]{1,0} para|meter(1)"))
    found = editor.links(await editor.client.text_document_definition_async(document.here(t.DefinitionParams)))
    assert [(document.word(r), r.start.line) for _, r in found] == [("y", 11)]


async def test_type_definition(editor):
    document = editor.open(marked("add(%fus|ion.1, %y)"))
    found = editor.links(await editor.client.text_document_type_definition_async(document.here(t.TypeDefinitionParams)))
    assert [document.word(r) for _, r in found] == ["multiply.1"]


async def test_references_and_highlights(editor):
    document = editor.open(marked("add(%fusion.1, %|y)"))
    context = t.ReferenceContext(include_declaration=True)
    found = await editor.client.text_document_references_async(document.here(t.ReferenceParams, context=context))
    lit = await editor.client.text_document_document_highlight_async(document.here(t.DocumentHighlightParams))
    assert [r.range for r in found] == [h.range for h in lit]
    assert document.words(r.range for r in found) == ["y"] * 4
    kind = t.DocumentHighlightKind
    assert [h.kind for h in lit] == [kind.Write, kind.Write, kind.Read, kind.Read]


async def test_call_hierarchy(editor):
    document = editor.open(marked("calls=%fused_|computation"))
    [item] = await editor.client.text_document_prepare_call_hierarchy_async(document.here(t.CallHierarchyPrepareParams))
    assert document.word(item.selection_range) == "fused_computation"
    [caller] = await editor.client.call_hierarchy_incoming_calls_async(t.CallHierarchyIncomingCallsParams(item))
    assert caller.from_.name == "main"
    assert document.words(caller.from_ranges) == ["fused_computation"]
    [callee] = await editor.client.call_hierarchy_outgoing_calls_async(t.CallHierarchyOutgoingCallsParams(caller.from_))
    assert callee.to == item


async def test_links_lead_to_files_of_the_workspace(editor):
    document = editor.open(marked("source_|file"))
    found = await editor.client.text_document_document_link_async(document.all(t.DocumentLinkParams))
    assert document.words(link.range for link in found) == ["sample.py"]
    assert found[0].target.endswith("/pytest_lsp/sample.py#L3")


async def test_lenses_are_resolved(editor):
    document = editor.open(marked("ENTRY |%main"))
    lenses = await editor.client.text_document_code_lens_async(document.all(t.CodeLensParams))
    told = [lens for lens in lenses if lens.command is None]
    assert list(dict.fromkeys(document.words(lens.range for lens in told))) == ["fused_computation", "main", "fusion.1", "add.1"]
    resolved = await editor.client.code_lens_resolve_async(lenses[0])
    assert resolved.command.title == "1 caller · 3 instructions · 1.02 kFLOP · 12.3 kB"
