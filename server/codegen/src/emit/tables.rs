//! Constant arrays of the fused computation.

use std::sync::Arc;

use ir::{ArrayShape, ElementTypeExt, Graph, OpId, Opcode, literal_elements};
use rustc_hash::FxHashMap;

use crate::Reason;
use crate::constant::Constant;
use crate::kernel::Table;

/// The maximum size of an array in a module.
const MAX_BYTES: i64 = 1 << 20;

/// Tables of all constants with more than one element, by op. Constants with one element are numbers.
pub(super) fn of(graph: &Graph, tables: &mut Vec<Table>) -> FxHashMap<OpId, Result<usize, Reason>> {
    let mut found = FxHashMap::default();
    for (id, op) in graph.ops.iter().enumerate() {
        let Some(shape) = op.shape.as_array() else { continue };
        if op.opcode != Opcode::Constant || shape.elements().unwrap_or(0) <= 1 {
            continue;
        }
        let table = table(shape, op.literal.as_deref().unwrap_or_default());
        let number = table.map(|table| {
            tables.push(table);
            tables.len() - 1
        });
        found.insert(id as OpId, number);
    }
    found
}

fn table(shape: &ArrayShape, text: &str) -> Result<Table, Reason> {
    let bits = shape.element.bits().ok_or("its elements have no size")?;
    let count = shape.elements().filter(|&n| n <= MAX_BYTES).ok_or("it is too large")?;
    let elements = literal_elements(text).map(|element| Constant::parse(shape.element, element));
    let elements = elements.collect::<Option<Vec<_>>>().ok_or("its elements are not in the text")?;
    if elements.len() as i64 != count {
        return Err("its text has another number of elements".into());
    }
    // Several elements share a byte, the first one in its lowest bits.
    let per_byte = if bits < 8 && 8 % bits == 0 { 8 / bits as usize } else { 1 };
    let size = bits.div_ceil(8) as usize;
    let mut bytes = vec![0u8; elements.len().div_ceil(per_byte) * size];
    let strides = strides(shape);
    for (number, constant) in elements.iter().enumerate() {
        let place = place(shape, &strides, number as i64) as usize;
        if per_byte > 1 {
            let shift = place % per_byte * bits as usize;
            bytes[place / per_byte] |= (constant.bits as u8) << shift;
        } else {
            bytes[place * size..][..size].copy_from_slice(&constant.bits.to_le_bytes()[..size]);
        }
    }
    Ok(Table { shape: Arc::new(shape.clone()), elements, bytes })
}

/// The distance in memory between neighbours, in elements, per dimension.
fn strides(shape: &ArrayShape) -> Vec<i64> {
    let mut strides = vec![0; shape.dims.len()];
    let mut stride = 1i64;
    for dim in shape.minor_to_major() {
        if let (Some(slot), Some(&size)) = (strides.get_mut(dim), shape.dims.get(dim)) {
            *slot = stride;
            stride = stride.saturating_mul(size);
        }
    }
    strides
}

/// The position in memory of the element with this row-major number.
fn place(shape: &ArrayShape, strides: &[i64], number: i64) -> i64 {
    let mut rest = number;
    let mut place = 0;
    for (&size, &stride) in shape.dims.iter().zip(strides).rev() {
        place += rest % size.max(1) * stride;
        rest /= size.max(1);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use syntax::hlo::ElementType;

    fn bytes(element: ElementType, dims: &[i64], text: &str) -> Option<Vec<u8>> {
        let shape = ArrayShape { element, dims: dims.to_vec(), dynamic: Vec::new(), layout: None };
        table(&shape, text).ok().map(|table| table.bytes)
    }

    #[test]
    fn elements_lie_as_the_layout_says() {
        assert_eq!(
            bytes(ElementType::S16, &[2, 2], "{ { 1, -1 }, { 256, 3 } }"),
            Some(vec![1, 0, 255, 255, 0, 1, 3, 0])
        );
        assert_eq!(bytes(ElementType::S4, &[3], "{-2, -3, -4}"), Some(vec![0xde, 0x0c]));
        assert_eq!(bytes(ElementType::Pred, &[2], "{1, 0}"), Some(vec![1, 0]));
        assert_eq!(bytes(ElementType::C64, &[1, 2], "{ {(1, 0), (0, -0)} }").map(|b| b.len()), Some(16));
        assert_eq!(bytes(ElementType::F32, &[3], "{1, 2}"), None);
        assert_eq!(bytes(ElementType::F32, &[3], "{...}"), None);
    }
}
