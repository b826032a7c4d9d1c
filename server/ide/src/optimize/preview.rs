//! A module after passes as a document, with the instructions of the text that each line comes from.

use std::ops::Range;
use std::sync::OnceLock;

use passes::{Applied, Module, Stopped};
use rustc_hash::FxHashMap;

use super::source::{SourceInstruction, SourceModule, innermost};
use super::{NotOptimized, OptimizeRequest, print};
use crate::file_context::FileContext;
use crate::units::counted;

/// Passes that the head lists.
const MAX_LISTED: usize = 12;

/// A module after passes.
#[derive(Debug)]
pub struct Preview {
    /// Lines that say what was done, without comment signs.
    pub head: Vec<String>,
    /// The module in XLA's canonical form. If a pass stopped, the module before that pass.
    pub body: String,
    /// What each pass did, in order, each pass of a pipeline on its own.
    pub applied: Vec<Applied>,
    /// The pass that is not written or cannot rewrite the module.
    pub stopped: Option<Stopped>,
    source: Module,
    before: OnceLock<Result<String, NotOptimized>>,
    sources: Vec<Option<SourceInstruction>>,
    /// Per line of the body, indices into `sources`.
    lines: Vec<Vec<u32>>,
    compared: OnceLock<Option<[String; 2]>>,
}

impl Preview {
    pub(crate) fn new(context: &FileContext<'_>, request: &OptimizeRequest) -> Result<Preview, NotOptimized> {
        let SourceModule { module: source, instructions: sources } = SourceModule::of(context)?;
        let options = request.options(context);
        let (module, applied, stopped) = passes::optimize_until_stop(&source, &request.names(), &options);
        let body = print(&module)?;
        let mut head = Vec::new();
        if let Some(Stopped { pass, why }) = &stopped {
            head.push(format!("stopped at {pass}: {why}"));
            head.push(format!(
                "below: the module before it, after {}",
                counted(applied.len() as u64, "pass")
            ));
        }
        let title = if request.passes.is_empty() { "no pass".to_owned() } else { request.passes.join(", ") };
        let until = request.until.as_ref().map_or(String::new(), |until| format!(" until {until}"));
        head.push(format!("after {title}{until} · {}", options.device.name));
        head.push(summary(&applied));
        let lines = lines(&module, &body);
        Ok(Preview {
            head,
            body,
            applied,
            stopped,
            source,
            before: OnceLock::new(),
            sources,
            lines,
            compared: OnceLock::new(),
        })
    }

    /// The document, and the number of lines above the body. `notes` are further lines of the head.
    pub fn text(&self, notes: &[String]) -> (String, usize) {
        let mut text = String::new();
        let head = notes.iter().chain(&self.head);
        for line in head.clone() {
            text += &format!("// {}\n", line.replace(['\n', '\r'], " "));
        }
        text.push('\n');
        text += &self.body;
        (text, head.count() + 1)
    }

    /// The module before and after the passes as texts for a line diff, in which nothing else differs. `None` if they cannot be
    /// prepared for one.
    pub fn compared(&self) -> Option<&[String; 2]> {
        let compare = || {
            let compared = comparison::compare(self.before().ok()?, &self.body).ok()?;
            Some([compared.before, compared.after])
        };
        self.compared.get_or_init(compare).as_ref()
    }

    /// The instructions of the text that a line of the body comes from, in the order of the text.
    pub fn sources_of(&self, line: usize) -> Vec<&SourceInstruction> {
        let indices = self.lines.get(line).map(Vec::as_slice).unwrap_or_default();
        let mut sources: Vec<_> = indices.iter().filter_map(|&at| self.source(at)).collect();
        sources.sort_by_key(|source| source.range.start);
        sources.dedup_by_key(|source| source.range.clone());
        sources
    }

    /// The number of lines of the body.
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The runs of lines of the body that come from the instruction of the text at an offset.
    pub fn lines_of(&self, offset: usize) -> Vec<Range<usize>> {
        let wanted = self.sources_at(offset);
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (line, sources) in self.lines.iter().enumerate() {
            if !sources.iter().any(|source| wanted.contains(source)) {
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.end == line => last.end += 1,
                _ => runs.push(line..line + 1),
            }
        }
        runs
    }

    pub(crate) fn source(&self, index: u32) -> Option<&SourceInstruction> {
        self.sources.get(index as usize)?.as_ref()
    }

    /// The module before the passes in the same form.
    pub(crate) fn before(&self) -> Result<&str, NotOptimized> {
        self.before.get_or_init(|| print(&self.source)).as_deref().map_err(Clone::clone)
    }

    pub(crate) fn sources(&self) -> &[Option<SourceInstruction>] {
        &self.sources
    }

    pub(crate) fn line(&self, line: usize) -> &[u32] {
        self.lines.get(line).map(Vec::as_slice).unwrap_or_default()
    }

    /// The instructions of the innermost range around an offset. An op of StableHLO may be several.
    pub(crate) fn sources_at(&self, offset: usize) -> Vec<u32> {
        innermost(&self.sources, offset)
    }
}

/// `12 changes: priority-fusion 9 · cse 2 · dce 1`
fn summary(applied: &[Applied]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for applied in applied.iter().filter(|applied| !applied.changes.is_empty()) {
        match counts.iter_mut().find(|(pass, _)| *pass == applied.pass) {
            Some((_, count)) => *count += applied.changes.len(),
            None => counts.push((&applied.pass, applied.changes.len())),
        }
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    if total == 0 {
        return "no changes".to_owned();
    }
    let listed = counts.iter().take(MAX_LISTED).map(|(pass, count)| format!("{pass} {count}"));
    let more = counts.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("{more} more"));
    let listed = listed.chain(more).collect::<Vec<_>>().join(" · ");
    format!("{}: {listed}", counted(total as u64, "change"))
}

/// Per line of the text of a module, the instructions that the one on it stands for, as indices.
fn lines(module: &Module, text: &str) -> Vec<Vec<u32>> {
    let origins = module.origins();
    let mut by_name: FxHashMap<&str, passes::InstructionId> = FxHashMap::default();
    for computation in module.computations() {
        for id in module.instructions(computation) {
            by_name.insert(module[id].name(), id);
        }
    }
    let mut line_of: FxHashMap<passes::InstructionId, usize> = FxHashMap::default();
    let mut lines: Vec<Vec<u32>> = Vec::new();
    for (line, written) in text.lines().enumerate() {
        cancel::tick();
        let id = defined_name(written).and_then(|name| by_name.remove(name));
        id.map(|id| line_of.insert(id, line));
        let of = |id: passes::InstructionId| origins[Module::index(id)].iter();
        let indices = id.into_iter().flat_map(of).map(|&origin| Module::index(origin) as u32);
        lines.push(indices.collect());
    }
    // An element of a tuple that is written where it is used is shown by the tuple.
    for &id in by_name.values() {
        let mut at = id;
        while let Some(&operand) = module[at].operands().first() {
            at = operand;
            if let Some(&line) = line_of.get(&at) {
                let own = origins[Module::index(id)].iter().map(|&origin| Module::index(origin) as u32);
                own.for_each(|origin| {
                    if !lines[line].contains(&origin) {
                        lines[line].push(origin)
                    }
                });
                break;
            }
        }
    }
    lines
}

/// The name that a line of canonical text defines.
fn defined_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (name, _) = line.strip_prefix("ROOT ").unwrap_or(line).strip_prefix('%')?.split_once(" = ")?;
    Some(name)
}
