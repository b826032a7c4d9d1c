//! From a name to the instruction that has it, without owning the name.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

/// An open-addressing table of `u32` values, keyed by names that live elsewhere.
/// Size: 10 bytes per name when half full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameTable {
    /// A few bits of the name's hash, so that other names are rarely looked at; 0 is free. The length is a power of two.
    tags: Vec<u8>,
    /// Parallel to `tags`.
    values: Vec<u32>,
    len: usize,
}

impl NameTable {
    pub fn with_capacity(names: usize) -> NameTable {
        NameTable::of_size((names * 2).next_power_of_two().max(8))
    }

    fn of_size(size: usize) -> NameTable {
        NameTable { tags: vec![0; size], values: vec![0; size], len: 0 }
    }

    /// Where the search for a name starts, and its tag.
    fn place(&self, name: &str) -> (usize, u8) {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write(name.as_bytes());
        let hash = hasher.finish();
        (hash as usize & (self.tags.len() - 1), (hash >> 56) as u8 | 1)
    }

    /// The value stored under `name`. `name_of` returns the name of a value.
    pub fn get<'a>(&self, name: &str, name_of: impl Fn(u32) -> &'a str) -> Option<u32> {
        if self.tags.is_empty() {
            return None;
        }
        let (mut at, tag) = self.place(name);
        loop {
            match self.tags[at] {
                0 => return None,
                found if found == tag && name_of(self.values[at]) == name => return Some(self.values[at]),
                _ => at = (at + 1) & (self.tags.len() - 1),
            }
        }
    }

    /// Stores `value` under `name`, or returns who has it already.
    pub fn insert<'a>(
        &mut self,
        name: &str,
        value: u32,
        name_of: impl Fn(u32) -> &'a str,
    ) -> Result<(), u32> {
        if self.tags.len() < (self.len + 1) * 2 {
            self.grow(&name_of);
        }
        let (mut at, tag) = self.place(name);
        loop {
            match self.tags[at] {
                0 => break,
                found if found == tag && name_of(self.values[at]) == name => return Err(self.values[at]),
                _ => at = (at + 1) & (self.tags.len() - 1),
            }
        }
        self.tags[at] = tag;
        self.values[at] = value;
        self.len += 1;
        Ok(())
    }

    fn grow<'a>(&mut self, name_of: &impl Fn(u32) -> &'a str) {
        let mut grown = NameTable::of_size((self.tags.len() * 2).max(8));
        grown.len = self.len;
        for (_, &value) in self.tags.iter().zip(&self.values).filter(|(tag, _)| **tag != 0) {
            let (mut at, tag) = grown.place(name_of(value));
            while grown.tags[at] != 0 {
                at = (at + 1) & (grown.tags.len() - 1);
            }
            grown.tags[at] = tag;
            grown.values[at] = value;
        }
        *self = grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_kept_apart() {
        let names: Vec<String> = (0..1000).map(|i| format!("add.{i}")).collect();
        let name_of = |i: u32| names[i as usize].as_str();
        let mut table = NameTable::default();
        for (i, name) in names.iter().enumerate() {
            assert_eq!(table.insert(name, i as u32, name_of), Ok(()));
        }
        assert_eq!(table.insert("add.7", 1001, name_of), Err(7));
        for (i, name) in names.iter().enumerate() {
            assert_eq!(table.get(name, name_of), Some(i as u32));
        }
        assert_eq!(table.get("sub", name_of), None);
    }
}
