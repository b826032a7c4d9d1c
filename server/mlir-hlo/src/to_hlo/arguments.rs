//! The arguments of a function as parameters, with their attributes.

use ir::{Attributes, Opcode, Shape};
use mlir::lists::{braced, dictionary};
use mlir::{BlockId, OpId, Parse, ValueId};

use super::Writer;
use super::annotations::Annotations;
use super::function::FunctionHeader;

impl Writer<'_> {
    pub(super) fn arguments(&mut self, id: OpId, block: BlockId, header: &mut FunctionHeader) {
        let (parse, text) = (self.parse(), self.text());
        let bound = self.binders(id);
        let arguments = match bound.is_empty() {
            false => bound,
            true => parse.blocks[block as usize].arguments.clone().collect(),
        };
        let generic = parse.attribute(id, "arg_attrs", text).map(|list| list.trim_matches(['[', ']']));
        let generic: Vec<&str> = generic.map(mlir::lists::split).unwrap_or_default();
        for (number, &argument) in arguments.iter().enumerate() {
            let attributes = match generic.get(number) {
                Some(attributes) => dictionary(attributes),
                None => argument_attributes(parse, text, argument),
            };
            let mut annotations = Annotations::default();
            let mut layout = "";
            for (name, value) in attributes {
                match name {
                    "tf.aliasing_output" => {
                        let output = mlir::integer(value);
                        header.aliases.extend(output.map(|output| (number, output)));
                    }
                    "jax.buffer_donor" if value.trim() != "false" => header.donors.push(number),
                    "mhlo.layout_mode" => layout = value.trim_matches('"'),
                    _ if annotations.add(name, value, self.environment) => {}
                    _ => self.report(id, format!("argument {number}: attribute {name}")),
                }
            }
            for what in annotations.unsaid() {
                self.report(id, format!("argument {number}: {what}"));
            }
            let shape = self.shape_of(argument, 0).unwrap_or_else(|reason| {
                self.report(id, format!("argument {number}: {reason}"));
                Shape::Opaque
            });
            let shape = with_layout_text(shape, layout);
            header.parameters.push(shape.clone());
            let wanted = self.wanted_name(argument, Opcode::Parameter.name());
            annotations.set_location(self.location_of_argument(argument));
            let mut said = Attributes::default();
            annotations.add_to(&mut said);
            let operand = self.body().parameter(&wanted, shape, said, id);
            self.body().values.insert((argument, 0), operand);
        }
    }
}

/// The shape with a layout in HLO's text form; unchanged where that is none.
pub(super) fn with_layout_text(shape: Shape, layout: &str) -> Shape {
    match layout.starts_with('{') {
        true => Shape::from_text(&format!("{shape}{layout}")).unwrap_or(shape),
        false => shape,
    }
}

/// The attributes after the type of an argument: `%a: tensor<f32> {jax.buffer_donor = true}`.
fn argument_attributes<'a>(parse: &Parse, text: &'a str, argument: ValueId) -> Vec<(&'a str, &'a str)> {
    let types = parse.types(&parse.values[argument as usize].types);
    let Some(mlir::TypeRef::Written(span)) = types.first() else { return Vec::new() };
    let behind = text.get(span.end as usize..).unwrap_or_default().trim_start();
    braced(behind).map(dictionary).unwrap_or_default()
}
