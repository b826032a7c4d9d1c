//! Names of a PTX text: registers with their widths, variables with their addresses.

use std::collections::HashMap;

use ptx::{Function, Linkage, Module, Position, Statement, Type, Variable};

use super::problem::Problem;
use super::program::{Constant, Space};

/// The first generic addresses of shared and of thread-local memory; global buffers begin at [`GLOBAL`].
pub(crate) const SHARED: u64 = 1 << 32;
pub(crate) const LOCAL: u64 = 1 << 33;
pub(crate) const GLOBAL: u64 = 1 << 46;

/// The largest sizes of shared memory and of a thread's local memory.
const MAX_BLOCK_MEMORY: u64 = 1 << 20;
const MAX_CONSTANTS: u64 = 1 << 26;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    Word(u32, u32),
    Double(u32),
    Predicate(u32),
}

/// The state space of a variable and its address there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) size: u64,
}

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) predicates: u32,
    pub(crate) shared: u64,
    pub(crate) local: u64,
    pub(crate) constants: Vec<Constant>,
}

/// The names declared in one block of a function.
#[derive(Default)]
struct Scope<'a> {
    /// Single registers, and stems of numbered ones with their count.
    registers: HashMap<&'a str, Register>,
    stems: HashMap<&'a str, (Register, u32)>,
    variables: HashMap<&'a str, Placed>,
}

/// The visible names, innermost block last.
#[derive(Default)]
pub(crate) struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    pub(crate) counts: Counts,
}

impl<'a> Names<'a> {
    pub(crate) fn new() -> Names<'a> {
        Names { scopes: vec![Scope::default()], counts: Counts::default() }
    }

    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(crate) fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    pub(crate) fn registers(
        &mut self,
        ty: Type,
        name: &'a str,
        count: Option<u32>,
        place: Position,
    ) -> Result<(), Problem> {
        let number = count.unwrap_or(1);
        let counts = &mut self.counts;
        let take = |total: &mut u32| -> Result<u32, Problem> {
            let first = *total;
            let after = first.checked_add(number).filter(|&n| n <= 1 << 20);
            *total = after.ok_or_else(|| Problem::new("ptx-unsupported", place, "too many registers"))?;
            Ok(first)
        };
        let register = match ty.bits() {
            Some(1) => Register::Predicate(take(&mut counts.predicates)?),
            Some(8) => Register::Word(take(&mut counts.words)?, 0xFF),
            Some(16) => Register::Word(take(&mut counts.words)?, 0xFFFF),
            Some(32) => Register::Word(take(&mut counts.words)?, u32::MAX),
            Some(64) => Register::Double(take(&mut counts.doubles)?),
            _ => {
                return Err(Problem::new(
                    "ptx-unsupported",
                    place,
                    format!("registers of type {}", ty.text()),
                ));
            }
        };
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        match count {
            None => _ = scope.registers.insert(name, register),
            Some(count) => _ = scope.stems.insert(name, (register, count)),
        }
        Ok(())
    }

    pub(crate) fn register(&self, name: &str) -> Option<Register> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name[stem.len()..].parse::<u32>().ok();
        self.scopes.iter().rev().find_map(|scope| {
            if let Some(&register) = scope.registers.get(name) {
                return Some(register);
            }
            let &(first, count) = scope.stems.get(stem)?;
            let number = number.filter(|&n| n < count)?;
            Some(match first {
                Register::Word(at, mask) => Register::Word(at + number, mask),
                Register::Double(at) => Register::Double(at + number),
                Register::Predicate(at) => Register::Predicate(at + number),
            })
        })
    }

    pub(crate) fn variable(&self, name: &str) -> Option<Placed> {
        self.scopes.iter().rev().find_map(|scope| scope.variables.get(name).copied())
    }

    /// Assigns an address to a variable.
    pub(crate) fn declare(&mut self, variable: &Variable<&'a str>) -> Result<Placed, Problem> {
        let counts = &mut self.counts;
        let problem = |words: &str| Problem::new("ptx-unsupported", variable.at, words);
        let size = variable.size();
        let aligned = |at: u64| at.next_multiple_of(variable.alignment());
        let (space, address) = match Space::of(variable.space) {
            Space::Shared => {
                let address = aligned(counts.shared);
                counts.shared = address.saturating_add(size);
                (Space::Shared, address)
            }
            Space::Local | Space::Parameter => {
                let address = aligned(counts.local);
                counts.local = address.saturating_add(size);
                (Space::Local, address)
            }
            Space::Global => {
                let held: u64 = counts.constants.iter().map(|c| c.bytes.len() as u64).sum();
                if size.saturating_add(held) > MAX_CONSTANTS {
                    return Err(problem("variables of the module are too large"));
                }
                if variable.linkage == Some(Linkage::Extern) {
                    return Err(problem("a variable of another module"));
                }
                let mut bytes = vec![0; size as usize];
                let width = variable.element() as usize;
                for (slot, value) in bytes.chunks_mut(width).zip(&variable.initial) {
                    let len = slot.len().min(8);
                    slot[..len].copy_from_slice(&value.to_le_bytes()[..len]);
                }
                counts.constants.push(Constant { bytes });
                (Space::Global, constant_address(counts.constants.len() - 1))
            }
            Space::Generic => return Err(problem("a variable without a state space")),
        };
        if counts.shared > MAX_BLOCK_MEMORY || counts.local > MAX_BLOCK_MEMORY {
            return Err(problem("variables of a block or a thread are too large"));
        }
        let placed = Placed { space, address, size };
        self.insert(variable.name, placed);
        Ok(placed)
    }

    pub(crate) fn insert(&mut self, name: &'a str, placed: Placed) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.variables.insert(name, placed);
        }
    }

    /// Declares the module's variables. Shared ones without a size come last: the launch adds their bytes.
    pub(crate) fn module(&mut self, module: &Module<&'a str>) -> Result<(), Problem> {
        let mut dynamic = Vec::new();
        for variable in &module.variables {
            match Space::of(variable.space) == Space::Shared && variable.size() == 0 {
                true => dynamic.push(variable),
                false => _ = self.declare(variable)?,
            }
        }
        // After the static ones of the functions too.
        let in_functions = |f: &Function<&'a str>| -> u64 {
            let statements = f.body.iter().flatten();
            let shared = statements.filter_map(|s| match s {
                Statement::Variable(v) if Space::of(v.space) == Space::Shared => {
                    Some(v.size().saturating_add(v.alignment()))
                }
                _ => None,
            });
            shared.fold(0, u64::saturating_add)
        };
        let later = module.functions.iter().map(in_functions).fold(0, u64::saturating_add);
        let address = self.counts.shared.saturating_add(later).next_multiple_of(128);
        for variable in dynamic {
            self.insert(variable.name, Placed { space: Space::Shared, address, size: 0 });
        }
        Ok(())
    }
}

/// The address of a module variable, after the buffers of arguments.
pub(crate) fn constant_address(number: usize) -> u64 {
    GLOBAL * (FIRST_CONSTANT + number as u64)
}

/// The number of the first buffer for a variable; arguments are numbered from 1.
pub(crate) const FIRST_CONSTANT: u64 = 1 << 16;
