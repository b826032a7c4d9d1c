//! A computation while a pass fuses its instructions.

use std::cell::Cell;
use std::sync::Arc;

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, Attributes, Graph, Op, OpId, Opcode, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::content::ContentId;
use crate::Kind;
use crate::post_order::operands_first;

/// Where an op was before the pass: the name of its computation, and its id there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub computation: Arc<str>,
    pub op: OpId,
}

/// A computation that can be edited. Ids stay valid: an op that is removed keeps its place.
///
/// Users are in the order in which XLA's `HloInstruction::users` has them, because that order decides what is
/// fused first and in which order a fusion has its results.
#[derive(Debug, Clone, Default)]
pub struct Computation {
    /// Ops in order of creation, removed ones included; users may come before operands. `calls` of a fusion
    /// that has a [`Computation::body`] is out of date.
    pub graph: Graph,
    pub origins: Vec<Option<Origin>>,
    /// Per op its number by content, once it was asked for; forgotten as the op changes.
    numbers: Vec<Cell<Option<ContentId>>>,
    users: Vec<SmallVec<[OpId; 3]>>,
    /// The ops whose order of users is a guess.
    guessed: FxHashSet<OpId>,
    /// Per op that was there before the pass its place in the order of creation, by which XLA breaks ties.
    ages: Vec<u32>,
    is_removed: Vec<bool>,
    /// Parameters by number; kept up to date in bodies of fusions only.
    parameters: Vec<OpId>,
    /// The computations of fusions that the pass has made or changed.
    bodies: FxHashMap<OpId, Computation>,
}

impl Computation {
    /// The computation of a graph. `name` is that of the origins.
    pub fn of(graph: &Graph, name: &str) -> Computation {
        let name: Arc<str> = Arc::from(name);
        let mut computation = Computation::default();
        computation.graph.is_complete = graph.is_complete;
        computation.graph.reserve(graph.ops.len());
        for (id, op) in graph.ops.iter().enumerate() {
            let origin = Some(Origin { computation: name.clone(), op: id as OpId });
            computation.push(op.clone(), graph.operands[id].clone(), graph.names[id].clone(), origin);
        }
        computation.graph.root = graph.root;
        computation.parameters = graph.parameters().into_iter().flatten().collect();
        computation.ages = (0..graph.ops.len() as u32).collect();
        computation
    }

    /// Sets per op its place in the order of creation, which a graph does not have. Without this, ops count as created in the order of the
    /// graph.
    pub fn set_ages(&mut self, ages: Vec<u32>) {
        self.ages = ages;
    }

    /// The place of an op in the order of creation; ops that the pass makes come behind all others.
    pub fn age(&self, id: OpId) -> u32 {
        self.ages.get(id as usize).copied().unwrap_or(id)
    }

    pub fn op(&self, id: OpId) -> &Op {
        &self.graph.ops[id as usize]
    }

    fn op_mut(&mut self, id: OpId) -> &mut Op {
        self.numbers[id as usize].set(None);
        &mut self.graph.ops[id as usize]
    }

    /// The number of an op, which [`Computation::set_number`] has given. A fusion with a body has none.
    pub(super) fn number(&self, id: OpId) -> Option<ContentId> {
        self.numbers[id as usize].get().filter(|_| !self.bodies.contains_key(&id))
    }

    pub(super) fn set_number(&self, id: OpId, number: ContentId) {
        self.numbers[id as usize].set(Some(number));
    }

    /// Forgets all numbers, which are of other [`Contents`](super::content::Contents).
    pub(super) fn forget_numbers(&self) {
        self.numbers.iter().for_each(|number| number.set(None));
        self.bodies.values().for_each(|body| recursion::grow(|| body.forget_numbers()));
    }

    pub(super) fn set_shape(&mut self, id: OpId, shape: Shape) {
        self.op_mut(id).shape = shape;
    }

    pub fn name(&self, id: OpId) -> &str {
        &self.graph.names[id as usize]
    }

    pub fn operands(&self, id: OpId) -> &[OpId] {
        &self.graph.operands[id as usize]
    }

    /// The users of an op, each once.
    pub fn users(&self, id: OpId) -> &[OpId] {
        &self.users[id as usize]
    }

    /// Puts the users of an op into this order. They have to be its users.
    pub fn order_users(&mut self, id: OpId, order: impl IntoIterator<Item = OpId>) {
        let order: SmallVec<[OpId; 3]> = order.into_iter().collect();
        let users = &mut self.users[id as usize];
        let sorted = |users: &[OpId]| {
            let mut users = users.to_vec();
            users.sort_unstable();
            users
        };
        if *users != order && sorted(users) == sorted(&order) {
            *users = order;
        }
    }

    /// Notes that the order of an op's users is a guess.
    pub fn guess_users(&mut self, id: OpId) {
        self.guessed.insert(id);
    }

    pub fn guesses_users(&self, id: OpId) -> bool {
        self.guessed.contains(&id)
    }

    pub fn root(&self) -> OpId {
        self.graph.root
    }

    /// Whether the pass has removed the op.
    pub fn is_removed(&self, id: OpId) -> bool {
        self.is_removed[id as usize]
    }

    /// The ops that are left, in order of creation.
    pub fn ids(&self) -> impl Iterator<Item = OpId> + '_ {
        (0..self.graph.ops.len() as OpId).filter(|&id| !self.is_removed(id))
    }

    /// The computation of a fusion, if the pass has made or changed it.
    pub fn body(&self, fusion: OpId) -> Option<&Computation> {
        self.bodies.get(&fusion)
    }

    pub(super) fn body_mut(&mut self, fusion: OpId) -> Option<&mut Computation> {
        self.bodies.get_mut(&fusion)
    }

    /// Copies the computation that a fusion calls into its body, so that it can be changed.
    pub(super) fn open_body(&mut self, fusion: OpId, callees: &Callees<'_>) -> bool {
        if self.bodies.contains_key(&fusion) {
            return true;
        }
        let called = self.op(fusion).attributes.computation(AttributeKey::Calls);
        let Some((name, graph)) = called.and_then(|name| Some((name, callees(name)?))) else { return false };
        let body = Computation::of(&graph, name);
        self.bodies.insert(fusion, body);
        true
    }

    pub(super) fn set_body(&mut self, fusion: OpId, body: Computation) {
        self.bodies.insert(fusion, body);
    }

    /// Whether the fusion has several results.
    pub fn has_several_results(&self, fusion: OpId) -> bool {
        let op = self.op(fusion);
        op.opcode == Opcode::Fusion && op.shape.tuple_elements().is_some()
    }

    /// Adds an op at the end.
    pub(super) fn push(&mut self, op: Op, operands: Vec<OpId>, name: String, origin: Option<Origin>) -> OpId {
        let id = self.graph.ops.len() as OpId;
        for &operand in &operands {
            self.add_user(operand, id);
        }
        self.users.push(SmallVec::new());
        self.numbers.push(Cell::new(None));
        self.is_removed.push(false);
        self.origins.push(origin);
        self.graph.push(op, operands, name)
    }

    /// Forgets all ops from `id` on, which nothing uses.
    pub(super) fn truncate(&mut self, id: OpId) {
        let id = id as usize;
        self.graph.ops.truncate(id);
        self.graph.operands.truncate(id);
        self.graph.names.truncate(id);
        self.users.truncate(id);
        self.numbers.truncate(id);
        self.is_removed.truncate(id);
        self.origins.truncate(id);
    }

    /// Takes what an op is, with its name and origin, and leaves nothing of it but its place, operands and users.
    pub(super) fn take(&mut self, id: OpId) -> (Op, String, Option<Origin>) {
        let id = id as usize;
        let op = std::mem::replace(&mut self.graph.ops[id], Op::leaf(Shape::Token));
        (op, std::mem::take(&mut self.graph.names[id]), self.origins[id].take())
    }

    pub(super) fn add_element(&mut self, tuple: OpId, index: usize, shape: Shape) -> OpId {
        let op = Op {
            opcode: Opcode::GetTupleElement,
            operand_shapes: vec![self.op(tuple).shape.clone()],
            attributes: Attributes::default().with(AttributeKey::Index, AttributeValue::Int(index as i64)),
            ..Op::leaf(shape)
        };
        self.push(op, vec![tuple], "get-tuple-element".to_owned(), None)
    }

    pub(super) fn add_user(&mut self, of: OpId, user: OpId) {
        let users = &mut self.users[of as usize];
        if !users.contains(&user) {
            users.push(user);
        }
    }

    /// The last user takes the place of the removed one. Source: `Users::RemoveUser`, `hlo_instruction.cc`.
    pub(super) fn remove_user(&mut self, of: OpId, user: OpId) {
        let users = &mut self.users[of as usize];
        if let Some(at) = users.iter().position(|&u| u == user) {
            users.swap_remove(at);
        }
    }

    pub(super) fn append_operand(&mut self, id: OpId, operand: OpId) {
        let shape = self.op(operand).shape.clone();
        self.op_mut(id).operand_shapes.push(shape);
        self.graph.operands[id as usize].push(operand);
        self.add_user(operand, id);
    }

    /// Removes an operand from the list, but not the op from the operand's users.
    pub(super) fn drop_operand(&mut self, id: OpId, position: usize) -> OpId {
        self.op_mut(id).operand_shapes.remove(position);
        self.graph.operands[id as usize].remove(position)
    }

    /// Replaces `old` by `new` in one user. A fusion has each operand once.
    /// Source: `ReplaceUseWithDifferentShape`.
    pub(super) fn replace_use(&mut self, old: OpId, user: OpId, new: OpId, callees: &Callees<'_>) {
        self.remove_user(old, user);
        self.put_in_place_of(old, user, new, callees);
    }

    /// Replaces `old` by `new` in all users but `new` itself, and as the root.
    /// Source: `ReplaceAllUsesWithDifferentShape`.
    pub(super) fn replace_all_uses(&mut self, old: OpId, new: OpId, callees: &Callees<'_>) {
        let users = std::mem::take(&mut self.users[old as usize]);
        for user in users {
            match user == new {
                true => self.users[old as usize].push(new),
                false => self.put_in_place_of(old, user, new, callees),
            }
        }
        if self.graph.root == old {
            self.graph.root = new;
        }
    }

    fn put_in_place_of(&mut self, old: OpId, user: OpId, new: OpId, callees: &Callees<'_>) {
        let shape = self.op(new).shape.clone();
        for at in 0..self.operands(user).len() {
            if self.operands(user)[at] == old {
                self.graph.operands[user as usize][at] = new;
                if self.op(user).operand_shapes[at] != shape {
                    self.op_mut(user).operand_shapes[at] = shape.clone();
                }
            }
        }
        self.add_user(new, user);
        if self.op(user).opcode == Opcode::Fusion {
            self.deduplicate_operands(user, callees);
        }
    }

    /// Source: `HloFusionInstruction::DeduplicateFusionOperands`.
    fn deduplicate_operands(&mut self, fusion: OpId, callees: &Callees<'_>) {
        let operands = self.operands(fusion);
        let is_repeated = operands.iter().enumerate().any(|(at, o)| operands[..at].contains(o));
        let is_custom = self.op(fusion).attributes.text(AttributeKey::Kind) == Some("kCustom");
        if !is_repeated || is_custom || !self.open_body(fusion, callees) {
            return;
        }
        let mut at = 0;
        while at < self.operands(fusion).len() {
            let operands = self.operands(fusion);
            let first = operands.iter().position(|o| *o == operands[at]).unwrap_or(at);
            if first == at {
                at += 1;
                continue;
            }
            self.drop_operand(fusion, at);
            if let Some(body) = self.bodies.get_mut(&fusion) {
                let (kept, repeated) = (body.parameters[first], body.parameters[at]);
                body.replace_all_uses(repeated, kept, callees);
                body.remove_parameter(at);
            }
        }
    }

    /// Removes an op that nothing uses.
    pub(super) fn remove(&mut self, id: OpId) {
        for operand in std::mem::take(&mut self.graph.operands[id as usize]) {
            self.remove_user(operand, id);
        }
        self.users[id as usize].clear();
        self.is_removed[id as usize] = true;
        self.bodies.remove(&id);
    }

    /// Parameters of a fusion's body, by number.
    pub fn parameters(&self) -> &[OpId] {
        &self.parameters
    }

    pub(super) fn add_parameter(&mut self, shape: Shape) -> OpId {
        let number = self.parameters.len() as u32;
        let id = self.push(Op::parameter(number, shape), Vec::new(), format!("param_{number}"), None);
        self.parameters.push(id);
        id
    }

    /// Removes a parameter that nothing uses, and renumbers those that follow.
    pub(super) fn remove_parameter(&mut self, number: usize) {
        let id = self.parameters.remove(number);
        self.remove(id);
        for at in number..self.parameters.len() {
            let id = self.parameters[at];
            self.op_mut(id).parameter = Some(at as u32);
            self.graph.names[id as usize] = format!("param_{at}");
        }
    }

    /// The ops that are left, operands before users, as XLA lists them.
    /// Source: `HloComputation::MakeInstructionPostOrder`.
    pub fn post_order(&self) -> Vec<OpId> {
        let starts = self.ids().filter(|&id| self.users(id).is_empty());
        operands_first(self.graph.ops.len(), starts, |id| self.operands(id))
    }

    /// The graph of what is left, in post order, and the op that each of its ops is here.
    pub fn to_graph(&self) -> (Graph, Vec<OpId>) {
        let order = self.post_order();
        let mut new_ids = vec![0; self.graph.ops.len()];
        let mut graph = Graph { is_complete: self.graph.is_complete, ..Graph::default() };
        graph.reserve(order.len());
        for &id in &order {
            let operands = self.operands(id).iter().map(|&o| new_ids[o as usize]).collect();
            new_ids[id as usize] = graph.push(self.op(id).clone(), operands, self.name(id).to_owned());
        }
        graph.root = new_ids.get(self.graph.root as usize).copied().unwrap_or_default();
        (graph, order)
    }

    /// Sets an attribute of an op.
    pub(super) fn set_attribute(&mut self, id: OpId, key: AttributeKey, value: AttributeValue) {
        let op = self.op_mut(id);
        op.attributes = without(&op.attributes, key).with(key, value);
    }
}

fn without(attributes: &Attributes, key: AttributeKey) -> Attributes {
    let mut rest = Attributes::default();
    for (other, value) in attributes.iter().filter(|(other, _)| *other != key) {
        rest.push(other, value.clone());
    }
    rest
}

/// `kind` of a fusion whose kernel is of this family. Source: `PriorityFusion::ChooseKind`.
pub(super) fn kind_text(kind: Kind) -> &'static str {
    match kind {
        Kind::Loop => "kLoop",
        Kind::Concatenate | Kind::Reduction | Kind::Transpose | Kind::Scatter => "kInput",
        Kind::Triton | Kind::CuDnn | Kind::Custom | Kind::Sort => "kCustom",
    }
}
