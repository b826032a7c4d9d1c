//! What would lower the peak, in words.

use ::memory::{Action, Advice, Donation, Memory, Move};

use crate::units::bytes;

/// Parameters that are listed by number.
const LISTED: usize = 4;

/// A change of a module that lowers its peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryAdvice {
    pub advice: Advice,
    /// `donate parameter 3 (%p3, 1.2 GB): peak 38.2 → 31.7 GB`
    pub text: String,
}

impl MemoryAdvice {
    /// A change of the module with this memory.
    pub(crate) fn new(memory: &Memory, advice: Advice) -> MemoryAdvice {
        let what = match &advice.action {
            Action::Donate(donations) => donated(donations, advice.bytes),
            Action::Move(change) => moved(change, advice.bytes),
        };
        let text = format!("{what}: peak {}", change(memory.in_use_at_peak(), advice.peak));
        MemoryAdvice { advice, text }
    }
}

/// `donate parameter 3 (%p3, 1.2 GB)`, `donate parameters 0, 1{2} (3.4 GB)`
fn donated(donations: &[Donation], all: u64) -> String {
    let number = |donation: &Donation| match donation.index.as_slice() {
        [] => donation.parameter.to_string(),
        index => format!("{}{{{}}}", donation.parameter, joined(index)),
    };
    if let [only] = donations {
        let name = only.name.trim_end_matches("{}");
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
            let value = value.trim_end_matches("{}");
            format!("move %{name} earlier, before %{before} (frees %{value}, {freed})")
        }
    }
}

fn joined(index: &[i64]) -> String {
    let parts: Vec<String> = index.iter().map(i64::to_string).collect();
    parts.join(",")
}

/// `38.2 → 31.7 GB`, `1.2 GB → 800 MB`
fn change(before: u64, after: u64) -> String {
    let [before, after] = [before, after].map(bytes);
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
    }
}
