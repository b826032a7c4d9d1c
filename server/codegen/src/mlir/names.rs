//! The names of a function's values in its text, and the spelling of their types.

use indexing_map::{Expr, Interval};
use ir::ArrayShape;
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use super::scalars::element_type;
use crate::kernel::{Function, SharedArray, Type, ValueId};

/// The names of one function.
pub(super) struct Names<'k> {
    pub(super) function: &'k Function,
    pub(super) values: FxHashMap<ValueId, String>,
    pub(super) vars: Vec<Option<String>>,
    pub(super) next: usize,
    /// Computed indices, per open region.
    pub(super) indices: Vec<FxHashMap<Expr, String>>,
}

impl<'k> Names<'k> {
    pub(super) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    pub(super) fn value(&self, value: ValueId) -> String {
        self.values.get(&value).cloned().unwrap_or_else(|| "%undefined".to_owned())
    }

    pub(super) fn name(&mut self, value: ValueId) -> String {
        let name = self.fresh();
        self.values.insert(value, name.clone());
        name
    }

    pub(super) fn list(&self, values: &[ValueId]) -> String {
        values.iter().map(|&value| self.value(value)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn types(&self, values: &[ValueId]) -> String {
        values.iter().map(|&value| type_text(self.function.ty(value))).collect::<Vec<_>>().join(", ")
    }
}

/// The text of a type. A `pred` is `i1` outside of memory.
pub(super) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Scalar(ElementType::Pred) => "i1".to_owned(),
        Type::Scalar(element) => element_type(*element),
        Type::Tensor(shape) => tensor(shape),
        Type::Vector { element, size } => {
            format!("vector<{size}x{}>", type_text(&Type::Scalar(*element)))
        }
        Type::Shared(SharedArray { element, dims }) => {
            let sizes: String = dims.iter().map(|size| format!("{size}x")).collect();
            format!("tensor<{sizes}{}>", element_type(*element))
        }
    }
}

fn tensor(shape: &ArrayShape) -> String {
    let sizes: String = shape.dims.iter().map(|size| format!("{size}x")).collect();
    let order = shape.minor_to_major();
    let is_row_major = order.iter().rev().copied().eq(0..shape.dims.len());
    let layout = match is_row_major {
        true => String::new(),
        false => {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            format!(", dense<[{}]> : tensor<{}xi64>", order.join(", "), order.len())
        }
    };
    format!("tensor<{sizes}{}{layout}>", element_type(shape.element))
}

pub(super) fn range(bounds: Interval) -> String {
    format!("xla.range = [{} : index, {} : index]", bounds.lower, bounds.upper)
}
