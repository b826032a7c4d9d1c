//! Ops of arith and math that have their operands in another form than the instruction that computes the same: comparisons,
//! selections, conversions; and functions that other ops of these dialects do not need a kind for.
//!
//! Integers of MLIR have no sign. HLO's do, so that an op which reads an `i32` as unsigned has no instruction.

use ir::{AttributeKey as K, AttributeValue, Attributes, ElementType, ElementTypeExt, Opcode};
use mlir::OpId;

use super::Writer;
use crate::not_in_hlo::NotInHlo;
use crate::types::{element, has_dimensions_of};

/// What an op is as an instruction.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// A function of operands of one type.
    Function(Opcode),
    Compare,
    Select,
    /// A conversion that keeps the value, rounded, with the sign of signed integers.
    Convert,
    /// A conversion that reads an integer as unsigned.
    ConvertUnsigned,
    /// The low bits of an integer.
    Truncate,
    Bitcast,
}

/// `None` for other ops, and for those that have a kind of their own.
pub(super) fn arithmetic(name: &str) -> Option<Form> {
    Some(match name {
        "arith.cmpi" | "arith.cmpf" => Form::Compare,
        "arith.select" => Form::Select,
        "arith.extf" | "arith.truncf" | "arith.sitofp" | "arith.fptosi" | "arith.index_cast"
        | "arith.extsi" => Form::Convert,
        "arith.extui" | "arith.uitofp" | "arith.index_castui" => Form::ConvertUnsigned,
        "arith.trunci" => Form::Truncate,
        "arith.bitcast" | "tensor.bitcast" => Form::Bitcast,
        "arith.remf" | "arith.remsi" => Form::Function(Opcode::Remainder),
        "math.acos" => Form::Function(Opcode::Acos),
        "math.acosh" => Form::Function(Opcode::Acosh),
        "math.asin" => Form::Function(Opcode::Asin),
        "math.asinh" => Form::Function(Opcode::Asinh),
        "math.atan2" => Form::Function(Opcode::Atan2),
        "math.atanh" => Form::Function(Opcode::Atanh),
        "math.cbrt" => Form::Function(Opcode::Cbrt),
        "math.cosh" => Form::Function(Opcode::Cosh),
        "math.round" => Form::Function(Opcode::RoundNearestAfz),
        "math.roundeven" => Form::Function(Opcode::RoundNearestEven),
        "math.sinh" => Form::Function(Opcode::Sinh),
        _ => return None,
    })
}

/// The direction of a comparison; `None` where HLO has none. HLO's comparisons of floats are those of IEEE 754: a NaN is unequal
/// to everything, and in no order. `is_itself` is whether a value is compared with itself.
fn direction(predicate: &str, is_itself: bool) -> Option<&'static str> {
    Some(match predicate {
        "ord" if is_itself => "EQ",
        "uno" if is_itself => "NE",
        "eq" | "oeq" => "EQ",
        "ne" | "une" => "NE",
        "slt" | "olt" => "LT",
        "sle" | "ole" => "LE",
        "sgt" | "ogt" => "GT",
        "sge" | "oge" => "GE",
        _ => return None,
    })
}

impl Writer<'_> {
    pub(super) fn arithmetic(&mut self, id: OpId, name: &str) -> Result<(), NotInHlo> {
        let form = arithmetic(name).ok_or(NotInHlo::NO_SUCH_OP)?;
        let operands = self.operands(id)?;
        let results = self.results(id)?;
        let is_same = |result| operands.iter().all(|operand| has_dimensions_of(&operand.shape, result));
        let [result] = results.as_slice() else { return Err("it has not one result".into()) };
        if operands.is_empty() || !is_same(result) {
            return Err("its operands are no arrays of one shape".into());
        }
        let (from, to) = (element(&operands[0].shape), element(result));
        let mut attributes = Attributes::default();
        let opcode = match form {
            Form::Function(opcode) => opcode,
            Form::Select => Opcode::Select,
            Form::Bitcast => Opcode::BitcastConvert,
            Form::Convert if from == ElementType::Pred => return Err(no_sign(from)),
            Form::ConvertUnsigned if from != ElementType::Pred && !from.is_unsigned_integer() => {
                return Err(no_sign(from));
            }
            // HLO makes a predicate of any bit, not of the lowest one.
            Form::Truncate if to == ElementType::Pred => {
                return Err(NotInHlo::no_instruction("HLO has no truncation to i1"));
            }
            Form::Convert | Form::ConvertUnsigned | Form::Truncate => Opcode::Convert,
            Form::Compare => {
                let op = self.op_text(id);
                let predicate = op.word(0);
                let found =
                    direction(predicate, operands.first() == operands.get(1)).filter(|_| !op.is_generic());
                let signed = from != ElementType::Pred || matches!(predicate, "eq" | "ne");
                let found = found.filter(|_| signed).ok_or_else(|| {
                    NotInHlo::NoInstruction(format!("HLO has no comparison {predicate} of {from}").into())
                })?;
                attributes.push(K::Direction, AttributeValue::Word(found.to_owned()));
                Opcode::Compare
            }
        };
        self.emit(id, opcode, &operands, attributes, &["fastmath"])
    }
}

fn no_sign(element: ElementType) -> NotInHlo {
    NotInHlo::NoInstruction(format!("HLO reads {element} with another sign").into())
}
