//! The PTX text of a kernel.

mod atomic;
mod branch;
mod carried;
mod code;
mod halves;
mod index;
mod join;
mod loops;
mod lower;
mod machine;
mod memory;
mod packed;
mod print;
mod scalar;
mod shuffle;
mod unrolling;
mod value;

use gpu::Device;
use ir::OpId;

use crate::kernel::{Kernel, Missing};
use crate::{KernelText, Reason};
use lower::Lowering;

/// What the text is made for: `sm_90a` is 9, 0 and the features of exactly this one.
#[derive(Clone, Copy)]
struct Target {
    major: u32,
    minor: u32,
    accelerated: bool,
}

/// The kernel as PTX for a device. `name_of` tells the names of ops, for comments and for what is missing.
pub fn ptx(kernel: &Kernel, device: &Device, name_of: &dyn Fn(OpId) -> String) -> Result<KernelText, Reason> {
    let gpu::Platform::Cuda { major, minor, accelerated } = device.platform else {
        return Err(format!("PTX is for NVIDIA, and {} is not", device.name).into());
    };
    let target = Target { major, minor, accelerated };
    let mut lowering = Lowering::new(kernel, (major, minor));
    lowering.run();
    let Lowering { mut code, shared, pointers, missing, is_too_large, in_pairs, .. } = lowering;
    code.drop_dead();
    // Blackwell reads and writes 32 bytes at once.
    let how =
        join::Joining { widest: if major >= 10 { 32 } else { 16 }, vector_atomics: major >= 9, in_pairs };
    join::join(&mut code, how);
    code.drop_dead();
    let mut all = kernel.missing.clone();
    for (op, reason) in missing {
        if all.iter().all(|known| known.op != op) {
            all.push(Missing { op, instruction: name_of(op), reason });
        }
    }
    if is_too_large {
        let reason = "the kernel is larger than what is written out".to_owned();
        all.push(Missing { op: 0, instruction: kernel.name.clone(), reason });
    }
    Ok(print::print(kernel, target, code, &pointers, &shared, all, name_of))
}
