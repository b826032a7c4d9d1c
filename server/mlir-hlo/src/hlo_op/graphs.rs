//! The graph of an op of HLO: leaves for its operands, and the instructions behind them.

use std::sync::Arc;

use ir::{AttributeKey, AttributeValue, Attributes, Graph, Op, Opcode, Shape};
use rustc_hash::FxHashMap;

use super::HloOp;
use super::arguments::Given;
use crate::not_in_hlo::NotInHlo;
use crate::to_hlo::Operand;

impl HloOp {
    /// Bounds become unknown extents: as a bound XLA would take them for the size.
    pub(crate) fn with_unknown_extents(mut self) -> HloOp {
        let mut ops = self.callees.values().flat_map(|graph| &graph.ops).chain(&self.graph.ops);
        if !ops.all(|op| op.shape.is_static()) {
            self.only_maps = true;
            for op in &mut self.graph.ops {
                op.shape = op.shape.with_unknown_extents();
                op.operand_shapes.iter_mut().for_each(|shape| *shape = shape.with_unknown_extents());
            }
        }
        self
    }

    pub fn op(&self) -> &Op {
        &self.graph.ops[self.graph.root as usize]
    }

    /// The operand that an op of the graph stands for.
    pub fn operand(&self, op: ir::OpId) -> Option<usize> {
        Some(self.graph.ops.get(op as usize)?.parameter? as usize)
    }

    /// A graph of the operands alone, as its first ops.
    pub(crate) fn of_operands(operands: Vec<String>, shapes: &[Shape]) -> HloOp {
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        for ((number, shape), name) in (0..).zip(shapes).zip(&operands) {
            graph.push(Op::parameter(number, shape.clone()), Vec::new(), value_name(name));
        }
        HloOp { graph, callees: FxHashMap::default(), operands, results: 1, only_maps: false }
    }

    /// The op of a graph that starts with a parameter for each of `given`. Several instructions behind these become one fusion.
    pub(super) fn of_instructions(
        mut written: Graph,
        given: &[Given<'_>],
        callees: FxHashMap<String, Arc<Graph>>,
        results: usize,
    ) -> Result<HloOp, NotInHlo> {
        let count = given.len();
        let root = written.root as usize;
        if root < count {
            return Err(NotInHlo::no_instruction("HLO has no such instruction"));
        }
        if root == count {
            let ids = std::mem::take(&mut written.operands[root]);
            let op = written.ops.swap_remove(root);
            let shapes = ids.iter().zip(&op.operand_shapes);
            let operands: Vec<_> = shapes.map(|(&id, shape)| Operand { id, shape: shape.clone() }).collect();
            let name = std::mem::take(&mut written.names[root]);
            return Ok(HloOp::of_instruction(op, name, &operands, given, callees, results));
        }
        let names = given.iter().map(|value| value.name.to_owned()).collect();
        let shapes: Vec<Shape> = given.iter().map(|value| value.shape.clone()).collect();
        let mut found = HloOp { callees, results, ..HloOp::of_operands(names, &shapes) };
        let shape = written.ops[root].shape.clone();
        let ids: Vec<ir::OpId> = (0..count as ir::OpId).collect();
        found.graph.root = found.fuse("fused", written, shape, &ids);
        Ok(found.with_unknown_extents())
    }

    /// One instruction. The id of each of its operands is an index into `given`.
    pub(super) fn of_instruction(
        op: Op,
        name: String,
        operands: &[Operand],
        given: &[Given<'_>],
        callees: FxHashMap<String, Arc<Graph>>,
        results: usize,
    ) -> HloOp {
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut leaves: Vec<Option<ir::OpId>> = vec![None; given.len()];
        let mut ids = Vec::with_capacity(operands.len());
        for (number, operand) in (0..).zip(operands) {
            let value = &given[operand.id as usize];
            ids.push(*leaves[operand.id as usize].get_or_insert_with(|| {
                let shape = value.shape.clone();
                let leaf = match &value.literal {
                    // A known index makes the map exact.
                    Some(literal) => Op::constant(literal.clone(), shape),
                    None => Op::parameter(number, shape),
                };
                graph.push(leaf, Vec::new(), value_name(value.name))
            }));
        }
        graph.root = graph.push(op, ids, name);
        let operands = operands.iter().map(|operand| given[operand.id as usize].name.to_owned()).collect();
        HloOp { graph, callees, operands, results, only_maps: false }.with_unknown_extents()
    }

    /// Adds a fusion that calls `fused`.
    pub(crate) fn fuse(&mut self, name: &str, fused: Graph, shape: Shape, operands: &[ir::OpId]) -> ir::OpId {
        self.callees.insert(name.to_owned(), Arc::new(fused));
        let attributes = Attributes::default()
            .with(AttributeKey::Kind, AttributeValue::Word("kLoop".to_owned()))
            .with(AttributeKey::Calls, AttributeValue::Computation(name.to_owned()));
        self.graph.add(Opcode::Fusion, shape, operands, attributes, "r")
    }

    /// A module of HLO whose entry is the op, as text. Its operands are called `p0`, `p1` and so on, the op `r`.
    pub fn text(&self) -> String {
        let mut text = "HloModule m\n\n".to_owned();
        let mut computation = |head: &str, graph: &Graph| {
            text.push_str(head);
            text.push_str(" {\n");
            for id in 0..graph.ops.len() as ir::OpId {
                text.push_str("  ");
                graph.write_instruction(&mut text, id);
                text.push('\n');
            }
            text.push_str("}\n\n");
        };
        let mut callees: Vec<_> = self.callees.iter().collect();
        // The others are called from the one that is fused.
        callees.sort_by_key(|(name, _)| (*name == "fused", *name));
        callees.into_iter().for_each(|(name, graph)| computation(name, graph));
        let mut entry = self.graph.clone();
        entry.names = (0..entry.ops.len()).map(|id| format!("p{id}")).collect();
        entry.names[entry.root as usize] = "r".to_owned();
        let parameters = entry.ops.iter_mut().filter_map(|op| op.parameter.as_mut());
        (0..).zip(parameters).for_each(|(number, parameter)| *parameter = number);
        computation("ENTRY e", &entry);
        text
    }
}

/// A name without `%`.
fn value_name(name: &str) -> String {
    name.trim_start_matches('%').to_owned()
}
