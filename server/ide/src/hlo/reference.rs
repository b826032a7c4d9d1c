//! Short documentation of HLO's keywords, with a link to the public page: opcodes with the roles of their
//! operands, attributes with the form of their values, element types, layouts.
//!
//! The table of opcodes has the text for those; the rows of the others are in the files below. This file renders them.

pub(crate) mod at_cursor;
mod attributes;
mod layouts;
mod types;

use attributes::AttributeReference;
use ir::{AttributeKey, ElementType, Opcode, Page, op_info};

use crate::rich_text::{Line, RichText, code, page_link, parts};

pub(crate) use attributes::Form;

pub(crate) fn attribute(key: AttributeKey) -> Option<&'static AttributeReference> {
    attributes::ROWS.iter().find(|row| row.key == key)
}

/// The reference of an element type.
pub(crate) fn element_type(element: ElementType) -> Option<RichText> {
    types::ROWS.iter().find(|row| row.element == element).map(types::reference)
}

/// The width and range of an element type, in a line.
pub(crate) fn element_type_summary(element: ElementType) -> Option<String> {
    types::ROWS.iter().find(|row| row.element == element).map(types::summary)
}

/// The reference of an opcode: a headline, then pitfalls, the operands and the link.
pub(crate) fn opcode(opcode: Opcode) -> RichText {
    let row = op_info(opcode);
    let operands = row.operands.join(", ");
    let form = code(format!("{}({operands})", opcode.name()));
    let link = page_link("reference", url(row.page));
    described(opcode.name(), row.summary, row.detail, Line::facts([form, link]))
}

/// The summary and details of a word, and a last line.
fn described(word: &str, summary: &str, detail: &str, last: impl Into<Line>) -> RichText {
    let mut text = RichText::default();
    text.paragraph(parts![code(word), ": ", Line::documentation(summary)]);
    if !detail.is_empty() {
        text.paragraph(Line::documentation(detail));
    }
    text.line(last);
    text
}

fn url(page: Page) -> String {
    match page {
        Page::Xla(anchor) => format!("https://openxla.org/xla/operation_semantics#{anchor}"),
        Page::StableHlo(anchor) => format!("https://openxla.org/stablehlo/spec#{anchor}"),
    }
}

impl AttributeReference {
    pub(crate) fn text(&self) -> RichText {
        let form = code(format!("{}={}", self.key, self.form.example()));
        described(self.key.name(), self.summary, self.detail, form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_language_has_a_row_and_no_more() {
        for &word in Opcode::ALL {
            let row = op_info(word);
            assert!(!row.summary.is_empty() && row.summary.len() < 100, "{word}: the first line is short");
            assert!(row.summary.ends_with('.'), "{word}");
        }
        assert_eq!(attributes::ROWS.len(), AttributeKey::ALL.len());
        for &key in AttributeKey::ALL {
            let row = attribute(key).unwrap_or_else(|| panic!("{key} has no reference"));
            assert!(!row.summary.is_empty() && row.summary.len() < 100, "{key}: the first line is short");
        }
        assert_eq!(types::ROWS.len(), ElementType::ALL.len());
        for &element in ElementType::ALL {
            assert!(element_type(element).is_some(), "{element} has no reference");
        }
    }
}
