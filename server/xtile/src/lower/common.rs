//! Reuses values that are computed before and in scope. Source: `mlir/lib/Transforms/CSE.cpp`.

use std::fmt::Write;

use indexing_map::{PrintStyle, print_map};
use rustc_hash::FxHashMap;

use super::rewrite::is_pure;
use crate::program::{Block, Kind, Op, Program, Type, ValueId};

pub(super) fn run(program: &mut Program) {
    let mut scopes = Scopes { values: &program.values, open: Vec::new(), same: FxHashMap::default() };
    scopes.block(&mut program.body);
}

struct Scopes<'p> {
    values: &'p [Type],
    /// Per open block: ops by their text.
    open: Vec<FxHashMap<String, ValueId>>,
    same: FxHashMap<ValueId, ValueId>,
}

impl Scopes<'_> {
    fn block(&mut self, block: &mut Block) {
        self.open.push(FxHashMap::default());
        for mut op in std::mem::take(&mut block.ops) {
            cancel::tick();
            self.rename(&mut op.operands);
            op.blocks.iter_mut().for_each(|inner| self.block(inner));
            if let Some(result) = op.result()
                && is_pure(&op)
            {
                let mut text = String::new();
                self.describe(&op, &mut FxHashMap::default(), &mut text);
                if let Some(&known) = self.open.iter().rev().find_map(|scope| scope.get(&text)) {
                    self.same.insert(result, known);
                    continue;
                }
                if let Some(scope) = self.open.last_mut() {
                    scope.insert(text, result);
                }
            }
            block.ops.push(op);
        }
        self.rename(&mut block.yields);
        self.open.pop();
    }

    fn rename(&self, values: &mut [ValueId]) {
        for value in values {
            *value = self.same.get(value).copied().unwrap_or(*value);
        }
    }

    /// What equal ops share. Values defined inside are counted from 0.
    fn describe(&self, op: &Op, inside: &mut FxHashMap<ValueId, usize>, text: &mut String) {
        _ = match &op.kind {
            Kind::Apply { map, range } => {
                write!(text, "{} {range:?}", print_map(map, PrintStyle::Symbolic))
            }
            kind => write!(text, "{kind:?}"),
        };
        for value in &op.operands {
            self.name(*value, inside, text);
        }
        if let Some(result) = op.result() {
            _ = write!(text, " -> {:?}", self.values[result as usize]);
        }
        for block in &op.blocks {
            for &argument in &block.arguments {
                let number = inside.len();
                inside.insert(argument, number);
                _ = write!(text, " {:?}", self.values[argument as usize]);
            }
            for inner in &block.ops {
                self.describe(inner, inside, text);
                if let Some(result) = inner.result() {
                    let number = inside.len();
                    inside.insert(result, number);
                }
            }
            for &value in &block.yields {
                self.name(value, inside, text);
            }
        }
    }

    fn name(&self, value: ValueId, inside: &FxHashMap<ValueId, usize>, text: &mut String) {
        _ = match inside.get(&value) {
            Some(number) => write!(text, " ^{number}"),
            None => write!(text, " %{value}"),
        };
    }
}
