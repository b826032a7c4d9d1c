//! An owned module that passes edit: computations and instructions in arenas, with stable ids and the users of each value.
//!
//! All edits go through methods of [`Module`], which keep operands, users, operand shapes and names consistent. Ids of removed
//! instructions stay invalid: they are never given again.

mod calls;
mod edit;
mod equality;
mod fuse;
mod fusions;
mod graphs;
mod layouts;
mod new;
mod order;
mod origins;
mod parsed;
mod planned;
mod text;

use std::ops::Index;
use std::sync::{Arc, OnceLock};

use ir::{Alias, Attributes, Op, Shape, Uniquer, Verbatim};
use smallvec::SmallVec;
use syntax::hlo::{AttributeKey, Opcode};

pub use equality::is_commutative;
pub use graphs::ModuleGraph;
pub use layouts::{Relaid, Relayout, WrittenBy};
pub use new::NewOp;
use order::KnownOrders;
pub use origins::{Origins, Place};
pub(crate) use planned::Planned;

/// An instruction of a [`Module`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstructionId(u32);

/// A computation of a [`Module`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComputationId(u32);

/// Editable HLO. Shapes have `None` in place of row-major layouts ([`Shape::without_default_layouts`]), so that shapes
/// compare with `==`, layouts included.
///
/// Size: about 250 bytes per instruction beside its shapes and attributes, which clones share.
#[derive(Debug, Clone)]
pub struct Module {
    pub header: Header,
    computations: Vec<Computation>,
    instructions: Vec<Instruction>,
    /// How many instructions the text had.
    read: usize,
    /// Per instruction those of the text that it stands for.
    origins: Vec<Origins>,
    /// Per instruction of the text its place there.
    places: Vec<Option<Place>>,
    /// See [`Module::guesses_users`].
    guessed_users: rustc_hash::FxHashSet<InstructionId>,
    entry: ComputationId,
    instruction_names: Uniquer<'static>,
    computation_names: Uniquer<'static>,
    known: KnownOrders,
}

/// What the first lines of a module say.
#[derive(Debug, Clone, Default)]
pub struct Header {
    pub name: String,
    pub is_scheduled: bool,
    /// Parameters and result; `None` where they are as the entry computation has them.
    pub entry_layout: Option<(Vec<Shape>, Shape)>,
    pub aliases: Vec<Alias>,
    /// Entries of `buffer_donor`: parameter, index in it.
    pub donors: Vec<(i64, Vec<i64>)>,
    /// The other attributes as written, in order.
    pub others: Vec<(String, String)>,
    /// The tables of source locations, as written.
    pub tables: String,
}

#[derive(Debug, Clone)]
pub struct Computation {
    name: Arc<str>,
    /// The thread that runs it; empty for the main one.
    thread: Arc<str>,
    root: InstructionId,
    /// In the order of creation; in a scheduled module, that of execution. Removed instructions are left in.
    listed: Vec<InstructionId>,
    /// How many of `listed` are removed.
    gaps: usize,
    is_removed: bool,
    /// See [`Module::post_order`].
    order: OnceLock<Arc<[InstructionId]>>,
}

#[derive(Debug, Clone)]
pub struct Instruction {
    name: Arc<str>,
    parent: ComputationId,
    /// Without attributes that name computations or instructions.
    op: Arc<Op>,
    operands: SmallVec<[InstructionId; 3]>,
    /// Each user once, in the order in which they started to use it.
    users: SmallVec<[InstructionId; 3]>,
    control_predecessors: SmallVec<[InstructionId; 1]>,
    control_successors: SmallVec<[InstructionId; 1]>,
    calls: SmallVec<[(AttributeKey, SmallVec<[ComputationId; 1]>); 1]>,
    verbatim: Option<Arc<Verbatim>>,
    is_removed: bool,
}

impl Index<InstructionId> for Module {
    type Output = Instruction;

    fn index(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.0 as usize]
    }
}

impl Index<ComputationId> for Module {
    type Output = Computation;

    fn index(&self, id: ComputationId) -> &Computation {
        &self.computations[id.0 as usize]
    }
}

impl Module {
    pub fn entry(&self) -> ComputationId {
        self.entry
    }

    /// The computations in the order of creation.
    pub fn computations(&self) -> Vec<ComputationId> {
        let all = self.computations.iter().enumerate().filter(|(_, computation)| !computation.is_removed);
        all.map(|(index, _)| ComputationId(index as u32)).collect()
    }

    /// The instructions of a computation in the order of creation; in a scheduled module, that of execution.
    pub fn instructions(&self, computation: ComputationId) -> Vec<InstructionId> {
        let listed = self[computation].listed.iter().copied();
        listed.filter(|&id| !self[id].is_removed).collect()
    }

    /// All instructions, those of each computation one after the other.
    pub fn all_instructions(&self) -> impl Iterator<Item = InstructionId> + '_ {
        let computations = self.computations.iter().filter(|computation| !computation.is_removed);
        let listed = computations.flat_map(|computation| computation.listed.iter().copied());
        listed.filter(|&id| !self[id].is_removed)
    }

    /// How many instructions a computation has.
    pub fn count(&self, computation: ComputationId) -> usize {
        self[computation].listed.len() - self[computation].gaps
    }

    /// The root of a computation.
    pub fn root(&self, computation: ComputationId) -> InstructionId {
        self[computation].root
    }

    /// Whether an instruction is the root of its computation.
    pub fn is_root(&self, id: InstructionId) -> bool {
        self[self[id].parent].root == id
    }

    /// Whether nothing uses the value: it has no user, and is no root.
    pub fn is_dead(&self, id: InstructionId) -> bool {
        self[id].users.is_empty() && !self.is_root(id)
    }

    /// The parameters of a computation by number.
    pub fn parameters(&self, computation: ComputationId) -> Vec<InstructionId> {
        let all = self.instructions(computation).into_iter();
        let mut found: Vec<(u32, InstructionId)> =
            all.filter_map(|id| Some((self[id].parameter_number()?, id))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Operand `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn operand(&self, id: InstructionId, index: usize) -> InstructionId {
        self[id].operands[index]
    }

    /// The opcode of the only instruction that a scalar computation of two parameters consists of, as `add` of a sum's reducer.
    pub fn combiner(&self, computation: ComputationId) -> Option<Opcode> {
        let root = self.root(computation);
        let of_parameters = |id: &InstructionId| self[*id].opcode() == Opcode::Parameter;
        let is_plain = self.count(computation) == 3
            && self[root].operands.len() == 2
            && self[root].operands.iter().all(of_parameters)
            && self[root].operands[0] != self[root].operands[1];
        is_plain.then(|| self[root].opcode())
    }

    /// Whether an instruction, or what it calls, does more than compute its value.
    /// Source: `HloInstruction::HasSideEffect`.
    pub fn has_side_effect(&self, id: InstructionId) -> bool {
        if self[id].calls.is_empty() {
            return self[id].has_own_side_effect();
        }
        let mut seen = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if self[id].has_own_side_effect() {
                return true;
            }
            for called in self[id].called() {
                if !seen.contains(&called) {
                    seen.push(called);
                    open.extend(self.instructions(called));
                }
            }
        }
        false
    }
}

impl Computation {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn root(&self) -> InstructionId {
        self.root
    }

    /// The thread that runs it; empty for the main one.
    pub fn thread(&self) -> &str {
        &self.thread
    }
}

impl Instruction {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn parent(&self) -> ComputationId {
        self.parent
    }

    pub fn opcode(&self) -> Opcode {
        self.op.opcode
    }

    pub fn shape(&self) -> &Shape {
        &self.op.shape
    }

    /// Dimension sizes; none for scalars and for shapes that are no array.
    pub fn dims(&self) -> &[i64] {
        self.op.shape.dims()
    }

    /// Without attributes that name computations or instructions.
    pub fn attributes(&self) -> &Attributes {
        &self.op.attributes
    }

    /// The `dimensions=` of an instruction; empty where there are none.
    pub fn dimensions(&self) -> &[i64] {
        self.op.attributes.ints(AttributeKey::Dimensions)
    }

    /// The op without attributes that name computations or instructions; [`Module::op`] has those too.
    pub fn op(&self) -> &Op {
        &self.op
    }

    pub fn operands(&self) -> &[InstructionId] {
        &self.operands
    }

    /// Each user once.
    pub fn users(&self) -> &[InstructionId] {
        &self.users
    }

    pub fn control_predecessors(&self) -> &[InstructionId] {
        &self.control_predecessors
    }

    pub fn control_successors(&self) -> &[InstructionId] {
        &self.control_successors
    }

    pub fn has_control_dependencies(&self) -> bool {
        !self.control_predecessors.is_empty() || !self.control_successors.is_empty()
    }

    pub fn parameter_number(&self) -> Option<u32> {
        if self.op.opcode == Opcode::Parameter { self.op.parameter } else { None }
    }

    /// The text of a constant.
    pub fn literal(&self) -> Option<&str> {
        self.op.literal.as_deref()
    }

    /// Per attribute that calls computations, which.
    pub fn calls(&self) -> impl Iterator<Item = (AttributeKey, &[ComputationId])> {
        self.calls.iter().map(|(key, called)| (*key, called.as_slice()))
    }

    /// All called computations.
    pub fn called(&self) -> impl Iterator<Item = ComputationId> {
        self.calls.iter().flat_map(|(_, called)| called.iter().copied())
    }

    /// The first computation of an attribute.
    pub fn callee(&self, key: AttributeKey) -> Option<ComputationId> {
        self.calls.iter().find(|(own, _)| *own == key)?.1.first().copied()
    }

    /// What this vocabulary lacks of the instruction.
    pub fn verbatim(&self) -> Option<&Verbatim> {
        self.verbatim.as_deref()
    }

    pub fn is_removed(&self) -> bool {
        self.is_removed
    }

    /// Source: `HloInstruction::HasSideEffectNoRecurse`.
    fn has_own_side_effect(&self) -> bool {
        use Opcode::*;
        let is_set = |key| self.op.attributes.bool(key) == Some(true);
        match self.opcode() {
            Send | SendDone | Recv | RecvDone | Rng | RngGetAndUpdateState | Infeed | Outfeed => true,
            AllReduceStart | AllReduceDone | AllGatherStart | AllGatherDone => true,
            CollectiveBroadcast | CollectivePermuteStart | CollectivePermuteDone => true,
            AllToAll | AllGather | AllReduce | ReduceScatter => is_set(AttributeKey::ConstrainLayout),
            // An unknown opcode may do anything.
            CustomCall => {
                self.verbatim.as_ref().is_some_and(|verbatim| verbatim.opcode.is_some())
                    || is_set(AttributeKey::CustomCallHasSideEffect)
            }
            _ => false,
        }
    }
}
