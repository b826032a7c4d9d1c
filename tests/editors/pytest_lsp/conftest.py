"""The server under a client that others wrote (pytest-lsp), as three editors present themselves.

A test asks for `editor`, opens a text in which places are marked, and asks the client:

    async def test_hover(editor):
        document = editor.open("ENTRY e {\\n  ROOT %|c = f32[] constant(1)\\n}\\n")
        hover = await editor.client.text_document_hover_async(document.here(t.HoverParams))

Every test runs once per editor: what the editor said it can do decides the form of the answer. Answers are checked by
their types on the way in, so a test needs to look at the values alone.
"""

import asyncio
import itertools
import os

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

SERVER = os.environ.get("HLO_ANALYZER", "hlo-analyzer")
PATIENCE = 30
EDITORS = ["neovim", "visual-studio-code", "emacs"]


class Document:
    """A text with marks: `|` stands for the places that a test asks about and is not in the text."""

    numbers = itertools.count()

    def __init__(self, marked: str, encoding: str):
        parts = marked.split("|")
        self.text = "".join(parts)
        self.uri = f"file:///tests/{next(Document.numbers)}.hlo"
        self.encoding = encoding
        ends = itertools.accumulate(len(part) for part in parts[:-1])
        self.marks = [self.position(end) for end in ends]

    @property
    def identifier(self) -> t.TextDocumentIdentifier:
        return t.TextDocumentIdentifier(self.uri)

    def width(self, text: str) -> int:
        """Columns of a piece of a line, as the server and the client agreed to count them."""
        match self.encoding:
            case "utf-8":
                return len(text.encode())
            case "utf-32":
                return len(text)
            case _:
                return len(text.encode("utf-16-le")) // 2

    def position(self, index: int) -> t.Position:
        before = self.text[:index]
        line = before.count("\n")
        return t.Position(line, self.width(before[before.rfind("\n") + 1 :]))

    def range(self, needle: str, nth: int = 0) -> t.Range:
        """The n-th place where `needle` stands."""
        at = -1
        for _ in range(nth + 1):
            at = self.text.index(needle, at + 1)
        return t.Range(self.position(at), self.position(at + len(needle)))

    def index(self, position: t.Position) -> int:
        lines = self.text.split("\n")
        line = lines[position.line]
        columns = next(n for n in range(len(line) + 1) if self.width(line[:n]) == position.character)
        return sum(len(before) + 1 for before in lines[: position.line]) + columns

    def word(self, range: t.Range) -> str:
        """What stands there."""
        return self.text[self.index(range.start) : self.index(range.end)]

    def words(self, ranges) -> list[str]:
        return [self.word(range) for range in ranges]

    def here(self, params, mark: int = 0, **more):
        """Parameters of a request about a mark."""
        return params(text_document=self.identifier, position=self.marks[mark], **more)

    def all(self, params, **more):
        """Parameters of a request about the document."""
        return params(text_document=self.identifier, **more)

    def patched(self, edits: list[t.TextEdit]) -> str:
        """The text after the edits of an answer."""
        text = self.text
        for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = text[: self.index(edit.range.start)] + edit.new_text + text[self.index(edit.range.end) :]
        return text


class Editor:
    def __init__(self, client: LanguageClient, name: str, welcome: t.InitializeResult):
        self.client = client
        self.name = name
        self.capabilities = welcome.capabilities
        self.encoding = welcome.capabilities.position_encoding or "utf-16"

    def open(self, marked: str) -> Document:
        document = Document(marked, self.encoding)
        item = t.TextDocumentItem(uri=document.uri, language_id="hlo", version=1, text=document.text)
        self.client.text_document_did_open(t.DidOpenTextDocumentParams(item))
        return document

    def close(self, document: Document):
        self.client.text_document_did_close(t.DidCloseTextDocumentParams(document.identifier))

    async def diagnostics(self, document: Document) -> list[t.Diagnostic]:
        """The findings of a document that was just opened: asked for by clients that ask, else sent by the server."""
        if self.capabilities.diagnostic_provider:
            params = t.DocumentDiagnosticParams(text_document=document.identifier)
            report = await self.client.text_document_diagnostic_async(params)
            return report.items

        async def published():
            while document.uri not in self.client.diagnostics:
                await self.client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)

        await asyncio.wait_for(published(), PATIENCE)
        return self.client.diagnostics[document.uri]

    @staticmethod
    def links(answer) -> list[tuple[str, t.Range]]:
        """The names that a definition leads to, in whichever of its three forms."""
        targets = answer if isinstance(answer, (list, tuple)) else [answer] if answer else []
        return [
            (target.target_uri, target.target_selection_range)
            if isinstance(target, t.LocationLink)
            else (target.uri, target.range)
            for target in targets
        ]

    def edits(self, edit: t.WorkspaceEdit, document: Document) -> list[t.TextEdit]:
        """The edits of one document, in whichever form they were sent."""
        if edit.document_changes:
            [change] = edit.document_changes
            assert change.text_document.uri == document.uri and change.text_document.version == 1
            return change.edits
        assert list(edit.changes) == [document.uri]
        return edit.changes[document.uri]


@pytest_lsp.fixture(
    scope="module",
    params=EDITORS,
    config=ClientServerConfig(server_command=[SERVER, "lsp"]),
)
async def client(request, lsp_client: LanguageClient):
    @lsp_client.feature(t.CLIENT_REGISTER_CAPABILITY)
    def register(_client: LanguageClient, _params: t.RegistrationParams):
        # What the server wants to be told of: this client tells it nothing of folders and settings.
        return None

    folders = [t.WorkspaceFolder(uri=f"file://{os.path.dirname(__file__)}", name="tests")]
    params = t.InitializeParams(capabilities=client_capabilities(request.param), workspace_folders=folders)
    lsp_client.editor = Editor(lsp_client, request.param, await lsp_client.initialize_session(params))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: LanguageClient) -> Editor:
    return client.editor
