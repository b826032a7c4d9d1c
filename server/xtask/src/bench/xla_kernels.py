"""Times XLA's GPU compiler: `xla_kernels.py TOOL SPEC FILE...` prints the seconds of each file, one a line, or `-` where it has
none: from the text to a compiled kernel, in this process, nothing written to the disk. TOOL is the script that knows how to ask the
compiler without a GPU."""

import importlib.util
import os
import re
import sys
import time

tool_path, spec_path, *files = sys.argv[1:]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
# No pass is run: what is timed is the kernel of just this fusion.
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0 --xla_disable_all_hlo_passes=true"

from jaxlib import _hlo, xla_client  # noqa: E402

spec = importlib.util.spec_from_file_location("tool", tool_path)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)
with open(spec_path, encoding="utf-8") as file:
    plugin = tool.Plugin(file.read())


def compile_module(text):
    module = _hlo.hlo_module_from_text(text)
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    # Without these XLA gives the entry default layouts, whatever the text says.
    arguments, result = tool.entry_layout(module.to_string().split("\n", 1)[0])
    options.argument_layouts = [xla_client.Shape(shape) for shape in arguments]
    options.executable_build_options.result_layout = xla_client.Shape(result)
    plugin.compile(module.as_serialized_hlo_module_proto(), options.SerializeAsString())


def wrapped(path):
    with open(path, encoding="utf-8") as file:
        text = _hlo.hlo_module_from_text(file.read()).to_string()
    return tool.wrap(text, re.sub(r"\W", "_", os.path.basename(path)))


for number, path in enumerate(files):
    try:
        text = wrapped(path)
        # What a first compilation loads is not the kernel's.
        if number == 0:
            compile_module(text)
        start = time.perf_counter()
        compile_module(text)
        print(time.perf_counter() - start, file=answers, flush=True)
    except Exception as error:  # its own words go to the log
        print(error, file=sys.stderr)
        print("-", file=answers, flush=True)
