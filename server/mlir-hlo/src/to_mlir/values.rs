//! The values of a function that is written. Tuples are kept as their elements, which ops then use directly.

use ir::{Opcode, Shape};

use super::function::FunctionWriter;
use crate::not_in_stablehlo::NotInStablehlo;
use crate::types::mlir_type;

/// An instruction as values of MLIR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MlirValue {
    /// `%name`, or `%name#1` of a pack. May be a tuple.
    One(String),
    Tuple(Vec<MlirValue>),
    /// A started op, which has no elements before it is done.
    Started(String),
}

/// Tuples nested deeper than this are not taken apart.
const MAX_DEPTH: usize = 64;

/// The parts of a shape that are no tuples, in order.
pub(super) fn leaves(shape: &Shape) -> Vec<&Shape> {
    fn collect<'s>(shape: &'s Shape, depth: usize, found: &mut Vec<&'s Shape>) {
        match shape.tuple_elements().filter(|_| depth < MAX_DEPTH) {
            Some(elements) => elements.iter().for_each(|e| collect(e, depth + 1, found)),
            None => found.push(shape),
        }
    }
    let mut found = Vec::new();
    collect(shape, 0, &mut found);
    found
}

/// The results of an op of this shape: an array, or the elements of a tuple, which may be tuples again. A tuple of one element
/// is one tuple.
pub(super) fn results(shape: &Shape) -> Vec<&Shape> {
    match shape.tuple_elements() {
        Some(elements) if elements.len() != 1 => elements.iter().collect(),
        _ => vec![shape],
    }
}

/// The names of `count` results that are called `name`.
pub(super) fn names(name: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![format!("%{name}")],
        _ => (0..count).map(|index| format!("%{name}#{index}")).collect(),
    }
}

/// A value of this shape whose leaves are these.
pub(super) fn from_leaves(shape: &Shape, leaves: &mut impl Iterator<Item = String>) -> MlirValue {
    fn build(shape: &Shape, depth: usize, leaves: &mut dyn Iterator<Item = String>) -> MlirValue {
        match shape.tuple_elements().filter(|_| depth < MAX_DEPTH) {
            Some(elements) => {
                MlirValue::Tuple(elements.iter().map(|e| build(e, depth + 1, leaves)).collect())
            }
            None => MlirValue::One(leaves.next().unwrap_or_default()),
        }
    }
    build(shape, 0, leaves)
}

/// A value of this shape whose results are these; see [`results`].
pub(super) fn from_results(shape: &Shape, names: Vec<String>) -> MlirValue {
    match shape.tuple_elements() {
        Some(elements) if elements.len() != 1 => {
            MlirValue::Tuple(names.into_iter().map(MlirValue::One).collect())
        }
        _ => MlirValue::One(names.into_iter().next().unwrap_or_default()),
    }
}

const BEFORE_DONE: NotInStablehlo =
    NotInStablehlo::OtherUse("StableHLO and MHLO do not read what is started before it is done");

impl FunctionWriter<'_> {
    /// One name for a value: a tuple is put together.
    pub(super) fn whole(&mut self, value: &MlirValue, shape: &Shape) -> Result<String, NotInStablehlo> {
        let elements = match value {
            MlirValue::Tuple(elements) => elements,
            MlirValue::One(name) => return Ok(name.clone()),
            MlirValue::Started(_) => return Err(BEFORE_DONE),
        };
        let shapes = shape.tuple_elements().unwrap_or_default();
        let names: Vec<_> =
            elements.iter().zip(shapes).map(|(e, s)| self.whole(e, s)).collect::<Result<_, _>>()?;
        let name = format!("%{}", self.names.take(Opcode::Tuple.name()));
        let ty = mlir_type(shape)?;
        let space = if names.is_empty() { "" } else { " " };
        self.line(&format!("{name} = stablehlo.tuple{space}{} : {ty}", names.join(", ")));
        Ok(name)
    }

    /// An element of a value that is a tuple.
    pub(super) fn element(
        &mut self,
        value: &MlirValue,
        shape: &Shape,
        index: usize,
    ) -> Result<MlirValue, NotInStablehlo> {
        match value {
            MlirValue::Tuple(elements) => elements.get(index).cloned().ok_or("it has no such element".into()),
            MlirValue::Started(_) => Err(BEFORE_DONE),
            MlirValue::One(whole) => {
                let element =
                    shape.tuple_elements().and_then(|e| e.get(index)).ok_or("it has no such element")?;
                let name = format!("%{}", self.names.take("element"));
                let (from, to) = (self.program.short_type(shape)?, mlir_type(element)?);
                self.line(&format!(
                    "{name} = stablehlo.get_tuple_element {whole}[{index}] : ({from}) -> {to}"
                ));
                Ok(MlirValue::One(name))
            }
        }
    }

    /// The names of all leaves.
    pub(super) fn leaf_names(
        &mut self,
        value: &MlirValue,
        shape: &Shape,
    ) -> Result<Vec<String>, NotInStablehlo> {
        let Some(shapes) = shape.tuple_elements() else { return Ok(vec![self.whole(value, shape)?]) };
        let mut found = Vec::new();
        for (index, inner) in shapes.iter().enumerate() {
            let element = self.element(value, shape, index)?;
            found.extend(self.leaf_names(&element, inner)?);
        }
        Ok(found)
    }

    /// The names of the results of an op of this shape; see [`results`].
    pub(super) fn result_names(
        &mut self,
        value: &MlirValue,
        shape: &Shape,
    ) -> Result<Vec<String>, NotInStablehlo> {
        match shape.tuple_elements() {
            Some(elements) if elements.len() != 1 => {
                let mut found = Vec::new();
                for (index, inner) in elements.iter().enumerate() {
                    let element = self.element(value, shape, index)?;
                    found.push(self.whole(&element, inner)?);
                }
                Ok(found)
            }
            _ => Ok(vec![self.whole(value, shape)?]),
        }
    }
}
