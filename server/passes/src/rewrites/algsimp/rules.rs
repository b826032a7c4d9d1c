//! The rules of each opcode.

use ir::Opcode;

use super::rewriter::{Id, Rewriter};
use super::{
    bitcasts, broadcasts, concatenations, control, converts, dots, dynamic_slices, extremes, functions,
    logic, products, reduces, reshapes, slices, sums, transposes, windows,
};

/// Simplifies an instruction, if all of it is understood.
pub(super) fn simplify(r: &mut Rewriter<'_, '_>, id: Id) {
    let (operands, rule): (usize, fn(&mut Rewriter<'_, '_>, Id)) = match r.opcode(id) {
        Opcode::Abs => (1, functions::abs),
        Opcode::Add => (2, sums::add),
        Opcode::AllGather | Opcode::AllReduce | Opcode::AllToAll | Opcode::ReduceScatter => {
            (1, control::collective)
        }
        Opcode::And => (2, logic::and),
        Opcode::Bitcast => (1, bitcasts::bitcast),
        Opcode::BitcastConvert => (1, converts::bitcast_convert),
        Opcode::Broadcast => (1, broadcasts::broadcast),
        Opcode::Clamp => (3, extremes::clamp),
        Opcode::Compare => (2, logic::compare),
        Opcode::Complex => (2, functions::complex),
        Opcode::Concatenate => (1, concatenations::concatenate),
        Opcode::Conditional => (2, control::conditional),
        Opcode::Constant => (0, broadcasts::constant),
        Opcode::Convert => (1, converts::convert),
        Opcode::Copy => (1, bitcasts::copy),
        Opcode::Divide => (2, products::divide),
        Opcode::Dot => (2, dots::dot),
        Opcode::DynamicSlice => (1, dynamic_slices::dynamic_slice),
        Opcode::DynamicUpdateSlice => (2, dynamic_slices::dynamic_update_slice),
        Opcode::Exponential => (1, functions::exponential),
        Opcode::Gather => (2, control::gather),
        Opcode::GetTupleElement => (1, control::tuple_element),
        Opcode::Imag | Opcode::Real => (1, functions::part),
        Opcode::Iota => (0, broadcasts::iota),
        Opcode::Log => (1, functions::log),
        Opcode::Map => (1, control::map),
        Opcode::Maximum | Opcode::Minimum => (2, extremes::extreme),
        Opcode::Multiply => (2, products::multiply),
        Opcode::Negate | Opcode::Not => (1, sums::negate),
        Opcode::Or => (2, logic::or),
        Opcode::Pad => (2, concatenations::pad),
        Opcode::Power => (2, functions::power),
        Opcode::Reduce => (2, reduces::reduce),
        Opcode::ReducePrecision => (1, converts::reduce_precision),
        Opcode::ReduceWindow => (2, windows::reduce_window),
        Opcode::Remainder => (2, products::remainder),
        Opcode::Reshape => (1, reshapes::reshape),
        Opcode::Reverse => (1, control::reverse),
        Opcode::Rsqrt => (1, functions::rsqrt),
        Opcode::Scatter => (3, control::scatter),
        Opcode::Select => (3, logic::select),
        Opcode::Slice => (1, slices::slice),
        Opcode::Sort => (1, control::sort),
        Opcode::Subtract => (2, sums::subtract),
        Opcode::Transpose => (1, transposes::transpose),
        Opcode::Xor => (2, logic::xor),
        _ => return,
    };
    if r.operands(id).len() >= operands && r.is_supported(id) {
        rule(r, id);
    }
}
