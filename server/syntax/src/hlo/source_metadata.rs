//! The framework name and the stack of source frames in `metadata={…}`.

use crate::hlo::{ModuleHeader, StackEnd, StackFrame, unescape};

/// Where an instruction comes from, as its metadata and the tables at the head of its module say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceMetadata {
    pub op_name: Option<String>,
    /// The calls that led to the instruction, innermost first.
    pub frames: Vec<SourceFrame>,
    /// Why the stack is not complete, in words.
    pub problem: Option<String>,
}

/// A line of source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// Empty if it is not known.
    pub function: String,
    pub path: String,
    /// From 1.
    pub line: Option<u32>,
}

/// Reads the value of the attribute `metadata`. `header` is the head of the module, with the text that it was parsed from.
pub fn source_metadata(metadata: &str, header: Option<(&ModuleHeader, &str)>) -> SourceMetadata {
    let number = |key| field(metadata, key).and_then(|v| v.parse().ok());
    let string = |key| field(metadata, key).filter(|v| !v.is_empty()).map(unescape);
    let mut read = SourceMetadata { op_name: string("op_name"), ..SourceMetadata::default() };
    if let Some(path) = string("source_file") {
        read.frames.push(SourceFrame { function: String::new(), path, line: number("source_line") });
    }
    // A written file is the innermost frame, which the stack has too.
    if let Some(innermost) = number("stack_frame_id") {
        let (frames, problem) =
            header.map(|(header, text)| stack(header, text, innermost)).unwrap_or_default();
        if !frames.is_empty() {
            read.frames = frames;
        }
        read.problem = problem;
    }
    read
}

/// The source frames from row `innermost` of `StackFrames`, and why they are not complete.
fn stack(header: &ModuleHeader, text: &str, innermost: u32) -> (Vec<SourceFrame>, Option<String>) {
    let stack = header.stack(innermost);
    let frame = |frame: &StackFrame| SourceFrame {
        function: unescape(frame.function.of(text)),
        path: unescape(frame.file.of(text)),
        line: Some(frame.line),
    };
    let problem = match stack.end {
        StackEnd::Outermost => None,
        // Without tables, metadata refers to those of another text.
        StackEnd::Missing { .. } if header.stack_frames.is_empty() => None,
        StackEnd::Missing { table, row } => {
            Some(format!("stack_frame_id={innermost}: the table {table} has no row {row}"))
        }
        StackEnd::Cycle { frame } => {
            Some(format!("stack_frame_id={innermost}: frame {frame} of the table StackFrames calls itself"))
        }
        StackEnd::Deep => Some(format!("the stack has more than {} frames", stack.frames.len())),
    };
    (stack.frames.iter().map(frame).collect(), problem)
}

/// The value of `key=` in `{key="value" key=1}`, without its quotes.
fn field<'a>(metadata: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = metadata.trim_start_matches('{');
    loop {
        let (name, value) = rest.split_once('=')?;
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => {
                let mut escaped = false;
                let end = quoted.find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                })?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => value.split_at(value.find([' ', ',', '}']).unwrap_or(value.len())),
        };
        if name.trim_matches([' ', ',', '\t', '\n', '\r']) == key {
            return Some(value);
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_quoted_text() {
        let metadata = r#"{op_type="a" op_name="x \"source_line=3\" y" source_file="/m.py", source_line=12}"#;
        assert_eq!(field(metadata, "source_line"), Some("12"));
        assert_eq!(field(metadata, "op_name"), Some(r#"x \"source_line=3\" y"#));
        assert_eq!(field(metadata, "stack_frame_id"), None);
    }
}
