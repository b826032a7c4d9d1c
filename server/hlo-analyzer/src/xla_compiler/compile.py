"""Compiles a module ahead of time with the CUDA plugin of a local jax, without a GPU, and dumps everything.

    python compile.py MODULE KIND SPEC DUMP

KIND is `stablehlo`, `hlo`, or `optimized`: HLO whose fusions are compiled as they are. SPEC is a GpuTargetConfigProto as text.
Problems go to standard error, each on one line that starts with `problem: `, or with `missing: ` where this Python lacks a package.
Calls the plugin through PJRT's C interface, because jax itself takes no HLO.
"""
import ctypes as c
import importlib.util
import os
import re
import sys
import threading
import time


def fail(words, kind="problem"):
    print(f"{kind}: " + " ".join(str(words).split()), file=sys.stderr)
    sys.exit(1)


def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


# Whoever cancels the compile ends the parent alone.
threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
module, kind, spec, dump = sys.argv[1:5]
flags = ["--xla_dump_hlo_as_text", "--xla_gpu_autotune_level=0", "--xla_dump_emitter_re=^ptx$", f"--xla_dump_to={dump}"]
flags += ["--xla_disable_all_hlo_passes=true"] if kind == "optimized" else ["--xla_dump_hlo_pass_re=.*"]
os.environ["XLA_FLAGS"] = " ".join(flags)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

try:
    from jaxlib import xla_client
except ImportError:
    fail("this Python has no jaxlib, or one that is too old: pip install 'jax[cuda12]'", "missing")
library = None
for name in ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12"):
    try:
        found = importlib.util.find_spec(name)
    except ImportError:
        found = None
    path = found and found.origin and os.path.join(os.path.dirname(found.origin), "xla_cuda_plugin.so")
    if path and os.path.exists(path):
        library = path
        break
if library is None:
    fail("this Python has no CUDA plugin of jax: pip install 'jax[cuda12]'", "missing")

# The structures of pjrt_c_api.h, each behind its size and a pointer to extensions.
size, pointer, text = c.c_size_t, c.c_void_p, c.c_char_p


def struct(*fields):
    return type("Arguments", (c.Structure,), {"_fields_": [("struct_size", size), ("extensions", pointer), *fields]})


NamedValue = struct(("name", text), ("name_size", size), ("type", c.c_int), ("value", text), ("value_size", size))
TopologyCreate = struct(
    ("name", text), ("name_size", size), ("options", c.POINTER(NamedValue)), ("count", size), ("topology", pointer)
)
Program = struct(("code", text), ("code_size", size), ("format", text), ("format_size", size))
Compile = struct(
    ("topology", pointer), ("program", c.POINTER(Program)), ("options", text), ("options_size", size),
    ("client", pointer), ("executable", pointer),
)
ErrorMessage = struct(("error", pointer), ("message", pointer), ("size", size))
# Positions in the table of functions, which only grows at its end.
ERROR_MESSAGE, PLUGIN_INITIALIZE, TOPOLOGY_CREATE, COMPILE = 1, 3, 82, 89
# The size of the table, a pointer to extensions and the version stand before it.
TABLE = 40

plugin = c.CDLL(library)
plugin.GetPjrtApi.restype = pointer
api = plugin.GetPjrtApi()


def function(position):
    return c.CFUNCTYPE(pointer, pointer)(pointer.from_address(api + TABLE + 8 * position).value)


def call(position, arguments):
    arguments.struct_size = c.sizeof(arguments)
    error = function(position)(c.byref(arguments))
    if error:
        message = ErrorMessage(c.sizeof(ErrorMessage), None, error, None, 0)
        function(ERROR_MESSAGE)(c.byref(message))
        raise RuntimeError(c.string_at(message.message, message.size).decode(errors="replace"))


def topology(config):
    options = [(b"target_config", config.encode()), (b"topology", b"1x1x1")]
    values = [NamedValue(c.sizeof(NamedValue), None, key, len(key), 0, value, len(value)) for key, value in options]
    arguments = TopologyCreate(0, None, b"", 0, (NamedValue * len(values))(*values), len(values), None)
    call(TOPOLOGY_CREATE, arguments)
    return arguments.topology


def elements(shapes):
    """The shapes of a list, which is nested."""
    found, depth, start = [], 0, 0
    shapes = re.sub(r"/\*.*?\*/", "", shapes)
    for at, letter in enumerate(shapes + ","):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append(shapes[start:at].strip())
            start = at + 1
    return [shape for shape in found if shape]


def keep_layouts(options, head):
    """Without these XLA gives the parameters and the result default layouts, whatever the text says."""
    stated = re.search(r"entry_computation_layout=\{(\(.*?\))->(.*?)\}(?:, [a-z_]+=|$)", head)
    if stated:
        options.argument_layouts = [xla_client.Shape(shape) for shape in elements(stated.group(1)[1:-1])]
        options.executable_build_options.result_layout = xla_client.Shape(re.sub(r"/\*.*?\*/", "", stated.group(2)))


try:
    with open(module, encoding="utf-8") as file:
        source = file.read()
    with open(spec, encoding="utf-8") as file:
        device = file.read()
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    if kind == "stablehlo":
        code, form = source.encode(), b"mlir"
    else:
        try:
            from jaxlib._hlo import hlo_module_from_text
        except ImportError:
            from jaxlib._jax import hlo_module_from_text
        parsed = hlo_module_from_text(source)
        keep_layouts(options, parsed.to_string().split("\n", 1)[0])
        code, form = parsed.as_serialized_hlo_module_proto(), b"hlo"
    call(PLUGIN_INITIALIZE, struct()())
    target = topology(device)
    program = Program(c.sizeof(Program), None, code, len(code), form, len(form))
    serialized = options.SerializeAsString()
    call(COMPILE, Compile(0, None, target, c.pointer(program), serialized, len(serialized), None, None))
except Exception as problem:
    fail(problem)
