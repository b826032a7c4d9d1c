//! All computations of a module, and what can be told of their instructions without the rest of the world.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use eval::{Column, Evaluator};
use indexing::Rules;
use ir::{AttributeKey, Graph, Op, OpId, Opcode};

use super::simplified::Absent;
use crate::graphs::Graphs;

/// An instruction: its computation, and its place there.
pub type Node = (usize, OpId);

/// Elements of values that are compared, at most.
const MAX_ELEMENTS: i64 = 1 << 16;

pub struct Program {
    pub names: Vec<String>,
    pub graphs: Vec<Arc<Graph>>,
    by_name: HashMap<String, usize>,
    pub entry: usize,
    /// The loop whose condition or body a computation is.
    pub loops: HashMap<usize, Node>,
    /// Which of two operands that change places is which.
    pub hashes: Vec<Vec<u64>>,
}

impl Program {
    pub fn of(text: &str) -> Program {
        let Graphs { all, entry } = Graphs::of(text);
        let mut named: Vec<_> = all.into_iter().collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        let (names, graphs): (Vec<_>, Vec<_>) = named.into_iter().unzip();
        let by_name: HashMap<_, _> = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        let entry = by_name[&entry];
        let mut program =
            Program { names, graphs, by_name, entry, loops: HashMap::new(), hashes: Vec::new() };
        let nodes: Vec<_> = program.nodes().filter(|&n| program.op(n).opcode == Opcode::While).collect();
        program.loops =
            nodes.iter().flat_map(|&n| program.called(n).into_iter().map(move |of| (of, n))).collect();
        program.hashes = (0..program.graphs.len()).map(|at| program.hashes_of(at)).collect();
        program
    }

    pub fn op(&self, (computation, id): Node) -> &Op {
        &self.graphs[computation].ops[id as usize]
    }

    pub fn name(&self, (computation, id): Node) -> String {
        format!("{} {}", self.names[computation], self.graphs[computation].names[id as usize])
    }

    pub fn operands(&self, (computation, id): Node) -> Vec<Node> {
        self.graphs[computation].operands[id as usize].iter().map(|&of| (computation, of)).collect()
    }

    pub fn root(&self, computation: usize) -> Node {
        (computation, self.graphs[computation].root)
    }

    pub fn computation(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> {
        let of = |(at, graph): (usize, &Arc<Graph>)| (0..graph.ops.len() as OpId).map(move |id| (at, id));
        self.graphs.iter().enumerate().flat_map(of).collect::<Vec<_>>().into_iter()
    }

    /// Computations that an instruction calls.
    pub fn called(&self, node: Node) -> Vec<usize> {
        let attributes = &self.op(node).attributes;
        let keys = AttributeKey::ALL.iter().filter(|key| **key != AttributeKey::OperandPrecision);
        keys.flat_map(|&key| attributes.computations(key)).filter_map(|name| self.computation(name)).collect()
    }

    /// What a constant without dimensions is, or one whose elements are all the same, moved or not.
    pub fn number(&self, mut node: Node) -> Option<f64> {
        while matches!(self.op(node).opcode, Opcode::Reshape | Opcode::Broadcast) {
            node = self.operands(node)[0];
        }
        match self.op(node).literal.as_deref()?.trim() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            literal => literal.parse().ok(),
        }
    }

    /// The bits of a value that depends on nothing.
    pub fn known(&self, node: Node) -> Option<Vec<u128>> {
        let shape = self.op(node).shape.as_array()?;
        if shape.elements().is_none_or(|count| count > MAX_ELEMENTS) || !self.is_closed(node) {
            return None;
        }
        let none = |_: u32, _: usize, _: &[i64]| -> Result<Column, Cow<'static, str>> {
            Err("nothing is given".into())
        };
        let callees = |name: &str| self.computation(name).map(|at| self.graphs[at].clone());
        let mut evaluator = Evaluator::new(self.graphs[node.0].clone(), &callees, &none);
        let column = evaluator.whole(node.1, 0).ok()?;
        Some((0..column.len()).map(|at| column.bits(at)).collect())
    }

    /// Whether no parameter is among what an instruction depends on.
    pub fn is_closed(&self, node: Node) -> bool {
        let mut open = vec![node];
        let mut seen = std::collections::HashSet::new();
        while let Some(node) = open.pop() {
            let opcode = self.op(node).opcode;
            if matches!(opcode, Opcode::Parameter | Opcode::CustomCall | Opcode::Infeed | Opcode::Recv) {
                return false;
            }
            open.extend(self.operands(node).into_iter().filter(|&of| seen.insert(of)));
        }
        true
    }

    /// What an instruction computes, but for moves: equal where two compute the same.
    fn hashes_of(&self, computation: usize) -> Vec<u64> {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let graph = &self.graphs[computation];
        let mut all: Vec<u64> = Vec::with_capacity(graph.ops.len());
        for (id, op) in graph.ops.iter().enumerate() {
            let mut operands: Vec<u64> = graph.operands[id].iter().map(|&of| all[of as usize]).collect();
            let kept = match op.opcode {
                Opcode::Reshape | Opcode::Broadcast | Opcode::Transpose => Some(operands[0]),
                _ => match self.replaced((computation, id as OpId)) {
                    Some((Absent::Neutral, (at, of))) if at == computation => Some(all[of as usize]),
                    _ => None,
                },
            };
            if let Some(kept) = kept {
                all.push(kept);
                continue;
            }
            if is_commutative(op.opcode) {
                operands.sort_unstable();
            }
            let mut hasher = DefaultHasher::new();
            // Not which element of a tuple it is: loops carry them in another order.
            let index = (op.opcode == Opcode::GetTupleElement).then(|| op.shape.dims().to_vec());
            let literal = op.literal.as_deref().unwrap_or_default();
            (op.opcode, op.parameter, index, literal, operands).hash(&mut hasher);
            all.push(hasher.finish());
        }
        all
    }

    pub fn hash(&self, (computation, id): Node) -> u64 {
        self.hashes[computation][id as usize]
    }
}

pub fn is_commutative(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Add | Multiply | Maximum | Minimum | And | Or | Xor)
}

/// Nothing where an instruction has no maps of its own.
pub fn maps_of(op: &Op) -> Option<indexing::OpIndexing> {
    use Opcode::*;
    let has_none =
        [While, Conditional, Call, CustomCall, Constant, Iota, OptBarrier, Parameter, Tuple, GetTupleElement];
    if has_none.contains(&op.opcode) {
        return None;
    }
    let mut maps = indexing::output_to_input_by(op, 0, Rules::Exact);
    maps.simplify_by(Rules::Exact);
    Some(maps)
}
