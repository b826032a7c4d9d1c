//! Constants.

use ir::{ArrayShape, AttributeKey as K, Attributes, ElementType, Opcode, Shape};
use mlir::OpId;
use mlir_ops::OpText;

use super::Writer;
use super::body::{Draft, Operand};
use super::ops::one_shape;
use crate::environment::Environment;
use crate::literals::{Literal, literal_of_bytes, literal_of_dense};
use crate::not_in_hlo::NotInHlo;
use crate::types::element;

impl Writer<'_> {
    pub(super) fn constant(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let shapes = self.results(id)?;
        let shape = shapes.first().ok_or("it has no result")?.clone();
        let literal = literal_of(&self.op_text(id), self.environment, &shape)?;
        let mut attributes = Attributes::default();
        match literal {
            Literal::Whole(text) => {
                self.annotations(id, &["value"]).add_to(&mut attributes);
                let draft = Draft::constant(one_shape(&shapes), text, attributes);
                self.define_draft(id, Opcode::Constant.name(), shapes, draft);
            }
            Literal::Splat(number) => {
                let one = self.scalar(id, element(&shape), number);
                attributes.push(K::Dimensions, Vec::<i64>::new());
                self.annotations(id, &["value"]).add_to(&mut attributes);
                let draft = Draft::new(Opcode::Broadcast, one_shape(&shapes), &[one], attributes);
                self.define_draft(id, Opcode::Constant.name(), shapes, draft);
            }
        }
        Ok(())
    }

    /// Adds a scalar constant.
    pub(super) fn scalar(&mut self, id: OpId, element: ElementType, literal: String) -> Operand {
        let draft = Draft::constant(Shape::array(element, &[]), literal, Attributes::default());
        self.body().push(Opcode::Constant.name(), draft, id)
    }
}

/// The value of a constant of this shape.
pub(crate) fn literal_of(
    op: &OpText<'_>,
    environment: &Environment,
    shape: &Shape,
) -> Result<Literal, NotInHlo> {
    let value = match op.first_of(&["value"]) {
        Some(value) => value,
        None => {
            let body = op.body();
            let start = body.find("dense").or_else(|| body.find('#')).unwrap_or(0);
            let value = body[start..].trim();
            // An alias ends with its name.
            let end = value.find([' ', ':', '\n']).filter(|_| value.starts_with('#'));
            environment.resolved(&value[..end.unwrap_or(value.len())])
        }
    };
    let array = array_shape(shape)?;
    let Some(resource) = value.strip_prefix("dense_resource<") else {
        return Ok(literal_of_dense(value, array)?);
    };
    let key = resource.split('>').next().unwrap_or_default().trim_matches('"');
    match environment.resource(key) {
        // The first four bytes are the alignment of the others.
        Some(hex) => Ok(literal_of_bytes(hex.get(8..).unwrap_or_default(), array)?),
        None if key == "__elided__" => Ok(Literal::Whole("{...}".to_owned())),
        None => Err(format!("the resource {key} is not in the text").into()),
    }
}

/// The static array of a constant.
fn array_shape(shape: &Shape) -> Result<&ArrayShape, NotInHlo> {
    shape
        .as_array()
        .filter(|_| shape.is_static())
        .ok_or_else(|| NotInHlo::of_type(format!("{shape} is no array of known extents")))
}
