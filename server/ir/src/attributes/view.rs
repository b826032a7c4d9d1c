//! Attributes as they are looked at, whether they are owned or lie in a parse.

use syntax::hlo::{AttributeKey, ComputationId, Instruction, Parse};

use super::value::{ValueRef, WindowDim};
use super::{Attributes, number_lists};

/// `b01f_01io->b01f` as dimension numbers; spatial ones in their numbered order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvolutionDims {
    pub input_batch: usize,
    pub input_feature: usize,
    pub input_spatial: Vec<usize>,
    pub kernel_input_feature: usize,
    pub kernel_output_feature: usize,
    pub kernel_spatial: Vec<usize>,
    pub output_batch: usize,
    pub output_feature: usize,
    pub output_spatial: Vec<usize>,
}

/// How an attribute names a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee<'a> {
    Name(&'a str),
    /// Written in place, in the same parse.
    Inline(ComputationId),
}

/// The attributes of one instruction, owned or as they lie in the parse: nothing is copied to look at them.
#[derive(Debug, Clone, Copy)]
pub enum AttributeView<'a> {
    Typed(&'a Attributes),
    Parsed { text: &'a str, parse: &'a Parse, instruction: &'a Instruction },
}

impl<'a> From<&'a Attributes> for AttributeView<'a> {
    fn from(attributes: &'a Attributes) -> Self {
        AttributeView::Typed(attributes)
    }
}

impl<'a> AttributeView<'a> {
    fn get(self, key: AttributeKey) -> Option<ValueRef<'a>> {
        match self {
            AttributeView::Typed(attributes) => Some(attributes.get(key)?.borrow()),
            AttributeView::Parsed { text, parse, instruction } => {
                let found = parse.attributes_of(instruction).iter().find(|a| a.key == Some(key))?;
                Some(ValueRef::of_syntax(text, parse, found))
            }
        }
    }

    pub fn has(self, key: AttributeKey) -> bool {
        match self {
            AttributeView::Typed(attributes) => attributes.get(key).is_some(),
            AttributeView::Parsed { parse, instruction, .. } => {
                parse.attributes_of(instruction).iter().any(|a| a.key == Some(key))
            }
        }
    }

    pub fn int(self, key: AttributeKey) -> Option<i64> {
        match self.get(key)? {
            ValueRef::Int(value) => Some(value),
            _ => None,
        }
    }

    pub fn bool(self, key: AttributeKey) -> Option<bool> {
        match self.get(key)? {
            ValueRef::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The list, empty where it is missing.
    pub fn ints(self, key: AttributeKey) -> &'a [i64] {
        match self.get(key) {
            Some(ValueRef::Ints(ints)) => ints,
            _ => &[],
        }
    }

    pub fn triples(self, key: AttributeKey) -> &'a [[i64; 3]] {
        match self.get(key) {
            Some(ValueRef::Triples(triples)) => triples,
            _ => &[],
        }
    }

    pub fn window(self) -> Vec<WindowDim> {
        match self.get(AttributeKey::Window) {
            Some(ValueRef::Window(window)) => window.into_owned(),
            _ => Vec::new(),
        }
    }

    pub fn computation(self, key: AttributeKey) -> Option<Callee<'a>> {
        match self.get(key)? {
            ValueRef::Computation(name) => Some(Callee::Name(name)),
            ValueRef::Inline(id) => Some(Callee::Inline(id)),
            _ => None,
        }
    }

    /// All computations of a list, none where it is missing. One that is written inline has no name: it is empty.
    pub fn computations(self, key: AttributeKey) -> Vec<&'a str> {
        match self.get(key) {
            Some(ValueRef::Names(names)) => names,
            _ => Vec::new(),
        }
    }

    /// An enum value, a string, or an attribute that is kept as text.
    pub fn text(self, key: AttributeKey) -> Option<&'a str> {
        match self.get(key)? {
            ValueRef::Word(text) | ValueRef::Quoted(text) | ValueRef::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Devices per group of `replica_groups`: `{{0,1},{2,3}}` or `[groups,size]<=[…]`. Nothing where the groups differ in
    /// size, where the list is empty (all devices, however many there are), and for a mesh.
    pub fn replica_group_size(self) -> Option<i64> {
        let text = self.text(AttributeKey::ReplicaGroups)?.trim();
        if let Some(tile) = text.strip_prefix('[') {
            let (tile, _) = tile.split_once(']')?;
            return tile.split(',').nth(1)?.trim().parse().ok().filter(|&size| size > 0);
        }
        let mut sizes = number_lists(text)?.into_iter().map(|group| group.len() as i64);
        let first = sizes.next().filter(|&size| size > 0)?;
        sizes.all(|size| size == first).then_some(first)
    }

    pub fn convolution_dims(self) -> Option<ConvolutionDims> {
        let (input, rest) = self.text(AttributeKey::DimLabels)?.split_once('_')?;
        let (kernel, output) = rest.split_once("->")?;
        let find = |side: &str, letter: char| side.chars().position(|c| c == letter);
        let spatial = |side: &str| {
            let mut dims: Vec<_> = side.chars().enumerate().filter(|(_, c)| c.is_ascii_digit()).collect();
            dims.sort_by_key(|&(_, c)| c);
            dims.into_iter().map(|(i, _)| i).collect::<Vec<_>>()
        };
        Some(ConvolutionDims {
            input_batch: find(input, 'b')?,
            input_feature: find(input, 'f')?,
            input_spatial: spatial(input),
            kernel_input_feature: find(kernel, 'i')?,
            kernel_output_feature: find(kernel, 'o')?,
            kernel_spatial: spatial(kernel),
            output_batch: find(output, 'b')?,
            output_feature: find(output, 'f')?,
            output_spatial: spatial(output),
        })
    }
}
