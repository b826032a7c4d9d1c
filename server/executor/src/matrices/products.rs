//! `mma` and `wgmma`: sums of products of matrices.
//!
//! One rule for all types: products are exact in 64 bits, they are added to the old sum in the order of the depth in
//! 64 bits, and the total is rounded once, to nearest even, to the type of the sum. Hardware aligns and truncates in a
//! way that PTX leaves open, so its results may differ in the last bits. Operands that are `tf32` lose their lowest 13
//! bits.

use ptx::{Modifier, Opcode, Operand, Position, Type};

use super::descriptors::Layout;
use super::elements::{Element, Total};
use super::fragments::{Packed, of_sum};
use crate::block::Machine;
use crate::decode::Decoder;
use crate::instructions::{condition, unsupported};
use crate::lanes::Class;
use crate::problem::Problem;
use crate::program::{ALWAYS, Cell, Condition, Slot};
use crate::transfers::cells;
use crate::warp::Warp;

/// A factor.
#[derive(Debug, Clone, Copy)]
enum Factor {
    /// A range of the program's cells.
    Registers((u32, u32)),
    /// In shared memory: the register of the descriptor.
    Shared { descriptor: Slot, is_transposed: bool },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Product {
    /// Rows that one warp computes, columns, and depth.
    rows: usize,
    columns: usize,
    depth: usize,
    left: (Factor, Element),
    right: (Factor, Element),
    total: Total,
    /// The cells of the old and the new sum.
    old: (u32, u32),
    new: (u32, u32),
    /// Whether the old sum counts.
    adds: Condition,
    /// Whether products are negated.
    is_negated: bool,
}

/// Matrices during a product, kept to allocate once.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    left: Vec<f64>,
    /// Row by row, a row per step of the depth.
    right: Vec<f64>,
    sums: Vec<f64>,
}

/// What the words of an opcode say: the extents, and the types of sum, left and right factor.
fn words(opcode: &Opcode) -> Option<([usize; 3], Total, Element, Element)> {
    let shape = opcode.shape()?;
    let types: Vec<Type> = opcode.types().collect();
    let (&sum, &left, &right) = (types.first()?, types.get(1)?, types.get(2)?);
    let total = Total::of(sum, opcode.has(Modifier::Satfinite))?;
    if types.get(3).is_some_and(|&old| old != sum) {
        return None;
    }
    let (left, right) = (Element::of(left)?, Element::of(right)?);
    let is_wide = |element| element == Element::F64;
    let fits = left.is_whole() == matches!(total, Total::S32 { .. })
        && left.is_whole() == right.is_whole()
        && left.bits() == right.bits()
        && is_wide(left) == (total == Total::F64);
    fits.then(|| ([shape.m, shape.n, shape.k.unwrap_or(0)].map(usize::from), total, left, right))
}

/// `mma.sync.aligned.shape.row.col.sum.left.right.sum d, a, b, c`.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<Product, Problem> {
    let (Some(([rows, columns, depth], total, left, right)), [to, a, b, c]) = (words(opcode), operands)
    else {
        return unsupported(opcode, place);
    };
    let quarter = 4 * per_register(left);
    let is_known = matches!(rows, 8 | 16)
        && columns == 8
        && matches!(depth / quarter, 1 | 2 | 4)
        && depth % quarter == 0
        && opcode.has(Modifier::Row)
        && opcode.has(Modifier::Col)
        // Of 16-bit factors this shape has another layout.
        && !(rows == 8 && left.bits() == 16);
    if !is_known {
        return unsupported(opcode, place);
    }
    let bits = register_bits(left.bits());
    let factors = [(a, Packed { per_register: per_register(left), rows }), (b, packed_right(right))];
    let mut ranges = [(0, 0); 2];
    for (range, (operand, packed)) in ranges.iter_mut().zip(factors) {
        *range = registers(decoder, operand, true, bits, packed.registers(depth), place)?;
    }
    let count = rows * columns * total.bits() / (32 * register_bits(total.bits()) as usize);
    let old = registers(decoder, c, true, register_bits(total.bits()), count, place)?;
    let new = registers(decoder, to, false, register_bits(total.bits()), count, place)?;
    let [left, right] = [(Factor::Registers(ranges[0]), left), (Factor::Registers(ranges[1]), right)];
    Ok(Product { rows, columns, depth, left, right, total, old, new, adds: ALWAYS, is_negated: false })
}

/// `wgmma.mma_async.sync.aligned.shape.sum.left.right d, a, b, adds[, ±1, ±1[, transposed, transposed]]`.
pub(crate) fn decode_of_group<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<Product, Problem> {
    let (Some(([rows, columns, depth], total, left, right)), [to, a, b, adds, rest @ ..]) =
        (words(opcode), operands)
    else {
        return unsupported(opcode, place);
    };
    let is_known =
        rows == 64 && (8..=256).contains(&columns) && columns % 8 == 0 && depth * left.bits() == 256;
    if !is_known || total == Total::F64 {
        return unsupported(opcode, place);
    }
    let numbers = rest.iter().map(|operand| match operand {
        Operand::Integer(value) => Ok(*value),
        _ => Err(Problem::new("ptx-operand", place, "expected a number")),
    });
    let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
    let (signs, transposes) = numbers.split_at(numbers.len().min(2));
    if signs.iter().any(|sign| sign.abs() != 1) || signs.len() == 1 || transposes.len() > 2 {
        return Err(Problem::new("ptx-operand", place, "signs and transpositions of this form"));
    }
    let is_transposed = |number: Option<&i64>| number.is_some_and(|&number| number != 0);
    let is_in_registers = matches!(a, Operand::Vector(_));
    let rows = rows / 4;
    let left_factor = match is_in_registers {
        true => {
            let packed = Packed { per_register: per_register(left), rows };
            Factor::Registers(registers(decoder, a, true, 32, packed.registers(depth), place)?)
        }
        false => Factor::Shared {
            descriptor: decoder.read(a, Class::Double, 64, place)?,
            is_transposed: transposes.len() == 2 && is_transposed(transposes.first()),
        },
    };
    let right_factor = Factor::Shared {
        descriptor: decoder.read(b, Class::Double, 64, place)?,
        is_transposed: is_transposed(transposes.last()),
    };
    let count = rows * columns * total.bits() / (32 * 32);
    let new = registers(decoder, to, false, 32, count, place)?;
    Ok(Product {
        rows,
        columns,
        depth,
        left: (left_factor, left),
        right: (right_factor, right),
        total,
        old: new,
        new,
        adds: condition(decoder, adds, place)?,
        is_negated: signs.iter().product::<i64>() < 0,
    })
}

fn register_bits(bits: usize) -> u32 {
    if bits == 64 { 64 } else { 32 }
}

fn per_register(element: Element) -> usize {
    register_bits(element.bits()) as usize / element.bits()
}

fn packed_right(element: Element) -> Packed {
    Packed { per_register: per_register(element), rows: 8 }
}

fn registers<'a>(
    decoder: &mut Decoder<'_, 'a>,
    operand: &Operand<&'a str>,
    is_read: bool,
    bits: u32,
    count: usize,
    place: Position,
) -> Result<(u32, u32), Problem> {
    let range = cells(decoder, operand, is_read, bits, place)?;
    match (range.1 - range.0) as usize == count {
        true => Ok(range),
        false => Err(Problem::new("ptx-operand", place, format!("a matrix of {count} registers is needed"))),
    }
}

impl Machine<'_, '_> {
    /// Computes a product; all lanes of the warp take part.
    pub(crate) fn multiply(
        &mut self,
        warp: &mut Warp,
        step: u32,
        product: &Product,
        active: u32,
    ) -> Result<(), Problem> {
        let Product { rows, columns, depth, total, .. } = *product;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.left.resize(rows * depth, 0.0);
        scratch.right.resize(depth * columns, 0.0);
        scratch.sums.resize(rows * columns, 0.0);
        let Scratch { left, right, sums } = &mut scratch;
        let first = u64::from(warp.first / 32 % 4) * 16;
        let is_own = |factor| matches!(factor, Factor::Shared { .. });
        let first = if is_own(product.left.0) { first } else { 0 };
        self.factor(warp, step, product.left, (first, rows, depth), active, |row, k, value| {
            left[row * depth + k] = value;
        })?;
        self.factor(warp, step, product.right, (0, columns, depth), active, |column, k, value| {
            right[k * columns + column] = value;
        })?;
        let counts = self.holds(warp, product.adds, step, active);
        let per_register = register_bits(total.bits()) as usize / total.bits();
        let held = |i: usize, lane: usize| {
            (0..per_register).map(move |half| {
                let (row, column) = of_sum(rows, lane, i * per_register + half);
                (row * columns + column, half * total.bits())
            })
        };
        let program = self.program;
        for (i, &cell) in program.cells[product.old.0 as usize..product.old.1 as usize].iter().enumerate() {
            self.known_cell(warp, cell, step, active & counts);
            for lane in 0..32 {
                let bits = if counts >> lane & 1 == 1 { bits_of(warp, cell, lane) } else { 0 };
                held(i, lane).for_each(|(at, shift)| sums[at] = total.decode(bits >> shift));
            }
        }
        let is_fused = total == Total::F64;
        for (factors, sums) in left.chunks_exact(depth).zip(sums.chunks_exact_mut(columns)) {
            for (&factor, others) in factors.iter().zip(right.chunks_exact(columns)) {
                let factor = if product.is_negated { -factor } else { factor };
                match is_fused {
                    true => sums
                        .iter_mut()
                        .zip(others)
                        .for_each(|(sum, &other)| *sum = factor.mul_add(other, *sum)),
                    false => sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += factor * other),
                }
            }
        }
        for (i, &cell) in program.cells[product.new.0 as usize..product.new.1 as usize].iter().enumerate() {
            let value = |lane: usize| {
                held(i, lane).fold(0, |bits, (at, shift)| bits | total.encode(sums[at]) << shift)
            };
            match cell {
                Cell::Word(slot, mask) => {
                    warp.put_words(slot, &std::array::from_fn(|lane| value(lane) as u32), mask, active);
                }
                Cell::Double(slot) => warp.put_doubles(slot, &std::array::from_fn(value), active),
                Cell::Nowhere => (),
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    /// Calls `put` with each element of a factor: its row (of a right factor its column), its depth, its value.
    fn factor(
        &mut self,
        warp: &Warp,
        step: u32,
        (factor, element): (Factor, Element),
        (first, rows, depth): (u64, usize, usize),
        active: u32,
        mut put: impl FnMut(usize, usize, f64),
    ) -> Result<(), Problem> {
        match factor {
            Factor::Registers(range) => {
                let packed = Packed { per_register: per_register(element), rows };
                let program = self.program;
                for (register, &cell) in program.cells[range.0 as usize..range.1 as usize].iter().enumerate()
                {
                    self.known_cell(warp, cell, step, active);
                    for lane in 0..32 {
                        let bits = bits_of(warp, cell, lane);
                        let (row, from) = packed.first(lane, register);
                        for i in 0..packed.per_register {
                            put(row, from + i, element.decode(bits >> (i * element.bits())));
                        }
                    }
                }
            }
            Factor::Shared { descriptor, is_transposed } => {
                let unknown = Warp::unknown(&warp.known_doubles, descriptor, active);
                self.unknown_register(unknown, step, warp);
                let layout = Layout::of(warp.double(descriptor)[0], is_transposed).ok_or_else(|| {
                    let words = "a matrix descriptor with a base offset is not supported";
                    self.problem("ptx-unsupported", step, warp, active, words)
                })?;
                let width = (element.bits() / 8) as u64;
                // The elements in 16 bytes are contiguous and are checked at once.
                let part = 16 / width as usize;
                let [outer, inner] = if is_transposed { [depth, rows] } else { [rows, depth] };
                for (i, start) in
                    (0..outer).flat_map(|i| (0..inner).step_by(part).map(move |start| (i, start)))
                {
                    let of = |j: usize| if is_transposed { (j, i) } else { (i, j) };
                    let (row, k) = of(start);
                    let address = layout.address(first + row as u64, k as u64, width);
                    let at = self.shared_range(step, warp, 0, address, 16)?;
                    let amiss = self.shared.note_read(address, 16, warp.first);
                    self.amiss(amiss, step, warp, 0);
                    let bytes = &self.shared.bytes[at..at + 16];
                    for (j, bytes) in bytes.chunks_exact(width as usize).enumerate() {
                        let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                        let (row, k) = of(start + j);
                        put(row, k, element.decode(bits));
                    }
                }
            }
        }
        Ok(())
    }

    fn known_cell(&mut self, warp: &Warp, cell: Cell, step: u32, active: u32) {
        let unknown = match cell {
            Cell::Word(slot, _) => Warp::unknown(&warp.known_words, slot, active),
            Cell::Double(slot) => Warp::unknown(&warp.known_doubles, slot, active),
            Cell::Nowhere => 0,
        };
        self.unknown_register(unknown, step, warp);
    }
}

#[inline]
fn bits_of(warp: &Warp, cell: Cell, lane: usize) -> u64 {
    match cell {
        Cell::Word(slot, _) => u64::from(warp.word(slot)[lane]),
        Cell::Double(slot) => warp.double(slot)[lane],
        Cell::Nowhere => 0,
    }
}
