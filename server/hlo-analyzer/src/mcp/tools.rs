//! The table of tools: names, what each answers, and its parameters. `server/docs/agents.md` has the same table; a test compares.

use rmcp::model::{CallToolResult, JsonObject, Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use super::{compiles, diff, findings, instructions, kernel, kernels, memory, origins, search};
use crate::api::{ApiError, ErrorKind, Session};

pub(super) struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    /// What it answers; the first words of its description.
    about: &'static str,
    own: &'static [Parameter],
    /// Items of a page where the call does not say; 0 for an answer without pages.
    page: usize,
    run: fn(&mut Session, &Arguments, &Window) -> Result<Answer, ApiError>,
}

#[derive(Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
    pub(super) is_required: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// From 0.
    Number,
    Flag,
    One(&'static [&'static str]),
}

impl Kind {
    pub(super) fn in_words(self) -> String {
        match self {
            Kind::Text => "a text".to_owned(),
            Kind::Number => "a number from 0".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::One(words) => format!("one of {}", words.join(", ")),
        }
    }

    fn schema(self) -> Value {
        match self {
            Kind::Text => json!({"type": "string"}),
            Kind::Number => json!({"type": "integer", "minimum": 0}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::One(words) => json!({"type": "string", "enum": words}),
        }
    }
}

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
const PAGE: [Parameter; 2] =
    [optional("limit", Kind::Number, "most items"), optional("cursor", Kind::Number, "first item")];

pub(super) const TOOLS: &[Tool] = &[
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

/// The tool of a name.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

pub(super) fn names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

impl Tool {
    pub(super) fn parameters(&self) -> impl Iterator<Item = Parameter> {
        self.own.iter().copied().chain(PAGE)
    }

    /// As `tools/list` has it.
    pub(super) fn described(&self) -> Described {
        let mut properties = Map::new();
        for parameter in self.parameters() {
            let mut schema = parameter.kind.schema();
            schema["description"] = parameter.about.into();
            properties.insert(parameter.name.to_owned(), schema);
        }
        let required: Vec<&str> =
            self.parameters().filter(|one| one.is_required).map(|one| one.name).collect();
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), required.into());
        schema.insert("additionalProperties".to_owned(), false.into());
        let annotations = ToolAnnotations::with_title(self.title).read_only(true).open_world(false);
        Described::new(self.name, self.about, schema).with_annotations(annotations)
    }

    pub(super) fn call(
        &self,
        session: &mut Session,
        given: Map<String, Value>,
    ) -> Result<CallToolResult, ApiError> {
        let arguments = Arguments::checked(self, given)?;
        let window = Window::of(&arguments, self.page);
        Ok((self.run)(session, &arguments, &window)?.into_result())
    }

    /// All of an answer, as text.
    pub(super) fn whole(&self, session: &mut Session, given: Map<String, Value>) -> Result<String, ApiError> {
        let arguments = Arguments::checked(self, given)?;
        Ok((self.run)(session, &arguments, &Window::whole())?.text())
    }
}

/// An error with what to do about it.
pub(super) fn advised(tool: &Tool, error: &ApiError) -> String {
    let at = match (error.line, error.column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    let message = &error.message;
    let advice = match error.kind {
        ErrorKind::NotFound
            if message.starts_with("no instruction") || message.contains("has no instruction") =>
        {
            "; `search` finds instructions by name, opcode and source line"
        }
        ErrorKind::NotFound if message.contains("compile") => "; `compiles` lists the compiles of a folder",
        ErrorKind::NotFound if message.contains("stage") => "; `compiles` lists the stages",
        ErrorKind::Parse => "; `findings` lists all errors of the text",
        ErrorKind::Unsupported if message.starts_with("no kernel: ") => {
            "; `kernels` lists what runs as a kernel, `instruction` says what else is known"
        }
        _ => "",
    };
    format!("{}: {message}{at}{advice}", tool.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the table in the documentation, as this file has the tools.
    fn rows() -> String {
        let parameter = |one: Parameter| match one.is_required {
            true => format!("`{}`", one.name),
            false => format!("[`{}`]", one.name),
        };
        let row = |tool: &Tool| {
            let parameters: Vec<String> = tool.own.iter().copied().map(parameter).collect();
            format!("| `{}` | {} | {} |\n", tool.name, tool.about.replace('|', "\\|"), parameters.join(" "))
        };
        TOOLS.iter().map(row).collect()
    }

    /// `UPDATE_EXPECT=1` writes the table anew.
    #[test]
    fn the_page_lists_the_tools() {
        let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/agents.md");
        let written = std::fs::read_to_string(&page).expect("the page is there");
        let head = "| tool | answers | parameters |\n|---|---|---|\n";
        let (front, rest) = written.split_once(head).expect("the page has the table");
        // The table ends the page, or a blank line ends it.
        let end = rest.find("\n\n").map_or(rest.len(), |at| at + 1);
        let real = format!("{front}{head}{}{}", rows(), &rest[end..]);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&page, &real).expect("the page is written");
        } else {
            assert_eq!(written, real);
        }
    }

    #[test]
    fn descriptions_are_small() {
        let described: Vec<Described> = TOOLS.iter().map(Tool::described).collect();
        let bytes = serde_json::to_string(&described).expect("it is JSON").len();
        assert!(bytes < 16_000, "{bytes} bytes in the context of every conversation");
    }

    #[test]
    fn bad_arguments_are_named() {
        let mut session = Session::default();
        let mut refused = |name: &str, given: Value| {
            let Value::Object(given) = given else { panic!("arguments are an object") };
            let tool = named(name).expect("the tool exists");
            advised(tool, &tool.call(&mut session, given).expect_err("it is refused"))
        };
        assert_eq!(
            refused("kernels", json!({})),
            "kernels: kernels needs \"path\": a module, or a dump folder that has one optimised module"
        );
        assert_eq!(
            refused("kernels", json!({"file": "x"})),
            "kernels: kernels has no argument \"file\"; it has path, kind, device, limit, cursor"
        );
        assert_eq!(
            refused("memory", json!({"path": "x", "by": "line"})),
            "memory: \"by\" of memory is one of value, source, op_name, not \"line\""
        );
        let missing = refused("memory", json!({"path": "/no/such/file.hlo"}));
        assert!(missing.contains("no file or folder /no/such/file.hlo: paths are absolute"), "{missing}");
    }
}
