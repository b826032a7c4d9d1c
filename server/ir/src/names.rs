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
        self.slot(name, name_of).map(|at| self.values[at])
    }

    fn slot<'a>(&self, name: &str, name_of: impl Fn(u32) -> &'a str) -> Option<usize> {
        if self.tags.is_empty() {
            return None;
        }
        let (mut at, tag) = self.place(name);
        loop {
            match self.tags[at] {
                0 => return None,
                found if found == tag && name_of(self.values[at]) == name => return Some(at),
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

    /// Gives `name`, which has a value, another one, and returns the one it had.
    pub fn replace<'a>(&mut self, name: &str, value: u32, name_of: impl Fn(u32) -> &'a str) -> Option<u32> {
        let at = self.slot(name, name_of)?;
        Some(std::mem::replace(&mut self.values[at], value))
    }

    /// Removes `name` if its value is this one.
    pub fn remove<'a>(&mut self, name: &str, value: u32, name_of: impl Fn(u32) -> &'a str) -> bool {
        let Some(mut free) = self.slot(name, &name_of).filter(|&at| self.values[at] == value) else {
            return false;
        };
        let mask = self.tags.len() - 1;
        let mut at = free;
        loop {
            at = (at + 1) & mask;
            if self.tags[at] == 0 {
                break;
            }
            // An entry may not stand before the place where its search starts.
            let (home, _) = self.place(name_of(self.values[at]));
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(free) & mask {
                (self.tags[free], self.values[free]) = (self.tags[at], self.values[at]);
                free = at;
            }
        }
        self.tags[free] = 0;
        self.len -= 1;
        true
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

    /// Random insertions and removals leave what a map has.
    #[test]
    fn names_go_and_come_back() {
        let names: Vec<String> = (0..300).map(|i| format!("n{}", i % 200)).collect();
        let name_of = |i: u32| names[i as usize].as_str();
        let (mut table, mut map) = (NameTable::default(), std::collections::HashMap::new());
        let mut random = random::Rng::new(7);
        for _ in 0..20_000 {
            let value = random.index(names.len()) as u32;
            let name = name_of(value);
            match random.index(3) {
                0 => {
                    let had = map.get(name).copied();
                    assert_eq!(table.insert(name, value, name_of).err(), had);
                    map.entry(name).or_insert(value);
                }
                1 => {
                    let is_it = map.get(name) == Some(&value);
                    assert_eq!(table.remove(name, value, name_of), is_it);
                    if is_it {
                        map.remove(name);
                    }
                }
                _ => {
                    let had = map.get_mut(name).map(|kept| std::mem::replace(kept, value));
                    assert_eq!(table.replace(name, value, name_of), had);
                }
            }
        }
        for (value, name) in (0..).zip(&names) {
            assert_eq!(table.get(name, name_of), map.get(name.as_str()).copied(), "{value} {name}");
        }
    }
}
