//! A set of ops with its fusions inlined: the nodes of grouped analysis.

use std::ops::Deref;
use std::sync::Arc;

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Graph, Op, OpId, Opcode, Shape};
use rustc_hash::FxHashMap;

use crate::Rules;
use crate::checks::{self, leaf_count, scalar};
use crate::input_to_output::input_to_output_by;
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::output_to_input::{in_graph, resolve};
use crate::runtime_variables::with_known_parameters;
use crate::{calls, while_loop};

/// Finds a called computation by name.
pub type Callees<'a> = dyn Fn(&str) -> Option<Arc<Graph>> + 'a;

/// For graphs whose called computations are not available: fusions in them have no maps.
pub fn no_callees(_: &str) -> Option<Arc<Graph>> {
    None
}

/// The maximum number of ops of called computations that one analysis inlines. Further fusions are opaque.
pub const MAX_INLINED_OPS: usize = 1 << 16;

/// The maximum number of ops of nested calls: if each computation calls the next one twice, every level
/// doubles them.
const MAX_NESTED_OPS: usize = 1 << 12;

/// Nested fusions beyond this depth are opaque.
const MAX_DEPTH: usize = 32;

/// The location of an op: in the outermost graph, or in a called computation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpLocation {
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
    /// Whether it is an operand of the set and not in the set.
    pub(crate) is_outside: bool,
    /// Whether it is a conditional with analysed branches: the value of one of its operands, as the first one
    /// selects.
    pub(crate) is_choice: bool,
    pub(crate) operands: Arc<[Use]>,
}

/// A node as an operand. A tuple with known leaves has a use per leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use {
    /// The operand's number.
    pub(crate) operand: usize,
    pub(crate) leaf: Option<usize>,
    pub(crate) node: NodeId,
}

impl Use {
    /// Whether an access to the operand reads this leaf.
    pub(crate) fn is_read_by(&self, access: &OperandIndexing) -> bool {
        self.leaf.is_none() || access.element.is_none() || self.leaf == access.element
    }
}

/// The maximum number of leaves of one operand that are distinguished.
const MAX_LEAVES: usize = 1 << 12;

/// The value of an op: a node, or a tuple with known elements.
#[derive(Debug, Clone)]
enum NodeTree {
    Node(NodeId),
    Tuple(Vec<NodeTree>),
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

/// Nodes, operands before their users. Parameters of inlined fusions are replaced by the fusions' operands,
/// and tuples with known elements by these. Lives for one analysis.
pub(crate) struct Inlined<'a> {
    graphs: Vec<(Option<Arc<str>>, Held<'a>)>,
    pub(crate) nodes: Vec<Node>,
    /// Values of the outermost graph.
    values: FxHashMap<OpId, NodeTree>,
    inlined_ops: usize,
    nested_ops: usize,
    rules: Rules,
    callees: &'a Callees<'a>,
}

impl<'a> Inlined<'a> {
    /// Inlines the ops of `set`, in any order; ids that the graph does not have are ignored.
    pub(crate) fn new(graph: &'a Graph, set: &[OpId], rules: Rules, callees: &'a Callees<'a>) -> Inlined<'a> {
        let mut inlined = Inlined {
            graphs: vec![(None, Held::Borrowed(graph))],
            nodes: Vec::new(),
            values: FxHashMap::default(),
            inlined_ops: 0,
            nested_ops: 0,
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

    pub(crate) fn place(&self, node: &Node) -> OpLocation {
        OpLocation { computation: self.graphs[node.graph].0.clone(), op: node.op }
    }

    /// The node of an output of an op of the outermost graph, even if it is not in the set.
    pub(crate) fn target(&mut self, op: OpId, output: usize) -> Option<NodeId> {
        let shape = self.graphs[0].1.ops.get(op as usize)?.shape.clone();
        let mut values = std::mem::take(&mut self.values);
        let value = self.value(0, op, &mut values);
        self.values = values;
        self.leaf_node(&value, &shape, &mut { output })
    }

    /// Leaf number `left` of a value; decrements `left` by the leaves passed.
    fn leaf_node(&mut self, value: &NodeTree, shape: &Shape, left: &mut usize) -> Option<NodeId> {
        match (value, shape.tuple_elements()) {
            (NodeTree::Tuple(values), Some(shapes)) => {
                values.iter().zip(shapes).find_map(|(value, shape)| self.leaf_node(value, shape, left))
            }
            (NodeTree::Node(node), Some(_)) => {
                let count = leaf_count(shape);
                if *left < count {
                    return Some(self.of_output(*node, *left));
                }
                *left -= count;
                None
            }
            (NodeTree::Node(node), None) if *left == 0 => Some(*node),
            _ => {
                *left = left.saturating_sub(1);
                None
            }
        }
    }

    fn expand(
        &mut self,
        graph: usize,
        set: &[OpId],
        parameters: Option<&[NodeTree]>,
        open: &mut Vec<Arc<str>>,
    ) -> FxHashMap<OpId, NodeTree> {
        let mut values = FxHashMap::default();
        for &op in set {
            cancel::tick();
            let value = self.expand_op(graph, op, parameters, open, &mut values);
            values.insert(op, value);
        }
        values
    }

    fn expand_op(
        &mut self,
        graph: usize,
        op: OpId,
        parameters: Option<&[NodeTree]>,
        open: &mut Vec<Arc<str>>,
        values: &mut FxHashMap<OpId, NodeTree>,
    ) -> NodeTree {
        let held = &self.graphs[graph].1;
        let Op { opcode, parameter, attributes, .. } = &held.ops[op as usize];
        let (opcode, parameter, index) = (*opcode, *parameter, attributes.int(AttributeKey::Index));
        let callee = match opcode {
            Opcode::Fusion => attributes.computation(AttributeKey::Calls),
            Opcode::AsyncStart if self.rules == Rules::Exact => attributes.computation(AttributeKey::Calls),
            _ if self.rules == Rules::Exact => calls::transparent(&held.ops[op as usize]),
            _ => None,
        };
        let callee: Option<Arc<str>> = callee.map(Arc::from);
        let branches: Vec<Arc<str>> = match opcode {
            Opcode::Conditional if self.rules == Rules::Exact => {
                calls::branches(&held.ops[op as usize]).into_iter().map(Arc::from).collect()
            }
            _ => Vec::new(),
        };
        let operand_shapes = held.ops[op as usize].operand_shapes.clone();
        let shape = held.ops[op as usize].shape.clone();
        // Only operands defined above count, so that an invalid graph cannot make a cycle.
        let operands = held.operands.get(op as usize).cloned().unwrap_or_default();
        let operands: Vec<Option<NodeTree>> = operands
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
            let given: Vec<NodeTree> = operands.iter().flatten().cloned().collect();
            if let Some(value) = self.inline(&name, &given, open) {
                // Operands and results; other state of the runtime is not read.
                return match opcode {
                    Opcode::AsyncStart => NodeTree::Tuple(vec![NodeTree::Tuple(given), value]),
                    _ => value,
                };
            }
        }
        if let Some(value) = self.choice(graph, op, &shape, &branches, &operands, open) {
            return value;
        }
        let is_exact = self.rules == Rules::Exact;
        match (opcode, operands.as_slice()) {
            (Opcode::Tuple, _) if operands.iter().all(Option::is_some) => {
                return NodeTree::Tuple(operands.into_iter().flatten().collect());
            }
            (Opcode::GetTupleElement, [Some(NodeTree::Tuple(elements))]) => {
                let index = index.and_then(|i| usize::try_from(i).ok());
                if let Some(value) = index.and_then(|i| elements.get(i)) {
                    return value.clone();
                }
            }
            (Opcode::GetTupleElement, &[Some(NodeTree::Node(node))]) if !self.nodes[node].is_outside => {
                let index = index.and_then(|i| usize::try_from(i).ok()).unwrap_or(0);
                let element = operand_shapes.first().and_then(|tuple| checks::element(tuple, index));
                let first = element.map_or(index, |(first, _)| first);
                if shape.tuple_elements().is_some() {
                    return self.project(node, &mut { first }, &shape);
                }
                let node = self.of_output(node, first);
                return self.push(graph, op, 0, false, vec![Use { operand: 0, leaf: Some(first), node }]);
            }
            (
                Opcode::OptBarrier | Opcode::Domain | Opcode::AsyncUpdate,
                [Some(value @ NodeTree::Tuple(_))],
            ) if is_exact => {
                return value.clone();
            }
            (Opcode::AsyncDone, [Some(NodeTree::Tuple(elements))]) if is_exact && elements.len() > 1 => {
                return elements[1].clone();
            }
            _ => {}
        }
        let mut flat = Vec::with_capacity(operands.len());
        for (i, value) in operands.into_iter().enumerate() {
            let Some(value) = value else { continue };
            let shape = operand_shapes.get(i).cloned().unwrap_or(Shape::Opaque);
            self.leaves(&value, &shape, i, &mut 0, &mut flat);
        }
        self.push(graph, op, 0, false, flat)
    }

    /// The leaves of a node that is a tuple, as a value of the shape.
    fn project(&mut self, node: NodeId, next: &mut usize, shape: &Shape) -> NodeTree {
        if let Some(elements) = shape.tuple_elements() {
            return NodeTree::Tuple(elements.iter().map(|shape| self.project(node, next, shape)).collect());
        }
        *next += 1;
        NodeTree::Node(self.of_output(node, *next - 1))
    }

    /// A conditional as the value of one of its branches. `None` if a branch is not available.
    fn choice(
        &mut self,
        graph: usize,
        op: OpId,
        shape: &Shape,
        branches: &[Arc<str>],
        operands: &[Option<NodeTree>],
        open: &mut Vec<Arc<str>>,
    ) -> Option<NodeTree> {
        if branches.is_empty() || operands.len() != branches.len() + 1 {
            return None;
        }
        let Some(NodeTree::Node(predicate)) = operands[0] else { return None };
        let mut values = Vec::with_capacity(branches.len());
        for (name, argument) in branches.iter().zip(&operands[1..]) {
            values.push(self.inline(name, std::slice::from_ref(argument.as_ref()?), open)?);
        }
        Some(self.choose(graph, op, predicate, &values, shape, &mut 0))
    }

    fn choose(
        &mut self,
        graph: usize,
        op: OpId,
        predicate: NodeId,
        values: &[NodeTree],
        shape: &Shape,
        output: &mut usize,
    ) -> NodeTree {
        if let Some(shapes) = shape.tuple_elements() {
            let elements = shapes.iter().enumerate().map(|(i, element)| {
                let parts: Vec<NodeTree> = values
                    .iter()
                    .filter_map(|value| match value {
                        NodeTree::Tuple(elements) => elements.get(i).cloned(),
                        NodeTree::Node(node) => {
                            let (first, _) = checks::element(shape, i)?;
                            Some(self.project(*node, &mut { first }, element))
                        }
                    })
                    .collect();
                self.choose(graph, op, predicate, &parts, element, output)
            });
            return NodeTree::Tuple(elements.collect());
        }
        let mut uses = vec![Use { operand: 0, leaf: None, node: predicate }];
        uses.extend(values.iter().enumerate().filter_map(|(i, value)| match value {
            NodeTree::Node(node) => Some(Use { operand: i + 1, leaf: None, node: *node }),
            NodeTree::Tuple(_) => None,
        }));
        let value = self.push(graph, op, *output, false, uses);
        *output += 1;
        if let NodeTree::Node(node) = value {
            self.nodes[node].is_choice = true;
        }
        value
    }

    /// Adds a use per leaf of an operand's value. By XLA's rules a tuple with unknown elements is one use.
    fn leaves(
        &mut self,
        value: &NodeTree,
        shape: &Shape,
        operand: usize,
        leaf: &mut usize,
        into: &mut Vec<Use>,
    ) {
        match (value, shape.tuple_elements()) {
            (NodeTree::Tuple(values), shapes) => {
                for (i, value) in values.iter().enumerate() {
                    let shape = shapes.and_then(|shapes| shapes.get(i)).unwrap_or(&Shape::Opaque);
                    self.leaves(value, shape, operand, leaf, into);
                }
            }
            (NodeTree::Node(node), Some(_))
                if self.rules == Rules::Exact && leaf_count(shape) <= MAX_LEAVES =>
            {
                for k in 0..leaf_count(shape) {
                    let node = self.of_output(*node, k);
                    into.push(Use { operand, leaf: Some(*leaf), node });
                    *leaf += 1;
                }
            }
            (NodeTree::Node(node), _) => {
                into.push(Use { operand, leaf: Some(*leaf), node: *node });
                *leaf += 1;
            }
        }
    }

    /// Maps one of a node's operands to the node.
    pub(crate) fn step(&self, node: &Node, used: &Use, rules: Rules) -> Vec<OperandIndexing> {
        let op = self.op(node);
        if node.is_choice {
            return vec![match (used.operand, checks::output(op, node.output)) {
                (0, Ok(sizes)) => {
                    let results = (0..sizes.len()).map(Expr::var).collect();
                    IndexingMap::from_sizes(&[], sizes, results).into()
                }
                (_, Ok(sizes)) => IndexingMap::identity(sizes).into(),
                (_, Err(reason)) => OperandIndexing::undefined(reason),
            }];
        }
        let mut answer = input_to_output_by(op, used.operand, rules);
        if rules == Rules::Exact {
            resolve(&mut answer, self.graph(node), node.op, rules);
        }
        let list = answer.operands.get_mut(node.output).map(std::mem::take).unwrap_or_default();
        list.into_iter().filter(|access| used.is_read_by(access)).collect()
    }

    /// Maps a node to its operands, as [`crate::in_graph`] does.
    pub(crate) fn accesses(&self, node: &Node, rules: Rules) -> OpIndexing {
        let op = self.op(node);
        if node.is_choice {
            let count = node.operands.iter().map(|used| used.operand + 1).max().unwrap_or(0);
            return match checks::output(op, node.output) {
                Ok(sizes) => OpIndexing::of((0..count).map(|operand| match operand {
                    0 => scalar(sizes).into(),
                    _ => IndexingMap::identity(sizes).into(),
                })),
                Err(reason) => OpIndexing::undefined(count, &reason),
            };
        }
        if rules == Rules::Exact && op.opcode == Opcode::While {
            return while_loop::while_loop(op, node.output, self.callees);
        }
        in_graph(self.graph(node), node.op, node.output, rules, &no_callees)
    }

    fn push(
        &mut self,
        graph: usize,
        op: OpId,
        output: usize,
        is_outside: bool,
        operands: Vec<Use>,
    ) -> NodeTree {
        let operands = operands.into();
        self.nodes.push(Node { graph, op, output, is_outside, is_choice: false, operands });
        NodeTree::Node(self.nodes.len() - 1)
    }

    /// The value of an op; an op that was not expanded is outside the set.
    fn value(&mut self, graph: usize, op: OpId, values: &mut FxHashMap<OpId, NodeTree>) -> NodeTree {
        if let Some(value) = values.get(&op) {
            return value.clone();
        }
        let value = self.push(graph, op, 0, true, Vec::new());
        values.insert(op, value.clone());
        value
    }

    /// The node of another output of `node`'s op.
    fn of_output(&mut self, node: NodeId, output: usize) -> NodeId {
        let Node { graph, op, is_outside, is_choice, ref operands, output: own } = self.nodes[node];
        if own == output {
            return node;
        }
        let operands = Arc::clone(operands);
        self.nodes.push(Node { graph, op, output, is_outside, is_choice, operands });
        self.nodes.len() - 1
    }

    /// The root of the called computation, over the operands. `None` if the computation is not found, calls
    /// itself, or is too large.
    fn inline(
        &mut self,
        name: &Arc<str>,
        operands: &[NodeTree],
        open: &mut Vec<Arc<str>>,
    ) -> Option<NodeTree> {
        if open.len() >= MAX_DEPTH || open.contains(name) {
            return None;
        }
        let callee = (self.callees)(name)?;
        let known = match self.rules {
            Rules::Exact => with_known_parameters(&callee, |number| match operands.get(number as usize)? {
                NodeTree::Node(node) => Some(self.op(&self.nodes[*node])),
                NodeTree::Tuple(_) => None,
            }),
            Rules::Xla => None,
        };
        let callee = known.map_or(callee, Arc::new);
        self.inlined_ops += callee.ops.len();
        if !open.is_empty() {
            self.nested_ops += callee.ops.len();
        }
        let is_too_large = self.inlined_ops > MAX_INLINED_OPS || self.nested_ops > MAX_NESTED_OPS;
        if is_too_large || callee.root as usize >= callee.ops.len() {
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
