//! Regions as computations, and the values that they see.

use ir::{AttributeKey, AttributeValue, Attributes, Opcode, Shape};
use mlir::{BlockId, Definition, OpId, RegionId, Use, ValueId, last_segment};
use mlir_ops::OpKind;
use rustc_hash::FxHashSet;

use super::Writer;
use super::body::{Body, Draft, Operand};
use super::function::pack_index;
use crate::not_in_hlo::NotInHlo;
use crate::op_table::{mnemonic, row_of};

/// Regions in regions beyond this depth are not written.
const MAX_DEPTH: usize = 128;

impl Writer<'_> {
    /// Writes the ops of a block, and returns what it ends with.
    pub(super) fn block(&mut self, block: BlockId) -> Vec<Operand> {
        let (parse, text) = (self.parse(), self.text());
        let mut results = Vec::new();
        for id in parse.ops_of(block) {
            if last_segment(parse.name(id, text)) != "return" {
                // Ops have regions of ops: [`Writer::open_body`] counts how deep.
                recursion::grow(|| self.op(id));
                continue;
            }
            for operand in parse.operands_of(id) {
                match self.operand(operand) {
                    Ok(operand) => results.push(operand),
                    Err(reason) => {
                        self.report(id, reason.to_string());
                        let target = AttributeValue::Quoted("undefined".to_owned());
                        let attributes = Attributes::default().with(AttributeKey::CustomCallTarget, target);
                        let draft = Draft::new(Opcode::CustomCall, Shape::Opaque, &[], attributes);
                        results.push(self.body().push("undefined", draft, id));
                    }
                }
            }
        }
        results
    }

    pub(super) fn operands(&mut self, id: OpId) -> Result<Vec<Operand>, NotInHlo> {
        self.parse().operands_of(id).map(|operand| self.operand(operand)).collect()
    }

    pub(super) fn operand(&mut self, operand: &Use) -> Result<Operand, NotInHlo> {
        let name = operand.span.of(self.source.text);
        let value = operand.value.ok_or_else(|| NotInHlo::from(format!("{name} is not defined")))?;
        self.value(value, pack_index(name))
            .ok_or_else(|| format!("{name} is of the outside: computations of HLO do not see it").into())
    }

    /// A value of the innermost computation. A constant of the outside is written once more.
    pub(super) fn value(&mut self, value: ValueId, index: u32) -> Option<Operand> {
        if let Some(known) = self.body().values.get(&(value, index)) {
            return Some(known.clone());
        }
        let Definition::Result(op) = self.parse().values[value as usize].definition else { return None };
        if !self.is_constant(op) || self.bodies.len() < 2 {
            return None;
        }
        self.op(op);
        self.body().values.get(&(value, index)).cloned()
    }

    /// Whether an op is a constant that can be written again elsewhere. One with operands is none: they may be constants, too,
    /// in a chain without an end.
    fn is_constant(&self, op: OpId) -> bool {
        let name = self.parse().name(op, self.text());
        let is_called_so = mnemonic(name).and_then(row_of).is_some_and(|row| row.opcode == Opcode::Constant)
            || OpKind::of(name) == OpKind::Constant;
        is_called_so && self.parse().operands_of(op).next().is_none()
    }

    /// Values of the computation around that ops in these regions read, each once, in the order of the text.
    pub(super) fn captured(&mut self, id: OpId, regions: &[RegionId]) -> Vec<(ValueId, u32)> {
        let (parse, text) = (self.parse(), self.text());
        let spans: Vec<_> = regions.iter().map(|&r| parse.regions[r as usize].span).collect();
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for inner in id + 1..parse.op(id).behind {
            let start = parse.op(inner).span.start as usize;
            if !spans.iter().any(|span| span.contains(start)) {
                continue;
            }
            for operand in parse.uses_of(inner) {
                let Some(value) = operand.value else { continue };
                let key = (value, pack_index(operand.span.of(text)));
                if seen.contains(&key) || !self.body().values.contains_key(&key) {
                    continue;
                }
                seen.insert(key);
                // Constants are written in the region.
                let is_constant = matches!(parse.values[value as usize].definition, Definition::Result(op) if self.is_constant(op));
                if !is_constant {
                    found.push(key);
                }
            }
        }
        found
    }

    pub(super) fn open_body(&mut self) -> Result<(), NotInHlo> {
        if self.bodies.len() > MAX_DEPTH {
            return Err("its regions are too deep".into());
        }
        self.bodies.push(Body::default());
        Ok(())
    }

    /// The first block of a region.
    pub(super) fn entry_of(&self, region: RegionId) -> Result<BlockId, NotInHlo> {
        self.parse().blocks_of(region).next().ok_or_else(|| "a region has no block".into())
    }

    /// A region whose arguments are the parameters of its computation.
    pub(super) fn region(&mut self, id: OpId, region: RegionId) -> Result<String, NotInHlo> {
        let block = self.entry_of(region)?;
        let arguments: Vec<ValueId> = self.parse().blocks[block as usize].arguments.clone().collect();
        self.region_of(id, block, &arguments)
    }

    /// Opens a computation whose parameters are these values.
    pub(super) fn open_region(&mut self, id: OpId, arguments: &[ValueId]) -> Result<(), NotInHlo> {
        let shapes: Vec<Shape> = arguments.iter().map(|&a| self.shape_of(a, 0)).collect::<Result<_, _>>()?;
        self.open_body()?;
        for (&argument, shape) in arguments.iter().zip(shapes) {
            let wanted = self.wanted_name(argument, Opcode::Parameter.name());
            let operand = self.body().parameter(&wanted, shape, Attributes::default(), id);
            self.body().values.insert((argument, 0), operand);
        }
        Ok(())
    }

    /// The same, of a block that takes these values.
    pub(super) fn region_of(
        &mut self,
        id: OpId,
        block: BlockId,
        arguments: &[ValueId],
    ) -> Result<String, NotInHlo> {
        self.open_region(id, arguments)?;
        let results = self.block(block);
        let root = self.root(results, id);
        let name = self.region_name("region");
        self.finish_body(&name, &root);
        Ok(name)
    }
}
