//! Fusing two instructions, taking a fusion apart and splitting it in two, as code actions that say what the module's time becomes.
//!
//! They are offered where kernels are decided: in modules with fusions. XLA's rules say which pairs can be fused.

use db::{KernelId, Language};
use gpu::Device;
use ir::Opcode;
use passes::{ComputationId, InstructionId, Module};

use super::known::KnownOptimized;
use super::planned::{Totals, change_in_words};
use super::rewrites::{Difference, computation_text, instruction_text, rewrite_of};
use super::source::SourceModule;
use crate::TextRange;
use crate::code_actions::{Actions, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::executions::executions;
use crate::hlo::locate::InstructionRef;
use crate::kernel::heaviest::timed;

/// Texts of more bytes have no such actions: each copies the module.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Pairs that are offered at one place.
const MAX_PAIRS: usize = 12;

const FUSE: &str = "fuse-";
const UNFUSE: &str = "unfuse";
const SPLIT: &str = "split";

/// An edit of the module.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A producer, and the user that it is moved into.
    Fuse(InstructionId, InstructionId),
    Unfuse(InstructionId),
    /// A fusion, and an instruction of its computation.
    Split(InstructionId, InstructionId),
}

pub(crate) fn offer(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    range: &TextRange,
    actions: &mut Actions<'_>,
) {
    let (db, file) = (context.db, context.view.file);
    let is_meant = file.language(db) == Language::Hlo
        && context.view.text.len_bytes() <= MAX_BYTES
        && !actions.makes_all_changes()
        && [FUSE, UNFUSE, SPLIT].iter().any(|prefix| actions.may_want(prefix))
        && !db::is_of_cpu(db, file)
        && db::has_fusions(db, file).contains(&true);
    // Most places have no such action, and the module is read for those that may.
    let Some(at) = context.instruction_at(range.start).filter(|_| is_meant) else { return };
    if !may_be_meant(context, at) {
        return;
    }
    let Ok(source) = known.source(context) else { return };
    let Some(id) = source.instruction_at(range.start) else { return };
    let module = &source.module;
    let name = |id: InstructionId| {
        let written = source.instructions.get(Module::index(id)).and_then(Option::as_ref);
        written.map_or_else(|| format!("%{}", module[id].name()), |written| written.name.clone())
    };
    let mut steps: Vec<(String, String, Step)> = Vec::new();
    let device = db.device_of(file);
    for (producer, user) in pairs(module, id, device) {
        let title = format!("Fuse {} into {}", name(producer), name(user));
        steps.push((
            format!("{FUSE}{}-{}", module[producer].name(), module[user].name()),
            title,
            Step::Fuse(producer, user),
        ));
    }
    if module[id].opcode() == Opcode::Fusion {
        steps.push((UNFUSE.to_owned(), format!("Unfuse {}", name(id)), Step::Unfuse(id)));
    }
    if let Some(fusion) = fusion_of(module, module[id].parent()) {
        let title = format!("Split {} at {}", name(fusion), name(id));
        steps.push((SPLIT.to_owned(), title, Step::Split(fusion, id)));
    }
    let total = (!actions.is_about_one())
        .then(|| total(context, |id| context.kernel_cost(id).map_or(0.0, |estimate| estimate.exec_us())));
    for (id, title, step) in steps {
        if !actions.wants(&id) {
            continue;
        }
        let Some(after) = step.apply(module) else { continue };
        let change =
            total.map(|total| format!(": {}", total_after(context, &source, &after, step, total, device)));
        let edits = || {
            let difference = Difference::new(module, &after);
            Some(rewrite_of(context, &source, &after, &difference, step.place())?.checked(module))
        };
        actions.offer(id, title + &change.unwrap_or_default(), CodeActionKind::RefactorRewrite, edits);
    }
}

/// Whether the instruction is one that runs as a kernel, or is inside one.
fn may_be_meant(context: &FileContext<'_>, at: InstructionRef) -> bool {
    let Some(opcode) = context.block(at.piece).instruction(at.id).opcode else { return false };
    !matches!(opcode, Opcode::Parameter | Opcode::Constant | Opcode::Tuple | Opcode::GetTupleElement)
}

impl Step {
    /// The module after it; `None` if it is impossible.
    fn apply(self, module: &Module) -> Option<Module> {
        let mut after = module.clone();
        match self {
            Step::Fuse(producer, user) => after.fuse(producer, user).map(|_| after),
            Step::Unfuse(fusion) => after.unfuse(fusion).then_some(after),
            Step::Split(fusion, at) => after.split(fusion, at).map(|_| after),
        }
    }

    /// The instruction that is replaced.
    fn place(self) -> InstructionId {
        match self {
            Step::Fuse(_, user) => user,
            Step::Unfuse(fusion) | Step::Split(fusion, _) => fusion,
        }
    }
}

/// The producers and users that an instruction can be fused with, by XLA's rules.
fn pairs(module: &Module, id: InstructionId, device: &'static Device) -> Vec<(InstructionId, InstructionId)> {
    let is_fused = fusion_of(module, module[id].parent()).is_some();
    if is_fused {
        return Vec::new();
    }
    let graph = module.graph(module[id].parent());
    let callees = |name: &str| {
        let of_name = |c: &ComputationId| module[*c].name() == name;
        let callee = module.computations().into_iter().find(of_name)?;
        Some(std::sync::Arc::new(module.graph(callee).graph))
    };
    let mut found = Vec::new();
    let mut producers = vec![id];
    producers.extend(module[id].operands().iter().copied().filter(|&operand| operand != id));
    producers.dedup();
    for producer in producers {
        cancel::check();
        let Some(op) = graph.ids.iter().position(|&other| other == producer) else { continue };
        let root = Some(graph.graph.root);
        let Some(decision) = gpu::decide(&graph.graph, root, op as ir::OpId, device, &callees) else {
            continue;
        };
        for consumer in decision.consumers.iter().filter(|consumer| consumer.reason.is_none()) {
            let user = graph.ids[consumer.consumer as usize];
            let pair = (producer, user);
            if (producer == id || user == id) && !found.contains(&pair) && found.len() < MAX_PAIRS {
                found.push(pair);
            }
        }
    }
    found
}

/// The only fusion that calls a computation.
fn fusion_of(module: &Module, computation: ComputationId) -> Option<InstructionId> {
    let callers = module.callers();
    let [only] = callers.get(&computation)?.as_slice() else { return None };
    (module[*only].opcode() == Opcode::Fusion).then_some(*only)
}

/// The time of all executions of all kernels, each of which takes `us`.
pub(super) fn total<'a>(context: &FileContext<'a>, us: impl Fn(KernelId<'a>) -> f64) -> f64 {
    let (times, _) = executions(context);
    let mut total = 0.0;
    let computations = context.module().computations.iter().enumerate();
    for (index, computation) in computations.filter(|(index, _)| times[*index] > 0) {
        for at in computation.segments.iter().flat_map(|&segment| timed(context, segment)) {
            cancel::check();
            total += context.kernel_id(at).map_or(0.0, &us) * times[index] as f64;
        }
    }
    total
}

/// `41 → 36 µs`: the time of all kernels before and after.
fn total_after(
    context: &FileContext<'_>,
    source: &SourceModule,
    after: &Module,
    step: Step,
    total: f64,
    device: &'static Device,
) -> String {
    let before = &source.module;
    let computation = before[step.place()].parent();
    let removed = before.instructions(computation).into_iter().filter(|&id| after[id].is_removed());
    let read = before.read_instructions().count();
    let added = after.instructions(computation).into_iter().filter(|&id| Module::index(id) >= read);
    let of = |module: &Module, ids: Vec<InstructionId>| Totals::of_text(&kernels_alone(module, &ids), device);
    let (was, is) = (of(before, removed.collect()), of(after, added.collect()));
    let times = executions_of(context, source, step.place());
    let changed = |totals: Totals| totals.us * times;
    change_in_words(total, (total - changed(was) + changed(is)).max(0.0))
}

/// How often an instruction of the text runs when the module runs once.
pub(super) fn executions_of(context: &FileContext<'_>, source: &SourceModule, id: InstructionId) -> f64 {
    let written = source.instructions.get(Module::index(id)).and_then(Option::as_ref);
    let at = written.and_then(|written| context.instruction_at(written.name_range.start));
    let index = at.and_then(|at| context.enclosing_computation(at));
    let (times, _) = executions(context);
    index.and_then(|index| times.get(index)).copied().unwrap_or(1) as f64
}

/// A module that runs some instructions of another one, on parameters in place of their operands.
pub(super) fn kernels_alone(module: &Module, ids: &[InstructionId]) -> String {
    let mut text = String::from("HloModule kernels\n\n");
    let mut called: Vec<ComputationId> = Vec::new();
    let mut open: Vec<ComputationId> = ids.iter().flat_map(|&id| module[id].called()).collect();
    while let Some(computation) = open.pop() {
        if !called.contains(&computation) {
            called.push(computation);
            open.extend(module.instructions(computation).into_iter().flat_map(|id| module[id].called()));
        }
    }
    // Callees come first.
    for computation in module.computation_post_order().into_iter().filter(|c| called.contains(c)) {
        text += &computation_text(module, computation, "%");
        text += "\n";
    }
    text += "ENTRY %kernels {\n";
    let mut parameters: Vec<InstructionId> = Vec::new();
    for &operand in ids.iter().flat_map(|&id| module[id].operands()) {
        if !parameters.contains(&operand) && !ids.contains(&operand) {
            let (name, shape) = (module[operand].name(), module[operand].shape());
            text += &format!("  %{name} = {shape} parameter({})\n", parameters.len());
            parameters.push(operand);
        }
    }
    let order = ids.first().map(|&id| module.post_order(module[id].parent())).unwrap_or_default();
    for id in order.into_iter().filter(|id| ids.contains(id)) {
        text += &format!("  {}\n", instruction_text(module, id, "%", false));
    }
    text + "}\n"
}

#[cfg(test)]
mod tests;
