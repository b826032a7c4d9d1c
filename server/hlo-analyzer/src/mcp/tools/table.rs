//! The tools with what each answers and its parameters.

use super::{Kind, Parameter, Tool};
use crate::mcp::{compiles, diff, findings, instructions, kernel, kernels, memory, origins, search};

const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, is_required: false }
}

const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, about, is_required: true }
}

const PATH: Parameter =
    required("path", Kind::Text, "a module, or a dump folder that has one optimised module");
const FOLDER: Parameter = required("path", Kind::Text, "a dump folder, or a module in one");
const INSTRUCTION: Parameter = required("instruction", Kind::Text, "its name, with or without %");
const COMPUTATION: Parameter =
    optional("computation", Kind::Text, "its computation, where the name is not unique");
const COMPILE: Parameter =
    optional("compile", Kind::Number, "the index of the compile, where the folder has several");
const STAGE: Parameter = optional(
    "stage",
    Kind::Text,
    "a stage by name, file or number from 1 (default: that of path, or the last)",
);
const DEVICE: Parameter = optional("device", Kind::Text, "GPU, such as h100-sxm (default: the dump's)");
pub(super) const PAGE: [Parameter; 2] =
    [optional("limit", Kind::Number, "most items"), optional("cursor", Kind::Number, "first item")];

pub(in crate::mcp) const TOOLS: &[Tool] = &[
    Tool {
        name: "compiles",
        title: "Compiles of a dump folder",
        about: "The compiles of a dump folder: device, stages, optimised module; with `compile`, or where there is one: what each pass changed.",
        own: &[FOLDER, COMPILE, optional("pass", Kind::Text, "only passes with this in their name")],
        page: 15,
        run: compiles::compiles,
    },
    Tool {
        name: "kernels",
        title: "Kernels by time",
        about: "The kernels of a module by estimated time: runs, share, bound, bytes, source line.",
        own: &[
            PATH,
            optional("kind", Kind::Text, "only kernels with this in their kind, such as loop"),
            DEVICE,
        ],
        page: 8,
        run: kernels::kernels,
    },
    Tool {
        name: "kernel",
        title: "One kernel",
        about: "One kernel: launch, time, sectors and bytes of each array, warnings with cause and remedy.",
        own: &[PATH, INSTRUCTION, COMPUTATION, DEVICE],
        page: 20,
        run: kernel::kernel,
    },
    Tool {
        name: "kernel_code",
        title: "Code of a kernel",
        about: "The code of a kernel: ours as ptx or mlir, of a fusion for Triton xtile or ttir, XLA's own from the dump (xla).",
        own: &[
            PATH,
            INSTRUCTION,
            COMPUTATION,
            optional("emit", Kind::One(&["ptx", "mlir", "xtile", "ttir", "xla"]), "the form (default: ptx)"),
            DEVICE,
        ],
        page: 40,
        run: kernel::code,
    },
    Tool {
        name: "access_pattern",
        title: "Access pattern",
        about: "Which 32-byte sectors the lanes of one warp touch in an array of a kernel.",
        own: &[
            PATH,
            INSTRUCTION,
            optional("array", Kind::Number, "the array, as listed (default: the most wasteful)"),
            optional("block", Kind::Number, "the block (default: 0)"),
            optional("warp", Kind::Number, "the warp of the block (default: 0)"),
            optional("iteration", Kind::Number, "the iteration of its loops (default: 0)"),
            DEVICE,
        ],
        page: 60,
        run: kernel::access_pattern,
    },
    Tool {
        name: "tilings",
        title: "Other tile sizes",
        about: "Other tile sizes of a fusion for Triton and what they cost by XLA's model.",
        own: &[
            PATH,
            INSTRUCTION,
            COMPUTATION,
            optional("tiles", Kind::Text, "sizes to compare too, such as 64x128"),
            optional("warps", Kind::Number, "another number of warps"),
            optional("stages", Kind::Number, "another number of loop steps in flight"),
            DEVICE,
        ],
        page: 30,
        run: kernel::tilings,
    },
    Tool {
        name: "why_not_fused",
        title: "Why not fused",
        about: "Whether XLA fuses an instruction into its users, the time with and without, and its reason if not.",
        own: &[PATH, INSTRUCTION, DEVICE],
        page: 40,
        run: instructions::why_not_fused,
    },
    Tool {
        name: "findings",
        title: "Errors and warnings",
        about: "Errors and warnings of a module, or of the optimised modules of a folder, with cause and remedy.",
        own: &[
            required(
                "path",
                Kind::Text,
                "a module, or a folder: its optimised modules, else its .hlo and .mlir files",
            ),
            optional("code", Kind::Text, "only findings of this code, such as uncoalesced"),
            optional("hints", Kind::Flag, "also hints"),
            DEVICE,
        ],
        page: 6,
        run: findings::findings,
    },
    Tool {
        name: "search",
        title: "Search instructions",
        about: "Instructions by name, opcode, framework op or source line; all that are given must fit.",
        own: &[
            PATH,
            optional("name", Kind::Text, "a part of the name"),
            optional("opcode", Kind::Text, "the opcode, such as copy"),
            optional("op_name", Kind::Text, "a part of the framework's name, such as jit(step)/dot_general"),
            optional("source", Kind::Text, "a source file or line in its stack: model.py or model.py:83"),
            optional("computation", Kind::Text, "only of this computation"),
        ],
        page: 10,
        run: search::search,
    },
    Tool {
        name: "instruction",
        title: "One instruction",
        about: "All that is known of an instruction: shape, bytes, indexing maps, kernel, memory, stack of source lines, origin.",
        own: &[PATH, INSTRUCTION, DEVICE],
        page: 200,
        run: instructions::instruction,
    },
    Tool {
        name: "map",
        title: "Indexing maps",
        about: "The indexing maps of an instruction: which elements of each operand a result reads, or the reverse.",
        own: &[
            PATH,
            INSTRUCTION,
            COMPUTATION,
            optional(
                "direction",
                Kind::One(&["output_to_input", "input_to_output"]),
                "default: output_to_input",
            ),
            optional(
                "index",
                Kind::Number,
                "the element of a tuple, or for input_to_output the operand (default: 0)",
            ),
        ],
        page: 10,
        run: instructions::map,
    },
    Tool {
        name: "memory",
        title: "Memory at the peak",
        about: "The memory of a scheduled module: the peak, and what is alive there, the largest first, since when and until which use.",
        own: &[
            PATH,
            optional(
                "by",
                Kind::One(&["value", "source", "op_name"]),
                "sum the bytes by source line or by framework op (default: value)",
            ),
            DEVICE,
        ],
        page: 10,
        run: memory::memory,
    },
    Tool {
        name: "memory_advice",
        title: "What lowers the peak",
        about: "Changes that lower the peak of memory, each planned: donate, move, rematerialise, lay out, shard; with the peak after it.",
        own: &[PATH, DEVICE],
        page: 10,
        run: memory::advice,
    },
    Tool {
        name: "blame",
        title: "Which pass introduced it",
        about: "Which pass introduced each instruction of a stage, or one of them, and why.",
        own: &[
            FOLDER,
            optional("instruction", Kind::Text, "only this one"),
            optional("pass", Kind::Text, "only of passes with this in their name"),
            STAGE,
            COMPILE,
        ],
        page: 10,
        run: origins::blame,
    },
    Tool {
        name: "lineage",
        title: "The way of an instruction",
        about: "What an instruction of any stage was before optimisations and is after, with source lines, and the passes that changed it.",
        own: &[FOLDER, INSTRUCTION, STAGE, COMPILE],
        page: 20,
        run: origins::lineage,
    },
    Tool {
        name: "diff",
        title: "Two compiles",
        about: "What two compiles have different: time, bytes, kernels with reasons, copies, instructions.",
        own: &[
            required("before", Kind::Text, "a module or a dump folder"),
            required("after", Kind::Text, "the same of the other compile"),
            optional("device", Kind::Text, "the GPU of both (default: those of the dumps)"),
        ],
        page: 30,
        run: diff::diff,
    },
];
