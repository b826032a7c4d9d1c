//! Names as XLA makes them unique: `add`, `add.1`, …. Source: XLA `name_uniquer.cc`.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::ElementType;

/// The names of a module's instructions, or of its computations.
#[derive(Debug, Clone)]
pub struct Uniquer<'a> {
    by_root: FxHashMap<Cow<'a, str>, Numbers>,
    /// What stands between a root and its number.
    separator: char,
}

impl Default for Uniquer<'_> {
    fn default() -> Self {
        Uniquer::separated_by('.')
    }
}

/// The numbers that are taken for one root. Almost every root has one.
#[derive(Debug, Clone, Default)]
struct Numbers {
    taken: FxHashSet<i64>,
    next: i64,
}

impl Numbers {
    fn register(&mut self, number: i64) -> i64 {
        if self.taken.insert(number) {
            return number;
        }
        while !self.taken.insert(self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

impl<'a> Uniquer<'a> {
    /// Without names yet. `separator` is an ASCII character that stands before numbers.
    pub fn separated_by(separator: char) -> Self {
        Uniquer { by_root: FxHashMap::default(), separator }
    }

    /// `name`, or its root with the next number if `name` is taken.
    pub fn unique(&mut self, name: &'a str) -> Cow<'a, str> {
        match sanitized(name) {
            Cow::Borrowed(name) => {
                self.number(name, |root| Cow::Borrowed(&name[..root])).map_or(name.into(), Cow::Owned)
            }
            Cow::Owned(name) => self.unique_sanitized(name).into(),
        }
    }

    /// As [`Uniquer::unique`].
    pub fn unique_owned(&mut self, name: String) -> Cow<'a, str> {
        self.changed(&name).unwrap_or(name).into()
    }

    /// As [`Uniquer::unique`]; `None` where that is `name` itself.
    pub fn changed(&mut self, name: &str) -> Option<String> {
        match sanitized(name) {
            Cow::Borrowed(name) => self.number(name, |root| name[..root].to_owned().into()),
            Cow::Owned(name) => Some(self.unique_sanitized(name)),
        }
    }

    fn unique_sanitized(&mut self, name: String) -> String {
        self.number(&name, |root| name[..root].to_owned().into()).unwrap_or(name)
    }

    /// `key` makes a root of so many bytes to keep.
    fn number(&mut self, name: &str, key: impl FnOnce(usize) -> Cow<'a, str>) -> Option<String> {
        let (root, number) = match split_number(name, self.separator) {
            Some((at, number)) => (&name[..at], Some(number)),
            None => (name, None),
        };
        let numbers = match self.by_root.get_mut(root) {
            Some(numbers) => numbers,
            None => self.by_root.entry(key(root.len())).or_default(),
        };
        let given = numbers.register(number.unwrap_or_default());
        let is_kept = match number {
            None => given == 0,
            Some(wanted) => wanted == given && is_canonical(&name[root.len() + 1..]),
        };
        (!is_kept).then(|| [root, self.separator.encode_utf8(&mut [0; 4]), &given.to_string()].concat())
    }
}

/// Whether a number has no leading zeros, and no sign but that of negative numbers.
fn is_canonical(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    number == "0" || digits.starts_with(|first: char| first.is_ascii_digit() && first != '0')
}

/// The end of the name before its last separator, and the number after it.
fn split_number(name: &str, separator: char) -> Option<(usize, i64)> {
    let at = name.rfind(separator).filter(|&at| at > 0)?;
    let digits = &name[at + 1..];
    if !digits.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().map(|number| (at, number))
}

/// Names of element types would not read back without `%`, and two underscores in front are reserved.
fn sanitized(name: &str) -> Cow<'_, str> {
    if name.is_empty() {
        return "name".into();
    }
    if ElementType::from_name(name).is_some() {
        return format!("{name}_").into();
    }
    if name.starts_with("__") && !name.starts_with("__xla_") {
        return format!("a{}", &name[1..]).into();
    }
    match name.contains('%') {
        true => name.replace('%', "_").into(),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_names_get_numbers() {
        let mut uniquer = Uniquer::default();
        let names = ["add", "add", "add.1", "add.5", "add", "x.y", "f32", "__a", "add.007", "%_x"];
        let unique: Vec<_> = names.iter().map(|n| uniquer.unique(n)).collect();
        assert_eq!(unique, ["add", "add.1", "add.2", "add.5", "add.3", "x.y", "f32_", "a_a", "add.7", "__x"]);
    }

    #[test]
    fn numbers_follow_the_separator() {
        let mut uniquer = Uniquer::separated_by('_');
        let unique: Vec<_> = ["c_1_1", "c", "c", "c_1_1", "c.1"].iter().map(|n| uniquer.unique(n)).collect();
        assert_eq!(unique, ["c_1_1", "c", "c_1", "c_1_0", "c.1"]);
    }
}
