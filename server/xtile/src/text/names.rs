//! The names of values, as MLIR gives them: `%0`, `%c4_i32`, `%cst_1`, `%arg2`.

use ir::ElementTypeExt;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::ElementType;

use super::element_text;
use crate::program::{Kind, Type, ValueId};

#[derive(Default)]
pub(super) struct Names {
    of: FxHashMap<ValueId, String>,
    used: FxHashSet<String>,
    next: Counters,
}

/// The counters, which go back to their old values at the end of a region.
#[derive(Default, Clone, Copy)]
pub(super) struct Counters {
    value: usize,
    argument: usize,
    conflict: usize,
}

impl Names {
    pub(super) fn of(&self, value: ValueId) -> String {
        self.of.get(&value).cloned().unwrap_or_else(|| "%undefined".to_owned())
    }

    /// Names the next argument.
    pub(super) fn argument(&mut self, value: ValueId) -> String {
        let name = format!("%arg{}", self.next.argument);
        self.next.argument += 1;
        self.of.insert(value, name.clone());
        name
    }

    /// Names a result of an op, the first of which has number 0.
    pub(super) fn result(&mut self, value: ValueId, number: usize, kind: &Kind, ty: &Type) {
        let name = match hint(kind, number, ty) {
            None => {
                self.next.value += 1;
                format!("%{}", self.next.value - 1)
            }
            Some(hint) => format!("%{}", self.unique(hint)),
        };
        self.of.insert(value, name);
    }

    fn unique(&mut self, hint: String) -> String {
        let mut name = hint.clone();
        while !self.used.insert(name.clone()) {
            name = format!("{hint}_{}", self.next.conflict);
            self.next.conflict += 1;
        }
        name
    }

    /// What a region starts from, and what [`Names::leave`] takes back.
    pub(super) fn enter(&self) -> (Counters, FxHashSet<String>) {
        (self.next, self.used.clone())
    }

    pub(super) fn leave(&mut self, (next, used): (Counters, FxHashSet<String>)) {
        self.next = next;
        self.used = used;
    }
}

/// The name that an op suggests for its result.
fn hint(kind: &Kind, number: usize, ty: &Type) -> Option<String> {
    match (kind, ty) {
        (Kind::IndexConstant(value), _) => Some(format!("c{value}")),
        (Kind::Constant(constant), Type::Scalar(ElementType::Pred)) => Some((constant.bits != 0).to_string()),
        (Kind::Constant(constant), Type::Scalar(element)) if !element.is_floating() => {
            Some(format!("c{}_{}", constant.as_int(), element_text(*element)))
        }
        (Kind::Constant(_), _) => Some("cst".to_owned()),
        (Kind::Scan { .. }, _) => Some(if number == 0 { "outputs" } else { "carries" }.to_owned()),
        (Kind::ToElement, _) => Some("extracted".to_owned()),
        (Kind::FromElement, _) => Some("from_elements".to_owned()),
        _ => None,
    }
}
