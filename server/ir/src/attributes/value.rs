//! The values that attributes have.

use std::borrow::Cow;

use syntax::Span;
use syntax::hlo::{Attribute, ComputationId, Parse, ValueNode};

use crate::shape::Shape;

/// The value of one attribute, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeValue {
    Bool(bool),
    Int(i64),
    Ints(Vec<i64>),
    /// Start, limit, stride of `slice=`; low, high, interior of `padding=`.
    Triples(Vec<[i64; 3]>),
    Window(Vec<WindowDim>),
    /// The name of one computation, without `%`.
    Computation(String),
    /// Names of computations or instructions, without `%`. A computation that is written inline has none: it is empty.
    Names(Vec<String>),
    /// An enum value, or dimension labels like `b01f_01io->b01f`.
    Word(String),
    /// The inside of a string, with its escapes.
    Quoted(String),
    Shape(Shape),
    /// What has a grammar of its own, as it is written: shardings, metadata, replica groups, …
    Text(String),
}

/// One dimension of `window={…}`. Source: `xla_data.proto` WindowDimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowDim {
    pub size: i64,
    pub stride: i64,
    pub pad_low: i64,
    pub pad_high: i64,
    pub base_dilation: i64,
    pub window_dilation: i64,
    pub is_reversed: bool,
}

/// The value of one attribute as it lies in a parse or in an [`AttributeValue`].
#[derive(Debug, Clone)]
pub(crate) enum ValueRef<'a> {
    Bool(bool),
    Int(i64),
    Ints(&'a [i64]),
    Triples(&'a [[i64; 3]]),
    Window(Cow<'a, [WindowDim]>),
    Computation(&'a str),
    Names(Vec<&'a str>),
    /// A computation that is written in place, in the same parse.
    Inline(ComputationId),
    Word(&'a str),
    Quoted(&'a str),
    Shape(&'a Shape),
    Text(&'a str),
}

impl<'a> ValueRef<'a> {
    /// A shape is text here: only a [`crate::Block`] has built it.
    pub(crate) fn of_syntax(text: &'a str, parse: &'a Parse, attribute: &Attribute) -> ValueRef<'a> {
        let of = |span: Span| span.of(text);
        match attribute.value {
            ValueNode::Bool(value) => ValueRef::Bool(value),
            ValueNode::Int(value) => ValueRef::Int(value),
            ValueNode::Ints { start, len } => ValueRef::Ints(parse.ints(start, len)),
            ValueNode::Triples { start, len } => ValueRef::Triples(parse.ints(start, len).as_chunks::<3>().0),
            ValueNode::Window { start, len } => {
                ValueRef::Window(WindowDim::of_numbers(parse.ints(start, len)))
            }
            ValueNode::Computation(span) => ValueRef::Computation(of(span)),
            ValueNode::Computations { start, len } | ValueNode::Names { start, len } => {
                ValueRef::Names(parse.spans(start, len).iter().copied().map(of).collect())
            }
            ValueNode::Inline(id) => ValueRef::Inline(id),
            ValueNode::Name(span) | ValueNode::DimLabels(span) => ValueRef::Word(of(span)),
            ValueNode::String(span) => ValueRef::Quoted(of(span)),
            ValueNode::Shape(_) | ValueNode::Text => ValueRef::Text(of(attribute.value_span)),
        }
    }

    /// Nothing for a computation that is written in place: it belongs to its parse.
    pub(crate) fn to_owned(&self) -> Option<AttributeValue> {
        Some(match self {
            ValueRef::Bool(value) => AttributeValue::Bool(*value),
            ValueRef::Int(value) => AttributeValue::Int(*value),
            ValueRef::Ints(ints) => AttributeValue::Ints(ints.to_vec()),
            ValueRef::Triples(triples) => AttributeValue::Triples(triples.to_vec()),
            ValueRef::Window(window) => AttributeValue::Window(window.to_vec()),
            ValueRef::Computation(name) => AttributeValue::Computation((*name).to_owned()),
            ValueRef::Names(names) => {
                AttributeValue::Names(names.iter().map(|name| (*name).to_owned()).collect())
            }
            ValueRef::Inline(_) => return None,
            ValueRef::Word(word) => AttributeValue::Word((*word).to_owned()),
            ValueRef::Quoted(inside) => AttributeValue::Quoted((*inside).to_owned()),
            ValueRef::Shape(shape) => AttributeValue::Shape((*shape).clone()),
            ValueRef::Text(text) => AttributeValue::Text((*text).to_owned()),
        })
    }
}

impl AttributeValue {
    /// The value that a parse has; nothing for a computation that is written in place.
    pub(crate) fn from_syntax(text: &str, parse: &Parse, attribute: &Attribute) -> Option<AttributeValue> {
        if let ValueNode::Shape(_) = attribute.value
            && let Some(shape) = Shape::from_text(attribute.value_span.of(text))
        {
            return Some(AttributeValue::Shape(shape));
        }
        ValueRef::of_syntax(text, parse, attribute).to_owned()
    }

    pub(crate) fn borrow(&self) -> ValueRef<'_> {
        match self {
            AttributeValue::Bool(value) => ValueRef::Bool(*value),
            AttributeValue::Int(value) => ValueRef::Int(*value),
            AttributeValue::Ints(ints) => ValueRef::Ints(ints),
            AttributeValue::Triples(triples) => ValueRef::Triples(triples),
            AttributeValue::Window(window) => ValueRef::Window(Cow::Borrowed(window)),
            AttributeValue::Computation(name) => ValueRef::Computation(name),
            AttributeValue::Names(names) => ValueRef::Names(names.iter().map(String::as_str).collect()),
            AttributeValue::Word(word) => ValueRef::Word(word),
            AttributeValue::Quoted(inside) => ValueRef::Quoted(inside),
            AttributeValue::Shape(shape) => ValueRef::Shape(shape),
            AttributeValue::Text(text) => ValueRef::Text(text),
        }
    }
}

impl From<bool> for AttributeValue {
    fn from(value: bool) -> Self {
        AttributeValue::Bool(value)
    }
}

impl From<i64> for AttributeValue {
    fn from(value: i64) -> Self {
        AttributeValue::Int(value)
    }
}

impl From<Vec<i64>> for AttributeValue {
    fn from(ints: Vec<i64>) -> Self {
        AttributeValue::Ints(ints)
    }
}

impl From<Vec<[i64; 3]>> for AttributeValue {
    fn from(triples: Vec<[i64; 3]>) -> Self {
        AttributeValue::Triples(triples)
    }
}

impl From<Vec<WindowDim>> for AttributeValue {
    fn from(window: Vec<WindowDim>) -> Self {
        AttributeValue::Window(window)
    }
}

impl WindowDim {
    /// A dimension of this size that slides one by one, without padding and dilation.
    pub fn of_size(size: i64) -> WindowDim {
        WindowDim {
            size,
            stride: 1,
            pad_low: 0,
            pad_high: 0,
            base_dilation: 1,
            window_dilation: 1,
            is_reversed: false,
        }
    }

    /// The dimensions of [`ValueNode::Window`].
    pub(crate) fn of_numbers(numbers: &[i64]) -> Cow<'static, [WindowDim]> {
        let (dims, _) = numbers.as_chunks::<7>();
        let of = |&[size, stride, pad_low, pad_high, base_dilation, window_dilation, reversal]: &[i64; 7]| {
            let is_reversed = reversal != 0;
            WindowDim { size, stride, pad_low, pad_high, base_dilation, window_dilation, is_reversed }
        };
        dims.iter().map(of).collect()
    }
}
