//! The text that an op stands in, and what the names in it stand for.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use indexing_map::Interval;
use mlir::{OpId, Parse, Use, ValueId};
use rustc_hash::FxHashMap;

use crate::map_builder::MapBuilder;
use crate::map_use::WrittenMap;

/// A piece of text with its parse, and where to look for what it does not define.
///
/// Made for one answer, or for one pass over the ops of a piece: it notes the piece's aliases when the first is asked for.
pub struct Source<'a> {
    pub parse: &'a Parse,
    pub text: &'a str,
    /// The text that an alias (`#map`, `!array`) of another piece stands for, by the place where it is used.
    outside: &'a dyn Fn(&str, u32) -> Option<String>,
    /// By name: the parts of the text that define the alias, and the op that does.
    aliases: OnceCell<FxHashMap<String, Vec<(usize, OpId)>>>,
    /// Of values of indices that were asked for: what they can be.
    ranges: RefCell<FxHashMap<(ValueId, u32), Interval>>,
    /// Maps that were read, by their text and the part of the piece that it stands in: many ops are given one map.
    maps: RefCell<FxHashMap<(String, usize), ReadMap>>,
}

/// A map, or what is wrong with it.
type ReadMap = Result<Rc<WrittenMap>, String>;

/// Aliases of aliases that are looked through.
const MAX_ALIAS_STEPS: usize = 8;

impl<'a> Source<'a> {
    /// A piece that knows of no other one.
    pub fn alone(parse: &'a Parse, text: &'a str) -> Source<'a> {
        Source::new(parse, text, &|_, _| None)
    }

    /// `outside` answers the text that an alias stands for, which this piece does not define, by its name and the offset
    /// in this piece where it is used.
    pub fn new(
        parse: &'a Parse,
        text: &'a str,
        outside: &'a dyn Fn(&str, u32) -> Option<String>,
    ) -> Source<'a> {
        Source {
            parse,
            text,
            outside,
            aliases: OnceCell::new(),
            ranges: RefCell::default(),
            maps: RefCell::default(),
        }
    }

    /// What `text` stands for: itself, or the value of the alias that it is. `at` is where it is used.
    pub fn resolved<'t>(&self, text: &'t str, at: u32) -> Cow<'t, str> {
        let mut found = Cow::Borrowed(text.trim());
        for _ in 0..MAX_ALIAS_STEPS {
            let is_alias = found.starts_with(['#', '!'])
                && found[1..].bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-'));
            if !is_alias {
                break;
            }
            match self.alias(&found, at) {
                Some(value) => found = Cow::Owned(value),
                None => break,
            }
        }
        found
    }

    fn alias(&self, name: &str, at: u32) -> Option<String> {
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
            Some(&(_, op)) => alias_value(parse, text, op).map(str::to_owned),
            None => (self.outside)(name, at),
        }
    }

    /// Which part of the piece, between `// -----` lines.
    fn part(&self, offset: u32) -> usize {
        self.parse.splits.partition_point(|&split| split <= offset)
    }

    /// The map that is written at `at`, by itself or by an alias. The error says what is wrong.
    pub(crate) fn written_map(&self, written: &str, at: u32) -> ReadMap {
        let key = (written.to_owned(), self.part(at));
        if let Some(known) = self.maps.borrow().get(&key) {
            return known.clone();
        }
        let map = WrittenMap::parse(&self.resolved(written, at)).map(Rc::new);
        self.maps.borrow_mut().insert(key, map.clone());
        map
    }

    /// The type of a result of a value, with an alias looked through.
    pub fn type_of(&self, value: ValueId, index: u32) -> Option<String> {
        let ty = self.parse.type_of(value, index as usize, self.text)?;
        let at = self.parse.values.get(value as usize)?.name.start;
        Some(self.resolved(&ty, at).into_owned())
    }

    /// The type of the `nth` result of an op, with an alias looked through.
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
        // An op whose results are not named, as in `vector.mask`: the last type that it writes is that of its result.
        let written = self.parse.types(&op.result_types);
        let unnamed =
            || self.parse.types(&op.operand_types).last().filter(|_| nth == 0 && op.results.is_empty());
        let ty = written.get(nth).or_else(unnamed)?;
        Some(self.resolved(&self.parse.type_text(*ty, self.text)?, op.span.start).into_owned())
    }

    /// How many results an op has.
    pub fn result_count(&self, id: OpId) -> usize {
        let op = self.parse.op(id);
        op.results.clone().map(|v| self.parse.values[v as usize].count as usize).sum()
    }

    /// What the value of an index can be, whatever it is computed from. Noted: a pass over all ops asks for each loop's
    /// variable many times.
    pub(crate) fn range_of_use(&self, found: &Use) -> Interval {
        let Some(key) = self.key(found) else { return Interval::ALL };
        if let Some(known) = self.ranges.borrow().get(&key) {
            return *known;
        }
        let range = crate::plain::range(self, key.0).unwrap_or_else(|| {
            let mut builder = MapBuilder::new(self);
            let value = builder.index_value(&self.operand(found));
            builder.range_of(&value)
        });
        self.ranges.borrow_mut().insert(key, range);
        range
    }

    /// The value that a use is of, and which result of a pack.
    pub(crate) fn key(&self, found: &Use) -> Option<(ValueId, u32)> {
        Some((found.value?, index_of(found.span.of(self.text))))
    }

    /// The operand that a use is.
    pub fn operand(&self, found: &Use) -> Operand {
        let name = found.span.of(self.text);
        Operand { name: name.to_owned(), value: found.value, index: index_of(name) }
    }
}

/// `1` of `%a#1`.
fn index_of(name: &str) -> u32 {
    name.split_once('#').and_then(|(_, index)| index.parse().ok()).unwrap_or(0)
}

/// The text behind the `=` of the definition of an alias.
pub fn alias_value<'t>(parse: &Parse, text: &'t str, op: OpId) -> Option<&'t str> {
    let (_, value) = parse.op(op).span.of(text).split_once('=')?;
    Some(value.trim())
}

/// A value that an op is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operand {
    /// As it is written: `%a`, `%0#1`.
    pub name: String,
    /// Nothing where the name is not defined.
    pub value: Option<ValueId>,
    /// Which result of a pack.
    pub index: u32,
}

impl Operand {
    /// The operand as what a map is to.
    pub(crate) fn key(&self) -> Option<(ValueId, u32)> {
        Some((self.value?, self.index))
    }
}
