//! The PTX text of a kernel.

mod arithmetic;
mod atomic;
mod branch;
mod calls;
mod carried;
mod code;
mod exchange;
mod frame;
mod groups;
mod halves;
mod index;
mod join;
mod loop_length;
mod loop_nest;
mod loops;
mod lower;
mod machine;
mod memory;
mod packed;
mod print;
mod scalar;
mod shuffle;
mod sink;
mod tiles;
mod unrolling;
mod value;
mod words;

use gpu::Device;
use ir::OpId;

use crate::kernel::{Kernel, Missing, Param};
use crate::{KernelText, Reason};
use lower::Lowering;
use print::Lowered;
pub(crate) use unrolling::{is_expensive, partial_unroll};

/// What the text is made for: `sm_90a` is 9, 0 and the features of exactly this one.
#[derive(Clone, Copy)]
struct Target {
    major: u32,
    minor: u32,
    accelerated: bool,
}

/// The kernel, and those that run after it, as PTX for a device. `name_of` tells the names of ops, for comments and for what is missing.
pub fn ptx(kernel: &Kernel, device: &Device, name_of: &dyn Fn(OpId) -> String) -> Result<KernelText, Reason> {
    recursion::with_stack(crate::STACK, || lowered(kernel, device, name_of))
}

fn lowered(kernel: &Kernel, device: &Device, name_of: &dyn Fn(OpId) -> String) -> Result<KernelText, Reason> {
    let gpu::Platform::Cuda { major, minor, accelerated } = device.platform else {
        return Err(format!("PTX is for NVIDIA, and {} is not", device.name).into());
    };
    let target = Target { major, minor, accelerated };
    let mut kernels = Vec::new();
    let mut all: Vec<Missing> = Vec::new();
    for kernel in kernel.stages() {
        let mut lowering = Lowering::new(kernel, (major, minor));
        lowering.run();
        let Lowering { mut code, shared, pointers, missing, is_too_large, in_pairs, chosen, .. } = lowering;
        code.drop_dead();
        sink::sink(&mut code);
        // Blackwell reads and writes 32 bytes at once.
        let widest = if major >= 10 { 32 } else { 16 };
        let is_packed = |param: &Param| packed::packed(param.shape.element).is_some();
        let packed = kernel.params.iter().map(is_packed).collect();
        join::join(
            &mut code,
            join::Joining {
                widest,
                vector_atomics: major >= 9,
                in_pairs,
                // The code of sorts moves numbers one by one.
                has_wide_pairs: major >= 10 && kernel.waits,
                packed,
                vectors: chosen,
            },
        );
        code.drop_dead();
        let named = |(op, reason)| Missing { op, instruction: name_of(op), reason };
        let own = kernel.missing.iter().cloned().chain(missing.into_iter().map(named));
        let too_large = is_too_large.then(|| Missing {
            op: 0,
            instruction: kernel.name.clone(),
            reason: "the kernel is larger than what is written out".to_owned(),
        });
        for missing in own.chain(too_large) {
            if all.iter().all(|known| known.op != missing.op || known.instruction != missing.instruction) {
                all.push(missing);
            }
        }
        kernels.push(Lowered { kernel, code, pointers, shared });
    }
    Ok(print::print(kernels, target, all, name_of))
}
