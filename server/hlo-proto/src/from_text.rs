//! From the text of a module to its message, as XLA writes it.
//!
//! Source: XLA `hlo/ir/hlo_module.cc`, `hlo_computation.cc`, `hlo_instruction.cc`, ToProto.

mod asynchronous;
mod header;
mod instruction;
mod order;

use std::sync::Arc;

use ir::{ParsedComputation, ParsedModule, Severity};
use syntax::hlo::{Opcode, PieceState};

use crate::messages::{
    HloComputationProto, HloModuleConfigProto, HloModuleProto, HloProto, HloScheduleProto,
    InstructionSequence,
};
use crate::notes::Notes;
use crate::shapes::program_shape;
use order::{computation_order, instruction_order};

/// What the text of a module becomes.
#[derive(Debug)]
pub struct ModuleProto {
    pub module: HloModuleProto,
    /// What XLA keeps beside the module: `replica_count`, `num_partitions` and the like. `None` where the text has none of it.
    pub config: Option<HloModuleConfigProto>,
    /// What the message lacks of the text, in sentences.
    pub notes: Vec<String>,
}

impl ModuleProto {
    /// The module in the message that XLA dumps. A configuration is where `HloModuleProtoWithConfig` has it.
    pub fn into_hlo(self) -> HloProto {
        HloProto { hlo_module: Some(self.module), config: self.config, buffer_assignment: Vec::new() }
    }
}

/// The message of a text that has one module and no errors.
pub fn module_proto(text: &str) -> Result<ModuleProto, String> {
    let behind = text.split_once("\n// -----").map_or("", |(_, behind)| behind);
    if !behind.trim_start_matches('-').trim().is_empty() {
        return Err("the file has several modules, separated by `// -----`: split it".to_owned());
    }
    let text: Arc<str> = Arc::from(text);
    let line_of =
        |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    if let Some(error) = parse.errors.first() {
        return Err(format!("line {}: {}", line_of(error.span.start as usize), error.message));
    }
    let block = ir::lower(text.clone(), parse);
    if let Some(error) = block.findings.iter().find(|finding| finding.severity == Severity::Error) {
        return Err(format!("line {}: {}", line_of(error.span.start as usize), error.message));
    }
    let module = ir::Module::of_block(&block);
    if let Some(finding) = module.findings.first() {
        return Err(finding.message.clone());
    }
    of_parsed(ParsedModule::new(&[&block], &module, 0))
}

fn of_parsed(mut parsed: ParsedModule) -> Result<ModuleProto, String> {
    let mut notes = Notes::default();
    asynchronous::expand(&mut parsed);
    let order = computation_order(&parsed)?;
    // The ids of computations are their places.
    let mut ids = vec![0i64; parsed.computations.len()];
    for (at, &index) in order.iter().enumerate() {
        ids[index] = at as i64;
    }
    let mut is_fused = vec![false; parsed.computations.len()];
    for instruction in parsed.computations.iter().flat_map(|computation| &computation.instructions) {
        if instruction.op.opcode == Opcode::Fusion {
            instruction
                .calls
                .iter()
                .flat_map(|(_, called)| called)
                .for_each(|&called| is_fused[called] = true);
        }
    }
    let entry = parsed.computations.iter().position(|computation| computation.is_entry);
    let entry = entry.ok_or("the module has no entry computation")?;
    let mut proto = HloModuleProto::default();
    let mut schedule = HloScheduleProto::default();
    for &index in &order {
        let computation = &parsed.computations[index];
        let message = computation_proto(computation, &ids, index, is_fused[index], &mut notes)?;
        if !is_fused[index] {
            let instruction_ids = message.instructions.iter().map(|instruction| instruction.id).collect();
            schedule.sequences.insert(message.id, InstructionSequence { instruction_ids });
        }
        proto.computations.push(message);
    }
    proto.entry_computation_id = ids[entry];
    proto.entry_computation_name.clone_from(&parsed.computations[entry].name);
    if parsed.settings.is_scheduled {
        proto.schedule = Some(schedule);
    }
    let entry_shape = proto.computations[ids[entry] as usize].program_shape.clone();
    let config = header::put(&parsed, entry_shape, &mut proto, &mut notes)?;
    Ok(ModuleProto { module: proto, config, notes: notes.into_lines() })
}

fn computation_proto(
    computation: &ParsedComputation,
    ids: &[i64],
    index: usize,
    is_fused: bool,
    notes: &mut Notes,
) -> Result<HloComputationProto, String> {
    let of = |why: String| format!("computation {}: {why}", computation.name);
    let order = instruction_order(computation).map_err(of)?;
    let mut own_ids = vec![0i64; computation.instructions.len()];
    for (at, &instruction) in order.iter().enumerate() {
        own_ids[instruction] = ids[index] << 32 | at as i64;
    }
    let root = computation
        .instructions
        .get(computation.root)
        .ok_or_else(|| of("it has no instruction".to_owned()))?;
    let mut parameters: Vec<_> = computation
        .instructions
        .iter()
        .filter_map(|instruction| {
            Some((instruction.op.parameter?, &instruction.op.shape, instruction.name.clone()))
        })
        .collect();
    parameters.sort_by_key(|(number, ..)| *number);
    let parameters = parameters.into_iter().map(|(_, shape, name)| (shape, name));
    let mut proto = HloComputationProto {
        name: computation.name.clone(),
        id: ids[index],
        root_id: own_ids[computation.root],
        program_shape: Some(program_shape(parameters, &root.op.shape)),
        is_fusion_computation: is_fused,
        ..HloComputationProto::default()
    };
    if computation.thread != "main" {
        proto.execution_thread = String::from_utf8_lossy(&ir::unescape(&computation.thread)).into_owned();
    }
    for &at in &order {
        cancel::tick();
        let instruction = &computation.instructions[at];
        let message = instruction::instruction_proto(instruction, own_ids[at], &own_ids, ids, notes)
            .map_err(|why| of(format!("{}: {why}", instruction.name)))?;
        proto.instructions.push(message);
    }
    Ok(proto)
}
