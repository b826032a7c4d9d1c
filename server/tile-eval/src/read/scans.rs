//! Scans: `xtile.scan` and `tt.scan` as scans of HLO, whose computation combines slices.

use std::sync::Arc;

use eval::Reason;
use ir::{AttributeKey as K, AttributeValue, Attributes, Graph, Op, Opcode, Shape};
use mlir_ops::{OpText, Operand};
use rustc_hash::FxHashMap;

use super::Reader;
use super::triton::{COMBINER, neutral, shape_of};
use crate::program::{Computed, Kind};

impl Reader<'_> {
    /// `%1:2 = xtile.scan(%tile) inits(%start) dimension = 1 …`. Its results are the sums and the last ones of them, which keep
    /// the dimension, with size 1.
    pub(super) fn xtile_scan(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let scan = text.scan().map_err(|why| why.to_string())?;
        self.scan(text, scan.dimension, scan.is_reverse, text.operands())
    }

    /// `"tt.scan"(%tile) <{axis = 1 : i32, reverse = false}>` starts from the value that changes nothing.
    pub(super) fn triton_scan(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let axis = text.index("axis").ok_or("its axis is not read")?;
        self.scan(text, axis, text.has("reverse"), text.operands())
    }

    fn scan(
        &self,
        text: &OpText<'_>,
        dim: usize,
        is_reverse: bool,
        operands: Vec<Operand>,
    ) -> Result<(Kind, Vec<Operand>), Reason> {
        let combiner = self.combiner(text)?;
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut ids = Vec::new();
        for (number, operand) in (0..).zip(&operands) {
            let ty = operand.key().and_then(|(value, index)| self.source.type_of(value, index));
            let shape = shape_of(&ty.ok_or_else(|| format!("the type of {} is not known", operand.name))?)?;
            ids.push(graph.push(Op::parameter(number, shape), Vec::new(), format!("p{number}")));
        }
        let tile = ids.first().map(|&id| graph.ops[id as usize].shape.clone()).ok_or("it has no operand")?;
        let element = tile.element().ok_or("its operand is no array")?;
        let mut slice = tile.dims().to_vec();
        if dim >= slice.len() {
            return Err("it has no such dimension".into());
        }
        slice.remove(dim);
        let slice = Shape::array(element, &slice);
        let start = match ids[..] {
            [_, start] => graph.add(Opcode::Reshape, slice.clone(), &[start], Attributes::default(), "start"),
            [_] => {
                let opcode = combiner.ops[combiner.root as usize].opcode;
                let neutral = neutral(opcode, element)
                    .ok_or_else(|| format!("a scan by {opcode} of {element} is not evaluated"))?;
                let number = Shape::array(element, &[]);
                let number = graph.push(Op::constant(neutral, number), Vec::new(), "start".to_owned());
                let everywhere = Attributes::default().with(K::Dimensions, Vec::<i64>::new());
                graph.add(Opcode::Broadcast, slice.clone(), &[number], everywhere, "r")
            }
            _ => return Err("it scans several tiles".into()),
        };
        let attributes = Attributes::default()
            .with(K::Dimensions, vec![dim as i64])
            .with(K::NumCarries, 1i64)
            .with(K::IsReverse, is_reverse)
            .with(K::ToApply, AttributeValue::Computation(COMBINER.to_owned()));
        let both = Shape::tuple([tile.clone(), slice.clone()]);
        let scan = graph.add(Opcode::Scan, both, &[ids[0], start], attributes, "scan");
        let part = |graph: &mut Graph, index: i64, shape: &Shape| {
            let index = Attributes::default().with(K::Index, index);
            graph.add(Opcode::GetTupleElement, shape.clone(), &[scan], index, "part")
        };
        let sums = part(&mut graph, 0, &tile);
        graph.root = sums;
        if let [_, start] = ids[..] {
            let kept = graph.ops[start as usize].shape.clone();
            let last = part(&mut graph, 1, &slice);
            let last = graph.add(Opcode::Reshape, kept.clone(), &[last], Attributes::default(), "last");
            let both = Shape::tuple([tile, kept]);
            graph.root = graph.add(Opcode::Tuple, both, &[sums, last], Attributes::default(), "both");
        }
        let mut callees = FxHashMap::default();
        callees.insert(COMBINER.to_owned(), Arc::new(on_slices(combiner, &slice)));
        Ok((Kind::Compute(Computed { graph: Arc::new(graph), callees }), operands))
    }
}

/// The computation of two numbers as one of two slices, which returns its result as both the output and what is carried.
fn on_slices(mut combiner: Graph, slice: &Shape) -> Graph {
    for op in &mut combiner.ops {
        op.shape = slice.clone();
        op.operand_shapes.iter_mut().for_each(|shape| *shape = slice.clone());
    }
    let both = Shape::tuple([slice.clone(), slice.clone()]);
    let root = combiner.root;
    combiner.root = combiner.add(Opcode::Tuple, both, &[root, root], Attributes::default(), "both");
    combiner
}
