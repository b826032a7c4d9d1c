//! Unsigned integers become integers without a sign: the ops on them say how they read them.
//! Source: `codegen/xtile/ir/transforms/legalize_unsigned_integers_as_signless.cc`.

use syntax::hlo::ElementType;

use crate::program::{Block, Kind, Program, Type};

pub(super) fn run(program: &mut Program) {
    program.arguments.iter_mut().for_each(|memory| memory.element = signless(memory.element));
    for ty in &mut program.values {
        match ty {
            Type::Scalar(element) | Type::Tile(element, _) => *element = signless(*element),
            Type::Index => {}
        }
    }
    constants(&mut program.body);
}

fn constants(block: &mut Block) {
    for op in &mut block.ops {
        if let Kind::Constant(constant) = &mut op.kind {
            constant.element = signless(constant.element);
        }
        op.blocks.iter_mut().for_each(constants);
    }
}

fn signless(element: ElementType) -> ElementType {
    match element {
        ElementType::U4 => ElementType::S4,
        ElementType::U8 => ElementType::S8,
        ElementType::U16 => ElementType::S16,
        ElementType::U32 => ElementType::S32,
        ElementType::U64 => ElementType::S64,
        other => other,
    }
}
