//! From a name to the instruction that has it, without owning the name.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

/// An open-addressing table of `u32` values, keyed by names that live elsewhere.
/// Size: 8 bytes per name at most half full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameTable {
    /// Value plus one; 0 is free. The length is a power of two.
    slots: Vec<u32>,
    len: usize,
}

impl NameTable {
    pub fn with_capacity(names: usize) -> NameTable {
        NameTable { slots: vec![0; (names * 2).next_power_of_two().max(8)], len: 0 }
    }

    fn hash(name: &str) -> usize {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write(name.as_bytes());
        hasher.finish() as usize
    }

    /// The value stored under `name`. `name_of` tells the name of a value.
    pub fn get<'a>(&self, name: &str, name_of: impl Fn(u32) -> &'a str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = Self::hash(name) & mask;
        loop {
            let value = self.slots[at].checked_sub(1)?;
            if name_of(value) == name {
                return Some(value);
            }
            at = (at + 1) & mask;
        }
    }

    /// Stores `value` under `name`, or answers who has it already.
    pub fn insert<'a>(
        &mut self,
        name: &str,
        value: u32,
        name_of: impl Fn(u32) -> &'a str,
    ) -> Result<(), u32> {
        if self.slots.len() < (self.len + 1) * 2 {
            self.grow(&name_of);
        }
        let mask = self.slots.len() - 1;
        let mut at = Self::hash(name) & mask;
        loop {
            match self.slots[at].checked_sub(1) {
                None => break,
                Some(there) if name_of(there) == name => return Err(there),
                Some(_) => at = (at + 1) & mask,
            }
        }
        self.slots[at] = value + 1;
        self.len += 1;
        Ok(())
    }

    fn grow<'a>(&mut self, name_of: &impl Fn(u32) -> &'a str) {
        let size = (self.slots.len() * 2).max(8);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|&s| s != 0) {
            let mut at = Self::hash(name_of(slot - 1)) & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
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
