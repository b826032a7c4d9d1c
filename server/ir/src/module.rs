//! The file seen as a whole: which computations there are, of which pieces they consist, and which is the entry.
//! Made of signatures alone, so that white space and most edits inside a body leave it as it is.

use rustc_hash::FxHashMap;
use syntax::hlo::{ComputationId, ComputationKind};

use crate::block::Signature;
use crate::shape::Shape;

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
    /// Number of the module in a file of several.
    pub section: u32,
    pub is_entry: bool,
    /// Whether a fusion calls it.
    pub is_fused: bool,
    pub segments: Vec<SegmentRef>,
}

/// Findings about the module that no single piece can know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFinding {
    pub segment: SegmentRef,
    pub slot: Slot,
    pub code: &'static str,
    pub message: String,
    /// Another token, and what is there.
    pub related: Option<(SegmentRef, Slot, &'static str)>,
}

impl ModuleFinding {
    pub(crate) fn new(segment: SegmentRef, slot: Slot, code: &'static str, message: String) -> ModuleFinding {
        ModuleFinding { segment, slot, code, message, related: None }
    }
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
    /// The value of an attribute of the module's header.
    Header(&'static str),
}

/// What the header of a module says of how it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleSettings {
    /// The piece that the module starts with.
    pub piece: usize,
    pub replica_count: i64,
    pub num_partitions: i64,
    pub is_scheduled: bool,
    /// `entry_computation_layout`: parameters and result.
    pub entry_layout: Option<(Vec<Shape>, Shape)>,
    /// Entries of `input_output_alias`: output index, parameter, index in it, whether it must be honoured.
    pub aliases: Vec<Alias>,
    /// Entries of `buffer_donor`: parameter, index in it.
    pub donors: Vec<(i64, Vec<i64>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    pub output: Vec<i64>,
    pub parameter: i64,
    pub index: Vec<i64>,
    pub is_must: bool,
}

impl Alias {
    /// The entries of `{ {0}: (1, {}, must-alias), … }`, as `input_output_alias` and `output_to_operand_aliasing` have them.
    pub fn list(text: &str) -> Vec<Alias> {
        crate::header::aliases(text)
    }
}

impl Default for ModuleSettings {
    fn default() -> Self {
        ModuleSettings {
            piece: 0,
            replica_count: 1,
            num_partitions: 1,
            is_scheduled: false,
            entry_layout: None,
            aliases: Vec::new(),
            donors: Vec::new(),
        }
    }
}

/// All of a file. Most files hold one module; XLA's own test files hold several, after `// -----` lines, whose names
/// are apart.
/// Owner: the memo of `db::module`. Size: about 100 bytes per computation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    pub name: Box<str>,
    pub computations: Vec<ModuleComputation>,
    pub entry: Option<ComputationIndex>,
    pub instructions: usize,
    pub findings: Vec<ModuleFinding>,
    /// What XLA's parser lets pass and its verifier does not.
    pub(crate) verifier_findings: Vec<ModuleFinding>,
    /// With the section each is in; almost always one.
    by_name: FxHashMap<Box<str>, Vec<(u32, ComputationIndex)>>,
    /// Entry of each module of the file.
    entries: Vec<Option<ComputationIndex>>,
    /// What the header of each module of the file says.
    settings: Vec<ModuleSettings>,
}

impl Module {
    pub fn build<'a>(signatures: impl Iterator<Item = &'a Signature> + Clone) -> Module {
        let mut module = Module::default();
        let mut open: Option<ComputationIndex> = None;
        let mut section = 0;
        let mut bare = Vec::new();
        for (piece, signature) in signatures.clone().enumerate() {
            if piece > 0 && signature.starts_module {
                section += 1;
                module.not_closed(open.take());
            }
            if module.settings.len() <= section as usize {
                module
                    .settings
                    .push(ModuleSettings { piece, ..signature.settings.clone().unwrap_or_default() });
            }
            if let (Some(name), true) = (&signature.module, module.name.is_empty()) {
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
                        module.not_closed(open.take());
                        let computation = ModuleComputation {
                            name: segment.name.clone(),
                            section,
                            is_entry: segment.is_entry,
                            is_fused: false,
                            segments: vec![at],
                        };
                        if segment.kind == ComputationKind::Bare {
                            bare.push(module.computations.len());
                        }
                        module.computations.push(computation);
                        open = Some(module.computations.len() - 1);
                    }
                }
                if segment.is_closed {
                    open = None;
                } else if !(signature.ends_in_body && id + 1 == signature.segments.len()) {
                    module.not_closed(open.take());
                }
            }
        }
        module.not_closed(open);
        module.stray_instructions(&bare);
        let signatures: Vec<&Signature> = signatures.collect();
        module.name_table();
        module.entry();
        module.callees(&signatures);
        module.fusions(&signatures);
        module.giants(&signatures);
        module
    }

    /// The computation called `name` in module number `section` of the file.
    pub fn find_in(&self, section: u32, name: &str) -> Option<ComputationIndex> {
        let found = self.by_name.get(name)?;
        found.iter().find(|(s, _)| *s == section).map(|&(_, index)| index)
    }

    /// The first computation of the file called `name`.
    pub fn find(&self, name: &str) -> Option<ComputationIndex> {
        self.by_name.get(name)?.first().map(|&(_, index)| index)
    }

    /// What the header of module number `section` of the file says.
    pub fn settings(&self, section: u32) -> Option<&ModuleSettings> {
        self.settings.get(section as usize)
    }

    /// The entry of module number `section` of the file.
    pub fn entry_of(&self, section: u32) -> Option<ComputationIndex> {
        self.entries.get(section as usize).copied().flatten()
    }

    /// How many modules the file holds.
    pub fn sections(&self) -> u32 {
        self.settings.len() as u32
    }

    /// Whether this computation is the entry of its module.
    pub fn is_entry(&self, index: ComputationIndex) -> bool {
        self.entries.contains(&Some(index))
    }

    /// A text may consist of instructions alone, but not of instructions and computations.
    fn stray_instructions(&mut self, bare: &[ComputationIndex]) {
        for &index in bare {
            let section = self.computations[index].section;
            if self.computations.iter().filter(|c| c.section == section).count() > 1 {
                self.findings.push(ModuleFinding::new(
                    self.computations[index].segments[0],
                    Slot::ComputationEnd,
                    "syntax",
                    "an instruction stands outside of the computations that follow it".to_owned(),
                ));
            }
        }
    }

    /// The computation ends with its piece, and the next piece does not go on with it.
    fn not_closed(&mut self, open: Option<ComputationIndex>) {
        let Some(computation) = open.map(|c| &self.computations[c]) else { return };
        let Some(&segment) = computation.segments.last() else { return };
        let message = format!("{} is not closed: '}}' is missing", computation.name);
        self.findings.push(ModuleFinding::new(segment, Slot::ComputationEnd, "syntax", message));
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
            let named = self.by_name.entry(computation.name.clone()).or_default();
            if named.iter().any(|&(section, _)| section == computation.section) {
                let message = format!("a computation named {} exists above", computation.name);
                self.findings.push(ModuleFinding::new(
                    computation.segments[0],
                    Slot::ComputationName,
                    "duplicate-name",
                    message,
                ));
            } else {
                named.push((computation.section, index));
            }
        }
    }

    /// Of each module the computation marked ENTRY, else the last.
    fn entry(&mut self) {
        let sections = self.computations.last().map_or(0, |c| c.section + 1);
        self.entries = vec![None; sections as usize];
        let mut marked = vec![false; sections as usize];
        for (index, computation) in self.computations.iter().enumerate() {
            let section = computation.section as usize;
            if computation.is_entry && std::mem::replace(&mut marked[section], true) {
                self.findings.push(ModuleFinding::new(
                    computation.segments[0],
                    Slot::ComputationName,
                    "two-entries",
                    "a second ENTRY in one module".to_owned(),
                ));
            } else if computation.is_entry || !marked[section] {
                self.entries[section] = Some(index);
            }
        }
        self.entry = self.entries.iter().flatten().next().copied();
    }

    /// Called computations must be defined above their callers.
    fn callees(&mut self, signatures: &[&Signature]) {
        for (piece, signature) in signatures.iter().enumerate() {
            for (n, (instruction, name)) in signature.callees.iter().enumerate() {
                let caller = signature.segments.iter().position(|s| s.instructions.contains(instruction));
                let caller = caller.unwrap_or_default() as ComputationId;
                let segment = SegmentRef { piece, computation: caller };
                let section = self.computation_of(segment).map_or(0, |c| self.computations[c].section);
                let is_above = match self.find_in(section, name) {
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
                self.findings.push(ModuleFinding::new(
                    segment,
                    Slot::Callee(n),
                    "unknown-computation",
                    message,
                ));
            }
        }
    }

    /// A fusion owns its computation: no other instruction calls it. Source: `hlo_verifier.cc` CheckFusionInstruction.
    fn fusions(&mut self, signatures: &[&Signature]) {
        let mut first: FxHashMap<ComputationIndex, (SegmentRef, usize)> = FxHashMap::default();
        for (piece, signature) in signatures.iter().enumerate() {
            for &n in &signature.fused {
                let n = n as usize;
                let Some((instruction, name)) = signature.callees.get(n) else { continue };
                let caller = signature.segments.iter().position(|s| s.instructions.contains(instruction));
                let segment = SegmentRef { piece, computation: caller.unwrap_or_default() as ComputationId };
                let section = self.computation_of(segment).map_or(0, |c| self.computations[c].section);
                let Some(callee) = self.find_in(section, name) else { continue };
                if !std::mem::replace(&mut self.computations[callee].is_fused, true) {
                    first.insert(callee, (segment, n));
                    continue;
                }
                let message = format!("{name} is the computation of another fusion: each needs its own");
                let mut finding = ModuleFinding::new(segment, Slot::Callee(n), "shared-fusion", message);
                finding.related =
                    first.get(&callee).map(|&(at, n)| (at, Slot::Callee(n), "the other fusion is here"));
                self.verifier_findings.push(finding);
            }
        }
    }

    /// What lowering checks for a computation in one piece, for those in several.
    fn giants(&mut self, signatures: &[&Signature]) {
        for computation in self.computations.iter().filter(|c| c.segments.len() > 1) {
            let of = |s: &SegmentRef| &signatures[s.piece].segments[s.computation as usize];
            let with_root = computation.segments.iter().filter(|s| !of(s).roots.is_empty());
            let finding =
                |segment: SegmentRef, slot, code, message| ModuleFinding::new(segment, slot, code, message);
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
