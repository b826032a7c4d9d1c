//! Unsigned integers become integers without a sign: the ops on them say how they read them.
//! Source: `codegen/xtile/ir/transforms/legalize_unsigned_integers_as_signless.cc`.

use syntax::hlo::ElementType;

use crate::program::{Block, Kind, Op, Program, Triton, Type, signless};

pub(super) fn run(program: &mut Program) {
    retype(program, signless);
    constants(&mut program.body);
}

/// Scales of dots become bytes.
/// Source: `backends/gpu/codegen/triton/transforms/triton_xla_convert_unsupported_types.cc`.
pub(super) fn scales(program: &mut Program) {
    if !has_scaled_dot(&program.body) {
        return;
    }
    retype(program, |element| if element == ElementType::F8e8m0fnu { ElementType::S8 } else { element });
}

fn has_scaled_dot(block: &Block) -> bool {
    let is_scaled = |op: &Op| matches!(op.kind, Kind::Triton(Triton::ScaledDot { .. }));
    block.ops.iter().any(|op| is_scaled(op) || op.blocks.iter().any(has_scaled_dot))
}

fn retype(program: &mut Program, to: impl Fn(ElementType) -> ElementType) {
    program.arguments.iter_mut().for_each(|memory| memory.element = to(memory.element));
    for ty in &mut program.values {
        match ty {
            Type::Scalar(element) | Type::Tile(element, _) => *element = to(*element),
            Type::Index => {}
        }
    }
}

fn constants(block: &mut Block) {
    for op in &mut block.ops {
        if let Kind::Constant(constant) = &mut op.kind {
            constant.element = signless(constant.element);
        }
        op.blocks.iter_mut().for_each(constants);
    }
}
