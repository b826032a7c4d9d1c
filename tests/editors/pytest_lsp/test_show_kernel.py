"""Show kernel: its text beside the HLO, both ways between their lines, up to date with edits; and values of instructions."""

import asyncio

import pytest
from lsprotocol import types as t

from conftest import PATIENCE

MODULE = """HloModule m

%fused {
  %p = f32[64,66]{1,0} parameter(0)
  %q = f32[66]{0} parameter(1)
  %b = f32[64,66]{1,0} broadcast(%q), dimensions={1}
  ROOT %s| = f32[64,66]{1,0} |add(%p, %b)
}

ENTRY %e {
  %x = f32[64,66]{1,0} parameter(0)
  %y = f32[66]{0} parameter(1)
  %two| = f32[2]{0} constant({1, 2})
  ROOT %f| = f32[64,66]{1,0} fusion(%x, %y), kind=kLoop, calls=%fused
}
"""
SUM, ADD, TWO, FUSION = range(4)
QUIET = {"ptxas": {"enable": False}}


def plain(value):
    """What arrives as objects with attributes, as dictionaries and lists."""
    if isinstance(value, (list, tuple)):
        inner = [plain(v) for v in value]
        fields = getattr(value, "_fields", None)
        return dict(zip(fields, inner)) if fields else inner
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return {key: plain(v) for key, v in vars(value).items()}
    return value


async def ask(editor, method, **params):
    answer = await editor.client.protocol.send_request_async(f"hlo-analyzer/{method}", params)
    return plain(answer)


def place(document, mark):
    position = document.marks[mark]
    at = {"line": position.line, "character": position.character}
    return {"textDocument": {"uri": document.uri}, "position": at}


@pytest.fixture
def opened(editor):
    """The module without programs that may happen to be on PATH, and the kernels of which there were news."""
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(settings=QUIET))
    document = editor.open(MODULE)
    editor.changed = []
    if not hasattr(editor.client, "hears_kernels"):
        editor.client.hears_kernels = True

        @editor.client.feature("hlo-analyzer/kernelChanged")
        def changed(params):
            editor.changed.append(plain(params)["uri"])

    yield document
    editor.close(document)


async def shown(editor, document, mark=FUSION):
    kernel = await ask(editor, "showKernel", **place(document, mark))
    uris = {tab["tab"]: tab["uri"] for tab in kernel["tabs"]}
    texts = {tab: (await ask(editor, "kernelContent", uri=uri))["text"] for tab, uri in uris.items()}
    return kernel, uris, texts


def edit(editor, document, version, mark, old, new):
    start = document.marks[mark]
    end = t.Position(start.line, start.character + len(old))
    change = t.TextDocumentContentChangePartial(range=t.Range(start, end), text=new)
    identifier = t.VersionedTextDocumentIdentifier(uri=document.uri, version=version)
    editor.client.text_document_did_change(t.DidChangeTextDocumentParams(identifier, [change]))


async def test_the_tabs_of_a_kernel(editor, opened):
    # Inside the fused computation it is the same kernel.
    for mark in (FUSION, SUM):
        kernel, _, texts = await shown(editor, opened, mark)
        assert kernel["instruction"] == "f" and list(texts) == ["mlir", "ptx", "passes"]
        for text in texts.values():
            assert text.startswith("// %f | loop | h100-sxm\n// grid 33 | block 128 | shared memory 0 B\n")
    assert "arith.addf" in texts["mlir"] and "add.rn.f32" in texts["ptx"] and "IR Dump After" in texts["passes"]


async def test_following_the_cursor(editor, opened):
    _, uris, texts = await shown(editor, opened)
    for tab, code in [("mlir", "arith.addf"), ("ptx", "add.rn.f32")]:
        lines = texts[tab].split("\n")
        position = place(opened, SUM)["position"]
        runs = (await ask(editor, "kernelLines", uri=uris[tab], position=position))["lines"]
        marked = [line for run in runs for line in lines[run["first"] : run["last"] + 1]]
        assert any(code in line for line in marked), marked
        line = next(n for n, line in enumerate(lines) if code in line)
        source = await ask(editor, "kernelSource", uri=uris[tab], line=line)
        assert source["instruction"] == "s" and source["uri"] == opened.uri
        assert source["at"]["range"]["start"]["line"] == opened.marks[SUM].line
        params = t.DefinitionParams(t.TextDocumentIdentifier(uris[tab]), t.Position(line, 4))
        [(uri, range)] = editor.links(await editor.client.text_document_definition_async(params))
        assert uri == opened.uri and opened.word(range).lstrip("%") == "s"
        params = t.HoverParams(t.TextDocumentIdentifier(uris[tab]), t.Position(line, 4))
        hover = await editor.client.text_document_hover_async(params)
        assert "add(" in hover.contents.value


async def test_a_shown_kernel_is_kept_up_to_date(editor, opened):
    _, uris, texts = await shown(editor, opened)
    for tab, uri in uris.items():
        item = t.TextDocumentItem(uri=uri, language_id=tab, version=1, text=texts[tab])
        editor.client.text_document_did_open(t.DidOpenTextDocumentParams(item))
    # What changes nothing in the kernel is no news.
    edit(editor, opened, 2, SUM, "", " ")
    await asyncio.sleep(0.6)
    assert editor.changed == []
    opened.marks[ADD] = t.Position(opened.marks[ADD].line, opened.marks[ADD].character + 1)
    edit(editor, opened, 3, ADD, "add", "multiply")

    async def news():
        while not set(uris.values()) <= set(editor.changed):
            await asyncio.sleep(0.02)

    await asyncio.wait_for(news(), PATIENCE)
    texts = {tab: (await ask(editor, "kernelContent", uri=uri))["text"] for tab, uri in uris.items()}
    assert "arith.mulf" in texts["mlir"] and "mul.rn.f32" in texts["ptx"]
    for uri in uris.values():
        editor.client.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))


async def test_editors_without_such_documents_have_an_action(editor, opened):
    params = opened.all(
        t.CodeActionParams, range=opened.range("%f = f32"), context=t.CodeActionContext(diagnostics=[])
    )
    actions = await editor.client.text_document_code_action_async(params)
    found = [action for action in actions if action.title.startswith("Show kernel")]
    if [action.title for action in found] == ["Show kernel"]:
        [action] = found
        # The library takes each action with a command for a command.
        command = "hlo-analyzer.openKernel"
        assert command in str(action.command)
        params = t.ExecuteCommandParams(command, [opened.uri, place(opened, FUSION)["position"]])
        answer = plain(await editor.client.workspace_execute_command_async(params))
        text = answer["tabs"][1]["text"]
    else:
        assert [action.title for action in found] == ["Show kernel as PTX", "Show kernel as MLIR"]
        action = found[0]
        if action.edit is None:
            action = await editor.client.code_action_resolve_async(action)
        text = str(action.edit)
    assert "add.rn.f32" in text


async def test_evaluate(editor, opened):
    answer = await ask(editor, "evaluate", **place(opened, TWO))
    assert answer["outputs"] == ["{1, 2}"] and answer["parameters"] == []
    answer = await ask(editor, "evaluate", **place(opened, SUM))
    assert "parameter" in answer["reason"]
    assert [(p["number"], p["name"], p["shape"]) for p in answer["parameters"]] == [
        (0, "p", "f32[64,66]{1,0}"),
        (1, "q", "f32[66]{0}"),
    ]
    inputs = ["{" + ", ".join(["1"] * 64 * 66) + "}", "{" + ", ".join(["2"] * 66) + "}"]
    answer = await ask(editor, "evaluate", **place(opened, SUM), inputs=inputs)
    assert set(answer["outputs"][0].strip("{}").replace("}, {", ", ").split(", ")) == {"3"}
