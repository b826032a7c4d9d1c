//! The attributes of one op, typed and owned: what `indexing` reads.

use syntax::Span;
use syntax::hlo::{Attribute, AttributeKey, ComputationId, Instruction, Parse, Value};

use crate::op_table::op_info;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Typed {
    Bool(bool),
    Int(i64),
    Ints(Vec<i64>),
    Triples(Vec<[i64; 3]>),
    Window(Vec<WindowDim>),
    /// Names of computations, `%` stripped.
    Names(Vec<String>),
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    known: Vec<(AttributeKey, Typed)>,
    /// What this vocabulary lacks of the instruction's words, in the words of the warnings.
    unknown: Vec<String>,
}

impl Attributes {
    pub fn from_syntax(text: &str, parse: &Parse, instruction: &Instruction) -> Attributes {
        let of = |span: Span| span.of(text).to_owned();
        let typed = parse.attributes_of(instruction).iter().filter_map(|attribute| {
            let value = match attribute.value {
                Value::Bool(b) => Typed::Bool(b),
                Value::Int(n) => Typed::Int(n),
                Value::Ints { start, len } => Typed::Ints(parse.ints(start, len).to_vec()),
                Value::Triples { start, len } => {
                    Typed::Triples(parse.ints(start, len).as_chunks::<3>().0.to_vec())
                }
                Value::Window { start, len } => {
                    let (dims, _) = parse.ints(start, len).as_chunks::<7>();
                    Typed::Window(dims.iter().map(WindowDim::from_numbers).collect())
                }
                Value::Computation(span) => Typed::Names(vec![of(span)]),
                Value::Computations { start, len } | Value::Names { start, len } => {
                    Typed::Names(parse.spans(start, len).iter().copied().map(of).collect())
                }
                Value::Name(span) | Value::String(span) | Value::DimLabels(span) => Typed::Text(of(span)),
                Value::Inline(_) => return None,
                Value::Shape(_) | Value::Text => Typed::Text(of(attribute.value_span)),
            };
            Some((attribute.key?, value))
        });
        Attributes { known: typed.collect(), unknown: not_understood(text, parse, instruction) }
    }

    /// What changes the meaning of the op in a way that is not known: unknown attributes and values.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Whether a comparison of floating-point numbers orders NaN and both zeros: `order=TOTAL`, or `type=TOTALORDER` as XLA
    /// printed it before.
    pub fn is_total_order(&self) -> bool {
        self.text(AttributeKey::Order) == Some("TOTAL") || self.text(AttributeKey::Type) == Some("TOTALORDER")
    }

    /// What is there, in the order of the text.
    pub fn keys(&self) -> impl Iterator<Item = AttributeKey> + '_ {
        self.known.iter().map(|(key, _)| *key)
    }

    fn get(&self, key: AttributeKey) -> Option<&Typed> {
        self.known.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    pub fn int(&self, key: AttributeKey) -> Option<i64> {
        match self.get(key)? {
            Typed::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub fn bool(&self, key: AttributeKey) -> Option<bool> {
        match self.get(key)? {
            Typed::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The list, empty where it is missing.
    pub fn ints(&self, key: AttributeKey) -> &[i64] {
        match self.get(key) {
            Some(Typed::Ints(ints)) => ints,
            _ => &[],
        }
    }

    /// Start, limit, stride of `slice=`; low, high, interior of `padding=`.
    pub fn triples(&self, key: AttributeKey) -> &[[i64; 3]] {
        match self.get(key) {
            Some(Typed::Triples(triples)) => triples,
            _ => &[],
        }
    }

    pub fn window(&self) -> &[WindowDim] {
        match self.get(AttributeKey::Window) {
            Some(Typed::Window(window)) => window,
            _ => &[],
        }
    }

    pub fn computation(&self, key: AttributeKey) -> Option<&str> {
        match self.get(key)? {
            Typed::Names(names) => names.first().map(String::as_str),
            _ => None,
        }
    }

    /// All computations of a list, none where it is missing. One that is written inline has no name: it is empty.
    pub fn computations(&self, key: AttributeKey) -> &[String] {
        match self.get(key) {
            Some(Typed::Names(names)) => names,
            _ => &[],
        }
    }

    pub fn text(&self, key: AttributeKey) -> Option<&str> {
        match self.get(key)? {
            Typed::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn view(&self) -> AttributeView<'_> {
        AttributeView::Typed(self)
    }

    /// See [`AttributeView::replica_group_size`].
    pub fn replica_group_size(&self) -> Option<i64> {
        self.view().replica_group_size()
    }

    /// `source_target_pairs`, as (source, target). Nothing where a part is no pair.
    pub fn source_target_pairs(&self) -> Option<Vec<(i64, i64)>> {
        let lists = number_lists(self.text(AttributeKey::SourceTargetPairs)?.trim())?;
        lists.into_iter().map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect()
    }

    pub fn convolution_dims(&self) -> Option<ConvolutionDims> {
        self.view().convolution_dims()
    }
}

/// What this vocabulary lacks of an instruction, without what only says where it is from.
pub(crate) fn not_understood(text: &str, parse: &Parse, instruction: &Instruction) -> Vec<String> {
    let is_annotation = |word: &Span| {
        parse.attributes_of(instruction).iter().any(|attribute| {
            use AttributeKey::{Metadata, Origin, Statistics};
            matches!(attribute.key, Some(Metadata | Origin | Statistics))
                && attribute.value_span.contains(word.start as usize)
        })
    };
    let words = parse.unknown_of(instruction).iter().filter(|word| !is_annotation(&word.span));
    let mut unknown: Vec<String> = words.map(|word| word.message.clone()).collect();
    let Some(opcode) = instruction.opcode.filter(|_| !parse.attributes_of(instruction).is_empty()) else {
        return unknown;
    };
    let info = op_info(opcode);
    let is_sugar = instruction.opcode_span.of(text) != opcode.name();
    let keys = parse.attributes_of(instruction).iter().filter_map(|attribute| attribute.key);
    let others = keys.filter(|&key| !is_sugar && !info.allows(key));
    unknown.extend(others.map(|key| format!("unknown attribute of {opcode}: {key}")));
    unknown
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
    fn value(self, key: AttributeKey) -> Option<(&'a str, &'a Parse, &'a Attribute)> {
        match self {
            AttributeView::Typed(_) => None,
            AttributeView::Parsed { text, parse, instruction } => {
                let found = parse.attributes_of(instruction).iter().find(|a| a.key == Some(key))?;
                Some((text, parse, found))
            }
        }
    }

    pub fn has(self, key: AttributeKey) -> bool {
        match self {
            AttributeView::Typed(attributes) => attributes.get(key).is_some(),
            _ => self.value(key).is_some(),
        }
    }

    pub fn int(self, key: AttributeKey) -> Option<i64> {
        match self {
            AttributeView::Typed(attributes) => attributes.int(key),
            _ => match self.value(key)?.2.value {
                Value::Int(n) => Some(n),
                _ => None,
            },
        }
    }

    pub fn bool(self, key: AttributeKey) -> Option<bool> {
        match self {
            AttributeView::Typed(attributes) => attributes.bool(key),
            _ => match self.value(key)?.2.value {
                Value::Bool(b) => Some(b),
                _ => None,
            },
        }
    }

    /// The list, empty where it is missing.
    pub fn ints(self, key: AttributeKey) -> &'a [i64] {
        if let AttributeView::Typed(attributes) = self {
            return attributes.ints(key);
        }
        match self.value(key) {
            Some((_, parse, Attribute { value: Value::Ints { start, len }, .. })) => parse.ints(*start, *len),
            _ => &[],
        }
    }

    pub fn triples(self, key: AttributeKey) -> &'a [[i64; 3]] {
        if let AttributeView::Typed(attributes) = self {
            return attributes.triples(key);
        }
        match self.value(key) {
            Some((_, parse, Attribute { value: Value::Triples { start, len }, .. })) => {
                parse.ints(*start, *len).as_chunks::<3>().0
            }
            _ => &[],
        }
    }

    pub fn window(self) -> Vec<WindowDim> {
        if let AttributeView::Typed(attributes) = self {
            return attributes.window().to_vec();
        }
        match self.value(AttributeKey::Window) {
            Some((_, parse, Attribute { value: Value::Window { start, len }, .. })) => {
                let (dims, _) = parse.ints(*start, *len).as_chunks::<7>();
                dims.iter().map(WindowDim::from_numbers).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn computation(self, key: AttributeKey) -> Option<Callee<'a>> {
        if let AttributeView::Typed(attributes) = self {
            return attributes.computation(key).map(Callee::Name);
        }
        let (text, _, attribute) = self.value(key)?;
        match attribute.value {
            Value::Computation(span) => Some(Callee::Name(span.of(text))),
            Value::Inline(id) => Some(Callee::Inline(id)),
            _ => None,
        }
    }

    /// All computations of a list, none where it is missing. One that is written inline has no name: it is empty.
    pub fn computations(self, key: AttributeKey) -> Vec<&'a str> {
        if let AttributeView::Typed(attributes) = self {
            return attributes.computations(key).iter().map(String::as_str).collect();
        }
        match self.value(key) {
            Some((text, parse, attribute)) => match attribute.value {
                Value::Computations { start, len } => {
                    parse.spans(start, len).iter().map(|span| span.of(text)).collect()
                }
                _ => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    /// An enum value, a string, or an attribute that is kept as text.
    pub fn text(self, key: AttributeKey) -> Option<&'a str> {
        if let AttributeView::Typed(attributes) = self {
            return attributes.text(key);
        }
        let (text, _, attribute) = self.value(key)?;
        match attribute.value {
            Value::Name(span) | Value::String(span) | Value::DimLabels(span) => Some(span.of(text)),
            Value::Shape(_) | Value::Text => Some(attribute.value_span.of(text)),
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

/// The inner lists of `{{0,1},{2,3}}`.
pub(crate) fn number_lists(text: &str) -> Option<Vec<Vec<i64>>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let lists = inner.split('}').filter_map(|part| part.split_once('{')).map(|(_, numbers)| {
        numbers.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect()
    });
    lists.collect()
}

impl WindowDim {
    fn from_numbers(n: &[i64; 7]) -> WindowDim {
        WindowDim {
            size: n[0],
            stride: n[1],
            pad_low: n[2],
            pad_high: n[3],
            base_dilation: n[4],
            window_dilation: n[5],
            is_reversed: n[6] != 0,
        }
    }
}
