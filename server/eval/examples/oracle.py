"""Computes modules of HLO with XLA on the processor: lines of `oracle ask` in, a line with the bits of the results per module out.

Modules are compiled some at a time, because each compile has a fixed cost; where a batch is refused, one by one.
"""

import json
import os
import re
import subprocess
import sys
import threading

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import ml_dtypes
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import _jax, xla_client
from jaxlib.mlir import ir

try:
    from jaxlib import _hlo

    from_text = _hlo.hlo_module_from_text
except ImportError:
    from_text = _jax.hlo_module_from_text

BATCH = 16

NAMES = {
    "pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
    "c64": np.complex64, "c128": np.complex128, "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
}  # fmt: skip
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def array(described):
    dtype = np.dtype(NAMES[described["element"]])
    values = [int(bits, 16) for bits in described["bits"]]
    data = b"".join(value.to_bytes(dtype.itemsize, "little") for value in values)
    return np.frombuffer(data, dtype).reshape(described["dims"])


def bits(result):
    result = np.ascontiguousarray(np.asarray(result))
    size, data = result.dtype.itemsize, result.tobytes()
    return [format(int.from_bytes(data[i : i + size], "little"), "x") for i in range(0, len(data), size)]


def renamed(question, number):
    """The computations of a module under names of its own, the shapes of the entry's parameters, and that of its root."""
    text = question["text"].split("\n", 1)[1].replace("ENTRY ", "")
    names = re.findall(r"^(?:%)?([\w.-]+) \{$", text, re.M)
    for name in sorted(set(names), key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", f"m{number}.{name}", text)
    body = text[text.rindex(" {\n") :]
    parameters = {int(n): shape for shape, n in re.findall(r"= (\S+) parameter\((\d+)\)", body)}
    root = re.search(r"ROOT \S+ = (\(.*?\)|\S+) [a-z][\w-]*\(", body).group(1)
    return text, f"m{number}.{names[-1]}", [parameters[i] for i in range(len(parameters))], root


def leaves(shape):
    return len(re.findall(r"[a-z]\w*\[", shape))


def run(questions):
    """The arrays of each module's result."""
    computations, lines, arguments, results = [], [], [], []
    for number, question in enumerate(questions):
        text, entry, parameters, root = renamed(question, number)
        computations.append(text)
        names = []
        for shape, described in zip(parameters, question["inputs"]):
            names.append(f"p{len(arguments)}")
            lines.append(f"  {names[-1]} = {shape} parameter({len(arguments)})")
            arguments.append(array(described))
        lines.append(f"  c{number} = {root} call({', '.join(names)}), to_apply={entry}")
        results.append((f"c{number}", root))
    shapes = ", ".join(shape for _, shape in results)
    lines.append(f"  ROOT all = ({shapes}) tuple({', '.join(name for name, _ in results)})")
    text = "HloModule batch\n\n" + "".join(computations) + "\nENTRY main {\n" + "\n".join(lines) + "\n}\n"
    module = _jax.mlir.hlo_to_stablehlo(from_text(text).as_serialized_hlo_module_proto())
    client = jax.devices()[0].client
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    context = jax_mlir.make_ir_context()
    with context:
        parsed = ir.Module.parse(module, context)
        devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
        executable = client.compile_and_load(parsed, devices, options)
    # A parameter that nothing uses stays one.
    outputs = executable.execute([jax.device_put(argument) for argument in arguments])
    outputs = [bits(output) for output in outputs]
    for _, shape in results:
        count = leaves(shape)
        yield outputs[:count]
        outputs = outputs[count:]


def reason(error):
    return f"{type(error).__name__}: {str(error)[:200]}"


def work():
    """Answers lines that each have the questions of a batch, with a line of results or of the reason why there are none."""
    jax.config.update("jax_enable_x64", True)
    for line in sys.stdin:
        try:
            print(json.dumps({"results": list(run(json.loads(line)))}), flush=True)
        except Exception as error:  # What XLA refuses is counted.
            print(json.dumps({"error": reason(error)}), flush=True)


class Worker:
    """A process of its own, because a failed check of XLA ends it."""

    def __init__(self):
        self.start()

    def start(self):
        command = [sys.executable, __file__, "--work"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.log = []
        threading.Thread(target=lambda log, lines: log.extend(lines), args=(self.log, self.process.stderr)).start()

    def ask(self, questions):
        try:
            self.process.stdin.write(json.dumps(questions) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.process.wait()
        failed = [line.strip() for line in self.log if line.startswith("F")]
        self.start()
        return {"error": f"XLA ended its process: {(failed or ['no reason'])[0][:300]}"}

    def answers(self, questions):
        answer = self.ask(questions)
        if "results" in answer:
            yield from ({"case": q["case"], "outputs": outputs} for q, outputs in zip(questions, answer["results"]))
        elif len(questions) == 1:
            yield {"case": questions[0]["case"], "error": answer["error"]}
        else:
            middle = len(questions) // 2
            yield from self.answers(questions[:middle])
            yield from self.answers(questions[middle:])


def main():
    worker = Worker()
    batch = []
    for line in sys.stdin:
        question = json.loads(line)
        if all(described["element"] in NAMES for described in question["inputs"]):
            batch.append(question)
        else:
            print(json.dumps({"case": question["case"], "error": "an element type that is not passed"}))
        if len(batch) == BATCH:
            for answer in worker.answers(batch):
                print(json.dumps(answer), flush=True)
            batch = []
    for answer in worker.answers(batch) if batch else ():
        print(json.dumps(answer), flush=True)
    worker.process.stdin.close()
    worker.process.wait()


work() if "--work" in sys.argv else main()
