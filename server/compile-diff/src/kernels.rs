//! The kernels of two modules: new, gone, slower and faster ones, each with its reasons.

use matching::Pairing;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::changes::{Change, Changes};
use crate::differences::What;
use crate::module::Module;

/// An instruction that runs as a kernel, a library call or a collective, with the figures of all its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    pub instruction: u32,
    /// The emitter of a fusion, or the opcode.
    pub kind: String,
    pub executions: u64,
    /// Microseconds of all executions, without launches.
    pub total_us: f64,
    /// Bytes of one execution.
    pub bytes: u64,
    /// 32-byte sectors per request of a warp; `None` if the requests are unknown.
    pub sectors_per_request: Option<f64>,
}

impl Kernel {
    pub fn total_bytes(&self) -> u64 {
        self.bytes.saturating_mul(self.executions)
    }
}

/// A kernel that is not the same in both modules.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelChange {
    pub before: Option<Kernel>,
    pub after: Option<Kernel>,
    /// Sentences without a full stop.
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Slower,
    New,
    Faster,
    Gone,
    /// Other code, the same time.
    Changed,
}

/// Smaller changes of a kernel's time are none.
const NOTABLE: f64 = 1e-3;

/// How the most telling reasons start.
const FUSED: &str = "fused differently";

/// More names are counted.
const MAX_NAMES: usize = 4;

impl KernelChange {
    pub fn verdict(&self) -> Verdict {
        match (&self.before, &self.after) {
            (None, _) => Verdict::New,
            (_, None) => Verdict::Gone,
            (Some(before), Some(after)) if !is_notable(before.total_us, after.total_us) => Verdict::Changed,
            _ if self.delta_us() > 0.0 => Verdict::Slower,
            _ => Verdict::Faster,
        }
    }

    /// By how many microseconds the second module takes longer for it.
    pub fn delta_us(&self) -> f64 {
        let time = |kernel: &Option<Kernel>| kernel.as_ref().map_or(0.0, |kernel| kernel.total_us);
        time(&self.after) - time(&self.before)
    }
}

fn is_notable(before: f64, after: f64) -> bool {
    (after - before).abs() > NOTABLE * before.abs().max(after.abs())
}

/// The kernels that differ, those that change the time most first.
pub fn kernel_changes(
    [before, after]: [&Module<'_>; 2],
    changes: &Changes,
    pairing: &Pairing,
    [theirs, ours]: [&[Kernel]; 2],
) -> Vec<KernelChange> {
    let mut reasons = Reasons {
        before,
        after,
        pairing,
        kernels: [theirs, ours]
            .map(|kernels| kernels.iter().map(|kernel| (kernel.instruction, Vec::new())).collect()),
    };
    changes.changes.iter().for_each(|change| reasons.add(change));
    let known: FxHashMap<u32, &Kernel> = theirs.iter().map(|kernel| (kernel.instruction, kernel)).collect();
    let mut found = Vec::new();
    let mut paired: FxHashSet<u32> = FxHashSet::default();
    for kernel in ours {
        cancel::tick();
        let source =
            pairing.before[kernel.instruction as usize].and_then(|source| known.get(&source).copied());
        if let Some(source) = source {
            paired.insert(source.instruction);
        }
        let own = reasons.of(source, Some(kernel));
        let is_same =
            source.is_some_and(|source| !is_notable(source.total_us, kernel.total_us)) && own.is_empty();
        if !is_same {
            found.push(KernelChange { before: source.cloned(), after: Some(kernel.clone()), reasons: own });
        }
    }
    for kernel in theirs.iter().filter(|kernel| !paired.contains(&kernel.instruction)) {
        let reasons = reasons.of(Some(kernel), None);
        found.push(KernelChange { before: Some(kernel.clone()), after: None, reasons });
    }
    // Ties are in the order of the text.
    found.sort_by(|a, b| b.delta_us().abs().total_cmp(&a.delta_us().abs()));
    found
}

/// The reasons per kernel of each module.
struct Reasons<'a, 't, 's> {
    before: &'a Module<'t>,
    after: &'a Module<'s>,
    pairing: &'a Pairing,
    kernels: [FxHashMap<u32, Vec<String>>; 2],
}

impl Reasons<'_, '_, '_> {
    fn add(&mut self, change: &Change) {
        match change {
            Change::New { instruction, .. } => {
                let reason = format!("computes {} too", self.after.title(*instruction));
                self.push(1, *instruction, reason);
            }
            Change::Gone { instruction, .. } => {
                let reason = format!("no longer computes {}", self.before.title(*instruction));
                self.push(0, *instruction, reason);
            }
            Change::Moved { from, to, instructions } => self.moved(*from, *to, instructions),
            Change::Changed { before, after, differences } => {
                let title = self.after.title(*after);
                for difference in differences {
                    let (one, other) = (&difference.before, &difference.after);
                    let change = format!("of {title}: {one} → {other}");
                    let reason = match &difference.what {
                        What::Shape => format!("other shape {change}"),
                        What::Layout => format!("other layout {change}"),
                        What::Configuration(_) => {
                            format!("other configuration {change} ({})", difference.what.words())
                        }
                        What::Operand(number) => {
                            format!("{title} reads {other} as operand {number}, not {one}")
                        }
                        what => format!("other {} {change}", what.words()),
                    };
                    self.push(1, *after, reason.clone());
                    if self.owner(1, *after).is_none() {
                        self.push(0, *before, reason.clone());
                    }
                    if matches!(difference.what, What::Shape | What::Layout) {
                        self.read_by(*after, &reason);
                    }
                }
            }
            Change::Root { after, .. } => {
                let root = self.after.program.computation(*after).root;
                let reason = format!("returns {}", self.after.title(root));
                self.push(1, root, reason);
            }
            _ => (),
        }
    }

    /// A kernel whose operand has another shape or layout.
    fn read_by(&mut self, id: u32, reason: &str) {
        let users: Vec<u32> = self.after.program.uses(id).take(MAX_NAMES).map(|(user, _)| user).collect();
        for user in users {
            if let Some(reasons) = self.kernels[1].get_mut(&user) {
                reasons.push(format!("reads an {reason}"));
            }
        }
    }

    fn moved(&mut self, from: u32, to: u32, instructions: &[(u32, u32)]) {
        let (one, other) = (self.owner(0, instructions[0].0), self.owner(1, instructions[0].1));
        let names = |titles: &mut dyn Iterator<Item = String>| {
            let shown: Vec<String> = titles.take(MAX_NAMES).collect();
            let more = instructions.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", shown.join(", "))
        };
        let place = |module: &Module<'_>, kernel: Option<u32>, computation: u32| match kernel {
            Some(kernel) => module.title(kernel),
            None => format!("computation %{}", module.program.computation(computation).name),
        };
        if let Some(kernel) = other {
            let names = names(&mut instructions.iter().map(|(_, id)| self.after.title(*id)));
            let source = place(self.before, one, from);
            let reason = match one == Some(instructions[0].0) {
                true => format!("{FUSED}: computes {names} too, which ran alone"),
                false => format!("{FUSED}: computes {names}, which {source} computed"),
            };
            self.note(1, kernel, reason);
        }
        if let Some(kernel) = one {
            let names = names(&mut instructions.iter().map(|(id, _)| self.before.title(*id)));
            let now = place(self.after, other, to);
            let reason = match other == Some(instructions[0].1) {
                true => format!("{FUSED}: {names} runs alone now"),
                false => format!("{FUSED}: {now} computes {names} now"),
            };
            self.note(0, kernel, reason);
        }
    }

    /// The kernel that computes an instruction of one of the two modules.
    fn owner(&self, side: usize, mut id: u32) -> Option<u32> {
        let caller = |id: u32| if side == 0 { self.before.caller(id) } else { self.after.caller(id) };
        // Fusions are nested a few levels deep.
        for _ in 0..16 {
            if self.kernels[side].contains_key(&id) {
                return Some(id);
            }
            id = caller(id)?;
        }
        None
    }

    fn push(&mut self, side: usize, id: u32, reason: String) {
        let Some(owner) = self.owner(side, id) else { return };
        // A new or gone instruction is no reason for itself.
        if owner != id || self.counterpart(side, id).is_some() {
            self.note(side, owner, reason);
        }
    }

    fn note(&mut self, side: usize, kernel: u32, reason: String) {
        let reasons = self.kernels[side].entry(kernel).or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }

    fn counterpart(&self, side: usize, id: u32) -> Option<u32> {
        let pairs = if side == 0 { &self.pairing.after } else { &self.pairing.before };
        pairs[id as usize]
    }

    fn of(&self, source: Option<&Kernel>, kernel: Option<&Kernel>) -> Vec<String> {
        let known = |side: usize, kernel: Option<&Kernel>| {
            let reasons = kernel.and_then(|kernel| self.kernels[side].get(&kernel.instruction));
            reasons.cloned().unwrap_or_default()
        };
        let mut reasons = known(1, kernel);
        reasons.extend(known(0, source));
        let (Some(source), Some(kernel)) = (source, kernel) else {
            // What else a kernel computes explains a change of it, not that it is there.
            reasons.retain(|reason| reason.starts_with(FUSED));
            return reasons;
        };
        if source.kind != kernel.kind {
            reasons.push(format!("other emitter: {} → {}", source.kind, kernel.kind));
        }
        if let (Some(one), Some(other)) = (source.sectors_per_request, kernel.sectors_per_request)
            && is_notable(one, other)
        {
            let what = if other > one { "more" } else { "fewer" };
            reasons.push(format!("{what} sectors per request: {} → {}", figure(one), figure(other)));
        }
        if source.executions != kernel.executions {
            reasons.push(format!("runs {} times, not {}", kernel.executions, source.executions));
        }
        // Stable: within a rank the order of the text.
        reasons.sort_by_key(|reason| {
            let ranked = [FUSED, "other emitter", "more sectors", "fewer sectors", "runs "];
            ranked.iter().position(|start| reason.starts_with(start)).unwrap_or(ranked.len())
        });
        reasons
    }
}

fn figure(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
