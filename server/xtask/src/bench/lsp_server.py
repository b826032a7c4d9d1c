"""Times a language server on one file: `lsp_server.py FILE EDITS COMMAND...` prints JSON. Milliseconds are from the last byte of a
message that is ready to be sent to the answer: `open_ms` to the first diagnostics; `edit_ms` from an edit that mends the operand which
the edit before it broke, to its diagnostics, the median of EDITS; `hover_ms` of a hover that is sent right behind such an edit; `resident_mb` after all of them.

Whether edits are sent whole or as the changed range is what the server asks for. The file has one line with `MEND HERE`; the operand
at the end of the line below it is the one that is broken and mended, by a digit behind it."""

import json
import os
import queue
import re
import statistics
import subprocess
import sys
import threading
import time

PATIENCE = 300

path, rounds, *command = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    sound = file.read()
uri = "file://" + os.path.abspath(path)
place = sound.index("\n", sound.index("MEND HERE")) + 1
place = sound.index("\n", place)
line = sound.count("\n", 0, place)
column = place - sound.rindex("\n", 0, place) - 1
broken = sound[:place] + "9" + sound[place:]
# A name in the line that is edited, in front of the place: the hover is answered by what the edit made.
text_of_line = sound[place - column : place]
hovered = re.search(r"%\w+", text_of_line).start() + 1

server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
messages = queue.Queue()


def read():
    while True:
        length = None
        while True:
            header = server.stdout.readline()
            if not header:
                messages.put((None, time.perf_counter()))
                return
            if header in (b"\r\n", b"\n"):
                break
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        body = server.stdout.read(length)
        now = time.perf_counter()
        messages.put((json.loads(body), now))


threading.Thread(target=read, daemon=True).start()


def frame(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def send(framed):
    start = time.perf_counter()
    server.stdin.write(framed)
    server.stdin.flush()
    return start


def wait(is_it):
    end = time.perf_counter() + PATIENCE
    while True:
        message, at = messages.get(timeout=max(0.01, end - time.perf_counter()))
        if message is None:
            sys.exit("the server has gone")
        if "method" in message and "id" in message:
            items = message.get("params", {}).get("items", [])
            send(frame(id=message["id"], result=[None] * len(items)))
        elif is_it(message):
            return message, at


def answer(number):
    return wait(lambda message: message.get("id") == number and "method" not in message)


def diagnostics(version):
    def is_it(message):
        params = message.get("params", {})
        return (
            message.get("method") == "textDocument/publishDiagnostics"
            and params["uri"] == uri
            and params.get("version") in (None, version)
        )

    return wait(is_it)


capabilities = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "textDocument": {"publishDiagnostics": {"versionSupport": True}, "hover": {"contentFormat": ["markdown"]}},
}
send(frame(id=1, method="initialize", params={"processId": os.getpid(), "rootUri": None, "capabilities": capabilities}))
reply, _ = answer(1)
sync = reply["result"]["capabilities"].get("textDocumentSync")
is_incremental = (sync.get("change") if isinstance(sync, dict) else sync) == 2
send(frame(method="initialized", params={}))

document = {"uri": uri, "languageId": "mlir", "version": 1, "text": sound}
opening = frame(method="textDocument/didOpen", params={"textDocument": document})
start = send(opening)
first, at = diagnostics(1)
result = {"open_ms": (at - start) * 1e3, "findings": len(first["params"]["diagnostics"])}


def change(version, mends):
    inserted = {"line": line, "character": column}
    behind = {"line": line, "character": column + 1}
    if is_incremental:
        changes = [{"range": {"start": inserted, "end": behind if mends else inserted}, "text": "" if mends else "9"}]
    else:
        changes = [{"text": sound if mends else broken}]
    return frame(
        method="textDocument/didChange",
        params={"textDocument": {"uri": uri, "version": version}, "contentChanges": changes},
    )


version, edits, hovers, answered = 1, [], [], 0
for number in range(int(rounds)):
    version += 1
    send(change(version, False))
    told, _ = diagnostics(version)
    if not told["params"]["diagnostics"]:
        sys.exit("the broken operand was not told")
    version += 1
    start = send(change(version, True))
    _, at = diagnostics(version)
    edits.append(at - start)

    version += 1
    send(change(version, False))
    diagnostics(version)
    version += 1
    position = {"line": line, "character": hovered}
    asked = frame(
        id=10 + number, method="textDocument/hover", params={"textDocument": {"uri": uri}, "position": position}
    )
    start = send(change(version, True) + asked)
    said, at = answer(10 + number)
    answered += bool(said.get("result"))
    hovers.append(at - start)
    # Its diagnostics may have come before the answer; what is still to come is not waited for.
result["edit_ms"] = statistics.median(edits) * 1e3
result["hover_ms"] = statistics.median(hovers) * 1e3
result["hovers_answered"] = answered
with open(f"/proc/{server.pid}/status", encoding="utf-8") as status:
    result["resident_mb"] = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024 / 1e6
server.kill()
print(json.dumps(result))
