//! Text with structure, for hovers, documentation, tooltips and reports: sections of lines and code, which
//! [`render`] shows as Markdown or as plain text.
//!
//! Architecture Invariant: text of the file gets into sections only as code, as [`quoted`] words or as the
//! label of a link. Dumps are untrusted: nothing in them becomes a link, an image or a tag.

mod links;
mod render;

pub use links::percent_encoded;
pub(crate) use links::{file_link, page_link};

use indexing_map::wrap;

use links::Target;

/// The column after which a map is broken at a comma, because hovers are narrow.
const MAP_WIDTH: usize = 72;

/// Sections from top to bottom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RichText {
    sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Section {
    /// Verbatim, in the grammar `language`; empty for maps.
    Code {
        language: &'static str,
        text: String,
    },
    /// A line directly above the next section.
    Line(Line),
    /// A line, and an empty line after it.
    Paragraph(Line),
    /// An item of a list; `depth` 0 is the outermost list.
    Item {
        depth: usize,
        line: Line,
    },
    /// An item of a list that counts from 1.
    NumberedItem {
        number: usize,
        line: Line,
    },
    /// An empty line.
    Space,
    /// Separates the texts about two things.
    Divider,
    Heading(Line),
    Table {
        columns: Vec<Column>,
        rows: Vec<Vec<Line>>,
    },
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Whether its cells are numbers, aligned to the right.
    pub(crate) is_number: bool,
}

/// Parts of a line, left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(Vec<Inline>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inline {
    /// The server's own words, which contain no text of the file.
    Words(String),
    /// Prose that may quote the file.
    Quoted(String),
    Code(String),
    Strong(Line),
    Link {
        label: String,
        target: Target,
    },
}

/// Prose that may quote the file; it is shown verbatim.
pub(crate) fn quoted(text: impl Into<String>) -> Inline {
    Inline::Quoted(text.into())
}

/// Any text, shown verbatim as code.
pub(crate) fn code(text: impl Into<String>) -> Inline {
    Inline::Code(text.into())
}

/// Emphasised.
pub(crate) fn strong(line: impl Into<Line>) -> Inline {
    Inline::Strong(line.into())
}

/// A [`Line`] of parts: words, lines, and what [`code`], [`quoted`] and [`strong`] give.
macro_rules! parts {
    ($($part:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut line = $crate::rich_text::Line::default();
        $( line.push($part); )*
        line
    }};
}
pub(crate) use parts;

impl Line {
    pub(crate) fn push(&mut self, part: impl Into<Line>) {
        self.0.extend(part.into().0);
    }

    /// Lines joined by `separator`.
    pub(crate) fn joined(lines: impl IntoIterator<Item = impl Into<Line>>, separator: &str) -> Line {
        let mut joined = Line::default();
        for (nth, line) in lines.into_iter().enumerate() {
            if nth > 0 {
                joined.push(separator);
            }
            joined.push(line);
        }
        joined
    }

    /// Facts beside each other: `12.6 MB · 3 elements`.
    pub(crate) fn facts(facts: impl IntoIterator<Item = impl Into<Line>>) -> Line {
        Line::joined(facts, " · ")
    }

    /// Documentation of ours, in which back-ticks mark code.
    pub(crate) fn documentation(text: &str) -> Line {
        let part = |(nth, part): (usize, &str)| match nth % 2 {
            0 => Inline::Words(part.to_owned()),
            _ => code(part),
        };
        let parts = text.split('`').enumerate().filter(|(_, part)| !part.is_empty());
        Line(parts.map(part).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Line {
    fn from(words: &str) -> Line {
        Line::from(words.to_owned())
    }
}

impl From<String> for Line {
    fn from(words: String) -> Line {
        Line(if words.is_empty() { Vec::new() } else { vec![Inline::Words(words)] })
    }
}

impl From<Inline> for Line {
    fn from(part: Inline) -> Line {
        Line(vec![part])
    }
}

impl RichText {
    /// A text of one line.
    pub(crate) fn of_line(line: impl Into<Line>) -> RichText {
        let mut text = RichText::default();
        text.line(line);
        text
    }

    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    pub(crate) fn code(&mut self, language: &'static str, text: impl Into<String>) {
        self.sections.push(Section::Code { language, text: text.into() });
    }

    /// A printed map, with its domain on a line of its own.
    pub(crate) fn map(&mut self, printed: &str) {
        self.code(
            "",
            match printed.split_once(", domain: ") {
                Some((map, domain)) => {
                    format!("{}\n{}", wrap(map, MAP_WIDTH), wrap(&format!("domain: {domain}"), MAP_WIDTH))
                }
                None => wrap(printed, MAP_WIDTH),
            },
        );
    }

    /// A title and a map below it.
    pub(crate) fn titled_map(&mut self, title: impl Into<Line>, printed: &str) {
        self.line(title);
        self.map(printed);
    }

    pub(crate) fn line(&mut self, line: impl Into<Line>) {
        self.sections.push(Section::Line(line.into()));
    }

    pub(crate) fn paragraph(&mut self, line: impl Into<Line>) {
        self.sections.push(Section::Paragraph(line.into()));
    }

    pub(crate) fn item(&mut self, line: impl Into<Line>) {
        self.sections.push(Section::Item { depth: 0, line: line.into() });
    }

    /// An item of the list in the item above.
    pub(crate) fn inner_item(&mut self, line: impl Into<Line>) {
        self.sections.push(Section::Item { depth: 1, line: line.into() });
    }

    pub(crate) fn numbered_item(&mut self, number: usize, line: impl Into<Line>) {
        self.sections.push(Section::NumberedItem { number, line: line.into() });
    }

    pub(crate) fn space(&mut self) {
        self.sections.push(Section::Space);
    }

    pub(crate) fn divider(&mut self) {
        self.sections.push(Section::Divider);
    }

    pub(crate) fn heading(&mut self, line: impl Into<Line>) {
        self.sections.push(Section::Heading(line.into()));
    }

    pub(crate) fn table(&mut self, columns: &[Column], rows: Vec<Vec<Line>>) {
        self.sections.push(Section::Table { columns: columns.to_vec(), rows });
    }

    pub(crate) fn append(&mut self, other: RichText) {
        self.sections.extend(other.sections);
    }
}
