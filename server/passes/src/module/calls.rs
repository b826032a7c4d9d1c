//! Computations and who calls them.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::order::KnownOrders;
use super::{Computation, ComputationId, InstructionId, Module, NewOp};

/// The instructions that call each computation.
pub type Callers = FxHashMap<ComputationId, Vec<InstructionId>>;

impl Module {
    /// The instructions that call each computation.
    pub fn callers(&self) -> Arc<Callers> {
        let compute = || {
            let mut callers = Callers::default();
            for computation in self.computations() {
                for &id in self[computation].listed.iter().filter(|&&id| !self[id].is_removed) {
                    self[id].called().for_each(|callee| callers.entry(callee).or_default().push(id));
                }
            }
            Arc::new(callers)
        };
        self.known.callers.get_or_init(compute).clone()
    }

    /// Adds a computation without instructions. Add some, and choose a root, before anything else is done with it.
    pub fn add_computation(&mut self, name: &str) -> ComputationId {
        let id = ComputationId(self.computations.len() as u32);
        self.computations.push(Computation {
            name: self.computation_names.unique_owned(name.to_owned()).into(),
            thread: Arc::from(""),
            root: InstructionId(u32::MAX),
            listed: Vec::new(),
            gaps: 0,
            is_removed: false,
            order: OnceLock::new(),
        });
        self.known = KnownOrders::default();
        id
    }

    /// Adds a copy of a computation. Computations of fusions are copied too; other callees are shared.
    pub fn copy_computation(&mut self, of: ComputationId) -> ComputationId {
        let name = format!("{}.clone", self[of].name);
        let copy = self.add_computation(&name);
        self.computations[copy.0 as usize].thread = self[of].thread.clone();
        let mut copies = FxHashMap::default();
        // In the order of creation, which is that of the schedule too; operands may come later.
        let order = if self.header.is_scheduled { self.instructions(of) } else { self.post_order(of) };
        for id in order {
            self.copy_into(copy, id, &mut copies);
        }
        self.computations[copy.0 as usize].root = copies[&self.root(of)];
        copy
    }

    /// Adds a copy of an instruction whose operands and control predecessors have copies already.
    fn copy_into(
        &mut self,
        computation: ComputationId,
        id: InstructionId,
        copies: &mut FxHashMap<InstructionId, InstructionId>,
    ) {
        let operands: Vec<InstructionId> = self[id].operands.iter().map(|operand| copies[operand]).collect();
        let copy = self.add_copy(computation, id, &operands);
        if self[id].opcode() == Opcode::Fusion
            && let Some(fused) = self[id].callee(AttributeKey::Calls)
        {
            let fused = recursion::grow(|| self.copy_computation(fused));
            self.set_calls(copy, AttributeKey::Calls, &[fused]);
        }
        for before in self[id].control_predecessors.clone() {
            self.add_control(copies[&before], copy);
        }
        copies.insert(id, copy);
    }

    /// Replaces an instruction by copies of the instructions that it calls, whose parameters become its operands. Returns which
    /// became which. The called computation stays.
    /// Source: `call_inliner.cc`.
    pub fn inline(
        &mut self,
        call: InstructionId,
        callee: ComputationId,
    ) -> FxHashMap<InstructionId, InstructionId> {
        let mut copies = FxHashMap::default();
        let (before, behind) =
            (self[call].control_predecessors.clone(), self[call].control_successors.clone());
        self.drop_control(call);
        for id in self.post_order(callee) {
            match self[id].parameter_number().and_then(|n| self[call].operands.get(n as usize)) {
                Some(&operand) => _ = copies.insert(id, operand),
                None => {
                    let first = self[id].control_predecessors.is_empty();
                    self.copy_into(self[call].parent, id, &mut copies);
                    if first {
                        before.iter().for_each(|&before| self.add_control(before, copies[&id]));
                    }
                }
            }
        }
        let root = copies[&self.root(callee)];
        behind.iter().for_each(|&behind| self.add_control(root, behind));
        self.replace_all_uses(call, root);
        self.remove_with_operands(call);
        copies
    }

    /// Removes a computation that nothing calls.
    pub fn remove_computation(&mut self, computation: ComputationId) {
        for id in std::mem::take(&mut self.computations[computation.0 as usize].listed) {
            self.edit(id).is_removed = true;
        }
        self.computations[computation.0 as usize].is_removed = true;
        self.restructured(computation);
    }

    /// Removes the computations that cannot be reached from the entry, and returns how many they were.
    pub fn remove_unreachable_computations(&mut self) -> usize {
        let mut is_reached = vec![false; self.computations.len()];
        is_reached[self.entry.0 as usize] = true;
        let mut open = vec![self.entry];
        while let Some(computation) = open.pop() {
            for id in self.instructions(computation) {
                for callee in self[id].called() {
                    if !std::mem::replace(&mut is_reached[callee.0 as usize], true) {
                        open.push(callee);
                    }
                }
            }
        }
        let unreached: Vec<_> =
            self.computations().into_iter().filter(|c| !is_reached[c.0 as usize]).collect();
        unreached.iter().for_each(|&computation| self.remove_computation(computation));
        unreached.len()
    }

    /// A module whose entry is a computation of this one.
    pub(crate) fn with_entry(&self, computation: ComputationId) -> Module {
        let mut module = self.clone();
        module.header =
            super::Header { name: self[computation].name.to_string(), ..super::Header::default() };
        module.entry = computation;
        module.remove_unreachable_computations();
        module
    }

    /// Adds parameter `number` of a computation.
    pub fn add_parameter(
        &mut self,
        computation: ComputationId,
        number: u32,
        shape: ir::Shape,
    ) -> InstructionId {
        self.add_named(computation, NewOp::parameter(shape, number), &format!("param_{number}"))
    }
}
