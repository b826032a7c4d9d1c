//! Layouts of convolutions by cuDNN: features fastest, or slowest after the batch.
//!
//! Source: XLA `HeuristicLayoutAssignment`, `GpuLayoutAssignment::AddBackendConstraintsToDnnConvCustomCall`.

use std::sync::Arc;

use gpu::Platform;
use ir::{ElementType, ElementTypeExt, Layout};

use super::layouts::of_order;
use super::solver::Solver;
use crate::driver::Stop;
use crate::module::InstructionId;

/// What plays which part in a convolution: a number is that of an operand, `None` the result.
struct Roles {
    input: Option<usize>,
    kernel: Option<usize>,
    output: Option<usize>,
}

impl Roles {
    fn of(target: &str) -> Option<Roles> {
        let roles = |input, kernel, output| Some(Roles { input, kernel, output });
        match target {
            "__cudnn$convForward" | FUSED | GRAPH => roles(Some(0), Some(1), None),
            "__cudnn$convBackwardInput" => roles(None, Some(1), Some(0)),
            "__cudnn$convBackwardFilter" => roles(Some(0), None, Some(1)),
            _ => None,
        }
    }
}

const FUSED: &str = "__cudnn$convBiasActivationForward";
const GRAPH: &str = "__cudnn$convForwardGraph";

/// Whether it is a convolution by cuDNN.
pub(super) fn is_convolution(target: &str) -> bool {
    Roles::of(target).is_some()
}

impl Solver<'_> {
    pub(super) fn constrain_convolution(&mut self, id: InstructionId) -> Result<(), Stop> {
        let instruction = &self.module[id];
        let unsupported = || {
            let name = instruction.name();
            Stop::Unsupported(format!("layout assignment of the convolution %{name}"))
        };
        let roles = Roles::of(self.target(id)).ok_or_else(unsupported)?;
        let dims = instruction.attributes().convolution_dims().ok_or_else(unsupported)?;
        let &input = instruction.operands().first().ok_or_else(unsupported)?;
        let element = self.module[input].shape().element().ok_or_else(unsupported)?;
        let rank = self.module[input].dims().len();
        if rank != dims.input_spatial.len() + 2 {
            // Features in groups of 4 or 32.
            return Err(unsupported());
        }
        let is_minor = self.are_features_fastest(element, dims.input_spatial.len(), rank);
        let layout = |slowest: usize, spatial: &[usize], features: usize| -> Arc<Layout> {
            let spatial = spatial.iter().copied();
            let mut order: Vec<usize> = [slowest].into_iter().chain(spatial).collect();
            order.insert(if is_minor { order.len() } else { 1 }, features);
            of_order(order.into_iter().rev().map(|dim| dim as i64).collect())
        };
        let output = layout(dims.output_batch, &dims.output_spatial, dims.output_feature);
        let layouts = [
            (roles.input, layout(dims.input_batch, &dims.input_spatial, dims.input_feature)),
            (
                roles.kernel,
                layout(dims.kernel_output_feature, &dims.kernel_spatial, dims.kernel_input_feature),
            ),
            (roles.output, output.clone()),
        ];
        for index in 0..2 {
            let of_operand = layouts.iter().find(|(role, _)| *role == Some(index));
            if let Some((_, layout)) = of_operand {
                self.set_array_operand(id, index, layout, self.must());
            }
        }
        if let Some((_, layout)) = layouts.iter().find(|(role, _)| role.is_none())
            && let Some(buffer) = self.buffers.defined(id, 0)
        {
            self.set_buffer(buffer, layout, self.must());
        }
        // Further operands lie as the output does: side inputs, and operands of what is computed with it.
        let operands = instruction.operands().len();
        let others = match self.target(id) {
            FUSED if operands == 4 => 3..4,
            GRAPH => 2..operands,
            _ => 0..0,
        };
        for index in others {
            self.set_array_operand(id, index, &output, self.must());
        }
        Ok(())
    }

    fn are_features_fastest(&self, element: ElementType, spatial: usize, rank: usize) -> bool {
        let is_integer = element.is_signed_integer() || element.is_unsigned_integer();
        let is_f8 = element.is_floating() && element.bits() == Some(8);
        let is_half = matches!(element, ElementType::F16 | ElementType::Bf16);
        match self.device.platform {
            _ if is_integer || is_f8 => true,
            Platform::Cuda { major, .. } if major >= 9 => element != ElementType::F64 && spatial <= 2,
            Platform::Cuda { major, .. } => is_half && major >= 7 && rank == 4,
            Platform::Rocm { .. } => false,
            Platform::Sycl { .. } => true,
        }
    }
}
