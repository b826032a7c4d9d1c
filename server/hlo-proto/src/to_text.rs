//! From a module's message to its text, as XLA prints it.
//!
//! Each part is taken out of the message; what is left in the end is named in the notes.
//!
//! Source: XLA `hlo/ir/hlo_module.cc` and `hlo_computation.cc`, CreateFromProto and Print.

mod asynchronous;
mod header;
mod instruction;

use std::fmt::Write as _;
use std::sync::Arc;

use ir::{PrintOptions, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::PieceState;

use crate::literal::Budget;
use crate::messages::{HloComputationProto, HloModuleConfigProto, HloModuleProto};
use crate::notes::Notes;
use crate::shapes::take_shape;
use asynchronous::Asynchronous;
pub(crate) use header::{MUST_ALIAS, says_nothing};

/// The most elements of literals in one text.
const MAX_ELEMENTS: i64 = 1 << 22;

/// What the message of a module becomes.
#[derive(Debug)]
pub struct ModuleText {
    pub text: String,
    /// What the text lacks of the message, in sentences.
    pub notes: Vec<String>,
}

/// The text of a module, in XLA's canonical form.
pub fn module_text(
    module: HloModuleProto,
    config: Option<HloModuleConfigProto>,
) -> Result<ModuleText, String> {
    let mut notes = Notes::default();
    let draft: Arc<str> = Arc::from(draft(module, config, &mut notes)?);
    let parse = Arc::new(syntax::hlo::parse(&draft, PieceState::HEADER));
    if let Some(error) = parse.errors.first() {
        let line =
            draft.get(error.span.start as usize..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let line: String = line.chars().take(80).collect();
        notes.add(format!("the module is damaged: {} at {line}", error.message));
        return Ok(ModuleText { text: draft.to_string(), notes: notes.into_lines() });
    }
    let block = ir::lower(draft, parse);
    let printed = ir::print_module(&[&block], &ir::Module::of_block(&block), &PrintOptions::lossless());
    let text = printed.map_err(|_| "the text of the module would be too large".to_owned())?;
    Ok(ModuleText { text, notes: notes.into_lines() })
}

/// What the instructions of a module refer to.
struct Names {
    /// Computations by their ids.
    computations: FxHashMap<i64, String>,
    /// Called by an asynchronous operation and written there.
    asynchronous: Asynchronous,
}

/// The text that the printer brings into canonical form.
fn draft(
    mut module: HloModuleProto,
    config: Option<HloModuleConfigProto>,
    notes: &mut Notes,
) -> Result<String, String> {
    let mut names = Names { computations: FxHashMap::default(), asynchronous: Asynchronous::default() };
    for computation in &module.computations {
        if names.computations.insert(computation.id, computation.name.clone()).is_some() {
            return Err(format!("two computations have the id {}", computation.id));
        }
    }
    names.asynchronous = Asynchronous::of(&mut module);
    let payloads = std::mem::take(&mut module.payloads);
    let schedule = module.schedule.take();
    let entry = std::mem::take(&mut module.entry_computation_id);
    if !names.computations.contains_key(&entry) {
        return Err(format!("no computation has the id of the entry, {entry}"));
    }
    let mut out = String::new();
    header::write(&mut out, &mut module, schedule.is_some(), config, notes)?;
    let mut budget = Budget(MAX_ELEMENTS);
    // Computations in any order: the printer puts callees first.
    for mut computation in std::mem::take(&mut module.computations) {
        if names.asynchronous.is_written_elsewhere(computation.id) {
            continue;
        }
        if let Some(sequence) = schedule.as_ref().and_then(|schedule| schedule.sequences.get(&computation.id))
        {
            reorder(&mut computation, &sequence.instruction_ids);
        }
        let is_entry = computation.id == entry;
        let mut writer =
            ComputationWriter { names: &names, payloads: &payloads, budget: &mut budget, notes: &mut *notes };
        writer.computation(&mut out, computation, is_entry)?;
    }
    if budget.0 < 0 {
        notes.add(format!(
            "the literals have more than {MAX_ELEMENTS} elements: the largest are {{...}} in the text"
        ));
    }
    notes.left(&module, "the module");
    Ok(out)
}

/// Instructions in the order of a schedule; those that it does not have come last.
fn reorder(computation: &mut HloComputationProto, order: &[i64]) {
    let places: FxHashMap<i32, usize> =
        order.iter().enumerate().map(|(at, &id)| (local_id(id), at)).collect();
    computation
        .instructions
        .sort_by_key(|instruction| places.get(&local_id(instruction.id)).copied().unwrap_or(usize::MAX));
}

/// The id of an instruction in its computation: the upper half of the number is the id of the computation.
/// Source: XLA `HloInstruction::CalculateLocalId`.
pub(crate) fn local_id(id: i64) -> i32 {
    id as i32
}

struct ComputationWriter<'a> {
    names: &'a Names,
    payloads: &'a [Vec<u8>],
    budget: &'a mut Budget,
    notes: &'a mut Notes,
}

/// The instructions of a computation by their ids.
#[derive(Default)]
struct Instructions {
    names: FxHashMap<i32, (String, Shape)>,
}

impl ComputationWriter<'_> {
    fn computation(
        &mut self,
        out: &mut String,
        mut computation: HloComputationProto,
        is_entry: bool,
    ) -> Result<(), String> {
        let name = std::mem::take(&mut computation.name);
        let of = |why: String| format!("computation {name}: {why}");
        let mut instructions = Instructions::default();
        for instruction in &mut computation.instructions {
            cancel::tick();
            let shape = match &mut instruction.shape {
                Some(shape) => take_shape(shape).map_err(|why| of(format!("{}: {why}", instruction.name)))?,
                None => return Err(of(format!("{} has no shape", instruction.name))),
            };
            let id = local_id(instruction.id);
            if instructions.names.insert(id, (instruction.name.clone(), shape)).is_some() {
                return Err(of(format!("two instructions have the id {id}")));
            }
        }
        let root = local_id(std::mem::take(&mut computation.root_id));
        if !instructions.names.contains_key(&root) {
            return Err(of(format!("no instruction has the id of the root, {root}")));
        }
        _ = writeln!(out, "{}%{name} {{", if is_entry { "ENTRY " } else { "" });
        for instruction in std::mem::take(&mut computation.instructions) {
            cancel::tick();
            out.push_str(if local_id(instruction.id) == root { "  ROOT %" } else { "  %" });
            self.instruction(out, instruction, &instructions).map_err(of)?;
        }
        out.push('}');
        let thread = std::mem::take(&mut computation.execution_thread);
        if !matches!(thread.as_str(), "" | "main") {
            _ = write!(out, ", execution_thread={}", crate::scan::quoted(thread.as_bytes()));
        }
        out.push_str("\n\n");
        // They follow from the instructions and from who calls the computation.
        computation.program_shape = None;
        computation.is_fusion_computation = false;
        computation.id = 0;
        self.notes.left(&computation, "a computation");
        Ok(())
    }
}
