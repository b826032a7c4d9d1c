//! Layouts that the GPU's libraries and emitters need.
//!
//! Source: XLA `GpuLayoutAssignment::AddBackendConstraints`.

use syntax::hlo::{AttributeKey, Opcode};

use super::choose::TOP_K;
use super::convolutions::is_convolution;
use super::layouts::{Layouts, filtered, layout_of, leaves, row_major, with_major, with_minor};
use super::solver::Solver;
use crate::driver::Stop;
use crate::module::InstructionId;

/// The radix sort of CUB.
const RADIX_SORT: &str = "xla.gpu.ext.cub_sort_unassigned_scratch_size";

impl Solver<'_> {
    /// Constrains what an instruction reads and computes, if it runs in a library that cannot take all layouts.
    pub(super) fn constrain_for_gpu(&mut self, id: InstructionId) -> Result<(), Stop> {
        let target = self.target(id);
        match self.module[id].opcode() {
            Opcode::CustomCall if is_convolution(target) => return self.constrain_convolution(id),
            Opcode::CustomCall if target == RADIX_SORT => self.constrain_sort(id),
            Opcode::CustomCall if target == TOP_K => self.make_results_row_major(id),
            Opcode::CustomCall if matches!(target, "MoveToHost" | "MoveToDevice") => {
                self.make_row_major(id, 1);
            }
            Opcode::Dot => self.constrain_dot(id),
            Opcode::Transpose => self.constrain_transposed_dot(id),
            Opcode::RaggedDot => self.make_row_major(id, 2),
            Opcode::Fft => self.make_row_major(id, 1),
            Opcode::Sort => self.constrain_sort(id),
            Opcode::BitcastConvert => self.constrain_bitcast(id),
            Opcode::TriangularSolve => self.make_column_major(id),
            Opcode::ReduceScatter => self.make_slowest(id, AttributeKey::Dimensions),
            Opcode::AllGather => self.make_slowest(id, AttributeKey::Dimensions),
            Opcode::AllToAll if self.module[id].shape().as_array().is_some() => {
                self.make_slowest(id, AttributeKey::Dimensions);
            }
            Opcode::RaggedAllToAll => self.move_to_slowest(id, 0),
            _ => {}
        }
        Ok(())
    }

    fn row_major_results(&self, id: InstructionId) -> Layouts {
        leaves(self.module[id].shape()).iter().map(|array| Some(row_major(array.rank()))).collect()
    }

    /// The first operands and the result.
    fn make_row_major(&mut self, id: InstructionId, operands: usize) {
        for index in 0..operands.min(self.module[id].operands().len()) {
            let rank = self.module[self.module.operand(id, index)].dims().len();
            self.set_array_operand(id, index, &row_major(rank), self.must());
        }
        self.set_instruction(id, &self.row_major_results(id), self.must());
    }

    fn make_results_row_major(&mut self, id: InstructionId) {
        for leaf in 0..self.buffers.of(id).len() {
            if let Some(buffer) = self.buffers.defined(id, leaf) {
                let layout = row_major(self.buffers[buffer].array.rank());
                self.set_buffer(buffer, &layout, self.must());
            }
        }
    }

    /// All operands and results of a sort have one layout.
    fn constrain_sort(&mut self, id: InstructionId) {
        let operands = self.module[id].operands();
        let rank = operands.first().map_or(0, |&first| self.module[first].dims().len());
        if rank < 2 {
            return;
        }
        let layout = row_major(rank);
        for index in 0..operands.len() {
            self.set_array_operand(id, index, &layout, self.must());
            if let Some(buffer) = self.buffers.defined(id, index) {
                self.set_buffer(buffer, &layout, self.must());
            }
        }
    }

    /// Bits that are taken as more or fewer elements: the dimension that comes or goes is the fastest, so that nothing moves.
    fn constrain_bitcast(&mut self, id: InstructionId) {
        let Some(&operand) = self.module[id].operands().first() else { return };
        let (of_result, of_operand) =
            (self.module[id].shape().as_array(), self.module[operand].shape().as_array());
        let (Some(of_result), Some(of_operand)) = (of_result, of_operand) else { return };
        let layouts = |larger: &ir::ArrayShape| {
            let last = larger.rank() as i64 - 1;
            let larger = with_minor(&layout_of(larger), last);
            let smaller = filtered(&larger, |dim| dim != last);
            (larger, smaller)
        };
        let (operand, result) = match of_operand.rank().cmp(&of_result.rank()) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => layouts(of_operand),
            std::cmp::Ordering::Less => {
                let (result, operand) = layouts(of_result);
                (operand, result)
            }
        };
        self.set_array_operand(id, 0, &operand, self.must());
        self.set_instruction(id, &vec![Some(result)], self.must());
    }

    /// Row-major but for the last two dimensions, which change places: as cuBLAS solves triangular systems.
    fn make_column_major(&mut self, id: InstructionId) {
        let rank = self.module[id].dims().len();
        if rank < 2 {
            return;
        }
        let mut layout = row_major(rank);
        std::sync::Arc::make_mut(&mut layout).minor_to_major.swap(0, 1);
        for index in 0..self.module[id].operands().len().min(2) {
            self.set_array_operand(id, index, &layout, self.must());
        }
        self.set_instruction(id, &vec![Some(layout)], self.must());
    }

    /// A collective whose devices send and get slices along a dimension, which has to be the slowest.
    fn make_slowest(&mut self, id: InstructionId, key: AttributeKey) {
        if let Some(&dim) = self.module[id].attributes().ints(key).first() {
            self.move_to_slowest(id, dim);
        }
    }

    fn move_to_slowest(&mut self, id: InstructionId, dim: i64) {
        let arrays = leaves(self.module[id].shape());
        if arrays.iter().any(|array| !(0..array.rank() as i64).contains(&dim)) {
            return;
        }
        let layouts = arrays.iter().map(|array| Some(with_major(&layout_of(array), dim))).collect();
        self.set_instruction(id, &layouts, self.must());
    }
}
