//! Constants: equal ones are one, at the start of the program. Source: `mlir/lib/Transforms/Utils/FoldUtils.cpp`.

use rustc_hash::FxHashMap;

use super::rewrite::Rewriter;
use crate::program::{Block, Kind, Op, Program, Type, ValueId};
use codegen::Constant;
use ir::ElementTypeExt;
use syntax::hlo::ElementType;

/// Moves constants to the start, each before those moved earlier, unless it follows a constant that is at the start.
pub(super) fn hoist(program: &mut Program) {
    let mut found = Found {
        values: &program.values,
        known: FxHashMap::default(),
        same: FxHashMap::default(),
        moved: Vec::new(),
    };
    let mut stayed: Vec<Op> = Vec::with_capacity(program.body.ops.len());
    for mut op in std::mem::take(&mut program.body.ops) {
        if let Some(key) = key(&op, found.values) {
            let follows = stayed.last().map_or(found.moved.is_empty(), is_constant);
            if found.is_first(key, &op) {
                if follows { stayed.push(op) } else { found.moved.push(op) }
            }
            continue;
        }
        found.op(&mut op);
        stayed.push(op);
    }
    found.rename(&mut program.body.yields);
    let mut ops = found.moved;
    ops.reverse();
    ops.extend(stayed);
    program.body.ops = ops;
}

struct Found<'p> {
    values: &'p [Type],
    known: FxHashMap<(i128, Type), ValueId>,
    same: FxHashMap<ValueId, ValueId>,
    moved: Vec<Op>,
}

impl Found<'_> {
    /// Whether no equal constant was found before; otherwise that one takes its place.
    fn is_first(&mut self, key: (i128, Type), op: &Op) -> bool {
        let Some(result) = op.result() else { return false };
        let first = *self.known.entry(key).or_insert(result);
        if first != result {
            self.same.insert(result, first);
        }
        first == result
    }

    fn op(&mut self, op: &mut Op) {
        self.rename(&mut op.operands);
        op.blocks.iter_mut().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &mut Block) {
        for mut op in std::mem::take(&mut block.ops) {
            match key(&op, self.values) {
                Some(key) => {
                    if self.is_first(key, &op) {
                        self.moved.push(op);
                    }
                }
                None => {
                    self.op(&mut op);
                    block.ops.push(op);
                }
            }
        }
        self.rename(&mut block.yields);
    }

    fn rename(&self, values: &mut [ValueId]) {
        for value in values {
            if let Some(&first) = self.same.get(value) {
                *value = first;
            }
        }
    }
}

fn is_constant(op: &Op) -> bool {
    matches!(op.kind, Kind::Constant(_) | Kind::IndexConstant(_))
}

/// What equal constants share.
fn key(op: &Op, values: &[Type]) -> Option<(i128, Type)> {
    let ty = || op.result().map(|result| values[result as usize].clone());
    match op.kind {
        Kind::Constant(constant) => Some((constant.bits as i128, ty()?)),
        Kind::IndexConstant(value) => Some((i128::from(value), ty()?)),
        _ => None,
    }
}

impl Rewriter<'_> {
    /// The number that a value is, in every element of a tile.
    pub(super) fn constant(&self, value: ValueId) -> Option<Constant> {
        match self.definition(value)? {
            (Kind::Constant(constant), _) => Some(*constant),
            _ => None,
        }
    }

    pub(super) fn index_constant(&self, value: ValueId) -> Option<i64> {
        match self.definition(value)? {
            (Kind::IndexConstant(value), _) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn push_constant(&mut self, constant: Constant, ty: Type) -> ValueId {
        self.push(Kind::Constant(constant), Vec::new(), ty)
    }

    /// An integer, rounded where the element type is a float, in every element of a type.
    pub(super) fn number(&mut self, value: i64, ty: Type) -> ValueId {
        let element = ty.element().unwrap_or(ElementType::S32);
        self.push_constant(Constant::of_int(element, value), ty)
    }

    pub(super) fn element(&self, value: ValueId) -> ElementType {
        self.ty(value).element().unwrap_or(ElementType::S64)
    }

    pub(super) fn is_float(&self, value: ValueId) -> bool {
        self.element(value).is_floating()
    }
}
