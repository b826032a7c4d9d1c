//! Applies rules to the ops of a program.
//! Source: `mlir/lib/Transforms/Utils/GreedyPatternRewriteDriver.cpp`.

use ir::OpId;
use rustc_hash::FxHashMap;

use super::constants;
use super::fold;
use crate::program::{Block, Kind, Op, Program, Type, ValueId};

/// The maximum number of sweeps of a pass. Each rule makes an op simpler, so that few suffice.
const MAX_SWEEPS: usize = 64;

/// Replaces an op; `None` keeps it.
pub(super) type Rule = fn(&mut Rewriter<'_>, &Op) -> Option<Rewrite>;

pub(super) enum Rewrite {
    /// The value that takes the place of the result.
    Value(ValueId),
    /// The same for each of several results.
    Values(Vec<ValueId>),
    /// The ops of a block with these arguments take the place of the op, and what it yields that of the results.
    Inline(Block, Vec<ValueId>),
}

/// Applies rules and folds until nothing changes, and removes unused ops. Constants move to the start.
pub(super) fn apply_to_fixed_point(program: &mut Program, rules: &[Rule]) {
    for _ in 0..MAX_SWEEPS {
        constants::hoist(program);
        let mut changed = false;
        for _ in 0..MAX_SWEEPS {
            let swept = sweep(program, rules, true);
            if !(remove_unused(program) | swept) {
                break;
            }
            changed = true;
        }
        if !changed {
            break;
        }
    }
}

/// Applies rules once to each op.
pub(super) fn apply_once(program: &mut Program, rules: &[Rule]) {
    sweep(program, rules, false);
}

/// Returns whether a rule applied.
fn sweep(program: &mut Program, rules: &[Rule], folds: bool) -> bool {
    let mut uses = FxHashMap::default();
    each_use(&program.body, &mut |value| *uses.entry(value).or_default() += 1);
    let mut rewriter = Rewriter {
        values: &mut program.values,
        definitions: FxHashMap::default(),
        uses,
        replaced: FxHashMap::default(),
        open: Vec::new(),
        origin: None,
        changed: false,
    };
    let mut rules = rules.to_vec();
    if folds {
        rules.insert(0, fold::fold);
    }
    rewriter.block(&mut program.body, &rules);
    rewriter.changed
}

pub(super) struct Rewriter<'p> {
    values: &'p mut Vec<Type>,
    definitions: FxHashMap<ValueId, (Kind, Vec<ValueId>)>,
    /// The number of uses of a value before the sweep.
    uses: FxHashMap<ValueId, u32>,
    replaced: FxHashMap<ValueId, ValueId>,
    /// The ops of the open blocks so far, the innermost last.
    open: Vec<Vec<Op>>,
    /// Of the op that is rewritten.
    origin: Option<OpId>,
    changed: bool,
}

impl Rewriter<'_> {
    fn block(&mut self, block: &mut Block, rules: &[Rule]) {
        self.open.push(Vec::with_capacity(block.ops.len()));
        for op in std::mem::take(&mut block.ops) {
            self.op(op, rules);
        }
        block.ops = self.open.pop().unwrap_or_default();
        block.yields.iter_mut().for_each(|value| *value = self.current(*value));
    }

    fn op(&mut self, mut op: Op, rules: &[Rule]) {
        cancel::tick();
        for operand in &mut op.operands {
            *operand = self.current(*operand);
        }
        self.origin = op.origin;
        let rewrite = rules.iter().find_map(|rule| rule(self, &op));
        self.changed |= rewrite.is_some();
        match rewrite {
            Some(Rewrite::Value(value)) => self.replace(op.result(), value),
            Some(Rewrite::Values(values)) => {
                for (&result, value) in op.results.iter().zip(values) {
                    self.replace(Some(result), value);
                }
            }
            Some(Rewrite::Inline(block, arguments)) => {
                for (&argument, value) in block.arguments.iter().zip(arguments) {
                    self.replace(Some(argument), value);
                }
                for inner in block.ops {
                    self.op(inner, rules);
                }
                for (&result, value) in op.results.iter().zip(block.yields) {
                    self.replace(Some(result), value);
                }
            }
            None => {
                for inner in &mut op.blocks {
                    self.block(inner, rules);
                }
                self.add(op);
            }
        }
    }

    fn replace(&mut self, value: Option<ValueId>, by: ValueId) {
        if let Some(value) = value {
            let by = self.current(by);
            self.replaced.insert(value, by);
        }
    }

    fn current(&self, value: ValueId) -> ValueId {
        self.replaced.get(&value).copied().unwrap_or(value)
    }

    /// Adds an op, with its results, before the one that is rewritten.
    pub(super) fn add(&mut self, op: Op) {
        if let Some(result) = op.result() {
            self.definitions.insert(result, (op.kind.clone(), op.operands.clone()));
        }
        if let Some(ops) = self.open.last_mut() {
            ops.push(op);
        }
    }

    /// Adds an op before the one that is rewritten.
    pub(super) fn push(&mut self, kind: Kind, operands: Vec<ValueId>, ty: Type) -> ValueId {
        self.push_with(kind, operands, Vec::new(), ty)
    }

    pub(super) fn push_with(
        &mut self,
        kind: Kind,
        operands: Vec<ValueId>,
        blocks: Vec<Block>,
        ty: Type,
    ) -> ValueId {
        let result = self.new_value(ty);
        self.add(Op { kind, operands, results: vec![result], blocks, origin: self.origin });
        result
    }

    pub(super) fn new_value(&mut self, ty: Type) -> ValueId {
        self.values.push(ty);
        (self.values.len() - 1) as ValueId
    }

    pub(super) fn ty(&self, value: ValueId) -> &Type {
        &self.values[value as usize]
    }

    /// The op that computes a value, and its operands; `None` for arguments.
    pub(super) fn definition(&self, value: ValueId) -> Option<(&Kind, &[ValueId])> {
        self.definitions.get(&value).map(|(kind, operands)| (kind, &operands[..]))
    }

    pub(super) fn has_one_use(&self, value: ValueId) -> bool {
        self.uses.get(&value).is_none_or(|&uses| uses == 1)
    }

    pub(super) fn origin(&self) -> Option<OpId> {
        self.origin
    }
}

/// Removes ops whose results are not used, and that neither read nor write memory.
fn remove_unused(program: &mut Program) -> bool {
    let mut used = vec![false; program.values.len()];
    removed(&mut program.body, &mut used)
}

fn removed(block: &mut Block, used: &mut Vec<bool>) -> bool {
    block.yields.iter().for_each(|&value| used[value as usize] = true);
    let mut changed = false;
    let mut kept = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops).into_iter().rev() {
        if !op.results.is_empty() && !op.results.iter().any(|&result| used[result as usize]) && is_pure(&op) {
            changed = true;
            continue;
        }
        for inner in &mut op.blocks {
            changed |= removed(inner, used);
        }
        op.operands.iter().for_each(|&value| used[value as usize] = true);
        kept.push(op);
    }
    kept.reverse();
    block.ops = kept;
    changed
}

/// Whether the op, and those in it, touch no memory.
pub(super) fn is_pure(op: &Op) -> bool {
    !matches!(op.kind, Kind::Extract { .. } | Kind::Insert { .. })
        && op.blocks.iter().all(|block| block.ops.iter().all(is_pure))
}

fn each_use(block: &Block, f: &mut impl FnMut(ValueId)) {
    for op in &block.ops {
        op.operands.iter().for_each(|&value| f(value));
        op.blocks.iter().for_each(|inner| each_use(inner, f));
    }
    block.yields.iter().for_each(|&value| f(value));
}
