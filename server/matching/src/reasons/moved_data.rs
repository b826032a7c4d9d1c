//! Sentences about copies, transposes, bitcasts, conversions and paddings.

use syntax::hlo::Opcode;

use crate::links::is_parameter;
use crate::reasons::sentence::{Step, name, quoted};
use crate::reasons::written_shape::WrittenShape;

impl Step<'_, '_, '_> {
    pub(super) fn moved_data(&self, id: u32, opcode: Opcode) -> String {
        let target = self.target(id);
        let Some(operand) = self.after.operands(id).first().map(|operand| operand.instruction) else {
            return format!("serves {target}");
        };
        let is_copy = matches!(opcode, Opcode::Copy | Opcode::CopyStart);
        let (Some(from), Some(to)) = (self.shape(operand), self.shape(id)) else {
            return match is_copy {
                true => self.own_buffer(id, operand, &target),
                false => format!("passes {} on to {target}", self.called(operand)),
            };
        };
        match opcode {
            _ if is_copy && !from.has_layout_of(&to) => {
                format!("makes {target} {}: {} is {}", to.layout(), self.called(operand), from.layout())
            }
            _ if is_copy => self.own_buffer(id, operand, &target),
            Opcode::Transpose => self.transpose(id, operand, &target),
            Opcode::Convert => self.convert(operand, from, to, &target),
            Opcode::Pad => {
                let (from, to) = (from.dimensions, to.dimensions);
                format!("pads {} from [{from}] to [{to}] for {target}", self.called(operand))
            }
            _ => self.bitcast(operand, from, to, &target),
        }
    }

    /// The name of an operand, with what is special about it.
    fn called(&self, id: u32) -> String {
        let instruction = self.after.instruction(id);
        let of = name(instruction);
        match is_parameter(instruction) && instruction.computation == self.after.entry {
            true => format!("the module's parameter {of}"),
            false => of,
        }
    }

    /// A copy that changes neither layout nor type.
    fn own_buffer(&self, id: u32, operand: u32, target: &str) -> String {
        let source = self.after.instruction(operand);
        let others = self.after.users(operand).iter().filter(|used| used.user != id);
        let other = others.map(|used| self.after.instruction(used.user)).next();
        let why = match (source.opcode, other) {
            (Some(Opcode::Parameter), None) => format!("{} is a parameter", name(source)),
            (Some(Opcode::Constant), None) => format!("{} is a constant", name(source)),
            (_, Some(other)) => format!("{} also uses {}", name(other), name(source)),
            (_, None) => format!("{} has no other use", name(source)),
        };
        format!("gives {target} a buffer of its own: {why}")
    }

    fn transpose(&self, id: u32, operand: u32, target: &str) -> String {
        let permutation = attribute(self.after.instruction(id).text, "dimensions").unwrap_or_default();
        let operand = self.called(operand);
        let is_identity =
            permutation.split(',').enumerate().all(|(at, dimension)| dimension.trim() == at.to_string());
        if is_identity {
            return format!("keeps the order of the dimensions of {operand} for {target}");
        }
        match self.roles_in_dot(id) {
            Some(roles) => {
                format!("permutes {operand} by {{{permutation}}}: {target} has its dimensions as {roles}")
            }
            None => format!("permutes {operand} by {{{permutation}}} for {target}"),
        }
    }

    /// What the dimensions of `id` are to the dot that uses it first: `batch, free, contracting`.
    fn roles_in_dot(&self, id: u32) -> Option<String> {
        let used = self.after.users(id).first()?;
        let dot = self.after.instruction(used.user);
        let side = if used.operand == 0 { "lhs" } else { "rhs" };
        if dot.opcode != Some(Opcode::Dot) || used.operand > 1 {
            return None;
        }
        let list = |key: &str| attribute(dot.text, &format!("{side}_{key}")).unwrap_or_default();
        let (batch, contracting) = (list("batch_dims"), list("contracting_dims"));
        let holds = |list: &str, at: usize| list.split(',').any(|n| n.trim() == at.to_string());
        let role = |at: usize| match () {
            () if holds(batch, at) => "batch",
            () if holds(contracting, at) => "contracting",
            () => "free",
        };
        let rank = self.shape(id)?.rank();
        Some((0..rank).map(role).collect::<Vec<_>>().join(", "))
    }

    fn convert(&self, operand: u32, from: WrittenShape<'_>, to: WrittenShape<'_>, target: &str) -> String {
        let of = self.called(operand);
        let (was, is) = (from.element, to.element);
        // The operand computes in another type than before the pass.
        let source = self.matching.origins[operand as usize].source;
        let shape = source.and_then(|source| WrittenShape::read(self.before.instruction(source).shape_text));
        if let Some(shape) = shape.filter(|shape| shape.element == is && was != is) {
            return format!("returns {of}, which the pass made {was}, to {} for {target}", shape.element);
        }
        match to.bits() > from.bits() {
            true => format!("widens {of} from {was} to {is} for {target}"),
            false => format!("converts {of} from {was} to {is} for {target}"),
        }
    }

    fn bitcast(&self, operand: u32, from: WrittenShape<'_>, to: WrittenShape<'_>, target: &str) -> String {
        let of = self.called(operand);
        match from.dimensions == to.dimensions && from.element == to.element {
            true => format!("reads the bytes of {of}, {}, as {} for {target}", from.layout(), to.layout()),
            false => {
                let written =
                    |shape: WrittenShape<'_>| quoted(&format!("{}[{}]", shape.element, shape.dimensions));
                format!("reads the bytes of {of}, {}, as {} for {target}", written(from), written(to))
            }
        }
    }
}

/// The list in `, key={…}`.
fn attribute<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(&format!(", {key}={{"))?;
    Some(behind.split_once('}')?.0)
}
