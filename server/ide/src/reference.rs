//! Short documentation of HLO's keywords, with a link to the public page: opcodes with the roles of their
//! operands, attributes with the form of their values, element types, layouts.
//!
//! The table of opcodes has the text for those; the rows of the others are in the files below. This file renders them.

mod at_cursor;
mod attributes;
mod layouts;
mod types;

use ir::{AttributeKey, ElementType, Opcode, Page, op_info};

pub(crate) use at_cursor::{Explained, at_cursor};
pub(crate) use attributes::Form;
use layouts::layout;

use crate::markdown::code;

/// One attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeReference {
    pub(crate) key: AttributeKey,
    pub(crate) summary: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) form: Form,
}

/// One element type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeReference {
    element: ElementType,
    summary: &'static str,
}

pub(crate) fn attribute(key: AttributeKey) -> Option<&'static AttributeReference> {
    attributes::ROWS.iter().find(|row| row.key == key)
}

/// The reference of an element type, as Markdown.
pub(crate) fn element_type(element: ElementType) -> Option<String> {
    types::ROWS.iter().find(|row| row.element == element).map(types::markdown)
}

/// The reference of an opcode as Markdown: a headline, then pitfalls, the operands and the link.
pub(crate) fn opcode(opcode: Opcode) -> String {
    let row = op_info(opcode);
    let name = opcode.name();
    let operands = row.operands.join(", ");
    let detail = if row.detail.is_empty() { String::new() } else { format!("{}\n\n", row.detail) };
    format!(
        "{}: {}\n\n{detail}{} · [reference]({})\n",
        code(name),
        row.summary,
        code(&format!("{name}({operands})")),
        url(row.page)
    )
}

fn url(page: Page) -> String {
    match page {
        Page::Xla(anchor) => format!("https://openxla.org/xla/operation_semantics#{anchor}"),
        Page::StableHlo(anchor) => format!("https://openxla.org/stablehlo/spec#{anchor}"),
    }
}

impl AttributeReference {
    pub(crate) fn markdown(&self) -> String {
        let detail = if self.detail.is_empty() { String::new() } else { format!("{}\n\n", self.detail) };
        format!(
            "{}: {}\n\n{detail}{}\n",
            code(self.key.name()),
            self.summary,
            code(&format!("{}={}", self.key, self.form.example()))
        )
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
