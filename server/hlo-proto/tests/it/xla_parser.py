"""XLA's own reader of texts and messages, for `xla_parser.rs`.

Each line of the input is `text IN MESSAGE TEXT` or `message IN TEXT`: the module in IN is written to MESSAGE as a message and to TEXT as
XLA prints it. `all` and `elided` say whether with the elements of large constants. The answer is a line: `ok`, or what XLA says.
"""

import sys

from jaxlib import _hlo

options = _hlo.HloPrintOptions()
options.print_metadata = True
options.print_backend_config = True
options.print_control_dependencies = True
options.include_layout_in_shapes = True


def read(kind, path):
    with open(path, "rb") as file:
        content = file.read()
    if kind == "text":
        return _hlo.hlo_module_from_text(content.decode())
    return _hlo.HloModule.from_serialized_hlo_module_proto(content)


for line in sys.stdin:
    kind, *paths = line.rstrip("\n").split("\t")
    if kind in ("all", "elided"):
        options.print_large_constants = kind == "all"
        print("ok", flush=True)
        continue
    try:
        module = read(kind, paths[0])
        if kind == "text":
            with open(paths[1], "wb") as file:
                file.write(module.as_serialized_hlo_module_proto())
        with open(paths[-1], "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(module.to_string(options))
        answer = "ok"
    except Exception as error:
        answer = " ".join(str(error).split())[:500] or type(error).__name__
    print(answer, flush=True)
