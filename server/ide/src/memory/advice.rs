//! What would lower the peak, in words.

use ::memory::{Action, Advice, Donation, Memory, Move, Relayout, Rematerialisation, SecondCopy, Sharding};

use super::report::located;
use super::{MemoryStep, value_name};
use crate::file_context::FileContext;
use crate::units::{bytes, counted, scaled};

/// Parameters that are listed by number.
const LISTED: usize = 4;

/// A change of a module that lowers its peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAdvice {
    pub advice: Advice,
    /// `donate parameter 3 (%p3, 1.2 GB): peak 38.2 → 31.7 GB`
    pub text: String,
    /// The instruction that is changed; the first of several.
    pub changed: Option<MemoryStep>,
}

impl MemoryAdvice {
    /// A change of the module with this memory.
    pub(crate) fn new(context: &FileContext<'_>, memory: &Memory, advice: Advice) -> MemoryAdvice {
        let what = match &advice.action {
            Action::Donate(donations) => donated(donations, advice.bytes),
            Action::Move(change) => moved(change, advice.bytes),
            Action::Rematerialise(again) => rematerialised(again, advice.bytes),
            Action::Relayout(layout) => laid_out(layout, advice.bytes),
            Action::DropCopy(copy) => not_copied(copy, advice.bytes),
            Action::Shard(sharding) => sharded(sharding, advice.bytes),
        };
        let is_bound = matches!(&advice.action, Action::Shard(one) if one.gathered_before.is_empty());
        let at_best = if is_bound { " at best" } else { "" };
        let text = format!("{what}: peak {}{at_best}", change(memory.in_use_at_peak(), advice.peak));
        let changed = changed(&advice.action);
        let step = memory.steps.iter().find(|step| *step.name == *changed);
        let changed = step.and_then(|step| located(context, step));
        MemoryAdvice { advice, text, changed }
    }

    /// What asks for the change in a program that is written with jax; `None` where it is XLA that decides.
    pub fn in_jax(&self) -> Option<&'static str> {
        match &self.advice.action {
            Action::Donate(_) => Some("donate_argnums"),
            Action::Move(_) => None,
            Action::Rematerialise(_) => Some("jax.checkpoint"),
            Action::Relayout(_) => Some("jax.experimental.layout"),
            Action::Shard(_) => Some("in_shardings"),
            Action::DropCopy(copy) => Some(match (&copy.stored_as, copy.parameter) {
                (Some(_), Some(_)) => "transpose or convert the argument before the call",
                (Some(_), None) => "transpose or convert the constant with NumPy",
                (None, _) => "dimension_numbers of lax.dot_general",
            }),
        }
    }
}

/// The name of the instruction that a change is about.
fn changed(action: &Action) -> &str {
    let value = match action {
        Action::Donate(donations) => donations.first().map_or("", |one| &one.name),
        Action::Move(change) => change.names.first().map_or("", |name| name),
        Action::Rematerialise(again) => &again.value,
        Action::Relayout(layout) => &layout.value,
        Action::DropCopy(copy) => &copy.copy,
        Action::Shard(sharding) => &sharding.name,
    };
    // Behind the name of the instruction a value has its place in the result.
    value.split('{').next().unwrap_or(value)
}

/// `donate parameter 3 (%p3, 1.2 GB)`, `donate parameters 0, 1{2} (3.4 GB)`
fn donated(donations: &[Donation], all: u64) -> String {
    let number = |donation: &Donation| match donation.index.as_slice() {
        [] => donation.parameter.to_string(),
        index => format!("{}{{{}}}", donation.parameter, joined(index)),
    };
    if let [only] = donations {
        let name = value_name(&only.name);
        return format!("donate parameter {} (%{name}, {})", number(only), bytes(all));
    }
    let listed: Vec<String> = donations.iter().take(LISTED).map(number).collect();
    let more = match donations.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("donate parameters {}{more} ({})", listed.join(", "), bytes(all))
}

/// `move %x later, before %use (1.2 GB)`, `move %use earlier, before %y (frees %x, 1.2 GB)`
fn moved(Move { names, before, value, is_later }: &Move, freed: u64) -> String {
    let name = names.first().map_or("", |name| name);
    let freed = bytes(freed);
    match is_later {
        true => format!("move %{name} later, before %{before} ({freed})"),
        false => {
            let value = value_name(value);
            format!("move %{name} earlier, before %{before} (frees %{value}, {freed})")
        }
    }
}

/// `rematerialise %x before %use (1.2 GB; costs 3 MFLOP and 2.4 GB of reads and writes, of 2 instructions)`
fn rematerialised(again: &Rematerialisation, kept: u64) -> String {
    let Rematerialisation { names, before, value, cost } = again;
    let at_least = if cost.unknown > 0 { "at least " } else { "" };
    let mut costs = format!("{}FLOP", scaled(cost.flops));
    if cost.transcendentals > 0 {
        costs += &format!(", {} transcendentals", scaled(cost.transcendentals).trim_end());
    }
    let several = match names.len() {
        1 => String::new(),
        count => format!(", of {}", counted(count as u64, "instruction")),
    };
    let [kept, moved] = [kept, cost.bytes].map(bytes);
    let value = value_name(value);
    format!(
        "rematerialise %{value} before %{before} ({kept}; costs {at_least}{costs} and {moved} of reads and writes{several})"
    )
}

/// `lay out %x as {0,1} (4.19 MB → 262 kB with padding)`, `lay out %x and 2 others as {0,1} (…)`
fn laid_out(layout: &Relayout, now: u64) -> String {
    let Relayout { names, minor_to_major, value, bytes_then } = layout;
    let others = match names.len() {
        0 | 1 => String::new(),
        2 => " and 1 other".to_owned(),
        count => format!(" and {} others", count - 1),
    };
    let (value, order) = (value_name(value), joined(minor_to_major));
    format!("lay out %{value}{others} as {{{order}}} ({} with padding)", change(now, *bytes_then))
}

/// `store parameter 3 (%w) as f32[64,32]{1,0}, which %copy.1 makes of it (1.2 GB)`, `read parameter 3 (%w) instead of %copy.1,
/// by other dimension numbers (1.2 GB)`
fn not_copied(copy: &SecondCopy, saved: u64) -> String {
    let SecondCopy { source, parameter, copy, stored_as, .. } = copy;
    let source = match parameter {
        Some(number) => format!("parameter {number} (%{source})"),
        None => format!("the constant %{source}"),
    };
    let saved = bytes(saved);
    match stored_as {
        Some(shape) => format!("store {source} as {shape}, which %{copy} makes of it ({saved})"),
        None => format!("read {source} instead of %{copy}, by other dimension numbers ({saved})"),
    }
}

/// `shard parameter 3 (%w, 1.2 GB) along dimension 0 over 8 devices, 150 MB each, gathered where it is read`
fn sharded(sharding: &Sharding, whole: u64) -> String {
    let Sharding { name, parameter, dimension, partitions, bytes_per_device, gathered_before, .. } = sharding;
    let how = match gathered_before.len() {
        0 => "with the result in its memory".to_owned(),
        1 => format!("gathered before %{}", gathered_before[0]),
        count => format!("gathered before each of {count} readers"),
    };
    let [whole, part] = [whole, *bytes_per_device].map(bytes);
    format!(
        "shard parameter {parameter} (%{name}, {whole}) along dimension {dimension} over {partitions} devices, {part} each, {how}"
    )
}

fn joined(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().map(i64::to_string).collect();
    parts.join(",")
}

/// `38.2 → 31.7 GB`, `1.2 GB → 800 MB`, `12.6 MB − 16.4 kB` where both would read the same.
fn change(before: u64, after: u64) -> String {
    let saved = bytes(before.saturating_sub(after));
    let [before, after] = [before, after].map(bytes);
    if before == after {
        return format!("{before} − {saved}");
    }
    match (before.split_once(' '), after.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} → {after}"),
        _ => format!("{before} → {after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn a_unit_of_both_is_written_once() {
        assert_eq!(change(38_200_000_000, 31_700_000_000), "38.2 → 31.7 GB");
        assert_eq!(change(1_200_000, 800), "1.2 MB → 800 B");
        assert_eq!(change(12_600_000, 12_583_600), "12.6 MB − 16.4 kB");
    }
}
