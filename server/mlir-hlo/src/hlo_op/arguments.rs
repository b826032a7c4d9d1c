//! The operands of an op of MLIR, as leaves of a graph.

use std::borrow::Cow;

use ir::{Opcode, Shape};
use mlir::{Definition, OpId, TypeRef, ValueId};
use mlir_ops::{OpText, Source};

use super::MAX_OPERANDS;
use crate::environment::Environment;
use crate::literals::Literal;
use crate::not_in_hlo::NotInHlo;
use crate::op_table::opcode_of;
use crate::to_hlo::{Operand, literal_of, pack_index};
use crate::types::{is_quantised, stored_shape};

/// The shapes of the types of one op: most of its values have the same type.
pub(super) struct Shapes<'s, 'a> {
    source: &'s Source<'a>,
    /// The offset of the op.
    at: u32,
    /// The shape of a type.
    shape_of: fn(&str) -> Result<Shape, NotInHlo>,
    known: Vec<(Cow<'a, str>, Shape)>,
    /// Whether one of the types has quantised elements.
    pub is_quantised: bool,
}

impl<'s, 'a> Shapes<'s, 'a> {
    pub fn new(
        source: &'s Source<'a>,
        at: u32,
        shape_of: fn(&str) -> Result<Shape, NotInHlo>,
    ) -> Shapes<'s, 'a> {
        Shapes { source, at, shape_of, known: Vec::new(), is_quantised: false }
    }

    pub fn of(&mut self, ty: Cow<'a, str>) -> Result<Shape, NotInHlo> {
        if let Some((_, shape)) = self.known.iter().find(|(known, _)| *known == ty) {
            return Ok(shape.clone());
        }
        let resolved = self.source.resolved(&ty, self.at);
        self.is_quantised |= is_quantised(resolved);
        let shape = (self.shape_of)(resolved)?;
        self.known.push((ty, shape.clone()));
        Ok(shape)
    }
}

/// The operands of an op.
pub(super) struct Arguments<'t> {
    /// Each value once.
    pub given: Vec<Given<'t>>,
    /// The operands; the id of each is its index in `given`.
    pub operands: Vec<Operand>,
}

pub(super) struct Given<'t> {
    /// As written: `%a`, `%0#1`.
    pub name: &'t str,
    pub key: (ValueId, u32),
    pub shape: Shape,
    /// The numbers of a constant that may say which elements are read.
    pub literal: Option<String>,
}

impl<'t> Arguments<'t> {
    pub fn read(
        source: &Source<'t>,
        shapes: &mut Shapes<'_, 't>,
        id: OpId,
    ) -> Result<Arguments<'t>, NotInHlo> {
        let (parse, text) = (source.parse, source.text);
        let mut arguments = Arguments { given: Vec::new(), operands: Vec::new() };
        for (n, operand) in parse.operands_of(id).enumerate() {
            if n == MAX_OPERANDS {
                return Err("it has too many operands".into());
            }
            let name = operand.span.of(text);
            let index = pack_index(name);
            let Some(value) = operand.value else { return Err(NotInHlo::unknown_type(name)) };
            let key = (value, index);
            let place = match arguments.given.iter().position(|given| given.key == key) {
                Some(place) => place,
                None => {
                    let ty = parse.type_of(value, index as usize, text);
                    let shape = shapes.of(ty.ok_or_else(|| NotInHlo::unknown_type(name))?)?;
                    arguments.given.push(Given { name, key, shape, literal: None });
                    arguments.given.len() - 1
                }
            };
            let shape = arguments.given[place].shape.clone();
            arguments.operands.push(Operand { id: place as ir::OpId, shape });
        }
        Ok(arguments)
    }
}

/// The value of a scalar constant.
pub(super) fn scalar_constant(source: &Source<'_>, value: ValueId) -> Option<String> {
    let parse = source.parse;
    let Definition::Result(op) = parse.values[value as usize].definition else { return None };
    if opcode_of(parse.name(op, source.text))? != Opcode::Constant {
        return None;
    }
    let types = parse.types(&parse.op(op).result_types);
    let [TypeRef::Written(ty)] = types else { return None };
    let ty = ty.of(source.text);
    if mlir::ArrayType::parse(ty).ok()?.rank() > 0 {
        return None;
    }
    let op = OpText::of_any_length(source, op);
    match literal_of(&op, &Environment::default(), &stored_shape(ty).ok()?).ok()? {
        Literal::Whole(number) => Some(number).filter(|number| number.parse::<f64>().is_ok()),
        Literal::Splat(_) => None,
    }
}
