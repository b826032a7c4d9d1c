//! The requests that XLA's own kernel makes when it is executed.

use std::sync::Arc;

use compile::ptx_kernels;
use executor::{Buffers, Program};
use gpu::{Buffer, Reason};

use crate::KernelId;
use crate::compiles::{
    DumpedCompile, DumpedStage, XlaKernel, artefacts_of_kernel, descendants, dumped_text, last_stage,
    stage_of, stage_program,
};
use crate::kernels::{fusion_source, kernel_code};

/// Larger texts are not executed.
const MAX_PTX: usize = 8 << 20;
/// XLA's allocations are multiples of this, and some of its kernels read past the end of an array.
const ALLOCATION: u64 = 256;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelArgument {
    pub buffer: Buffer,
    pub bytes: u64,
    /// The number of its memory: arguments that share memory have the same.
    pub slice: usize,
}

/// The requests to one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedArray {
    pub buffer: Buffer,
    /// A warp's execution of one instruction is one request.
    pub requests: u64,
    /// Of 32 bytes, each counted once per request.
    pub sectors: u64,
}

/// What some blocks of XLA's kernel request from memory, on arrays of zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XlaTrace {
    /// In the order of the arguments; without arrays that are not accessed.
    pub arrays: Vec<TracedArray>,
    /// The number of blocks that were executed.
    pub blocks: u64,
    /// Whether these are all blocks.
    pub is_whole: bool,
}

impl TracedArray {
    pub fn sectors_per_request(&self) -> f64 {
        self.sectors as f64 / self.requests.max(1) as f64
    }
}

/// The kernels that XLA made for an instruction of a stage, in the order of their launches. Empty for a file that is no stage.
pub fn xla_kernels<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Vec<XlaKernel> {
    let Some(stage) = id.piece(db).file(db).and_then(|file| stage_of(db, file)) else { return Vec::new() };
    let Some(compile) = stage.compile(db) else { return Vec::new() };
    let name = id.name(db);
    let is_scheduled = compile.stages(db).last() == Some(&stage);
    match artefacts_of_kernel(db, compile, &name) {
        kernels if is_scheduled || !kernels.is_empty() => kernels,
        _ => kernels_of_descendant(db, compile, stage, &name),
    }
}

/// The kernels of the instruction of the scheduled module that comes from one of an earlier stage.
fn kernels_of_descendant(
    db: &dyn salsa::Database,
    compile: DumpedCompile,
    stage: DumpedStage,
    name: &str,
) -> Vec<XlaKernel> {
    let later = || {
        let program = stage_program(db, stage).ok()?;
        let program = program.program();
        let id = (0..program.instructions.len() as u32).find(|&id| program.instruction(id).name == name)?;
        let descendant = *descendants(db, stage, id).first()?;
        let last = stage_program(db, last_stage(db, stage)?).ok()?;
        let last = last.program();
        let name = last.instructions.get(descendant as usize)?.name;
        Some(artefacts_of_kernel(db, compile, name))
    };
    later().unwrap_or_default()
}

/// The PTX of a kernel as a module of its own: the file without its other kernels.
///
/// # Errors
/// Why there is none, in words.
pub fn xla_ptx(db: &dyn salsa::Database, kernel: &XlaKernel) -> Result<String, String> {
    let Some(part) = kernel.ptx() else { return Err("the dump has no PTX of it".to_owned()) };
    let text = dumped_text(db, part.file)?;
    let mut alone = String::new();
    let mut at = 0;
    for other in ptx_kernels(&text).into_iter().filter(|other| other.name != kernel.name) {
        alone += text.get(at..other.range.start).unwrap_or_default();
        at = other.range.end;
    }
    alone += text.get(at..).unwrap_or_default();
    Ok(alone)
}

/// The arguments of the kernel of an instruction: its operands, then its results.
pub fn kernel_arguments<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Vec<KernelArgument> {
    if let Some(Ok(code)) = kernel_code(db, id) {
        let buffer = |role| match role {
            codegen::kernel::Role::Operand(n) => Buffer::Operand(n as u32),
            codegen::kernel::Role::Result(n) => Buffer::Result(n),
        };
        let arguments = code.params.iter().zip(code.slices());
        return arguments
            .map(|(param, slice)| KernelArgument { buffer: buffer(param.role), bytes: param.bytes, slice })
            .collect();
    }
    let Some(source) = fusion_source(db, id) else { return Vec::new() };
    let results = match &source.op.shape {
        ir::Shape::Tuple(elements) => elements.to_vec(),
        only => vec![only.clone()],
    };
    let operands = source.op.operand_shapes.iter().enumerate();
    let operands = operands.map(|(n, shape)| (Buffer::Operand(n as u32), shape));
    let results = results.iter().enumerate().map(|(n, shape)| (Buffer::Result(n), shape));
    let all = operands.chain(results).enumerate();
    all.map(|(n, (buffer, shape))| KernelArgument {
        buffer,
        bytes: shape.bytes().unwrap_or(0),
        slice: source.same_as.get(n).copied().unwrap_or(n),
    })
    .collect()
}

/// Executes XLA's kernel of an instruction, the first one where there are several. The error says why it cannot be executed.
#[salsa::tracked(lru = 64)]
pub fn xla_trace<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Result<Arc<XlaTrace>, Reason> {
    let kernels = xla_kernels(db, id);
    let first = kernels.first().ok_or("the dump has no kernel of it")?;
    let text = xla_ptx(db, first)?;
    if text.len() > MAX_PTX {
        return Err(format!("its PTX is larger than {} MB", MAX_PTX >> 20).into());
    }
    let launch = first.launch.as_ref().ok_or("its grid is unknown: the dump has no thunk sequence")?;
    let program = Program::new(&text, Some(&first.name)).map_err(|problem| problem.words)?;
    let arguments = kernel_arguments(db, id);
    if arguments.len() != program.parameter_count() {
        let count = program.parameter_count();
        return Err(format!("it takes {count} arguments, its instruction has {}", arguments.len()).into());
    }
    let mut sizes = vec![0; arguments.iter().map(|argument| argument.slice + 1).max().unwrap_or(0)];
    for argument in &arguments {
        let size = argument.bytes.checked_next_multiple_of(ALLOCATION).unwrap_or(0);
        sizes[argument.slice] = size.max(sizes[argument.slice]);
    }
    let buffers = Buffers { sizes, arguments: arguments.iter().map(|argument| argument.slice).collect() };
    let small = |sizes: [u64; 3]| sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let shared = launch.shared_bytes.unwrap_or(0);
    let report = executor::trace(&program, small(launch.grid), small(launch.block), shared, &buffers)
        .map_err(|problem| problem.to_string())?;
    let requests_to = |slice: usize, is_store: bool| {
        let of = report.traffic.iter().filter(|t| t.buffer == slice && t.is_store == is_store);
        of.fold((0, 0), |(requests, sectors), traffic| {
            (requests + traffic.requests, sectors + traffic.sectors)
        })
    };
    let is_written = |number: usize| arguments.get(number).is_some_and(|a| requests_to(a.slice, true).0 > 0);
    let arrays = arguments.iter().enumerate().filter_map(|(number, argument)| {
        let place = memory_of_argument(&arguments, number, is_written);
        let (requests, sectors) = requests_to(arguments[place].slice, argument.is_result());
        (requests > 0).then_some(TracedArray { buffer: argument.buffer, requests, sectors })
    });
    Ok(Arc::new(XlaTrace { arrays: arrays.collect(), blocks: report.blocks, is_whole: report.is_whole }))
}

impl KernelArgument {
    pub fn is_result(&self) -> bool {
        matches!(self.buffer, Buffer::Result(_))
    }
}

/// The argument through which XLA's kernel accesses another one: buffer assignment may give a result the memory of an operand, and
/// XLA then writes to the operand. `is_written` says which arguments the kernel writes to.
pub fn memory_of_argument(
    arguments: &[KernelArgument],
    number: usize,
    is_written: impl Fn(usize) -> bool,
) -> usize {
    let Some(argument) = arguments.get(number) else { return number };
    if !argument.is_result() || is_written(number) {
        return number;
    }
    let is_it = |other: &usize| {
        let other_argument = &arguments[*other];
        !other_argument.is_result() && other_argument.bytes == argument.bytes && is_written(*other)
    };
    (0..arguments.len()).find(is_it).unwrap_or(number)
}
