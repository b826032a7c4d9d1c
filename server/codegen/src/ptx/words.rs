//! 8-bit and 16-bit numbers in words: registers for numbers that are loaded together, packing and unpacking.

use ptx::{Name, Type, cvt};

use super::code::Code;
use super::machine::{Class, Inst, Kind, Operand, Reg};

/// Registers for `count` numbers of `bits` bits: their own if they fit a vector of up to four, else 32-bit
/// words.
pub(super) fn words(code: &mut Code, count: usize, bits: u32, in_words: bool) -> (Vec<Reg>, u32) {
    let total = count as u32 * bits;
    if bits == 32 && in_words {
        return ((0..count / 2).map(|_| code.reg(Class::B64)).collect(), 64);
    }
    if !in_words || bits >= 32 && count <= 4 || bits >= 32 && total <= 256 {
        return (Vec::new(), bits);
    }
    if total < 32 {
        return ((0..1).map(|_| code.reg(Class::B16)).collect(), total);
    }
    ((0..total / 32).map(|_| code.reg(Class::B32)).collect(), 32)
}

pub(super) fn inst(kind: Kind, to: Vec<Reg>, origin: Option<ir::OpId>) -> Inst {
    Inst { kind, to, origin }
}

/// Unpacks a word.
pub(super) fn unpack(
    code: &mut Code,
    word: Reg,
    parts: &[Reg],
    bits: u32,
    origin: Option<ir::OpId>,
) -> Vec<Inst> {
    if bits >= 16 {
        return vec![inst(Kind::Unpack { from: word }, parts.to_vec(), origin)];
    }
    // Bytes are shifted and masked in 32 bits.
    let mut new = Vec::new();
    let mut wide = word;
    if word.class == Class::B16 {
        wide = code.reg(Class::B32);
        new.push(inst(
            Kind::Pure { opcode: cvt(Type::U32, Type::U16), from: vec![word.into()] },
            vec![wide],
            origin,
        ));
    }
    for (n, &part) in parts.iter().enumerate() {
        let byte = code.reg(Class::B32);
        let from = vec![wide.into(), Operand::Int(n as i64 * 8), Operand::Int(8)];
        new.push(inst(Kind::Pure { opcode: Name::Bfe.of(Type::U32), from }, vec![byte], origin));
        new.push(inst(
            Kind::Pure { opcode: cvt(Type::U16, Type::U32), from: vec![byte.into()] },
            vec![part],
            origin,
        ));
    }
    new
}

/// Packs the parts into one word.
pub(super) fn pack(
    code: &mut Code,
    word: Reg,
    parts: &[Operand],
    bits: u32,
    origin: Option<ir::OpId>,
) -> Vec<Inst> {
    let mut new = Vec::new();
    // A constant is moved to a register before it is packed.
    let register = |code: &mut Code, part: Operand, new: &mut Vec<Inst>| match part {
        Operand::Reg(reg) => reg,
        other => {
            let class = Class::of_bits(bits);
            let reg = code.reg(class);
            let opcode = Name::Mov.of(Type::b(class.bits()));
            new.push(inst(Kind::Pure { opcode, from: vec![other] }, vec![reg], origin));
            reg
        }
    };
    if bits >= 16 {
        let from = parts.iter().map(|&part| register(code, part, &mut new).into()).collect();
        new.push(inst(Kind::Pack { from }, vec![word], origin));
        return new;
    }
    // Bytes are paired to 16 bits, and those to 32.
    let mut halves = Vec::new();
    for pair in parts.chunks(2) {
        let [low, high] = pair else { continue };
        let (low, high) = (register(code, *low, &mut new), register(code, *high, &mut new));
        let (cut, up, both) = (code.reg(Class::B16), code.reg(Class::B16), code.reg(Class::B16));
        let pure = |opcode, from: Vec<Operand>| Kind::Pure { opcode, from };
        new.push(inst(pure(Name::And.of(Type::B16), vec![low.into(), Operand::Int(255)]), vec![cut], origin));
        new.push(inst(pure(Name::Shl.of(Type::B16), vec![high.into(), Operand::Int(8)]), vec![up], origin));
        new.push(inst(pure(Name::Or.of(Type::B16), vec![cut.into(), up.into()]), vec![both], origin));
        halves.push(both);
    }
    match halves.as_slice() {
        [one] => new.push(inst(Kind::Move { from: (*one).into() }, vec![word], origin)),
        _ => {
            let from = halves.into_iter().map(Operand::from).collect();
            new.push(inst(Kind::Pack { from }, vec![word], origin));
        }
    }
    new
}
