//! Ops that read integers without a sign, and conversions to them: ops of HLO on unsigned integers, which have the same bits.

use std::sync::Arc;

use eval::Reason;
use ir::{AttributeKey as K, AttributeValue, Attributes, ElementType, Graph, Op, Opcode, Shape};
use mlir_ops::{OpText, Operand};
use rustc_hash::FxHashMap;

use super::Reader;
use super::triton::shape_of;
use crate::program::{Computed, Kind};

/// The direction of `arith.cmpi ugt, …`.
fn direction(text: &OpText<'_>) -> Option<&'static str> {
    let words = text.body().split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().find_map(|word| match word {
        "ult" => Some("LT"),
        "ule" => Some("LE"),
        "ugt" => Some("GT"),
        "uge" => Some("GE"),
        _ => None,
    })
}

pub(super) fn reads_unsigned(text: &OpText<'_>) -> bool {
    match text.name() {
        "arith.cmpi" => direction(text).is_some(),
        "arith.maxui" | "arith.minui" | "arith.shrui" | "builtin.unrealized_conversion_cast" => true,
        _ => false,
    }
}

impl Reader<'_> {
    pub(super) fn unsigned(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let operands = text.operands();
        let result = self.source.result_type(text.id, 0).ok_or("the type of its result is not known")?;
        let result = shape_of(&result)?;
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut ids = Vec::new();
        for (number, operand) in (0..).zip(&operands) {
            let ty = operand.key().and_then(|(value, index)| self.source.type_of(value, index));
            let shape = shape_of(&ty.ok_or_else(|| format!("the type of {} is not known", operand.name))?)?;
            let bits = unsigned(&shape)?;
            let given = graph.push(Op::parameter(number, shape), Vec::new(), format!("p{number}"));
            ids.push(graph.add(Opcode::BitcastConvert, bits, &[given], Attributes::default(), "bits"));
        }
        let none = Attributes::default;
        let computed = match text.name() {
            "arith.cmpi" => {
                let direction = direction(text).unwrap_or("LT").to_owned();
                let attributes = none().with(K::Direction, AttributeValue::Text(direction));
                graph.root = graph.add(Opcode::Compare, result, &ids, attributes, "r");
                return Ok((compute(graph), operands));
            }
            "arith.maxui" => graph.add(Opcode::Maximum, unsigned(&result)?, &ids, none(), "u"),
            "arith.minui" => graph.add(Opcode::Minimum, unsigned(&result)?, &ids, none(), "u"),
            "arith.shrui" => graph.add(Opcode::ShiftRightLogical, unsigned(&result)?, &ids, none(), "u"),
            _ => *ids.first().ok_or("it has no operand")?,
        };
        graph.root = graph.add(Opcode::BitcastConvert, result, &[computed], none(), "r");
        Ok((compute(graph), operands))
    }
}

fn compute(graph: Graph) -> Kind {
    Kind::Compute(Computed { graph: Arc::new(graph), callees: FxHashMap::default() })
}

/// The same array of unsigned integers.
fn unsigned(shape: &Shape) -> Result<Shape, Reason> {
    let array = shape.as_array().ok_or("an operand that is no array")?;
    let element = match array.element {
        ElementType::S8 | ElementType::U8 => ElementType::U8,
        ElementType::S16 | ElementType::U16 => ElementType::U16,
        ElementType::S32 | ElementType::U32 => ElementType::U32,
        ElementType::S64 | ElementType::U64 => ElementType::U64,
        other => return Err(format!("{other} is no integer").into()),
    };
    Ok(Shape::array(element, &array.dims))
}
