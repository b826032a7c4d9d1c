//! The text around an op, and the resolution of its names.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use mlir::{ArrayType, NoArrayType, OpId, Parse, Use, ValueId};
use rustc_hash::FxHashMap;

use crate::affine_expr::NoAffineText;
use crate::map_use::WrittenMap;
use crate::op_kind::OpKind;

/// Aliases (`#map`, `!array`) that a piece of text does not define itself.
pub trait Aliases {
    /// The text that an alias stands for. `at` is the offset of its use in the piece.
    fn value(&self, name: &str, at: u32) -> Option<&str>;
}

impl Aliases for () {
    fn value(&self, _: &str, _: u32) -> Option<&str> {
        None
    }
}

/// A piece of text with its parse, and a lookup for aliases that it does not define.
///
/// Made for one query, or for one pass over the ops of a piece: the piece's aliases are indexed on first use.
pub struct Source<'a> {
    pub parse: &'a Parse,
    pub text: &'a str,
    outside: &'a dyn Aliases,
    /// By name: the parts of the text that define the alias, and the defining op.
    aliases: OnceCell<FxHashMap<String, Vec<(usize, OpId)>>>,
    /// Memoised maps, by their text and the part of the piece that contains it: many ops use the same map.
    maps: RefCell<FxHashMap<(String, usize), ReadMap>>,
}

/// A map, or the reason why it is invalid.
type ReadMap = Result<Rc<WrittenMap>, NoAffineText>;

/// The longest chain of aliases that is followed.
const MAX_ALIAS_STEPS: usize = 8;

impl<'a> Source<'a> {
    /// A piece without other pieces.
    pub fn alone(parse: &'a Parse, text: &'a str) -> Source<'a> {
        Source::new(parse, text, &())
    }

    /// `outside` has the aliases that this piece does not define.
    pub fn new(parse: &'a Parse, text: &'a str, outside: &'a dyn Aliases) -> Source<'a> {
        Source { parse, text, outside, aliases: OnceCell::new(), maps: RefCell::default() }
    }

    /// What an op does.
    pub fn op(&self, id: OpId) -> OpKind<'a> {
        OpKind::of(self.parse.name(id, self.text))
    }

    /// Resolves `text` if it is an alias, else returns it unchanged. `at` is the offset of its use.
    pub fn resolved<'t>(&self, text: &'t str, at: u32) -> &'t str
    where
        'a: 't,
    {
        let mut found = text.trim();
        for _ in 0..MAX_ALIAS_STEPS {
            let is_alias = found.starts_with(['#', '!'])
                && found[1..].bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-'));
            if !is_alias {
                break;
            }
            match self.alias(found, at) {
                Some(value) => found = value,
                None => break,
            }
        }
        found
    }

    /// Reads the array type that `ty` denotes. `at` is the offset of its use.
    pub fn array(&self, ty: &str, at: u32) -> Result<ArrayType, NoArrayType> {
        let (ty, resolved) = (ty.trim(), self.resolved(ty, at));
        let array = ArrayType::parse(resolved)?;
        Ok(ArrayType { alias: (resolved != ty).then(|| ty.into()), ..array })
    }

    fn alias(&self, name: &str, at: u32) -> Option<&'a str> {
        let (parse, text) = (self.parse, self.text);
        let part = |offset: u32| self.part(offset);
        let aliases = self.aliases.get_or_init(|| {
            let mut found: FxHashMap<String, Vec<(usize, OpId)>> = FxHashMap::default();
            for alias in parse.aliases.iter().filter(|a| a.is_definition) {
                let name = alias.span.of(text).to_owned();
                found.entry(name).or_default().push((part(alias.span.start), alias.op));
            }
            found
        });
        let here = part(at);
        let definitions = aliases.get(name).map_or(&[][..], Vec::as_slice);
        match definitions.iter().find(|(part, _)| *part == here) {
            Some(&(_, op)) => alias_value(parse, text, op),
            None => self.outside.value(name, at),
        }
    }

    /// The part of the piece that contains the offset; `// -----` lines separate parts.
    fn part(&self, offset: u32) -> usize {
        self.parse.splits.partition_point(|&split| split <= offset)
    }

    /// The map written at `at`, directly or as an alias. The error says what is wrong.
    pub fn written_map(&self, written: &str, at: u32) -> ReadMap {
        let key = (written.to_owned(), self.part(at));
        if let Some(known) = self.maps.borrow().get(&key) {
            return known.clone();
        }
        let map = WrittenMap::parse(self.resolved(written, at)).map(Rc::new);
        self.maps.borrow_mut().insert(key, map.clone());
        map
    }

    /// The type of a result of a value, with aliases resolved.
    pub fn type_of(&self, value: ValueId, index: u32) -> Option<String> {
        let ty = self.parse.type_of(value, index as usize, self.text)?;
        let at = self.parse.values.get(value as usize)?.name.start;
        Some(self.resolved(&ty, at).to_owned())
    }

    /// The type of the `nth` result of an op, with aliases resolved.
    pub fn result_type(&self, id: OpId, nth: usize) -> Option<String> {
        let op = self.parse.op(id);
        let mut left = nth;
        for value in op.results.clone() {
            let count = self.parse.values[value as usize].count as usize;
            if left < count {
                return self.type_of(value, left as u32);
            }
            left -= count;
        }
        // If an op's results are unnamed, as in `vector.mask`, the last type it writes is that of its result.
        let written = self.parse.types(&op.result_types);
        let unnamed =
            || self.parse.types(&op.operand_types).last().filter(|_| nth == 0 && op.results.is_empty());
        let ty = written.get(nth).or_else(unnamed)?;
        Some(self.resolved(&self.parse.type_text(*ty, self.text)?, op.span.start).to_owned())
    }

    /// The number of results of an op.
    pub fn result_count(&self, id: OpId) -> usize {
        let op = self.parse.op(id);
        op.results.clone().map(|v| self.parse.values[v as usize].count as usize).sum()
    }

    /// The value that a use refers to, and the index in its result pack.
    pub fn key(&self, found: &Use) -> Option<(ValueId, u32)> {
        Some((found.value?, index_of(found.span.of(self.text))))
    }

    /// The operand for a use.
    pub fn operand(&self, found: &Use) -> Operand {
        let name = found.span.of(self.text);
        Operand { name: name.to_owned(), value: found.value, index: index_of(name) }
    }
}

/// `1` of `%a#1`.
fn index_of(name: &str) -> u32 {
    name.split_once('#').and_then(|(_, index)| index.parse().ok()).unwrap_or(0)
}

/// The text after the `=` of an alias definition.
pub fn alias_value<'t>(parse: &Parse, text: &'t str, op: OpId) -> Option<&'t str> {
    let (_, value) = parse.op(op).span.of(text).split_once('=')?;
    Some(value.trim())
}

/// An operand of an op.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The name as written: `%a`, `%0#1`.
    pub name: String,
    /// `None` if the name is not defined.
    pub value: Option<ValueId>,
    /// The index in the result pack.
    pub index: u32,
}

impl Operand {
    /// The value and the index in its result pack.
    pub fn key(&self) -> Option<(ValueId, u32)> {
        Some((self.value?, self.index))
    }
}
