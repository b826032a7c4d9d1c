//! The framework name and source line of an instruction or op.

use crate::rich_text::{Inline, Line, RichText, code, file_link};
use crate::units::shorten;

/// The largest number of characters of the framework name in a hover.
const NAME_LIMIT: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub(crate) op_name: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

impl SourceLocation {
    /// The first line of a kernel's hover; empty without metadata.
    pub(crate) fn header(&self) -> RichText {
        let mut text = RichText::default();
        self.line().into_iter().for_each(|line| text.paragraph(line));
        text
    }

    /// The last lines of other hovers; empty without metadata.
    pub(crate) fn footer(&self) -> RichText {
        let mut text = RichText::default();
        if let Some(line) = self.line() {
            text.divider();
            text.line(line);
        }
        text
    }

    fn line(&self) -> Option<Line> {
        let name = self.op_name.as_deref().map(|name| code(shorten(name, NAME_LIMIT)));
        let parts: Vec<Inline> = name.into_iter().chain(self.link()).collect();
        (!parts.is_empty()).then(|| Line::facts(parts))
    }

    /// `[model.py:12](file:///src/model.py#L12)`; no link if the path is relative or names another machine.
    fn link(&self) -> Option<Inline> {
        let file = self.file.as_ref()?;
        let short = file.rsplit('/').next().unwrap_or(file);
        let at = self.line.map_or_else(String::new, |line| format!(":{line}"));
        let link = file_link(format!("{}{at}", shorten(short, NAME_LIMIT)), file, self.line);
        Some(link.unwrap_or_else(|| code(format!("{}{at}", shorten(file, NAME_LIMIT)))))
    }
}
