//! A module as matching reads it: flat arrays of instructions, with hashes in place of shapes and attributes.

use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

/// Owner: whoever matches it. Borrows its text.
/// Size: about 180 bytes per instruction.
#[derive(Debug, Default)]
pub struct Program<'t> {
    pub instructions: Vec<Instruction<'t>>,
    pub computations: Vec<Computation<'t>>,
    /// Index of the entry computation.
    pub entry: u32,
    pub(crate) operands: Vec<Operand>,
    pub(crate) paths: Vec<u32>,
    pub(crate) callees: Vec<u32>,
    pub(crate) users: Vec<Use>,
    /// The users of instruction i are `users[first_user[i]..first_user[i + 1]]`.
    pub(crate) first_user: Vec<u32>,
    pub(crate) by_name: FxHashMap<&'t str, Named>,
    /// Instructions whose name other computations use too, by computation and name.
    pub(crate) by_qualified_name: FxHashMap<(&'t str, &'t str), u32>,
    pub(crate) computation_by_name: FxHashMap<&'t str, u32>,
}

#[derive(Debug, Clone, Copy)]
pub struct Instruction<'t> {
    pub name: &'t str,
    /// `None` for an opcode that this vocabulary lacks.
    pub opcode: Option<Opcode>,
    /// As it is written.
    pub opcode_text: &'t str,
    /// The shape as it is written; empty where there is none.
    pub shape_text: &'t str,
    /// The whole instruction.
    pub text: &'t str,
    /// Index into [`Program::computations`].
    pub computation: u32,
    pub is_root: bool,
    /// The number of a parameter, or the index of a `get-tuple-element`.
    pub number: Option<u32>,
    pub(crate) operands: (u32, u32),
    pub(crate) callees: (u32, u32),
    /// Hash of the shape.
    pub shape: u64,
    /// Hash of the shape without its layout.
    pub dimensions: u64,
    /// The number of elements of an array, of a tuple the sum; saturated.
    pub(crate) elements: u64,
    /// Hash of the attributes that decide the value, without callees. With and without `backend_config`.
    pub(crate) attributes: u64,
    pub(crate) semantics: u64,
    /// Hash of the metadata, 0 if there is none.
    pub(crate) metadata: u64,
    pub(crate) names: NameHashes,
}

/// Hashes of the parts of a name. XLA makes names unique by a number at the end, and marks clones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NameHashes {
    pub(crate) full: u64,
    /// Without marks of clones and one number: `add.56.3.clone.1` → `add.56`.
    pub(crate) base: u64,
    /// Without all of them: `add`.
    pub(crate) stem: u64,
    /// Whether the base still ends in a number, so that it names one instruction rather than a family.
    pub(crate) base_is_numbered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Once(u32),
    /// In several computations.
    Often,
}

#[derive(Debug, Clone)]
pub struct Computation<'t> {
    /// Empty for a computation that is written in place.
    pub name: &'t str,
    /// Instructions are in the order of the text.
    pub instructions: std::ops::Range<u32>,
    pub root: u32,
    /// How many instructions call it.
    pub callers: u32,
}

/// `%t#0#1` is instruction `%t` with the path 0, 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    pub instruction: u32,
    pub(crate) path: (u32, u32),
}

/// Operand number `operand` of instruction `user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) user: u32,
    pub(crate) operand: u32,
}

impl<'t> Program<'t> {
    pub fn instruction(&self, id: u32) -> &Instruction<'t> {
        &self.instructions[id as usize]
    }

    pub fn operands(&self, id: u32) -> &[Operand] {
        slice(&self.operands, self.instruction(id).operands)
    }

    /// The tuple indices that an operand takes.
    pub fn path(&self, operand: &Operand) -> &[u32] {
        slice(&self.paths, operand.path)
    }

    /// Computations that an instruction calls, in the order of its attributes.
    pub fn callees(&self, id: u32) -> &[u32] {
        slice(&self.callees, self.instruction(id).callees)
    }

    pub(crate) fn users(&self, id: u32) -> &[Use] {
        &self.users[self.first_user[id as usize] as usize..self.first_user[id as usize + 1] as usize]
    }

    /// The users of an instruction, each with the number of the operand.
    pub fn uses(&self, id: u32) -> impl Iterator<Item = (u32, u32)> {
        self.users(id).iter().map(|used| (used.user, used.operand))
    }

    pub fn computation(&self, id: u32) -> &Computation<'t> {
        &self.computations[id as usize]
    }

    pub fn computation_of(&self, id: u32) -> &Computation<'t> {
        self.computation(self.instruction(id).computation)
    }

    /// The instruction of a name in a computation.
    pub fn named(&self, computation: u32, name: &str) -> Option<u32> {
        match self.by_name.get(name)? {
            Named::Once(id) => Some(*id).filter(|&id| self.instruction(id).computation == computation),
            Named::Often => self.by_qualified_name.get(&(self.computation(computation).name, name)).copied(),
        }
    }

    /// Whether two instructions have the same opcode.
    pub fn has_opcode_of(&self, id: u32, other: &Instruction<'_>) -> bool {
        self.instruction(id).opcode_text == other.opcode_text
    }

    /// Whether instructions of several computations have the name of `id`.
    pub fn is_ambiguous(&self, id: u32) -> bool {
        self.by_name.get(self.instruction(id).name) == Some(&Named::Often)
    }

    /// The name of an instruction, as `computation/name` if other computations use the name too.
    pub fn unique_name(&self, id: u32) -> String {
        let name = self.instruction(id).name;
        if self.is_ambiguous(id) {
            format!("{}/{name}", self.computation_of(id).name)
        } else {
            name.to_owned()
        }
    }

    /// The instruction with the name of `other`, an instruction of computation `computation` of another program.
    pub(crate) fn find(&self, other: &Instruction<'_>, computation: &str) -> Option<u32> {
        match self.by_name.get(other.name)? {
            Named::Once(id) => Some(*id),
            Named::Often => self.by_qualified_name.get(&(computation, other.name)).copied(),
        }
    }
}

fn slice<T>(pool: &[T], (start, len): (u32, u32)) -> &[T] {
    &pool[start as usize..(start + len) as usize]
}

impl NameHashes {
    pub(crate) fn of(name: &str) -> NameHashes {
        let (base, _) = without_number(without_clone_marks(name));
        let mut stem = base;
        loop {
            let (shorter, has_number) = without_number(without_clone_marks(stem));
            if shorter.len() == stem.len() && !has_number {
                break;
            }
            stem = shorter;
        }
        let hash = crate::hash::text;
        let base_is_numbered = without_number(base).1;
        NameHashes { full: hash(name), base: hash(base), stem: hash(stem), base_is_numbered }
    }
}

/// `add.3` → `add`, and whether there was a number.
fn without_number(name: &str) -> (&str, bool) {
    match name.rsplit_once('.') {
        Some((front, number))
            if !front.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (front, true)
        }
        _ => (name, false),
    }
}

/// `add.3.clone.clone.1` → `add.3`
fn without_clone_marks(mut name: &str) -> &str {
    loop {
        let (front, _) = without_number(name);
        match name.strip_suffix(".clone").or_else(|| front.strip_suffix(".clone")) {
            Some(shorter) => name = shorter,
            None => return name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_and_stems_of_names() {
        let base = |name: &str| without_number(without_clone_marks(name)).0.to_owned();
        assert_eq!(base("add.56.3"), "add.56");
        assert_eq!(base("mul.75.1.clone.1"), "mul.75");
        assert_eq!(base("add.clone"), "add");
        assert_eq!(base("region_0.2.clone.clone.3"), "region_0");
        assert_eq!(base(".3"), ".3");
        let (one, other) = (NameHashes::of("add.56.3"), NameHashes::of("add.clone.7"));
        assert_eq!(one.stem, other.stem);
        assert!(one.base_is_numbered && !other.base_is_numbered);
    }
}
