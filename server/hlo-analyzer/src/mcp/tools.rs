//! Tools: how they are described to a client and called. `server/docs/agents.md` has the same table; a test compares.

mod table;

use rmcp::model::{CallToolResult, JsonObject, Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use crate::api::{ApiError, ErrorKind, Session};

pub(super) use table::TOOLS;

pub(super) struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    /// What it answers; the first words of its description.
    about: &'static str,
    own: &'static [Parameter],
    /// Items of a page where the call does not say.
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

/// The tool of a name.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

pub(super) fn names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

impl Tool {
    pub(super) fn parameters(&self) -> impl Iterator<Item = Parameter> {
        self.own.iter().copied().chain(table::PAGE)
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
