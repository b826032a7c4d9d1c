//! The PTX text of a kernel, in stages with a type each: [`lower::select`] makes instructions of the kernel, loop by
//! loop as [`loop_plan::LoopPlan`] says; [`peepholes::peepholes`] improves them; [`assemble`] makes statements of PTX
//! of them, which [`mod@print`] prints.

mod absorbing;
mod access_maps;
mod arithmetic;
mod assemble;
mod atomic;
mod branch;
mod calls;
mod carried;
mod code;
mod counted;
mod element;
mod exchange;
mod features;
mod frame;
mod groups;
mod halves;
mod hoist;
mod index;
mod join;
mod library;
mod loop_body;
mod loop_length;
mod loop_nest;
mod loop_plan;
mod loops;
mod lower;
mod machine;
mod map_loop;
mod memory;
mod number_index;
mod packed;
mod peepholes;
mod print;
mod scalar;
mod shuffle;
mod sink;
mod tiles;
mod unrolling;
mod value;
mod words;

use gpu::{CodeAccess, Device};
use ir::OpId;

use crate::kernel::{Kernel, Missing, SharedArray};
use crate::{KernelText, Reason};
use code::Code;
use features::Features;
use machine::Reg;
use print::Lowered;
pub(crate) use unrolling::{is_expensive, partial_unroll};

/// The target of the text: `sm_90a` is 9, 0 and the features specific to it.
#[derive(Clone, Copy)]
struct Target {
    major: u32,
    minor: u32,
    accelerated: bool,
}

impl Target {
    fn of(device: &Device) -> Result<Target, Reason> {
        match device.platform {
            gpu::Platform::Cuda { major, minor, accelerated } => Ok(Target { major, minor, accelerated }),
            _ => Err(format!("PTX is for NVIDIA, and {} is not", device.name).into()),
        }
    }
}

/// The instructions of a kernel, as printed.
struct Instructions {
    code: Code,
    /// Per argument, the register with its address, if it is used.
    pointers: Vec<Option<Reg>>,
    shared: Vec<SharedArray>,
    /// Ops that no rule implements, with the reason.
    missing: Vec<(OpId, String)>,
    is_too_large: bool,
}

/// Selects instructions and improves them.
fn instructions(kernel: &Kernel, target: Target) -> Instructions {
    let features = Features::of(target);
    peepholes::peepholes(lower::select(kernel, features), kernel, features)
}

/// The accesses of a kernel's code to its arguments. An error if some of them are not known.
pub fn accesses(kernel: &Kernel, device: &Device) -> Result<Vec<CodeAccess>, Reason> {
    let target = Target::of(device)?;
    if !kernel.then.is_empty() || !kernel.waits {
        return Err("a sort moves what its data says".into());
    }
    if let Some(missing) = kernel.missing.first() {
        return Err(format!("{} is not written: {}", missing.instruction, missing.reason).into());
    }
    recursion::with_stack(crate::STACK, || accesses_of(kernel, target))
}

fn accesses_of(kernel: &Kernel, target: Target) -> Result<Vec<CodeAccess>, Reason> {
    let Instructions { code, pointers, missing, is_too_large, .. } = instructions(kernel, target);
    match missing.into_iter().next() {
        Some((_, reason)) => Err(reason.into()),
        None if is_too_large => Err(too_large().into()),
        None => access_maps::access_maps(kernel, &code, &pointers),
    }
}

fn too_large() -> String {
    format!("the kernel has more than {} operations; the rest is not written", lower::MAX_OPS)
}

/// The PTX text of the kernel, and of those that run after it, for a device. `name_of` returns the names of
/// ops, for comments and for missing ops.
pub fn ptx(kernel: &Kernel, device: &Device, name_of: &dyn Fn(OpId) -> String) -> Result<KernelText, Reason> {
    recursion::with_stack(crate::STACK, || lowered(kernel, device, name_of))
}

fn lowered(kernel: &Kernel, device: &Device, name_of: &dyn Fn(OpId) -> String) -> Result<KernelText, Reason> {
    let target = Target::of(device)?;
    let mut kernels = Vec::new();
    let mut all: Vec<Missing> = Vec::new();
    for kernel in kernel.stages() {
        let Instructions { code, pointers, shared, missing, is_too_large } = instructions(kernel, target);
        let named = |(op, reason)| Missing { op, instruction: name_of(op), reason };
        let own = kernel.missing.iter().cloned().chain(missing.into_iter().map(named));
        let too_large =
            is_too_large.then(|| Missing { op: 0, instruction: kernel.name.clone(), reason: too_large() });
        for missing in own.chain(too_large) {
            if all.iter().all(|known| known.op != missing.op || known.instruction != missing.instruction) {
                all.push(missing);
            }
        }
        kernels.push(Lowered { kernel, code, pointers, shared });
    }
    Ok(print::print(kernels, target, all, name_of))
}
