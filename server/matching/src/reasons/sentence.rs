//! Sentences about new instructions.

use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use crate::links::is_parameter;
use crate::matching::Matching;
use crate::program::{Instruction, Program};
use crate::reasons::written_shape::WrittenShape;

/// The largest number of names in a sentence.
const MAX_NAMES: usize = 5;
/// Further instructions of a fusion are not looked at.
const MAX_JOINED: usize = 64;
/// Deeper calls are not left.
const MAX_DEPTH: usize = 16;

/// A pass: two modules and what became of the first.
pub(super) struct Step<'a, 't, 's> {
    pub before: &'a Program<'t>,
    pub after: &'a Program<'s>,
    pub matching: &'a Matching,
    /// The fusion of `before` that calls a computation.
    fusions: FxHashMap<u32, u32>,
}

/// Text as code.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// `%add.3` as code.
pub(super) fn name(instruction: &Instruction<'_>) -> String {
    quoted(&format!("%{}", instruction.name))
}

impl<'a, 't, 's> Step<'a, 't, 's> {
    pub fn new(before: &'a Program<'t>, after: &'a Program<'s>, matching: &'a Matching) -> Step<'a, 't, 's> {
        let ids = 0..before.instructions.len() as u32;
        let fusions = ids.filter(|&id| before.instruction(id).opcode == Some(Opcode::Fusion));
        let fusions =
            fusions.flat_map(|id| before.callees(id).iter().map(move |&callee| (callee, id))).collect();
        Step { before, after, matching, fusions }
    }

    /// The predicate of a sentence about a new instruction of `after`.
    pub fn sentence(&self, id: u32, opcode: Opcode) -> Option<String> {
        use Opcode::*;
        Some(match opcode {
            Fusion => self.fusion(id),
            CopyDone | AllGatherDone | AllReduceDone | CollectivePermuteDone => self.end(id)?,
            AllGather
            | AllGatherStart
            | AllReduce
            | AllReduceStart
            | AllToAll
            | ReduceScatter
            | CollectivePermute
            | CollectivePermuteStart => self.collective(id, opcode),
            _ => self.moved_data(id, opcode),
        })
    }

    /// What a fusion joined: instructions of the first module, the outermost fusions in the place of those in fusions.
    fn joined(&self, id: u32) -> Vec<u32> {
        let mut joined: Vec<u32> = Vec::new();
        for member in crate::fused_members(self.after, id) {
            let source = self.matching.origins[member as usize].source;
            let Some(source) = source.map(|source| self.outside_of_fusions(source)) else { continue };
            let instruction = self.before.instruction(source);
            let is_value = is_parameter(instruction) || instruction.opcode == Some(Opcode::Constant);
            if !is_value && !joined.contains(&source) && joined.len() < MAX_JOINED {
                joined.push(source);
            }
        }
        joined
    }

    /// The fusion that a fusion was under another name.
    pub fn former_fusion(&self, id: u32) -> Option<u32> {
        match self.joined(id).as_slice() {
            [only] if self.before.instruction(*only).opcode == Some(Opcode::Fusion) => Some(*only),
            _ => None,
        }
    }

    /// `joins %dot.3 and %add.4`
    fn fusion(&self, id: u32) -> String {
        let members = crate::fused_members(self.after, id);
        let mut joined = self.joined(id);
        joined.sort_by_key(|&id| weight(self.before.instruction(id)));
        match joined.as_slice() {
            [] => format!("holds {} new instructions", members.len()),
            [only] if members.len() == 1 => {
                format!("holds {} alone, which becomes a kernel", name(self.before.instruction(*only)))
            }
            [only] => format!("takes the place of {}", name(self.before.instruction(*only))),
            several => format!("joins {}", self.names(several)),
        }
    }

    /// The instruction of the first module, or the outermost fusion that contains it.
    fn outside_of_fusions(&self, id: u32) -> u32 {
        let up = |&id: &u32| self.fusions.get(&self.before.instruction(id).computation).copied();
        std::iter::successors(Some(id), up).take(MAX_DEPTH).last().unwrap_or(id)
    }

    /// `%a, %b and 3 more`
    fn names(&self, ids: &[u32]) -> String {
        let shown: Vec<_> = ids.iter().take(MAX_NAMES).map(|&id| name(self.before.instruction(id))).collect();
        match (ids.len() - shown.len(), shown.as_slice()) {
            (0, [rest @ .., last]) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            (0, _) => shown.join(""),
            (more, _) => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// `-done`
    fn end(&self, id: u32) -> Option<String> {
        let start = self.after.operands(id).first()?;
        Some(format!("waits for {}", name(self.after.instruction(start.instruction))))
    }

    fn collective(&self, id: u32, opcode: Opcode) -> String {
        use Opcode::*;
        let operands = self.after.operands(id);
        let first = operands.first().map(|operand| self.after.instruction(operand.instruction));
        let of = match (first, operands.len()) {
            (None, _) => "nothing".to_owned(),
            (Some(first), 1) => name(first),
            (Some(first), count) => format!("{} and {} more operands", name(first), count - 1),
        };
        let does = match opcode {
            AllGather | AllGatherStart => "gathers the shards of",
            AllReduce | AllReduceStart => "reduces, over all devices of a group,",
            ReduceScatter => "reduces and scatters",
            AllToAll => "exchanges the shards of",
            _ => "sends to other devices",
        };
        format!("{does} {of} for {}", self.target(id))
    }

    /// The instruction of another opcode or of other operands that a new one took the place of.
    pub(super) fn replaced(&self, id: u32) -> Option<u32> {
        let source = self.matching.origins[id as usize].source?;
        let is_fate = matches!(
            self.matching.fates[source as usize],
            crate::Fate::Replaced(now) | crate::Fate::Kept(now) if now == id
        );
        is_fate.then_some(source)
    }

    /// An instruction of the first module: `%reshape.3 (reshape)`
    pub fn described(&self, id: u32) -> String {
        let instruction = self.before.instruction(id);
        format!("{} ({})", name(instruction), quoted(instruction.opcode_text))
    }

    /// `operand 0 of %dot.4`, and how many more uses there are.
    pub(super) fn target(&self, id: u32) -> String {
        let users = self.after.users(id);
        let Some(first) = users.first() else {
            let computation = quoted(&format!("%{}", self.after.computation_of(id).name));
            return match self.after.instruction(id).is_root {
                true => format!("the result of {computation}"),
                false => "no use".to_owned(),
            };
        };
        let part = match self.after.instruction(first.user).opcode {
            Some(Opcode::Tuple) => "element",
            _ => "operand",
        };
        let more = match users.len() - 1 {
            0 => String::new(),
            1 => " and one more use".to_owned(),
            more => format!(" and {more} more uses"),
        };
        format!("{part} {} of {}{more}", first.operand, name(self.after.instruction(first.user)))
    }

    pub(super) fn shape(&self, id: u32) -> Option<WrittenShape<'s>> {
        WrittenShape::read(self.after.instruction(id).shape_text)
    }
}

/// Sorts what a fusion joins by what a reader looks for: ops that decide a kernel, then others, then those that move or make no
/// data; of equal ones the largest.
fn weight(instruction: &Instruction<'_>) -> (u32, std::cmp::Reverse<u64>) {
    use Opcode::*;
    let class = match instruction.opcode {
        Some(
            Dot | Convolution | Reduce | ReduceWindow | Scatter | Gather | Sort | SelectAndScatter
            | CustomCall | Fusion | DynamicUpdateSlice | Concatenate | Transpose,
        ) => 0,
        Some(Broadcast | Iota | Bitcast | Reshape | Convert | Slice | GetTupleElement | Tuple) => 2,
        _ => 1,
    };
    (class, std::cmp::Reverse(instruction.elements))
}
