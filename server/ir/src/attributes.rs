//! The attributes of one op, typed and owned: what `indexing` reads.

mod groups;
mod value;
mod view;

use syntax::Span;
use syntax::hlo::{AttributeKey, Instruction, Parse};

use crate::op_table::op_info;
pub(crate) use value::ValueRef;
pub use value::{AttributeValue, WindowDim};
pub use view::{AttributeView, Callee, ConvolutionDims};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    known: Vec<(AttributeKey, AttributeValue)>,
    /// What this vocabulary lacks of the instruction's words, in the words of the warnings.
    unknown: Vec<String>,
}

/// Whether an attribute decides what an instruction computes, and not only where it comes from or on which devices it runs.
pub fn decides_value(key: AttributeKey) -> bool {
    use AttributeKey::*;
    !matches!(key, Metadata | FrontendAttributes | Sharding | Origin | Statistics)
}

impl Attributes {
    pub fn from_syntax(text: &str, parse: &Parse, instruction: &Instruction) -> Attributes {
        let typed = parse.attributes_of(instruction).iter().filter_map(|attribute| {
            Some((attribute.key?, AttributeValue::from_syntax(text, parse, attribute)?))
        });
        Attributes { known: typed.collect(), unknown: not_understood(text, parse, instruction) }
    }

    /// Adds an attribute after the others.
    pub fn push(&mut self, key: AttributeKey, value: impl Into<AttributeValue>) {
        self.known.push((key, value.into()));
    }

    /// The same attributes with one more after them.
    #[must_use]
    pub fn with(mut self, key: AttributeKey, value: impl Into<AttributeValue>) -> Attributes {
        self.push(key, value);
        self
    }

    /// Removes an attribute, and returns its value.
    pub fn remove(&mut self, key: AttributeKey) -> Option<AttributeValue> {
        let at = self.known.iter().position(|(own, _)| *own == key)?;
        Some(self.known.remove(at).1)
    }

    /// Gives an attribute this value, in its place or after the others.
    pub fn set(&mut self, key: AttributeKey, value: impl Into<AttributeValue>) {
        match self.known.iter_mut().find(|(own, _)| *own == key) {
            Some((_, old)) => *old = value.into(),
            None => self.push(key, value),
        }
    }

    /// Adds all attributes of another op after these.
    pub fn extend(&mut self, other: Attributes) {
        self.known.extend(other.known);
        self.unknown.extend(other.unknown);
    }

    /// The known attributes, in order.
    pub fn iter(&self) -> impl Iterator<Item = (AttributeKey, &AttributeValue)> + '_ {
        self.known.iter().map(|(key, value)| (*key, value))
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

    /// The keys of the known attributes, in the order of the text.
    pub fn keys(&self) -> impl Iterator<Item = AttributeKey> + '_ {
        self.known.iter().map(|(key, _)| *key)
    }

    pub fn get(&self, key: AttributeKey) -> Option<&AttributeValue> {
        self.known.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    pub fn int(&self, key: AttributeKey) -> Option<i64> {
        match self.get(key)? {
            AttributeValue::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub fn bool(&self, key: AttributeKey) -> Option<bool> {
        match self.get(key)? {
            AttributeValue::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The list, empty where it is missing.
    pub fn ints(&self, key: AttributeKey) -> &[i64] {
        match self.get(key) {
            Some(AttributeValue::Ints(ints)) => ints,
            _ => &[],
        }
    }

    /// Start, limit, stride of `slice=`; low, high, interior of `padding=`.
    pub fn triples(&self, key: AttributeKey) -> &[[i64; 3]] {
        match self.get(key) {
            Some(AttributeValue::Triples(triples)) => triples,
            _ => &[],
        }
    }

    pub fn window(&self) -> &[WindowDim] {
        match self.get(AttributeKey::Window) {
            Some(AttributeValue::Window(window)) => window,
            _ => &[],
        }
    }

    pub fn computation(&self, key: AttributeKey) -> Option<&str> {
        match self.get(key)? {
            AttributeValue::Computation(name) => Some(name),
            AttributeValue::Names(names) => names.first().map(String::as_str),
            _ => None,
        }
    }

    /// All computations of a list, none where it is missing. One that is written inline has no name: it is empty.
    pub fn computations(&self, key: AttributeKey) -> &[String] {
        match self.get(key) {
            Some(AttributeValue::Computation(name)) => std::slice::from_ref(name),
            Some(AttributeValue::Names(names)) => names,
            _ => &[],
        }
    }

    pub fn text(&self, key: AttributeKey) -> Option<&str> {
        match self.get(key)? {
            AttributeValue::Word(text) | AttributeValue::Quoted(text) | AttributeValue::Text(text) => {
                Some(text)
            }
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

    /// The devices of each group of `replica_groups`; empty where the attribute is absent. `None` for a mesh, and for more
    /// than 2^20 devices.
    pub fn replica_groups(&self) -> Option<Vec<Vec<i64>>> {
        groups::groups(self.text(AttributeKey::ReplicaGroups).unwrap_or("{}"))
    }

    /// `source_target_pairs`, as (source, target). `None` where a part is not a pair.
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

/// The inner lists of `{{0,1},{2,3}}`.
pub(crate) fn number_lists(text: &str) -> Option<Vec<Vec<i64>>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let lists = inner.split('}').filter_map(|part| part.split_once('{')).map(|(_, numbers)| {
        numbers.split(',').map(str::trim).filter(|n| !n.is_empty()).map(|n| n.parse().ok()).collect()
    });
    lists.collect()
}
