//! The attributes of an op, in whichever form it is written.

use mlir::lists::split;
use mlir::{ArrayType, Form, OpId, Parse, field, integer, integers};

use crate::environment::{Environment, Slice};
use crate::not_in_hlo::NotInHlo;

/// An op and where its aliases are.
#[derive(Clone, Copy)]
pub(crate) struct OpText<'a> {
    pub parse: &'a Parse,
    pub text: &'a str,
    pub id: OpId,
    pub environment: &'a Environment,
}

impl<'a> OpText<'a> {
    pub fn new(slice: Slice<'a>, environment: &'a Environment, id: OpId) -> OpText<'a> {
        OpText { parse: slice.parse, text: slice.text, id, environment }
    }

    pub fn is_custom(self) -> bool {
        self.parse.op(self.id).form == Form::Custom
    }

    /// The value of the first of these attributes that is there.
    pub fn attribute(self, names: &[&str]) -> Option<&'a str> {
        let found = names.iter().find_map(|name| self.parse.attribute(self.id, name, self.text))?;
        Some(self.environment.resolved(found))
    }

    /// Whether there is one, be it a unit attribute.
    pub fn has(self, name: &str) -> bool {
        self.parse.attribute(self.id, name, self.text).is_some_and(|value| value.trim() != "false")
    }

    pub fn ints(self, names: &[&str]) -> Option<Vec<i64>> {
        integers(self.attribute(names)?)
    }

    pub fn needed(self, names: &[&str]) -> Result<Vec<i64>, NotInHlo> {
        self.ints(names).ok_or_else(|| missing(names[0]))
    }

    pub fn int(self, names: &[&str]) -> Option<i64> {
        let inline = || names.iter().find_map(|name| self.inline(name)).filter(|_| self.is_custom());
        self.attribute(names).and_then(integer).or_else(inline)
    }

    /// `k=8`, `(%a, k = 8)`, `largest=true`: some custom forms have no spaces there, or have it among the operands.
    fn inline(self, name: &str) -> Option<i64> {
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

    /// The letters of a string attribute, as MLIR escapes them.
    pub fn string(self, names: &[&str]) -> Option<&'a str> {
        self.attribute(names)?.trim().strip_prefix('"')?.strip_suffix('"')
    }

    /// `LT` of `#stablehlo<comparison_direction LT>`, of `LT`, and of `"LT"`.
    pub fn word(self, names: &[&str]) -> Option<&'a str> {
        let value = self.attribute(names)?;
        let value = value.trim_end_matches('>').trim_matches('"');
        value.rsplit([' ', '<', '.']).next().filter(|word| !word.is_empty())
    }

    /// A list in `#stablehlo.dot<…>`; empty where it is not there.
    pub fn list_in(self, names: &[&str], list: &str) -> Vec<i64> {
        self.attribute(names).and_then(|value| field(value, list)).and_then(integers).unwrap_or_default()
    }

    /// A number in `#stablehlo.gather<…>`; 0 where it is not there.
    pub fn number_in(self, names: &[&str], number: &str) -> i64 {
        self.attribute(names).and_then(|value| field(value, number)).and_then(integer).unwrap_or(0)
    }

    /// What stands behind the name of the op, up to its first region.
    pub fn body(self) -> &'a str {
        let op = self.parse.op(self.id);
        op.head.of(self.text).get((op.name.end.saturating_sub(op.head.start)) as usize..).unwrap_or_default()
    }

    /// `[1] x [0]`
    pub fn pair(self, clause: &str) -> Option<(Vec<i64>, Vec<i64>)> {
        let (left, right) = self.attribute(&[clause])?.split_once("] x [")?;
        Some((integers(&format!("{left}]"))?, integers(&format!("[{right}"))?))
    }

    /// The words of `[DEFAULT, HIGH]`, plain or as attributes of the dialect.
    pub fn words(self, names: &[&str]) -> Vec<&'a str> {
        let Some(value) = self.attribute(names) else { return Vec::new() };
        let Some(list) = value.trim().strip_prefix('[').and_then(|v| v.strip_suffix(']')) else {
            return Vec::new();
        };
        let word = |part: &'a str| part.trim_end_matches('>').trim_matches('"').rsplit([' ', '<']).next();
        split(list).into_iter().filter_map(word).collect()
    }
}

pub(crate) fn missing(attribute: &str) -> NotInHlo {
    NotInHlo::Attribute(attribute.to_owned().into())
}

/// The rows of `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`. Nothing where it is no matrix of integers.
pub(crate) fn matrix(value: &str) -> Option<Vec<Vec<i64>>> {
    let numbers = integers(value)?;
    let ty = value.rsplit_once(':')?.1.trim();
    let [Some(_), Some(columns)] = ArrayType::parse(ty).ok()?.extents[..] else { return None };
    let columns = usize::try_from(columns).ok().filter(|&n| n > 0);
    Some(columns.map_or_else(Vec::new, |columns| numbers.chunks(columns).map(<[i64]>::to_vec).collect()))
}
