//! The file seen as a whole: which computations there are, of which pieces they consist, and which is the entry.
//! Made of outlines alone, so that edits inside a body leave it as it is unless they name another computation.

use std::slice::from_ref;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::hlo::ComputationId;

use crate::block::{Block, Signature};
use crate::names::NameTable;
use crate::outline::{Outline, PartRole};
use crate::shape::Shape;
use crate::shape_difference::Difference;

pub type ComputationIndex = usize;

/// Piece number and computation of its parse, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentRef {
    pub piece: usize,
    pub computation: ComputationId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleComputation {
    pub name: Arc<str>,
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
#[derive(Debug, Clone, Eq)]
pub struct ModuleSettings {
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

/// Not derived, since the layouts of the entry may have thousands of shapes.
impl PartialEq for ModuleSettings {
    fn eq(&self, other: &ModuleSettings) -> bool {
        let ModuleSettings { replica_count, num_partitions, is_scheduled, entry_layout, aliases, donors } =
            self;
        let has_same_layout = match (entry_layout, &other.entry_layout) {
            (Some((parameters, result)), Some((other_parameters, other_result))) => {
                Shape::are_same(parameters, other_parameters)
                    && Shape::are_same(from_ref(result), from_ref(other_result))
            }
            (mine, other) => mine.is_none() && other.is_none(),
        };
        *replica_count == other.replica_count
            && *num_partitions == other.num_partitions
            && *is_scheduled == other.is_scheduled
            && *aliases == other.aliases
            && *donors == other.donors
            && has_same_layout
    }
}

impl Default for ModuleSettings {
    fn default() -> Self {
        ModuleSettings {
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
    pub name: Arc<str>,
    pub computations: Vec<ModuleComputation>,
    pub entry: Option<ComputationIndex>,
    pub findings: Vec<ModuleFinding>,
    /// What XLA's parser lets pass and its verifier does not.
    pub(crate) verifier_findings: Vec<ModuleFinding>,
    /// One per module of the file; almost always one.
    sections: Vec<Section>,
    /// Per piece and part, the computation; `None` for inline ones.
    parts: Vec<Vec<Option<u32>>>,
    /// Per piece, parallel to [`Outline::calls`].
    callees: Vec<Vec<Option<u32>>>,
}

/// One module of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Section {
    /// The piece that it starts with.
    piece: usize,
    settings: Arc<ModuleSettings>,
    entry: Option<ComputationIndex>,
    /// Its computations by name.
    by_name: NameTable,
}

impl Module {
    /// The module of a text in one piece.
    pub fn of_block(block: &Block) -> Module {
        Module::build(std::iter::once(&block.outline()))
    }

    pub fn build<'a>(outlines: impl Iterator<Item = &'a Outline> + Clone) -> Module {
        let mut module = Module::default();
        let mut open: Option<ComputationIndex> = None;
        let mut bare = Vec::new();
        for (piece, outline) in outlines.clone().enumerate() {
            if piece == 0 || outline.starts_module {
                module.not_closed(open.take());
                let settings = outline.settings.clone().unwrap_or_default();
                module.sections.push(Section { piece, settings, ..Section::default() });
            }
            let section = module.sections.len() as u32 - 1;
            if let (Some(name), true) = (&outline.module, module.name.is_empty()) {
                module.name.clone_from(name);
            }
            let mut parts = vec![None; outline.parts.len()];
            for (id, part) in outline.parts.iter().enumerate() {
                let at = SegmentRef { piece, computation: id as ComputationId };
                match (part.role, open) {
                    (PartRole::Inline, _) => continue,
                    (PartRole::Continued, Some(open)) => module.computations[open].segments.push(at),
                    _ => {
                        module.not_closed(open.take());
                        if part.role == PartRole::Bare {
                            bare.push(module.computations.len());
                        }
                        module.computations.push(ModuleComputation {
                            name: part.name.clone(),
                            section,
                            is_entry: part.is_entry,
                            is_fused: false,
                            segments: vec![at],
                        });
                        open = Some(module.computations.len() - 1);
                    }
                }
                parts[id] = open.map(|open| open as u32);
                if part.is_closed {
                    open = None;
                } else if !(outline.ends_in_body && id + 1 == outline.parts.len()) {
                    module.not_closed(open.take());
                }
            }
            module.parts.push(parts);
        }
        module.not_closed(open);
        module.stray_instructions(&bare);
        module.name_tables();
        module.entries();
        module.calls(outlines);
        module
    }

    /// The computation called `name` in module number `section` of the file.
    pub fn find_in(&self, section: u32, name: &str) -> Option<ComputationIndex> {
        self.sections.get(section as usize)?.find(&self.computations, name)
    }

    /// The first computation of the file called `name`.
    pub fn find(&self, name: &str) -> Option<ComputationIndex> {
        self.sections.iter().find_map(|section| section.find(&self.computations, name))
    }

    /// What the calls of a piece call, parallel to [`Outline::calls`]; `None` where no computation has the name.
    pub fn callees(&self, piece: usize) -> impl Iterator<Item = Option<ComputationIndex>> {
        self.callees
            .get(piece)
            .into_iter()
            .flatten()
            .map(|callee| callee.map(|callee| callee as ComputationIndex))
    }

    /// What the header of module number `section` of the file says.
    pub fn settings(&self, section: u32) -> Option<&ModuleSettings> {
        Some(&*self.sections.get(section as usize)?.settings)
    }

    /// The piece that module number `section` of the file starts with.
    pub fn first_piece(&self, section: u32) -> Option<usize> {
        Some(self.sections.get(section as usize)?.piece)
    }

    /// The entry of module number `section` of the file.
    pub fn entry_of(&self, section: u32) -> Option<ComputationIndex> {
        self.sections.get(section as usize)?.entry
    }

    /// How many modules the file holds.
    pub fn sections(&self) -> u32 {
        self.sections.len() as u32
    }

    /// Whether this computation is the entry of its module.
    pub fn is_entry(&self, index: ComputationIndex) -> bool {
        let section = self.computations.get(index).map(|computation| computation.section);
        section.is_some_and(|section| self.entry_of(section) == Some(index))
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
        let found = (*self.parts.get(segment.piece)?.get(segment.computation as usize)?)?;
        Some(found as ComputationIndex)
    }

    fn name_tables(&mut self) {
        let name_of = |index: u32| &*self.computations[index as usize].name;
        for (index, computation) in self.computations.iter().enumerate().filter(|(_, c)| !c.name.is_empty()) {
            let by_name = &mut self.sections[computation.section as usize].by_name;
            if by_name.insert(&computation.name, index as u32, name_of).is_err() {
                let message = format!("a computation named {} exists above", computation.name);
                self.findings.push(ModuleFinding::new(
                    computation.segments[0],
                    Slot::ComputationName,
                    "duplicate-name",
                    message,
                ));
            }
        }
    }

    /// Of each module the computation marked ENTRY, else the last.
    fn entries(&mut self) {
        let mut marked = vec![false; self.sections.len()];
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
                self.sections[section].entry = Some(index);
            }
        }
        self.entry = self.sections.iter().find_map(|section| section.entry);
    }

    /// Called computations must be defined above their callers, and a fusion owns its computation: no other instruction calls it.
    /// Source: `hlo_verifier.cc` CheckFusionInstruction.
    fn calls<'a>(&mut self, outlines: impl Iterator<Item = &'a Outline>) {
        let mut fusions: FxHashMap<ComputationIndex, (SegmentRef, usize)> = FxHashMap::default();
        for (piece, outline) in outlines.enumerate() {
            let mut callees = Vec::with_capacity(outline.calls.len());
            for (n, call) in outline.calls.iter().enumerate() {
                let segment = SegmentRef { piece, computation: call.caller };
                let name = &call.callee;
                let caller = self.computation_of(segment);
                let section = caller.map_or(0, |caller| self.computations[caller].section);
                let found = self.find_in(section, name);
                callees.push(found.map(|callee| callee as u32));
                if let Some(callee) = found.filter(|_| call.is_fusion)
                    && std::mem::replace(&mut self.computations[callee].is_fused, true)
                {
                    let message = format!("{name} is the computation of another fusion: each needs its own");
                    let mut finding = ModuleFinding::new(segment, Slot::Callee(n), "shared-fusion", message);
                    finding.related = fusions
                        .get(&callee)
                        .map(|&(at, n)| (at, Slot::Callee(n), "the other fusion is here"));
                    self.verifier_findings.push(finding);
                } else if let Some(callee) = found.filter(|_| call.is_fusion) {
                    fusions.insert(callee, (segment, n));
                }
                let message = match found {
                    // Computations are in the order of the text.
                    Some(callee) if caller.is_none_or(|caller| callee < caller) => continue,
                    Some(_) => format!("computation {name} is defined below; callees come first"),
                    None => format!("computation does not exist: {name}"),
                };
                let slot = Slot::Callee(n);
                self.findings.push(ModuleFinding::new(segment, slot, "unknown-computation", message));
            }
            self.callees.push(callees);
        }
    }

    /// What lowering checks for a computation in one piece, for those in several.
    pub fn giant_findings<'a>(&self, signature: impl Fn(usize) -> &'a Signature) -> Vec<ModuleFinding> {
        let mut findings = Vec::new();
        for computation in self.computations.iter().filter(|c| c.segments.len() > 1) {
            let of = |s: &SegmentRef| signature(s.piece).callables.get(s.computation as usize)?.part();
            let with_root = computation.segments.iter().filter(|s| of(s).is_some_and(|part| part.has_root));
            for &second in with_root.clone().skip(1) {
                let message = "a second ROOT in one computation".to_owned();
                findings.push(ModuleFinding::new(second, Slot::Root, "two-roots", message));
            }
            let first = computation.segments[0];
            let root = with_root.clone().next().or(computation.segments.last());
            if let (Some(declared), Some(actual)) = (
                of(&first).and_then(|part| part.declared_result.as_ref()),
                root.and_then(|r| of(r)?.root_shape.as_ref()),
            ) && !declared.is_compatible(actual)
            {
                let differ = Difference::between(declared, actual);
                let (place, declared, actual) = (differ.place(), &differ.expected, &differ.actual);
                let name = &computation.name;
                let message = format!(
                    "{place}the result of {name} is declared as {declared}, but its root has {actual}"
                );
                findings.push(ModuleFinding::new(first, Slot::Result, "result-mismatch", message));
            }
        }
        findings
    }
}

impl Section {
    fn find(&self, computations: &[ModuleComputation], name: &str) -> Option<ComputationIndex> {
        let found = self.by_name.get(name, |index| &computations[index as usize].name)?;
        Some(found as ComputationIndex)
    }
}
