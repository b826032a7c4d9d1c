"""The server of `hlo-analyzer mcp` under a client that others wrote (the Python package `mcp`).

A test asks for `server` and calls tools by name:

    def test_kernels(server):
        assert "gemm_fusion_dot" in server.call("kernels", path=DUMP).text

All tests share one server process, as the questions of one conversation do. Paths are relative to the root of the checkout.
"""

import asyncio
import os
import tarfile
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).resolve().parents[2]
SERVER = os.environ.get("HLO_ANALYZER", "hlo-analyzer")
# Compiles of real models, beside the checkout; absent on most machines.
COMPILES = ROOT / "../shared/corpus/compiles"
UNPACKED = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "agents"
PATIENCE = 120


@dataclass
class Answer:
    text: str
    links: list
    is_error: bool

    @property
    def bytes(self) -> int:
        """What the model reads: the text, and the address and name of each link."""
        return len(self.text.encode()) + sum(len(f"{link.name}{link.uri}".encode()) for link in self.links)


class Server:
    """A session, driven from synchronous tests by a loop on a thread of its own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.ready, self.done = threading.Event(), None
        self.failure = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        assert self.ready.wait(PATIENCE), "the server does not start"
        if self.failure:
            raise self.failure

    def run(self):
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self.serve())
        except BaseException as failure:
            self.failure = failure
            self.ready.set()

    async def serve(self):
        self.done = asyncio.Event()
        parameters = StdioServerParameters(command=SERVER, args=["mcp"], cwd=str(ROOT))
        async with stdio_client(parameters) as (reads, writes), ClientSession(reads, writes) as session:
            self.initialized = await session.initialize()
            self.session = session
            self.ready.set()
            await self.done.wait()

    def wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)

    def call(self, tool: str, **arguments) -> Answer:
        result = self.wait(self.session.call_tool(tool, arguments))
        texts = [block.text for block in result.content if block.type == "text"]
        links = [block for block in result.content if block.type == "resource_link"]
        return Answer("\n".join(texts), links, bool(result.is_error))

    def read(self, uri) -> tuple[str, str]:
        [contents] = self.wait(self.session.read_resource(str(uri))).contents
        return contents.text, contents.mime_type

    def close(self):
        self.loop.call_soon_threadsafe(self.done.set)
        self.thread.join(PATIENCE)


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    server.close()


def compile_of(model: str) -> str:
    """The dump folder of a model, unpacked once. Skips the test where there is none."""
    archive = COMPILES / f"{model}.tar.xz"
    if not archive.is_file():
        pytest.skip(f"there is no {archive.name} beside this checkout")
    folder = UNPACKED / model
    if not folder.is_dir():
        UNPACKED.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as packed:
            packed.extractall(UNPACKED, filter="data")
    return str(folder)
