//! How long each kernel takes, one by one.

use std::sync::Arc;

use gpu::{Estimate, Roofline};
use ir::Opcode;

use crate::compiles::device_of;
use crate::kernel_ids::KernelId;
use crate::kernels::{fusion_source, kernel_estimate};

/// Of one execution on the device of the database: XLA's estimate and the roofline of a kernel, the roofline alone of a
/// call of a library or a collective, which no emitter takes. `None` where there is no such instruction. Not memoised:
/// [`kernel_estimate`] is, and a roofline from shapes is fast to compute.
pub fn kernel_cost<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Arc<Estimate>> {
    let source = fusion_source(db, id).clone()?;
    let is_library = matches!(
        source.op.opcode,
        Opcode::Dot | Opcode::ScaledDot | Opcode::RaggedDot | Opcode::Convolution | Opcode::CustomCall
    );
    if !is_library && let Some(estimate) = kernel_estimate(db, id) {
        return Some(estimate.clone());
    }
    let roofline: Roofline = gpu::roofline_of(&source.op, device_of(db, id.piece(db).file(db)));
    Some(Arc::new(Estimate::new(Err("no kernel of a fusion emitter"), roofline)))
}
