//! Numbers for ops and computations by what they are: equal numbers for equal ones, whatever they are called.
//!
//! Estimates of kernels are kept under these numbers, so that the layers of a model, and the runs of a pass on one text after the
//! other, share them.

use std::hash::{Hash, Hasher};

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, Graph, Op, OpId};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::computation::Computation;
use crate::op_content::{has_same_content, hash_content};

/// The number of computations within each other that are compared.
const MAX_DEPTH: u32 = 16;

pub(super) type ContentId = u32;

/// The numbers that were given.
#[derive(Debug, Default)]
pub(super) struct Contents {
    ops: Vec<OpContent>,
    by_hash: FxHashMap<u64, SmallVec<[ContentId; 1]>>,
    graphs: FxHashMap<GraphContent, ContentId>,
}

/// An op, by [`has_same_content`], and what it calls.
#[derive(Debug)]
struct OpContent {
    op: Op,
    called: Called,
}

/// Per attribute that names a computation, the number of that.
type Called = SmallVec<[(AttributeKey, ContentId); 1]>;

#[derive(Debug, PartialEq, Eq, Hash)]
struct GraphContent {
    ops: Vec<(ContentId, SmallVec<[OpId; 3]>)>,
    root: OpId,
}

/// Gives numbers to what one computation holds.
pub(super) struct Numbering<'a> {
    pub(super) contents: &'a mut Contents,
    /// The numbers of the computations of the module; `None` for those that have none.
    pub(super) by_name: &'a mut FxHashMap<String, Option<ContentId>>,
    pub(super) callees: &'a Callees<'a>,
}

impl Contents {
    /// How many ops and computations have a number.
    pub(super) fn len(&self) -> usize {
        self.ops.len() + self.graphs.len()
    }

    fn op(&mut self, op: &Op, called: Called) -> ContentId {
        let alike = self.by_hash.entry(hash(op, &called)).or_default();
        let ops = &self.ops;
        let known = alike.iter().find(|&&id| {
            let known = &ops[id as usize];
            known.called == called && has_same_content(&known.op, op)
        });
        if let Some(&known) = known {
            return known;
        }
        let id = self.ops.len() as ContentId;
        alike.push(id);
        self.ops.push(OpContent { op: op.clone(), called });
        id
    }

    fn graph(&mut self, graph: GraphContent) -> ContentId {
        let next = self.graphs.len() as ContentId;
        *self.graphs.entry(graph).or_insert(next)
    }
}

impl Numbering<'_> {
    /// The number of an op of a computation that is edited. `None` if something that it calls is not known, or lies too deep.
    pub(super) fn of_op(&mut self, computation: &Computation, id: OpId) -> Option<ContentId> {
        match computation.body(id) {
            Some(body) => {
                let body = self.of_body(body)?;
                self.op(computation.op(id), Some(body), 0)
            }
            None => self.of_plain_op(computation, id),
        }
    }

    /// The number of an op that has no body.
    fn of_plain_op(&mut self, computation: &Computation, id: OpId) -> Option<ContentId> {
        if let Some(known) = computation.number(id) {
            return Some(known);
        }
        let number = self.op(computation.op(id), None, 0)?;
        computation.set_number(id, number);
        Some(number)
    }

    /// The number of a computation. `None` if something that it calls is not known, or lies too deep.
    pub(super) fn of_computation(&mut self, computation: &Graph) -> Option<ContentId> {
        self.of_graph(computation, 0)
    }

    fn of_body(&mut self, body: &Computation) -> Option<ContentId> {
        let order = body.post_order();
        let mut places = vec![0; body.graph.ops.len()];
        let mut ops = Vec::with_capacity(order.len());
        for (place, &id) in order.iter().enumerate() {
            places[id as usize] = place as OpId;
            let operands = body.operands(id).iter().map(|&operand| places[operand as usize]).collect();
            ops.push((self.of_plain_op(body, id)?, operands));
        }
        let root = places.get(body.root() as usize).copied()?;
        Some(self.contents.graph(GraphContent { ops, root }))
    }

    fn op(&mut self, op: &Op, body: Option<ContentId>, depth: u32) -> Option<ContentId> {
        let mut called = Called::from_iter(body.map(|body| (AttributeKey::Calls, body)));
        for (key, value) in op.attributes.iter() {
            match value {
                // What the attribute says is out of date then.
                _ if body.is_some() && key == AttributeKey::Calls => {}
                AttributeValue::Computation(name) => called.push((key, self.of_name(name, depth)?)),
                AttributeValue::Names(names) if !names.is_empty() => return None,
                _ => {}
            }
        }
        Some(self.contents.op(op, called))
    }

    fn of_name(&mut self, name: &str, depth: u32) -> Option<ContentId> {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let graph = (self.callees)(name).filter(|_| depth < MAX_DEPTH);
        let id = graph.and_then(|graph| self.of_graph(&graph, depth + 1));
        self.by_name.insert(name.to_owned(), id);
        id
    }

    fn of_graph(&mut self, graph: &Graph, depth: u32) -> Option<ContentId> {
        cancel::tick();
        let ops = graph.ops.iter().zip(&graph.operands);
        let ops =
            ops.map(|(op, operands)| Some((self.op(op, None, depth)?, operands.iter().copied().collect())));
        let ops: Option<Vec<_>> = ops.collect();
        let content = GraphContent { ops: ops.filter(|_| graph.is_complete)?, root: graph.root };
        Some(self.contents.graph(content))
    }
}

fn hash(op: &Op, called: &Called) -> u64 {
    let mut hasher = FxHasher::default();
    called.hash(&mut hasher);
    hash_content(op, &mut hasher);
    hasher.finish()
}
