//! A set of ops with the fusions in it looked through: the nodes that grouped analysis walks.

use std::ops::Deref;
use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::Rules;

/// Finds a called computation by name.
pub type Callees<'a> = dyn Fn(&str) -> Option<Arc<Graph>> + 'a;

/// For graphs whose called computations are not at hand: fusions in them have no maps.
pub fn no_callees(_: &str) -> Option<Arc<Graph>> {
    None
}

/// Ops of called computations that one analysis looks into. Fusions beyond are opaque.
pub const MAX_INLINED_OPS: usize = 1 << 16;

/// Fusions in fusions beyond this depth are opaque.
const MAX_DEPTH: usize = 32;

/// Where an op is: in the graph that was asked about, or in a called computation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    pub computation: Option<Arc<str>>,
    pub op: OpId,
}

pub(crate) type NodeId = usize;

/// One output of one op.
#[derive(Debug)]
pub(crate) struct Node {
    graph: usize,
    pub(crate) op: OpId,
    pub(crate) output: usize,
    /// An operand of the set that is not in it.
    pub(crate) is_outside: bool,
    /// The operand's number and the node that defines it. An operand that is a tuple has a pair per element.
    pub(crate) operands: Vec<(usize, NodeId)>,
}

/// What an op stands for: a node, or a tuple whose elements are known.
#[derive(Debug, Clone)]
enum Value {
    Node(NodeId),
    Tuple(Vec<Value>),
}

enum Held<'a> {
    Borrowed(&'a Graph),
    Shared(Arc<Graph>),
}

impl Deref for Held<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        match self {
            Held::Borrowed(graph) => graph,
            Held::Shared(graph) => graph,
        }
    }
}

/// Nodes in an order in which operands come before their users. Parameters of inlined fusions are their operands, tuples
/// are taken apart where their elements are known. Lives for one analysis.
pub(crate) struct Inlined<'a> {
    graphs: Vec<(Option<Arc<str>>, Held<'a>)>,
    pub(crate) nodes: Vec<Node>,
    /// Of the graph that was asked about.
    values: FxHashMap<OpId, Value>,
    inlined_ops: usize,
    rules: Rules,
    callees: &'a Callees<'a>,
}

impl<'a> Inlined<'a> {
    /// The ops of `set`, in any order; ids that the graph does not have are left out.
    pub(crate) fn new(graph: &'a Graph, set: &[OpId], rules: Rules, callees: &'a Callees<'a>) -> Inlined<'a> {
        let mut inlined = Inlined {
            graphs: vec![(None, Held::Borrowed(graph))],
            nodes: Vec::new(),
            values: FxHashMap::default(),
            inlined_ops: 0,
            rules,
            callees,
        };
        let mut set: Vec<OpId> = set.iter().copied().filter(|&op| (op as usize) < graph.ops.len()).collect();
        set.sort_unstable();
        set.dedup();
        inlined.values = inlined.expand(0, &set, None, &mut Vec::new());
        inlined
    }

    pub(crate) fn graph(&self, node: &Node) -> &Graph {
        &self.graphs[node.graph].1
    }

    pub(crate) fn op(&self, node: &Node) -> &Op {
        &self.graph(node).ops[node.op as usize]
    }

    pub(crate) fn name(&self, node: &Node) -> &str {
        self.graph(node).names.get(node.op as usize).map_or("", String::as_str)
    }

    pub(crate) fn place(&self, node: &Node) -> Place {
        Place { computation: self.graphs[node.graph].0.clone(), op: node.op }
    }

    /// The node of an output of an op of the graph that was asked about, even if it is not in the set.
    pub(crate) fn target(&mut self, op: OpId, output: usize) -> Option<NodeId> {
        if op as usize >= self.graphs[0].1.ops.len() {
            return None;
        }
        let mut values = std::mem::take(&mut self.values);
        let value = self.value(0, op, &mut values);
        let node = match &value {
            Value::Tuple(elements) => match elements.get(output) {
                Some(Value::Node(node)) => Some(*node),
                _ => None,
            },
            Value::Node(node) if output == self.nodes[*node].output => Some(*node),
            Value::Node(node) if self.op(&self.nodes[*node]).shape.tuple_elements().is_some() => {
                Some(self.of_output(*node, output))
            }
            Value::Node(_) => None,
        };
        self.values = values;
        node
    }

    fn expand(
        &mut self,
        graph: usize,
        set: &[OpId],
        parameters: Option<&[Value]>,
        open: &mut Vec<Arc<str>>,
    ) -> FxHashMap<OpId, Value> {
        let mut values = FxHashMap::default();
        for &op in set {
            let value = self.expand_op(graph, op, parameters, open, &mut values);
            values.insert(op, value);
        }
        values
    }

    fn expand_op(
        &mut self,
        graph: usize,
        op: OpId,
        parameters: Option<&[Value]>,
        open: &mut Vec<Arc<str>>,
        values: &mut FxHashMap<OpId, Value>,
    ) -> Value {
        let held = &self.graphs[graph].1;
        let Op { opcode, parameter, attributes, .. } = &held.ops[op as usize];
        let (opcode, parameter, index) = (*opcode, *parameter, attributes.int(AttributeKey::Index));
        let callee = match opcode {
            Opcode::Fusion => attributes.computation(AttributeKey::Calls),
            Opcode::Call if self.rules == Rules::Exact => attributes.computation(AttributeKey::ToApply),
            _ => None,
        };
        let callee: Option<Arc<str>> = callee.map(Arc::from);
        // Only what is defined above counts, so that a graph that is no such thing cannot make a cycle.
        let operands = held.operands.get(op as usize).cloned().unwrap_or_default();
        let operands: Vec<Option<Value>> = operands
            .into_iter()
            .map(|operand| (operand < op).then(|| self.value(graph, operand, values)))
            .collect();
        if let Some(value) =
            parameters.zip(parameter).and_then(|(values, number)| values.get(number as usize))
        {
            return value.clone();
        }
        if let Some(name) = callee
            && operands.iter().all(Option::is_some)
        {
            let given: Vec<Value> = operands.iter().flatten().cloned().collect();
            if let Some(value) = self.inline(&name, &given, open) {
                return value;
            }
        }
        match (opcode, operands.as_slice()) {
            (Opcode::Tuple, _) if operands.iter().all(Option::is_some) => {
                return Value::Tuple(operands.into_iter().flatten().collect());
            }
            (Opcode::GetTupleElement, [Some(Value::Tuple(elements))]) => {
                let index = index.and_then(|i| usize::try_from(i).ok());
                if let Some(value) = index.and_then(|i| elements.get(i)) {
                    return value.clone();
                }
            }
            (Opcode::GetTupleElement, &[Some(Value::Node(node))]) if !self.nodes[node].is_outside => {
                let index = index.and_then(|i| usize::try_from(i).ok()).unwrap_or(0);
                let element = self.of_output(node, index);
                return self.push(graph, op, 0, false, vec![(0, element)]);
            }
            _ => {}
        }
        let mut flat = Vec::with_capacity(operands.len());
        for (i, value) in operands.into_iter().enumerate() {
            value.iter().for_each(|value| leaves(value, i, &mut flat));
        }
        self.push(graph, op, 0, false, flat)
    }

    fn push(
        &mut self,
        graph: usize,
        op: OpId,
        output: usize,
        is_outside: bool,
        operands: Vec<(usize, NodeId)>,
    ) -> Value {
        self.nodes.push(Node { graph, op, output, is_outside, operands });
        Value::Node(self.nodes.len() - 1)
    }

    /// The value of an op; one that was not expanded is outside the set.
    fn value(&mut self, graph: usize, op: OpId, values: &mut FxHashMap<OpId, Value>) -> Value {
        if let Some(value) = values.get(&op) {
            return value.clone();
        }
        let value = self.push(graph, op, 0, true, Vec::new());
        values.insert(op, value.clone());
        value
    }

    /// The node of another output of `node`'s op.
    fn of_output(&mut self, node: NodeId, output: usize) -> NodeId {
        let Node { graph, op, is_outside, ref operands, output: own } = self.nodes[node];
        if own == output {
            return node;
        }
        let operands = operands.clone();
        self.push(graph, op, output, is_outside, operands);
        self.nodes.len() - 1
    }

    /// The root of the called computation, over the operands. Nothing where that is not found, calls itself, or is too
    /// large.
    fn inline(&mut self, name: &Arc<str>, operands: &[Value], open: &mut Vec<Arc<str>>) -> Option<Value> {
        if open.len() >= MAX_DEPTH || open.contains(name) {
            return None;
        }
        let callee = (self.callees)(name)?;
        self.inlined_ops += callee.ops.len();
        if self.inlined_ops > MAX_INLINED_OPS || callee.root as usize >= callee.ops.len() {
            return None;
        }
        let all: Vec<OpId> = (0..callee.ops.len() as OpId).collect();
        let root = callee.root;
        let graph = self.graphs.len();
        self.graphs.push((Some(name.clone()), Held::Shared(callee)));
        open.push(name.clone());
        let mut values = self.expand(graph, &all, Some(operands), open);
        open.pop();
        values.remove(&root)
    }
}

fn leaves(value: &Value, operand: usize, into: &mut Vec<(usize, NodeId)>) {
    match value {
        Value::Node(node) => into.push((operand, *node)),
        Value::Tuple(elements) => elements.iter().for_each(|element| leaves(element, operand, into)),
    }
}
