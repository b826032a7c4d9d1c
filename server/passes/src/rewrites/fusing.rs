//! What the passes that fuse share: each computation is fused by `gpu`, then written back.

use std::cell::RefCell;
use std::sync::Arc;

use gpu::{Computation, Step};
use indexing::Callees;
use ir::{Graph, OpId};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// The instructions of a computation as a graph, and the graph.
type Source = (Arc<Graph>, Arc<[InstructionId]>);

/// Fuses each computation that may be fused by `fuse`, which returns its steps.
pub(super) fn fuse_all(
    run: &mut Run<'_>,
    mut fuse: impl FnMut(&mut Computation, &Callees<'_>) -> Vec<Step>,
) -> Result<(), Stop> {
    let is_as_read = run.module.is_as_read();
    for id in fusible_computations(run.module) {
        let module = &*run.module;
        let by_name: FxHashMap<&str, ComputationId> =
            module.computations().into_iter().map(|id| (module[id].name(), id)).collect();
        let sources: RefCell<FxHashMap<String, Source>> = RefCell::default();
        let source = |name: &str| {
            if let Some(known) = sources.borrow().get(name) {
                return Some(known.clone());
            }
            let graph = module.graph(*by_name.get(name)?);
            let source: Source = (Arc::new(graph.graph), graph.ids.into());
            sources.borrow_mut().insert(name.to_owned(), source.clone());
            Some(source)
        };
        let name = module[id].name().to_owned();
        let Some((graph, ids)) = source(&name) else { continue };
        if let Some(unknown) = graph.not_understood() {
            return Err(Stop::Unsupported(unknown));
        }
        let mut computation = Computation::of(&graph, &name);
        match is_as_read {
            true => computation.estimate_ages(),
            false => computation.set_ages(ages(module, id, &ids)),
        }
        let op_of: FxHashMap<InstructionId, OpId> = ids.iter().copied().zip(0..).collect();
        for (&id, op) in ids.iter().zip(0..).filter(|_| !is_as_read) {
            match module.guesses_users(id) {
                // The order of the instructions is the better guess then.
                true => computation.guess_users(op),
                false => computation.order_users(op, module[id].users().iter().map(|user| op_of[user])),
            }
        }
        let callees = |name: &str| source(name).map(|(graph, _)| graph);
        let steps = fuse(&mut computation, &callees);
        drop(by_name);
        let sources = sources.into_inner();
        if steps.is_empty() {
            continue;
        }
        for step in &steps {
            if let Some(&producer) = ids.get(step.producer as usize) {
                run.changed(producer, format!("fused into %{}", computation.name(step.consumer)));
            }
        }
        WriteBack { module: run.module, id, computation: &computation, sources: &sources }.run(&ids);
    }
    run.module.remove_unreachable_computations();
    Ok(())
}

/// Per instruction its place in the order in which passes created them.
fn ages(module: &Module, computation: ComputationId, ids: &[InstructionId]) -> Vec<u32> {
    let created = module.instructions(computation).into_iter().zip(0..);
    let age_of: FxHashMap<InstructionId, u32> = created.collect();
    ids.iter().map(|id| age_of[id]).collect()
}

/// Computations of the entry and of control flow. Source: `GetFusibleComputations`, `service/gpu/gpu_fusible.cc`.
pub(super) fn fusible_computations(module: &Module) -> Vec<ComputationId> {
    let mut applied: FxHashSet<ComputationId> = FxHashSet::default();
    for computation in module.computations() {
        for id in module.instructions(computation) {
            let instruction = &module[id];
            let frontend =
                instruction.attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
            let is_stream =
                instruction.opcode() == Opcode::Call && frontend.contains("_xla_stream_annotation");
            let is_flow = matches!(instruction.opcode(), Opcode::While | Opcode::Conditional);
            if !is_flow && !is_stream {
                applied.extend(instruction.called());
            }
        }
    }
    let mut all = module.non_fusion_computations();
    all.retain(|id| !applied.contains(id));
    all
}

struct WriteBack<'a> {
    module: &'a mut Module,
    id: ComputationId,
    computation: &'a Computation,
    /// Computations by the names of origins.
    sources: &'a FxHashMap<String, Source>,
}

impl WriteBack<'_> {
    /// `ids` are the instructions that the first ops of the computation are.
    fn run(&mut self, ids: &[InstructionId]) {
        let computation = self.computation;
        let order = computation.post_order();
        let mut written: FxHashMap<OpId, InstructionId> = FxHashMap::default();
        for &op in &order {
            let operands: Vec<InstructionId> = computation.operands(op).iter().map(|o| written[o]).collect();
            let instruction = match ids.get(op as usize) {
                None => self.add(op, &operands),
                Some(&id) => {
                    self.update(id, op, &operands);
                    id
                }
            };
            written.insert(op, instruction);
        }
        self.module.set_root(self.id, written[&computation.root()]);
        for &op in &order {
            let users: Vec<InstructionId> = computation.users(op).iter().map(|user| written[user]).collect();
            self.module.order_users(written[&op], &users, computation.guesses_users(op));
        }
        for (op, &id) in ids.iter().enumerate().rev() {
            if computation.is_removed(op as OpId) {
                self.module.drop_control(id);
                self.module.remove(id);
            }
        }
    }

    fn add(&mut self, op: OpId, operands: &[InstructionId]) -> InstructionId {
        let computation = self.computation;
        let of = computation.op(op);
        let mut new = NewOp::new(of.opcode, of.shape.clone(), operands);
        new.attributes = of.attributes.clone();
        if let Some(body) = computation.body(op) {
            let called = self.add_body(body, "fused_computation");
            new = new.calling(AttributeKey::Calls, &[called]);
        }
        let id = self.module.add_named(self.id, new, computation.name(op));
        if let Some(from) = self.origin(computation, op) {
            self.module.inherit(id, from);
        }
        id
    }

    /// Gives an instruction that was there before its new operands and, if it is a fusion, its computation.
    fn update(&mut self, id: InstructionId, op: OpId, operands: &[InstructionId]) {
        if self.module[id].operands() != operands {
            self.module.set_operands(id, operands);
        }
        let Some(body) = self.computation.body(op) else { return };
        let old = self.module[id].callee(AttributeKey::Calls);
        let name =
            old.map_or_else(|| "fused_computation".to_owned(), |old| self.module[old].name().to_owned());
        let called = self.add_body(body, &name);
        self.module.set_calls(id, AttributeKey::Calls, &[called]);
        let op = self.computation.op(op);
        self.module.set_shape(id, op.shape.clone());
        for key in [AttributeKey::Kind, AttributeKey::BackendConfig] {
            if let Some(value) = op.attributes.get(key) {
                self.module.attributes_mut(id).set(key, value.clone());
            }
        }
    }

    fn add_body(&mut self, body: &Computation, name: &str) -> ComputationId {
        let id = self.module.add_computation(name);
        let mut written: FxHashMap<OpId, InstructionId> = FxHashMap::default();
        for op in body.post_order() {
            cancel::tick();
            let operands: Vec<InstructionId> = body.operands(op).iter().map(|o| written[o]).collect();
            let of = body.op(op);
            let instruction = match (of.parameter, self.origin(body, op)) {
                (Some(number), _) => self.module.add_parameter(id, number, of.shape.clone()),
                (None, Some(from)) => self.module.add_copy(id, from, &operands),
                (None, None) => {
                    let mut new = NewOp::new(of.opcode, of.shape.clone(), &operands);
                    new.attributes = of.attributes.clone();
                    self.module.add(id, new)
                }
            };
            written.insert(op, instruction);
        }
        self.module.set_root(id, written[&body.root()]);
        id
    }

    /// The instruction that an op was before the pass.
    fn origin(&self, computation: &Computation, op: OpId) -> Option<InstructionId> {
        let origin = computation.origins[op as usize].as_ref()?;
        let (_, ids) = self.sources.get(&*origin.computation)?;
        ids.get(origin.op as usize).copied()
    }
}
