//! The operands of the instruction at the cursor by role, with their shapes, and its attributes.

use ir::{AttributeKey, OpInfo, Opcode, op_info};
use syntax::hlo::CursorPlace;

use crate::file_context::FileContext;
use crate::hlo::completion::operands::Wanted;
use crate::hlo::scope::Scope;
use crate::hlo::{Hlo, reference};
use crate::rich_text::{Line, RichText};
use crate::signature_help::{SignatureHelp, SignatureParameter, Signatures};
use crate::units::shorten;

/// The number of operands shown; tuples of a training step have thousands.
const LIMIT: usize = 64;

impl Signatures for Hlo {
    fn signature_help(&self, context: &FileContext<'_>, offset: usize) -> Option<SignatureHelp> {
        let scope = Scope::new(context, offset);
        let opcode = scope.cursor.opcode?;
        if matches!(opcode, Opcode::Parameter | Opcode::Constant) {
            return None;
        }
        let info = op_info(opcode);
        let mut help = SignatureHelp {
            label: format!("{opcode}("),
            documentation: Line::documentation(info.summary),
            parameters: Vec::new(),
            active: None,
        };
        operands(&scope, info, &mut help);
        help.label.push(')');
        let first_attribute = help.parameters.len();
        let keys = attributes(opcode, &mut help);
        let position = |key: AttributeKey| keys.iter().position(|&k| k == key).map(|n| first_attribute + n);
        help.active = match scope.cursor.place {
            CursorPlace::Operand(index) => Some(index).filter(|&i| i < first_attribute),
            CursorPlace::Attribute { .. } => {
                let typed = scope.prefix();
                let begun = keys.iter().find(|k| !typed.is_empty() && k.name().starts_with(typed));
                let missing = info.required.iter().find(|k| !scope.cursor.keys.contains(k));
                begun.or(missing).and_then(|&key| position(key))
            }
            CursorPlace::Value { key, .. } => position(key),
            _ => return None,
        };
        Some(help)
    }
}

/// Written operands with their shapes, missing ones with matching shapes.
fn operands(scope: &Scope<'_>, info: &OpInfo, help: &mut SignatureHelp) {
    let written = scope.cursor.operands.len();
    let count = written.max(info.operands.len()).min(LIMIT);
    let roles: Vec<&str> = (0..count).filter_map(|i| info.role(i, count)).collect();
    for (i, &role) in roles.iter().enumerate() {
        if i > 0 {
            help.label += ", ";
        }
        let start = help.label.len();
        help.label += role;
        if roles.iter().filter(|&&r| r == role).count() > 1 {
            help.label += &format!(" {}", roles[..i].iter().filter(|&&r| r == role).count());
        }
        let known = scope.operand_shape(i).map(|shape| shape.to_string());
        let fitting = || Wanted::new(scope, i).describe();
        if let Some(shape) = known.or_else(fitting) {
            help.label += &format!(": {}", shorten(&shape, 60));
        }
        let label = start..help.label.len();
        help.parameters.push(SignatureParameter { label, documentation: RichText::default() });
    }
    if written > LIMIT {
        help.label += ", …";
    }
}

/// The required attributes first; optional ones with `?`. Omits those that every opcode accepts.
fn attributes(opcode: Opcode, help: &mut SignatureHelp) -> Vec<AttributeKey> {
    let info = op_info(opcode);
    let required = info.required.iter().map(|&key| (key, ""));
    let keys: Vec<_> = required.chain(info.optional.iter().map(|&key| (key, "?"))).collect();
    for &(key, mark) in &keys {
        help.label += ", ";
        let start = help.label.len();
        help.label += key.name();
        let label = start..help.label.len();
        help.label += mark;
        let documentation = reference::attribute(key).map_or_else(RichText::default, |a| a.text());
        help.parameters.push(SignatureParameter { label, documentation });
    }
    keys.into_iter().map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::{in_entry, open};

    /// The label with the active parameter in `«»`.
    fn check(line: &str, expect: &str) {
        let parameters =
            "  p = f32[8,16]{1,0} parameter(0)\n  q = f32[16,4]{1,0} parameter(1)\n  z = f32[] constant(0)";
        let (analysis, file, offset) = open(&in_entry(&format!("{parameters}\n  {line}")));
        let help = analysis.signature_help(file, offset).expect("nobody cancels");
        let shown = help.map(|help| match help.active.map(|i| help.parameters[i].label.clone()) {
            Some(at) => {
                let (before, behind) = (&help.label[..at.start], &help.label[at.end..]);
                format!("{before}«{}»{behind}", &help.label[at])
            }
            None => help.label,
        });
        assert_eq!(shown.as_deref().unwrap_or("nothing"), expect, "for {line}");
    }

    #[test]
    fn operands_have_roles_and_shapes() {
        check("a = f32[8,16] add($0", "add(«lhs: f32[8,16]», rhs: f32[8,16])");
        check("a = f32[8,16] subtract(p, $0)", "subtract(lhs: f32[8,16]{1,0}, «rhs: f32[8,16]»)");
        check(
            "a = f32[8] reduce(p, $0), dimensions={1}",
            "reduce(inputs: f32[8,16]{1,0}, «init values: f32[]»), dimensions, to_apply",
        );
        check(
            "a = (f32[8], f32[8]) reduce(p, p, z, z$0)",
            "reduce(inputs 0: f32[8,16]{1,0}, inputs 1: f32[8,16]{1,0}, init values 0: f32[], «init values 1: f32[]»), \
             dimensions, to_apply",
        );
    }

    #[test]
    fn then_come_the_attributes() {
        let label = |active: &str| {
            let label = "transpose(operand: f32[8,16]{1,0}), dimensions";
            label.replace(active, &format!("«{active}»"))
        };
        check("a = f32[16,8] transpose(p), $0", &label("dimensions"));
        check("a = f32[16,8] transpose(p), dimensions={1, $0", &label("dimensions"));
        check("a = f32[16,8] transpose(p), metadata={$0}", &label("nothing of this"));
    }

    #[test]
    fn elsewhere_there_is_nothing() {
        check("a = f32[16,8] trans$0pose(p)", "nothing");
        check("a = f32[16,$08] transpose(p)", "nothing");
        check("a = f32[] parameter($0)", "nothing");
    }
}
