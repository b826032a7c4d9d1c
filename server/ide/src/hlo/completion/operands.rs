//! Names of the instructions above, those with matching shapes first.

use ir::{ElementTypeExt, Opcode, Shape, is_elementwise, op_info};

use crate::completion::{Completion, CompletionItem, CompletionKind, matches};
use crate::hlo::scope::Scope;
use crate::units::{counted, shorten};

pub(super) fn items(scope: &Scope<'_>, index: usize, out: &mut Completion) {
    let wanted = Wanted::new(scope, index);
    names(scope, |shape| wanted.fits(shape), out);
}

/// Instructions above that match the typed letters; `fits` selects those that come first.
pub(super) fn names(scope: &Scope<'_>, fits: impl Fn(&Shape) -> bool, out: &mut Completion) {
    let (percent, shaped) = scope.style();
    let sigil = if percent { "%" } else { "" };
    // A shape that is already typed is not repeated.
    let before = scope.cursor.word.start as usize;
    let operand = scope.cursor.operands.iter().find(|o| o.contains(before));
    let shaped = shaped && operand.is_none_or(|o| o.start as usize == before || o.is_empty());
    let above = scope.above().enumerate();
    out.add(above.filter_map(|(distance, at)| {
        let block = scope.context.block(at.piece);
        let name = block.name(at.id);
        if !matches(scope.prefix(), name) {
            return None;
        }
        let shape = block.shape(at.id);
        let rank = u8::from(!shape.is_some_and(&fits));
        let text = shape.map(Shape::to_string).unwrap_or_default();
        let printed = if shaped && !text.is_empty() { format!("{text} ") } else { String::new() };
        Some(CompletionItem {
            detail: shorten(&text, 80),
            insert: format!("{printed}{sigil}{name}"),
            filter: format!("{sigil}{name}"),
            sort: format!("{rank}{distance:06}"),
            ..scope.item(name, CompletionKind::Instruction)
        })
    }));
}

/// The constraint on an operand, as far as the rest of the statement determines it.
pub(crate) enum Wanted {
    Anything,
    /// The same element type and dimensions.
    Like(Shape),
    /// The same dimensions.
    Dims(Vec<i64>),
    Predicate(Vec<i64>),
    /// The same element type and number of elements.
    Elements(Shape),
    /// The same element type and rank.
    Rank(Shape),
    /// The same element type.
    Element(Shape),
    /// A scalar of this shape's element type.
    ScalarOf(Shape),
    /// A start index.
    Index,
    Array,
    Token,
    Tuple,
}

impl Wanted {
    pub(crate) fn new(scope: &Scope<'_>, index: usize) -> Wanted {
        let Some(opcode) = scope.cursor.opcode else { return Wanted::Anything };
        let count = scope.cursor.operands.len().max(index + 1);
        let other = (0..count).filter(|&i| i != index).find_map(|i| scope.operand_shape(i));
        let result = scope.declared();
        Wanted::of(opcode, index, count, other, result).unwrap_or(Wanted::Anything)
    }

    /// `other` is the first other operand with a known shape.
    fn of(
        opcode: Opcode,
        index: usize,
        count: usize,
        other: Option<Shape>,
        result: Option<Shape>,
    ) -> Option<Wanted> {
        let dims = || Some(result.as_ref()?.as_array()?.dims.clone());
        let role = op_info(opcode).role(index, count.next_multiple_of(2)).unwrap_or_default();
        Some(match opcode {
            Opcode::Select if index == 0 => {
                Wanted::Predicate(dims().or_else(|| Some(other?.as_array()?.dims.clone()))?)
            }
            Opcode::Convert
            | Opcode::BitcastConvert
            | Opcode::Abs
            | Opcode::Real
            | Opcode::Imag
            | Opcode::IsFinite => Wanted::Dims(dims()?),
            Opcode::Compare | Opcode::Complex => match other {
                Some(other) => Wanted::Like(other),
                None => Wanted::Dims(dims()?),
            },
            Opcode::Select => Wanted::Like(result.or(other)?),
            Opcode::Copy
            | Opcode::OptBarrier
            | Opcode::While
            | Opcode::Reverse
            | Opcode::AllReduce
            | Opcode::CollectiveReduce => Wanted::Like(result?),
            opcode if is_elementwise(opcode) => Wanted::Like(result.or(other)?),
            Opcode::Reshape | Opcode::Bitcast => Wanted::Elements(result?),
            Opcode::Transpose => Wanted::Rank(result?),
            Opcode::Broadcast => Wanted::Element(result?),
            Opcode::Concatenate | Opcode::Slice | Opcode::AllGather | Opcode::ReduceScatter => {
                Wanted::Rank(result.or(other)?)
            }
            Opcode::Reduce | Opcode::ReduceWindow => match role {
                "init values" if index > 0 => Wanted::ScalarOf(other.or(result)?),
                _ => Wanted::Element(result.filter(|r| r.as_array().is_some())?),
            },
            Opcode::Pad if index == 1 => Wanted::ScalarOf(other.or(result)?),
            Opcode::Pad => Wanted::Rank(result?),
            Opcode::DynamicSlice | Opcode::DynamicUpdateSlice if role == "start indices" => Wanted::Index,
            Opcode::DynamicSlice => Wanted::Rank(result?),
            Opcode::DynamicUpdateSlice if index == 0 => Wanted::Like(result?),
            Opcode::DynamicUpdateSlice => Wanted::Rank(other.or(result)?),
            Opcode::GetTupleElement => Wanted::Tuple,
            Opcode::AfterAll => Wanted::Token,
            _ if role == "token" => Wanted::Token,
            Opcode::Dot | Opcode::Convolution | Opcode::Gather | Opcode::Sort => Wanted::Array,
            _ => return None,
        })
    }

    fn fits(&self, shape: &Shape) -> bool {
        let array = shape.as_array();
        let same_element = |other: &Shape| shape.element().is_some() && shape.element() == other.element();
        match self {
            Wanted::Anything => true,
            Wanted::Like(other) => shape.is_compatible(other),
            Wanted::Dims(dims) => array.is_some_and(|a| a.dims == *dims),
            Wanted::Predicate(dims) => {
                let is_pred = shape.element() == Some(ir::ElementType::Pred);
                array.is_some_and(|a| is_pred && (a.dims == *dims || a.rank() == 0))
            }
            Wanted::Elements(other) => {
                same_element(other)
                    && array.and_then(|a| a.elements()) == other.as_array().and_then(|a| a.elements())
            }
            Wanted::Rank(other) => same_element(other) && shape.dims().len() == other.dims().len(),
            Wanted::Element(other) => same_element(other),
            Wanted::ScalarOf(other) => same_element(other) && shape.dims().is_empty(),
            Wanted::Index => array.is_some_and(|a| {
                a.rank() == 0 && (a.element.is_signed_integer() || a.element.is_unsigned_integer())
            }),
            Wanted::Array => array.is_some_and(|a| a.rank() > 0),
            Wanted::Token => *shape == Shape::Token,
            Wanted::Tuple => shape.tuple_elements().is_some(),
        }
    }
    /// A description in words or as a shape; `None` if there is no constraint.
    pub(crate) fn describe(&self) -> Option<String> {
        let dims = |dims: &[i64]| dims.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let element = |shape: &Shape| shape.element().map(|e| e.name());
        Some(match self {
            Wanted::Anything => return None,
            Wanted::Like(shape) => match shape.as_array() {
                Some(array) => format!("{}[{}]", array.element, dims(&array.dims)),
                None => shape.to_string(),
            },
            Wanted::Dims(sizes) => format!("[{}]", dims(sizes)),
            Wanted::Predicate(sizes) => format!("pred[{}]", dims(sizes)),
            Wanted::Elements(shape) => {
                format!(
                    "{} of {}",
                    element(shape)?,
                    counted(shape.as_array()?.elements()?.unsigned_abs(), "element")
                )
            }
            Wanted::Rank(shape) => format!("{} of rank {}", element(shape)?, shape.dims().len()),
            Wanted::Element(shape) => element(shape)?.to_owned(),
            Wanted::ScalarOf(shape) => format!("{}[]", element(shape)?),
            Wanted::Index => "s32[]".to_owned(),
            Wanted::Array => "array".to_owned(),
            Wanted::Token => "token[]".to_owned(),
            Wanted::Tuple => "tuple".to_owned(),
        })
    }
}
