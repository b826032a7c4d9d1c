//! Attributes of operations whose dimensions are put in the order in which they lie in memory.

use ir::AttributeValue;
use syntax::hlo::{AttributeKey, Opcode};

use super::order;
use crate::dimensions::{inverse_permutation, permute};
use crate::driver::Run;
use crate::module::InstructionId;

type Changed = Vec<(AttributeKey, AttributeValue)>;

/// The attributes that change; `None` for operations that stay as they are.
pub(super) fn normalized_attributes(run: &Run<'_>, id: InstructionId) -> Option<Changed> {
    let instruction = &run.module[id];
    let attributes = instruction.attributes();
    let to = order(instruction.shape());
    let places = inverse_permutation(&to);
    let moved = |dims: &[i64]| permute(&places, dims);
    let triples = |key| permute(attributes.triples(key), &to);
    let layout_of = |at: usize| Some(order(run.module[*instruction.operands().get(at)?].shape()));
    Some(match instruction.opcode() {
        Opcode::Slice => vec![(AttributeKey::Slice, triples(AttributeKey::Slice).into())],
        Opcode::Pad => vec![(AttributeKey::Padding, triples(AttributeKey::Padding).into())],
        Opcode::Concatenate => vec![(AttributeKey::Dimensions, moved(instruction.dimensions()).into())],
        Opcode::Reverse => {
            let mut dims = moved(instruction.dimensions());
            dims.sort_unstable();
            vec![(AttributeKey::Dimensions, dims.into())]
        }
        Opcode::ReduceWindow => vec![(AttributeKey::Window, permute(attributes.window(), &to).into())],
        Opcode::Broadcast => {
            let dims = permute(instruction.dimensions(), &layout_of(0)?);
            vec![(AttributeKey::Dimensions, moved(&dims).into())]
        }
        Opcode::Iota => {
            let dim = attributes.int(AttributeKey::IotaDimension)?;
            vec![(AttributeKey::IotaDimension, places.get(dim as usize).copied()?.into())]
        }
        Opcode::DynamicSlice => {
            let sizes = permute(attributes.ints(AttributeKey::DynamicSliceSizes), &to);
            vec![(AttributeKey::DynamicSliceSizes, sizes.into())]
        }
        Opcode::DynamicUpdateSlice | Opcode::Reshape => Vec::new(),
        Opcode::Scatter => scatter(run, id)?,
        opcode if ir::is_elementwise(opcode) && !instruction.operands().is_empty() => Vec::new(),
        _ => return None,
    })
}

fn scatter(run: &Run<'_>, id: InstructionId) -> Option<Changed> {
    let attributes = run.module[id].attributes();
    let &[operand, indices, updates] = run.module[id].operands() else { return None };
    let layout = order(run.module[operand].shape());
    let places = |id: InstructionId| inverse_permutation(&order(run.module[id].shape()));
    let (of_operand, of_indices, of_updates) = (places(operand), places(indices), places(updates));
    let vector = *of_indices.get(attributes.int(AttributeKey::IndexVectorDim)? as usize)?;
    let map = permute(&of_operand, attributes.ints(AttributeKey::ScatterDimsToOperandDims));
    let inserted = attributes.ints(AttributeKey::InsertedWindowDims);
    let mut window = permute(&of_updates, attributes.ints(AttributeKey::UpdateWindowDims)).into_iter();
    let of_dim = |dim: i64| if inserted.contains(&dim) { None } else { window.next() };
    let of_dims: Vec<Option<i64>> = (0..layout.len() as i64).map(of_dim).collect();
    let of_dims = permute(&of_dims, &layout);
    let inserted: Vec<i64> = (0..).zip(&of_dims).filter(|(_, of)| of.is_none()).map(|(dim, _)| dim).collect();
    let window: Vec<i64> = of_dims.into_iter().flatten().collect();
    Some(vec![
        (AttributeKey::IndexVectorDim, vector.into()),
        (AttributeKey::ScatterDimsToOperandDims, map.into()),
        (AttributeKey::InsertedWindowDims, inserted.into()),
        (AttributeKey::UpdateWindowDims, window.into()),
    ])
}
