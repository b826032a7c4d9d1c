//! The document of XLA's kernel.

use compile::{ArtefactKind, LaunchedKernel as XlaLaunch};
use db::KernelId;
use db::compiles::{XlaKernel, kernel_arguments, xla_kernels, xla_ptx};
use gpu::{Buffer, Launch};
use ptx::{Function, Module, Space, Statement};
use rustc_hash::FxHashMap;

use super::comparison::KernelComparison;
use super::source_map::source_map;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::document::{
    KernelCode, KernelDocument, KernelOrigin, KernelParam, kernel_instruction, not_emitted,
};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::shown_kernel::queried_instruction;

/// Whether the dump of the file's compile has code of the kernel.
pub(crate) fn has_xla_kernel(context: &FileContext<'_>, query: &FusionQuery) -> bool {
    let Ok(at) = queried_instruction(context, query) else { return false };
    let Some(id) = context.kernel_id(at) else { return false };
    xla_kernels(context.db, id).iter().any(|kernel| kernel.ptx().is_some() || triton_ir(kernel).is_some())
}

/// The document of XLA's kernel. The error is that there is no such instruction; the document itself reports all other problems.
pub(crate) fn xla_kernel_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<KernelDocument, FusionError> {
    let at = queried_instruction(context, query)?;
    let head = vec![format!("%{}", query.instruction)];
    let Some(id) = context.kernel_id(at) else {
        return Ok(not_emitted(head, "the instruction is in no computation"));
    };
    let kernels = xla_kernels(context.db, id);
    let Some(kernel) = kernels.first() else {
        let is_stage = db::compiles::stage_of(context.db, context.view.file).is_some();
        let why = match is_stage {
            true => "the dump of this compile has no kernel of XLA's for it",
            false => "the file is in no folder that XLA dumped with --xla_dump_to",
        };
        return Ok(not_emitted(head, why));
    };
    Ok(match xla_ptx(context.db, kernel) {
        Ok(text) => ptx_document(context, at, id, kernel, kernels.len(), text),
        Err(why) => triton_document(context, kernel, head, &why),
    })
}

fn ptx_document<'a>(
    context: &FileContext<'a>,
    at: InstructionRef,
    id: KernelId<'a>,
    kernel: &XlaKernel,
    kernels: usize,
    text: String,
) -> KernelDocument {
    let LaunchedKernel { name, operands, .. } = match LaunchedKernel::of(context, at) {
        Some(launched) => launched,
        None => LaunchedKernel { id, name: kernel.name.clone(), operands: Vec::new() },
    };
    let module = ptx::parse(&text);
    let function = module.as_ref().ok().and_then(|module| entry(module, &kernel.name));
    let shared = module.as_ref().map_or(0, |module| static_shared_bytes(module, function));
    let launch = kernel.launch.as_ref().and_then(|launch| launch_of(launch, shared));
    let comparison = KernelComparison::of(context, id, &operands, kernels);
    let mut head = vec![format!("%{name} · XLA's kernel {} · {}", kernel.name, device(context))];
    head.extend(comparison.words(launch.as_ref()));
    if let Err(error) = &module {
        head.push(format!(
            "its lines are not mapped to instructions: line {}: {}",
            error.at.line, error.message
        ));
    }
    let arguments = kernel_arguments(context.db, id);
    let analysis = context.kernel(id).and_then(|analysis| analysis.as_ref().ok());
    let ours = context.kernel_text(id, KernelLanguage::Ptx).and_then(|text| text.as_deref().ok());
    let count = text.lines().count();
    let map = match analysis.zip(function) {
        Some((analysis, function)) => source_map(analysis, function, count, &arguments, ours),
        None => Default::default(),
    };
    let mut places = FxHashMap::default();
    let mut instructions = Vec::new();
    let lines = map.lines.iter().map(|op| {
        let op = (*op)?;
        let analysis = analysis?;
        Some(*places.entry(op).or_insert_with(|| {
            instructions.push(kernel_instruction(context, at, analysis, op));
            instructions.len() as u32 - 1
        }))
    });
    let mut lines: Vec<Option<u32>> = lines.collect();
    lines.resize(count, None);
    let params = arguments.iter().map(|argument| {
        let (is_result, number) = match argument.buffer {
            Buffer::Operand(number) => (false, number as usize),
            Buffer::Result(number) => (true, number),
        };
        KernelParam { is_result, number, bytes: argument.bytes, slice: argument.slice }
    });
    let code = KernelCode {
        name: kernel.name.clone(),
        launch,
        params: params.collect(),
        missing: Vec::new(),
        comparison: Some(Box::new(comparison)),
    };
    KernelDocument {
        head,
        body: text,
        lines,
        accesses: map.accesses,
        instructions,
        origin: KernelOrigin::Emitters(code),
    }
}

/// Triton's IR where the dump has no PTX.
fn triton_document(
    context: &FileContext<'_>,
    kernel: &XlaKernel,
    mut head: Vec<String>,
    why: &str,
) -> KernelDocument {
    let Some(ir) = triton_ir(kernel) else { return not_emitted(head, why) };
    match ir.read(context.db) {
        Ok(body) => {
            head.push(format!("Triton IR of XLA's kernel {}; {why}", kernel.name));
            let lines = vec![None; body.lines().count()];
            let origin = KernelOrigin::Elsewhere("Triton compiles this".to_owned());
            KernelDocument { body, lines, ..KernelDocument::new(head, origin) }
        }
        Err(why) => not_emitted(head, &why),
    }
}

fn triton_ir(kernel: &XlaKernel) -> Option<&db::compiles::KernelText> {
    kernel.texts.iter().find(|text| matches!(text.kind, ArtefactKind::Ttir { .. }))
}

fn device(context: &FileContext<'_>) -> &'static str {
    context.db.device_of(context.view.file).name
}

fn entry<'m, 't>(module: &'m Module<&'t str>, name: &str) -> Option<&'m Function<&'t str>> {
    module.functions.iter().find(|function| function.is_entry && function.name == name)
}

/// The shared memory that the text declares, in bytes.
fn static_shared_bytes(module: &Module<&str>, function: Option<&Function<&str>>) -> u64 {
    let of_body = function.into_iter().flat_map(|function| function.body.iter().flatten());
    let of_body = of_body.filter_map(|statement| match statement {
        Statement::Variable(variable) => Some(variable),
        _ => None,
    });
    let shared = module.variables.iter().chain(of_body).filter(|variable| variable.space == Space::Shared);
    shared.fold(0, |sum: u64, variable| sum.saturating_add(variable.size()))
}

/// `None` for sizes beyond what any GPU launches.
fn launch_of(launch: &XlaLaunch, shared: u64) -> Option<Launch> {
    let sizes = |sizes: [u64; 3]| -> Option<[i64; 3]> {
        let [x, y, z] = sizes.map(|size| i64::try_from(size).ok());
        Some([x?, y?, z?])
    };
    let bytes = launch.shared_bytes.unwrap_or(0).saturating_add(shared);
    let shared_bytes = i64::try_from(bytes).ok()?;
    Some(Launch { grid: sizes(launch.grid)?, block: sizes(launch.block)?, shared_bytes })
}
