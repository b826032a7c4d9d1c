//! Short documentation of HLO's keywords, with a link to the public page: opcodes with the roles of their
//! operands, attributes with the form of their values, element types, layouts.
//!
//! The rows are data in the files below; this file finds and renders them.

mod at_cursor;
mod attributes;
mod collectives;
mod control;
mod elementwise;
mod layouts;
mod linear_algebra;
mod movement;
mod types;

use ir::{AttributeKey, ElementType, Opcode};

pub(crate) use at_cursor::{Explained, at_cursor};
pub(crate) use attributes::Form;
use layouts::layout;

use crate::markdown::code;

/// One opcode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpReference {
    pub(crate) opcode: Opcode,
    /// One short line that describes the result.
    pub(crate) summary: &'static str,
    /// A common pitfall, or empty.
    pub(crate) detail: &'static str,
    /// Names of the operands in order. `inputs…` may be repeated.
    pub(crate) operands: &'static [&'static str],
    page: Page,
}

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

/// The page with more information, and the anchor on it.
#[derive(Debug, Clone, Copy)]
enum Page {
    /// XLA's operation semantics.
    Xla(&'static str),
    /// The StableHLO specification, for ops missing from XLA's page.
    StableHlo(&'static str),
}

const TABLES: [&[OpReference]; 5] =
    [elementwise::ROWS, movement::ROWS, linear_algebra::ROWS, collectives::ROWS, control::ROWS];

const fn op(
    opcode: Opcode,
    operands: &'static [&'static str],
    page: Page,
    summary: &'static str,
    detail: &'static str,
) -> OpReference {
    OpReference { opcode, summary, detail, operands, page }
}

pub(crate) fn opcode(opcode: Opcode) -> Option<&'static OpReference> {
    TABLES.iter().flat_map(|rows| rows.iter()).find(|row| row.opcode == opcode)
}

pub(crate) fn attribute(key: AttributeKey) -> Option<&'static AttributeReference> {
    attributes::ROWS.iter().find(|row| row.key == key)
}

/// The reference of an element type, as Markdown.
pub(crate) fn element_type(element: ElementType) -> Option<String> {
    types::ROWS.iter().find(|row| row.element == element).map(types::markdown)
}

impl Page {
    fn url(self) -> String {
        match self {
            Page::Xla(anchor) => format!("https://openxla.org/xla/operation_semantics#{anchor}"),
            Page::StableHlo(anchor) => format!("https://openxla.org/stablehlo/spec#{anchor}"),
        }
    }
}

impl OpReference {
    /// A headline, then pitfalls, the operands and the link.
    pub(crate) fn markdown(&self) -> String {
        let name = self.opcode.name();
        let operands = self.operands.join(", ");
        let detail = if self.detail.is_empty() { String::new() } else { format!("{}\n\n", self.detail) };
        format!(
            "{}: {}\n\n{detail}{} · [reference]({})\n",
            code(name),
            self.summary,
            code(&format!("{name}({operands})")),
            self.page.url()
        )
    }

    /// The role of operand `index` of `count`: repeated operands share evenly the indices that the others
    /// leave.
    pub(crate) fn role(&self, index: usize, count: usize) -> Option<&'static str> {
        let is_repeated = |role: &str| role.ends_with('…');
        let repeated = self.operands.iter().filter(|r| is_repeated(r)).count();
        let fixed = self.operands.len() - repeated;
        let each = count.saturating_sub(fixed).checked_div(repeated).unwrap_or(0).max(1);
        let mut before = 0;
        for role in self.operands {
            before += if is_repeated(role) { each } else { 1 };
            if index < before {
                return Some(role.trim_end_matches('…'));
            }
        }
        self.operands.iter().rev().find(|r| is_repeated(r)).map(|r| r.trim_end_matches('…'))
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
        let rows: usize = TABLES.iter().map(|t| t.len()).sum();
        assert_eq!(rows, Opcode::ALL.len(), "a row for each opcode, and none twice");
        for &word in Opcode::ALL {
            let row = opcode(word).unwrap_or_else(|| panic!("{word} has no reference"));
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

    #[test]
    fn operands_are_as_many_as_the_op_model_says() {
        for &word in Opcode::ALL {
            let row = opcode(word).expect("the test above");
            let repeated = row.operands.iter().any(|r| r.ends_with('…'));
            match ir::op_info(word).arity {
                ir::Arity::Exactly(n) => assert_eq!((row.operands.len(), repeated), (n, false), "{word}"),
                ir::Arity::Even | ir::Arity::Odd => {
                    assert_eq!(row.operands.iter().filter(|r| r.ends_with('…')).count(), 2, "{word}");
                }
                ir::Arity::AtLeast(n) => assert!(row.operands.len() >= n, "{word}"),
                ir::Arity::Any => {}
            }
        }
    }

    #[test]
    fn repeated_operands_share_evenly() {
        let role = |word, index, count| opcode(word).and_then(|row| row.role(index, count));
        assert_eq!(role(Opcode::Reduce, 1, 4), Some("inputs"));
        assert_eq!(role(Opcode::Reduce, 2, 4), Some("init values"));
        assert_eq!(role(Opcode::Scatter, 2, 5), Some("indices"));
        assert_eq!(role(Opcode::Scatter, 3, 5), Some("updates"));
        assert_eq!(role(Opcode::DynamicSlice, 2, 3), Some("start indices"));
        assert_eq!(role(Opcode::Dot, 2, 3), None);
    }
}
