//! Ops on the elements of tiles. Source: `EmitElementwise`, `codegen/xtile/codegen/emitter_helpers.cc`.

use ir::{AttributeKey, Op, OpId, Opcode};
use syntax::hlo::ElementType;

use super::{Emission, checked_element, is_integer};
use crate::Reason;
use crate::program::{Arithmetic, Kind, Type, ValueId};

impl Emission<'_> {
    pub(super) fn elementwise(&mut self, of: OpId, op: &Op, operands: &[ValueId]) -> Result<ValueId, Reason> {
        let instruction = self.instruction(of);
        self.elementwise_op(op, operands, &instruction)
    }

    /// The same for an op of a combiner; `instruction` is its text in a message.
    pub(super) fn elementwise_op(
        &mut self,
        op: &Op,
        operands: &[ValueId],
        instruction: &str,
    ) -> Result<ValueId, Reason> {
        use Opcode::*;
        let unsupported = || Err(format!("Unsupported elementwise operation {instruction}").into());
        let Some(&first) = operands.first() else { return unsupported() };
        if operands.len() != op.operand_shapes.len() {
            return Err("an op without some of its operands".into());
        }
        let element = self.element(first).ok_or("an op on indices")?;
        let same = self.values[first as usize].clone();
        let is_pred = element == ElementType::Pred;
        let result = match op.opcode {
            Copy => first,
            Convert => {
                let to = checked_element(op.shape.element().ok_or("a convert to no array")?)?;
                if is_pred && to == ElementType::U8 {
                    return Err("Unsupported PRED to U8 conversion.".into());
                }
                self.cast(first, to)
            }
            Add | Maximum if is_pred => self.arithmetic(Arithmetic::Or, first, operands[1]),
            Minimum if is_pred => self.arithmetic(Arithmetic::And, first, operands[1]),
            Clamp => {
                let above = self.push(Kind::Elementwise(Maximum), vec![first, operands[1]], same.clone());
                self.push(Kind::Elementwise(Minimum), vec![above, operands[2]], same)
            }
            Not if is_integer(element) => {
                let ones = codegen::Constant::of_int(element, if is_pred { 1 } else { -1 });
                let ones = self.constant_of(ones, same.clone());
                self.push(Kind::Elementwise(Xor), vec![first, ones], same)
            }
            Compare => {
                let direction = op.attributes.text(AttributeKey::Direction).unwrap_or_default();
                let direction =
                    ["EQ", "NE", "LT", "LE", "GT", "GE"].into_iter().find(|known| *known == direction);
                let direction = direction.ok_or("a compare without its direction")?;
                let ty = Type::Tile(ElementType::Pred, self.sizes_of(first));
                self.push(Kind::Compare(direction), operands.to_vec(), ty)
            }
            Select => {
                let zero = self.filled(element, 0, self.sizes_of(first));
                let ty = Type::Tile(ElementType::Pred, self.sizes_of(first));
                let chosen = self.push(Kind::Compare("NE"), vec![first, zero], ty);
                let ty = self.values[operands[1] as usize].clone();
                self.push(Kind::Select, vec![chosen, operands[1], operands[2]], ty)
            }
            // XLA emits `math.isfinite`, which its later passes do not lower.
            IsFinite => return Err("Failed to compile Triton kernel: math.isfinite is not lowered.".into()),
            Abs | Ceil | Floor | RoundNearestEven | Negate | Add | Subtract | Multiply | Maximum
            | Minimum | And | Or | Xor | Divide | Acos | Acosh | Asin | Asinh | Atan2 | Atanh | Cosine
            | Cosh | Exponential | Erf | ExponentialMinusOne | Log | LogPlusOne | Power | Remainder
            | Rsqrt | Sine | Sinh | Sqrt | Tan | Tanh | Cbrt => {
                self.push(Kind::Elementwise(op.opcode), operands.to_vec(), same)
            }
            ReducePrecision => self.reduce_precision(op, first)?,
            _ => return unsupported(),
        };
        Ok(result)
    }
}
