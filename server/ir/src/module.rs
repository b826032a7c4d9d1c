//! The file seen as a whole: which computations there are, of which pieces they consist, and which is the entry.
//! Made of signatures alone, so that white space and most edits inside a body leave it as it is.

use rustc_hash::FxHashMap;
use syntax::hlo::{ComputationId, ComputationKind};

use crate::block::Signature;

pub type ComputationIndex = usize;

/// Piece number and computation of its parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRef {
    pub piece: usize,
    pub computation: ComputationId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleComputation {
    pub name: Box<str>,
    pub is_entry: bool,
    pub segments: Vec<SegmentRef>,
}

/// What is wrong with the module, where no single piece can know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFinding {
    pub segment: SegmentRef,
    pub slot: Slot,
    pub code: &'static str,
    pub message: String,
}

/// The token that a finding is about; its place is looked up in the block when it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    ComputationName,
    ComputationEnd,
    /// The declared result of the header.
    Result,
    Root,
    /// The n-th called computation of the piece.
    Callee(usize),
}

/// Owner: the memo of `db::module`. Size: about 100 bytes per computation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    pub name: Box<str>,
    pub computations: Vec<ModuleComputation>,
    pub entry: Option<ComputationIndex>,
    pub instructions: usize,
    pub findings: Vec<ModuleFinding>,
    by_name: FxHashMap<Box<str>, ComputationIndex>,
}

impl Module {
    pub fn build<'a>(signatures: impl Iterator<Item = &'a Signature> + Clone) -> Module {
        let mut module = Module::default();
        let mut open: Option<ComputationIndex> = None;
        for (piece, signature) in signatures.clone().enumerate() {
            if let Some(name) = &signature.module {
                module.name.clone_from(name);
            }
            for (id, segment) in signature.segments.iter().enumerate() {
                module.instructions += segment.instructions.len();
                let at = SegmentRef { piece, computation: id as ComputationId };
                match segment.kind {
                    ComputationKind::Inline(_) => continue,
                    ComputationKind::Continued if open.is_some() => {
                        module.computations[open.unwrap_or_default()].segments.push(at);
                    }
                    _ => {
                        let computation = ModuleComputation {
                            name: segment.name.clone(),
                            is_entry: segment.is_entry,
                            segments: vec![at],
                        };
                        module.computations.push(computation);
                        open = Some(module.computations.len() - 1);
                    }
                }
                if segment.is_closed {
                    open = None;
                } else if !(signature.ends_in_body && id + 1 == signature.segments.len()) {
                    // The parser has said that a new computation starts before the brace.
                    open = None;
                }
            }
        }
        if let Some(open) = open {
            let segments = &module.computations[open].segments;
            if let Some(&segment) = segments.last() {
                let name = &module.computations[open].name;
                let message = format!("{name} is not closed: '}}' is missing");
                module.findings.push(ModuleFinding {
                    segment,
                    slot: Slot::ComputationEnd,
                    code: "syntax",
                    message,
                });
            }
        }
        let signatures: Vec<&Signature> = signatures.collect();
        module.name_table();
        module.entry(&signatures);
        module.callees(&signatures);
        module.giants(&signatures);
        module
    }

    pub fn find(&self, name: &str) -> Option<ComputationIndex> {
        self.by_name.get(name).copied()
    }

    /// The computation that a part belongs to.
    pub fn computation_of(&self, segment: SegmentRef) -> Option<ComputationIndex> {
        let key = |s: &SegmentRef| (s.piece, s.computation);
        let behind = self
            .computations
            .partition_point(|c| c.segments.first().is_some_and(|s| key(s) <= key(&segment)));
        let found = behind.checked_sub(1)?;
        self.computations[found].segments.contains(&segment).then_some(found)
    }

    fn name_table(&mut self) {
        for (index, computation) in self.computations.iter().enumerate() {
            if computation.name.is_empty() {
                continue;
            }
            if self.by_name.contains_key(&computation.name) {
                let message = format!("a computation named {} exists above", computation.name);
                self.findings.push(ModuleFinding {
                    segment: computation.segments[0],
                    slot: Slot::ComputationName,
                    code: "duplicate-name",
                    message,
                });
            } else {
                self.by_name.insert(computation.name.clone(), index);
            }
        }
    }

    /// The one marked ENTRY, else the last.
    fn entry(&mut self, _signatures: &[&Signature]) {
        let marked: Vec<_> =
            (0..self.computations.len()).filter(|&c| self.computations[c].is_entry).collect();
        for &second in marked.iter().skip(1) {
            self.findings.push(ModuleFinding {
                segment: self.computations[second].segments[0],
                slot: Slot::ComputationName,
                code: "two-entries",
                message: "a second ENTRY in one module".to_owned(),
            });
        }
        self.entry = marked.first().copied().or_else(|| self.computations.len().checked_sub(1));
    }

    /// Called computations must be defined above their callers.
    fn callees(&mut self, signatures: &[&Signature]) {
        for (piece, signature) in signatures.iter().enumerate() {
            for (n, (instruction, name)) in signature.callees.iter().enumerate() {
                let caller = signature.segments.iter().position(|s| s.instructions.contains(instruction));
                let caller = caller.unwrap_or_default() as ComputationId;
                let segment = SegmentRef { piece, computation: caller };
                let is_above = match self.find(name) {
                    None => None,
                    Some(callee) => self.computations[callee].segments.first().map(|first| {
                        (first.piece, first.computation) < (piece, caller)
                            && !self.computations[callee].segments.contains(&segment)
                    }),
                };
                let message = match is_above {
                    Some(true) => continue,
                    Some(false) => format!("computation {name} is defined below; callees come first"),
                    None => format!("computation does not exist: {name}"),
                };
                self.findings.push(ModuleFinding {
                    segment,
                    slot: Slot::Callee(n),
                    code: "unknown-computation",
                    message,
                });
            }
        }
    }

    /// What lowering checks for a computation in one piece, for those in several.
    fn giants(&mut self, signatures: &[&Signature]) {
        for computation in self.computations.iter().filter(|c| c.segments.len() > 1) {
            let of = |s: &SegmentRef| &signatures[s.piece].segments[s.computation as usize];
            let with_root = computation.segments.iter().filter(|s| !of(s).roots.is_empty());
            let finding =
                |segment: SegmentRef, slot, code, message| ModuleFinding { segment, slot, code, message };
            for &second in with_root.clone().skip(1) {
                let message = "a second ROOT in one computation".to_owned();
                self.findings.push(finding(second, Slot::Root, "two-roots", message));
            }
            let first = computation.segments[0];
            let root = with_root.clone().next().or(computation.segments.last());
            if let (Some(declared), Some(actual)) =
                (&of(&first).declared_result, root.and_then(|r| of(r).root_shape.as_ref()))
                && !declared.is_compatible(actual)
            {
                let message = format!(
                    "{} is declared to return {declared}, but its root is {actual}",
                    computation.name
                );
                self.findings.push(finding(first, Slot::Result, "result-mismatch", message));
            }
        }
    }
}
