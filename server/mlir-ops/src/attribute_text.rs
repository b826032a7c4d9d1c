//! The attributes of an op, in whichever form it is written.

use mlir::lists::split;
use mlir::{field, integer, integers};

use crate::op_text::OpText;

impl<'a> OpText<'a> {
    /// The value of an attribute as written; empty for a unit attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.source.parse.attribute(self.id, name, self.source.text)
    }

    /// The value of an attribute, with aliases resolved.
    pub fn resolved(&self, name: &str) -> Option<&'a str> {
        Some(self.source.resolved(self.attribute(name)?, self.start()))
    }

    /// The value of the first of these attributes that is present, with aliases resolved.
    pub fn first_of(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.resolved(name))
    }

    /// The offset of the op, by which its aliases are resolved.
    pub fn start(&self) -> u32 {
        self.source.parse.op(self.id).span.start
    }

    /// Whether an attribute is present, be it a unit attribute.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some_and(|value| value.trim() != "false")
    }

    /// The number in an attribute, if it is not negative.
    pub fn index(&self, name: &str) -> Option<usize> {
        usize::try_from(integer(self.attribute(name)?)?).ok()
    }

    /// The number in one of these attributes, or in a clause of the custom form.
    pub fn int(&self, names: &[&str]) -> Option<i64> {
        let inline = || names.iter().find_map(|name| self.inline(name)).filter(|_| !self.is_generic());
        self.first_of(names).and_then(integer).or_else(inline)
    }

    /// `k=8`, `(%a, k = 8)`, `largest=true`: some custom forms have no spaces there, or have it among the operands.
    fn inline(&self, name: &str) -> Option<i64> {
        let body = self.body();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut places = body.match_indices(name).filter(|(at, _)| !body[..*at].ends_with(is_word));
        places.find_map(|(at, _)| {
            let value = body[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            match &value[..value.find(|c: char| !is_word(c)).unwrap_or(value.len())] {
                "true" => Some(1),
                "false" => Some(0),
                number => number.parse().ok(),
            }
        })
    }

    /// The text from the name of the op to its first region.
    pub fn body(&self) -> &'a str {
        let op = self.source.parse.op(self.id);
        op.head
            .of(self.source.text)
            .get((op.name.end.saturating_sub(op.head.start)) as usize..)
            .unwrap_or_default()
    }

    /// The integers of the first of these attributes that is present.
    pub fn list(&self, names: &[&str]) -> Option<Vec<i64>> {
        integers(self.first_of(names)?)
    }

    /// The integers of an attribute of one of these names, or else in the first brackets.
    pub fn list_or_squares(&self, names: &[&str]) -> Option<Vec<i64>> {
        self.list(names).or_else(|| self.integers_in(self.squares().into_iter().next()?))
    }

    /// A list in `#stablehlo.dot<…>`; empty where it is not there.
    pub fn list_in(&self, names: &[&str], list: &str) -> Vec<i64> {
        self.first_of(names).and_then(|value| field(value, list)).and_then(integers).unwrap_or_default()
    }

    /// A number in `#stablehlo.gather<…>`; 0 where it is not there.
    pub fn number_in(&self, names: &[&str], number: &str) -> i64 {
        self.first_of(names).and_then(|value| field(value, number)).and_then(integer).unwrap_or(0)
    }

    /// `[1] x [0]`
    pub fn pair(&self, clause: &str) -> Option<(Vec<i64>, Vec<i64>)> {
        let (left, right) = self.resolved(clause)?.split_once("] x [")?;
        Some((integers(&format!("{left}]"))?, integers(&format!("[{right}"))?))
    }

    /// The letters of a string attribute, as MLIR escapes them.
    pub fn string(&self, names: &[&str]) -> Option<&'a str> {
        self.first_of(names)?.trim().strip_prefix('"')?.strip_suffix('"')
    }

    /// `LT` of `#stablehlo<comparison_direction LT>`, of `LT`, and of `"LT"`.
    pub fn case(&self, names: &[&str]) -> Option<&'a str> {
        let value = self.first_of(names)?;
        let value = value.trim_end_matches('>').trim_matches('"');
        value.rsplit([' ', '<', '.']).next().filter(|case| !case.is_empty())
    }

    /// The cases of `[DEFAULT, HIGH]`, plain or as attributes of the dialect.
    pub fn cases(&self, names: &[&str]) -> Vec<&'a str> {
        let list = self.first_of(names).and_then(|list| list.trim().strip_prefix('[')?.strip_suffix(']'));
        let case = |part: &'a str| part.trim_end_matches('>').trim_matches('"').rsplit([' ', '<']).next();
        split(list.unwrap_or_default()).into_iter().filter_map(case).collect()
    }
}
