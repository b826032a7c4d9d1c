"""Questions as a person asks them, the calls that answer each, and what the answers must say.

A later call may use what an earlier one found: `find` names a part of an answer by a regular expression with one group, and
`{name}` in an argument is that part. `says` are exact figures. `facts` compute figures from other sources than the server - from
shapes by hand, or from files that XLA itself wrote - and return what the answers must say too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DUMP = "server/test-files/dump"
OPTIMISED = f"{DUMP}/module_0001.jit_step.sm_9.0a_gpu_after_optimizations"
BEFORE, AFTER = (f"server/compile-diff/tests/fixtures/{side}.hlo" for side in ("before", "after"))
MEMORY = "server/memory/tests/fixtures"
CORPUS = "tests/corpus"


@dataclass
class Call:
    tool: str
    arguments: dict
    find: dict[str, str] = field(default_factory=dict)


def call(tool: str, find: dict[str, str] | None = None, **arguments) -> Call:
    return Call(tool, arguments, find or {})


@dataclass
class Question:
    text: str
    calls: list[Call]
    says: list[str]
    # A model of the corpus beside the checkout; its dump folder is `{dump}` in arguments.
    model: str | None = None
    facts: Callable[[Path], list[str]] = lambda folder: []


def shown(count: int) -> str:
    """Bytes with three digits and a unit, in powers of ten."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= 0.9995 * size:
            value = count / size
            decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
            number = f"{value:.{decimals}f}"
            return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"
    return f"{count} B"


def text_of(folder: Path, ending: str) -> str:
    [file] = folder.glob(f"*{ending}")
    return file.read_text()


def xla_total(folder: Path) -> list[str]:
    """The sum of the allocations in XLA's own buffer assignment."""
    assignment = text_of(folder, "after_optimizations-buffer-assignment.txt")
    sizes = re.findall(r"^allocation \d+: size (\d+)", assignment, re.MULTILINE)
    return [f"XLA's buffer assignment: {shown(sum(map(int, sizes)))}"]


def xla_launches(folder: Path) -> list[str]:
    """Kernels in XLA's own list of thunks."""
    count = len(re.findall(r"^\d+: kCustomKernel", text_of(folder, "thunk_sequence.txt"), re.MULTILINE))
    return [f"{count} kernels"]


def xla_grid(kernel: str) -> Callable[[Path], list[str]]:
    def facts(folder: Path) -> list[str]:
        thunks = text_of(folder, "thunk_sequence.txt")
        grid, block = re.search(rf" {kernel} grid: \[(\d+), 1, 1\] threads: \[(\d+), 1, 1\]", thunks).groups()
        return [f"grid {grid} × {block} threads"]

    return facts


QUESTIONS = [
    Question(
        "Which kernel takes longest, and why?",
        [
            call("kernels", path=DUMP, limit=1, find={"kernel": r"^(%\S+) \(triton\)"}),
            call("kernel", path=DUMP, instruction="{kernel}"),
            call("tilings", path=DUMP, instruction="{kernel}"),
        ],
        [
            "%gemm_fusion_dot (triton) line 77 · ≈ 8.2 µs, 96.7 % of the module · bound by latency",
            "jit(step)/dot_general · layer.py:5",
            "360 kB needed, 1.31 MB moved",
            # Another depth of the tiles is faster.
            "≈ 8.2 µs  now",
            "≈ 6.9 µs  fastest by XLA's model",
        ],
        facts=xla_grid("gemm_fusion_dot"),
    ),
    Question(
        "Which source line allocates most at the peak of memory?",
        [call("memory", path=DUMP, by="source", limit=1)],
        [f"{shown(8 * 128 * 64 * 4)} layer.py:5 · %gemm_fusion_dot", "at position 6 of 11"],
    ),
    Question(
        "What would halve the traffic of an operand of %gemm_fusion_dot?",
        [call("kernel", path=DUMP, instruction="gemm_fusion_dot")],
        [
            "reads %bitcast.11.0: runs of 4 lanes, 64 apart, 8 sectors per request (ideal 4), 524 kB moved for 262 kB used",
            "help: lay out %bitcast.11.0 as {1,2,0}: 262 kB moved",
        ],
    ),
    Question(
        "Which pass introduced %gemm_fusion_dot, and why?",
        [call("blame", path=DUMP, instruction="%gemm_fusion_dot")],
        ["by 0003.hlo_normalization.after_triton-gemm-rewriter: it joins %dot, %reshape.3 and %reshape.4"],
    ),
    Question(
        "Why is %loop_tanh_fusion not fused into the reduction that reads it?",
        [call("why_not_fused", path=DUMP, instruction="loop_tanh_fusion")],
        [
            "fusion into %input_multiply_reduce_fusion: 2.28 µs apart, 3.20 µs together on h100-sxm: slower, so XLA does not"
        ],
    ),
    Question(
        "Which lines of my program does %input_multiply_reduce_fusion compute?",
        [call("lineage", path=DUMP, instruction="input_multiply_reduce_fusion")],
        [
            "before optimisations (before_optimizations): %constant.2, %mul.3, %mul.4, %mul.5, %constant.3, %reduce_sum.7",
            "%reduce_sum.7 is from layer.py:10 in step, compile.py:15 in <module>",
        ],
    ),
    Question(
        "What did layout assignment do to the tanh?",
        [
            call("search", path=f"{DUMP}/module_0001.jit_step.before_optimizations.txt", opcode="tanh", find={"tanh": r": (%tanh\S*) ="}),
            call("lineage", path=DUMP, stage="before_optimizations", instruction="{tanh}"),
        ],
        ["stage 3 of 8: layout-assignment: %tanh.1: f32[128,64]{1,0} became f32[128,64]{0,1}"],
    ),
    Question(
        "What became of the addition of the bias?",
        [call("lineage", path=DUMP, stage="before_optimizations", instruction="add.7")],
        [
            "source: layer.py:9 in step",
            "after optimisations (sm_9.0a_gpu_after_optimizations): %loop_tanh_fusion",
            "stage 7 of 8: priority-fusion: %add.9: moved to %fused_computation.2",
        ],
    ),
    Question(
        "Does XLA's own code of %loop_tanh_fusion move as many sectors as predicted?",
        [
            call("kernel", path=DUMP, instruction="loop_tanh_fusion"),
            call("kernel_code", path=DUMP, instruction="loop_tanh_fusion", emit="xla", limit=5),
        ],
        [
            "reads %gemm_fusion_dot: strided by 64, 32 sectors per request (ideal 4), 2.1 MB moved for 262 kB used",
            "sectors per request, XLA's code / ours: %gemm_fusion_dot 32.0 / 32.0, %bias.1 1.0 / 1.0, %tanh.3 4.0 / 4.0",
        ],
        facts=xla_grid("loop_tanh_fusion"),
    ),
    Question(
        "How far apart are the addresses of neighbouring lanes there?",
        [call("access_pattern", path=DUMP, instruction="loop_tanh_fusion", limit=6)],
        # 64 elements of 4 bytes.
        ["32 sectors, 4 would do", f"{64 * 4} 1111"],
    ),
    Question(
        "For which GPU was this compiled, how many kernels does it launch, and which passes changed something?",
        [call("compiles", path=DUMP)],
        ["h100-sxm · 8 stages · 3 kernels", "5 triton-gemm-rewriter (hlo_normalization): +1 instructions, 3 moved"],
        facts=xla_launches,
    ),
    Question(
        "How much memory does a step need, and is that what XLA assigned?",
        [call("memory", path=DUMP)],
        ["393 kB of 394 kB in use at position 6 of 11", "0 of 15 values placed differently"],
        facts=xla_total,
    ),
    Question(
        "Which elements of the weights does an element of the product read?",
        [call("map", path=DUMP, instruction="gemm_fusion_dot")],
        ["output → operand 1: (d0, d1, d2)[s0] -> (d0, s0, d2)", "d2 in [0, 63], s0 in [0, 31]"],
    ),
    Question(
        "What is left of layer.py:10, and where?",
        [call("search", path=DUMP, source="layer.py:10")],
        ["8 instructions in ", "line 47 in %fused_multiply_reduce: %reduce_sum.7.1 = f32[64]{0} reduce("],
    ),
    Question(
        "The step is slower since yesterday. What changed, and what would undo it?",
        [
            call("diff", before=BEFORE, after=AFTER, find={"slower": r"slower\s+(%\S+) \("}),
            call("kernel", path=AFTER, instruction="{slower}"),
        ],
        [
            "375.5 % slower: 45 µs → 215 µs; 85.1 MB → 387 MB (+355.0 %); 3 → 5 launches",
            "more sectors per request: 11 → 24.17",
            # 4096 × 1024 elements of 4 bytes, read in sectors of 8 elements of which one is used.
            f"{shown(8 * 4096 * 1024 * 4)} moved for {shown(4096 * 1024 * 4)} used",
            "help: lay out %copy.1 as {1,0}: 16.8 MB moved",
        ],
    ),
    Question(
        "Which copies are new in this compile?",
        [call("diff", before=BEFORE, after=AFTER), call("search", path=AFTER, opcode="copy")],
        ["copy: 2 new: %copy.9 line 31:4, %copy.1 line 40:4", "2 instructions in "],
    ),
    Question(
        "What does the loop keep in memory for the gradient, and until when?",
        [call("memory", path=f"{MEMORY}/residuals_of_a_scan.hlo", limit=1)],
        ["2.1 MB %forward{2} (temp) 21–38 until %backward (train.py:19) · jit(train)/jvp(while) · /src/train.py:19"],
    ),
    Question(
        "My attention runs out of memory: what lowers the peak?",
        [call("memory_advice", path=f"{MEMORY}/scores_that_the_gradient_keeps.hlo")],
        [
            "6.3 MB of 6.55 MB in use at position 10 of 17, %spread (attention.py:16)",
            "move %again earlier, before %weights (frees %scores, 2.1 MB): peak 6.3 → 5.25 MB",
            "donate parameter 3 (%out, 262 kB): peak 6.3 → 6.03 MB (in jax: donate_argnums)",
        ],
    ),
    Question(
        "Why does this array take so much more than its elements?",
        [call("memory_advice", path=f"{MEMORY}/padding_of_a_tiled_layout.hlo")],
        ["lay out %moved and 1 other as {0,1} (4.19 MB → 262 kB with padding): peak 6.36 → 2.42 MB"],
    ),
    Question(
        "Is the module partitioned, and what does one device keep?",
        [call("memory", path=f"{CORPUS}/sharded_matmul.hlo", limit=1)],
        # f32[128,256]
        ["per device: one of 8 partitions", f"{shown(128 * 256 * 4)} %product (output) 4–5 until %reduced"],
    ),
    Question(
        "How often does the softmax read each logit, and is the kernel bound by memory?",
        [
            call("kernels", path=f"{CORPUS}/softmax.hlo", find={"kernel": r"^(%\S+) \("}),
            call("instruction", path=f"{CORPUS}/softmax.hlo", instruction="{kernel}"),
        ],
        # Once for its own element, and once for each of the 512 elements of the row.
        ["bound by launch", f"reads 100 % (262 kB), each element {1 + 512} times", "grid 128 × 128 threads"],
    ),
    # Real models, where they are beside the checkout.
    Question(
        "Which source line of GPT's training step allocates most at the peak?",
        [call("memory", path="{dump}", by="source", limit=2)],
        ["5.32 GB of 5.78 GB in use at position 163 of 296", "1.67 GB models.py:112", "1.65 GB models.py:86"],
        model="gpt_train_unrolled",
        facts=xla_total,
    ),
    Question(
        "Which kernel of GPT's training step takes longest, and what would make it faster?",
        [
            call("kernels", path="{dump}", limit=1, find={"kernel": r"^(%\S+) \(triton\)"}),
            call("tilings", path="{dump}", instruction="{kernel}"),
        ],
        [
            "≈ 95 ms, 48.8 % of the module · bound by memory · 1.83 GB needed, 237 GB moved",
            "models.py:112",
            "237 GB   ≈ 95 ms  now",
            "19.8 GB  ≈ 6.0 ms  fastest by XLA's model",
        ],
        model="gpt_train_unrolled",
    ),
    Question(
        "How do I lower the peak of a transformer block's gradient?",
        [call("memory_advice", path="{dump}", limit=1)],
        ["donate parameters 7, 8, 10, 9 and 6 more (28.3 MB): peak 734 → 706 MB (in jax: donate_argnums)"],
        model="transformer_block_grad",
    ),
    Question(
        "Which pass made the transposing fusion of layout_zoo, why, and what would halve its traffic?",
        [
            call("findings", path="{dump}", code="uncoalesced", find={"fusion": r"(%input_transpose_fusion) = "}),
            call("blame", path="{dump}", instruction="{fusion}"),
        ],
        [
            "0146.fusion.after_priority-fusion: it joins %concatenate.2.0, %transpose.28.0 and %transpose.21.0",
            "help: lay out %a_0_.1 as {0,1}: 8.39 MB moved",
        ],
        model="layout_zoo",
    ),
    Question(
        "Which pass introduced the first copy of a scan's compile, and why?",
        [
            call("search", path="{dump}", opcode="copy", limit=1, find={"copy": r": (%copy\S*) ="}),
            call("blame", path="{dump}", instruction="{copy}"),
        ],
        [
            "26 instructions in ",
            "by 0113.pre-scheduling-copy-insertion.after_copy_fusion: it comes from %copy.178 of copy-insertion",
            "which gives element 4 of %tuple.58 a buffer of its own: %copy.177 also uses %loop_broadcast_fusion.6",
        ],
        model="gpt_train_scan",
    ),
]
