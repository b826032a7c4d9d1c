//! The buffer assignment that XLA dumps beside a module, and the values that it places elsewhere than the plan does.

use rustc_hash::FxHashMap;

use crate::memory::{Memory, Peak};
use crate::usage::Category;

/// What XLA allocated, by its `*-buffer-assignment.txt`, and its peak, by its `*-live-range.txt`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DumpedAssignment {
    pub allocations: Vec<DumpedAllocation>,
    /// Bytes of all allocations.
    pub total: u64,
    /// To compare with [`Memory::peak`]; `None` if the live ranges were not dumped, or have no peak.
    pub peak: Option<Peak>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedAllocation {
    /// Bytes.
    pub size: u64,
    pub category: Category,
    pub values: Vec<DumpedValue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedValue {
    /// `name{0}`, as [`crate::Value::name`].
    pub name: String,
    /// Bytes of its buffer.
    pub size: u64,
    /// Bytes from the start of the allocation.
    pub offset: u64,
}

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValuePlace {
    /// Bytes of its buffer.
    pub size: u64,
    pub category: Category,
    /// Bytes from the start of the allocation.
    pub offset: u64,
}

/// A value that is not in the same kind of allocation at the same offset with the same size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `name{0}`: an instruction and the element of its result.
    pub name: String,
    /// `None` if XLA has no such value.
    pub dumped: Option<ValuePlace>,
    /// `None` if the plan has no such value.
    pub planned: Option<ValuePlace>,
}

impl DumpedAssignment {
    /// Reads the text of `*-buffer-assignment.txt` and, where there is one, of `*-live-range.txt`. Lines of other forms are
    /// skipped; `None` if no line is an allocation.
    pub fn read(assignment: &str, live_ranges: Option<&str>) -> Option<DumpedAssignment> {
        let mut read = DumpedAssignment { peak: live_ranges.and_then(peak), ..DumpedAssignment::default() };
        for line in assignment.lines() {
            cancel::tick();
            if let Some(allocation) = allocation(line) {
                read.total = read.total.saturating_add(allocation.size);
                read.allocations.push(allocation);
            } else if let (Some(value), Some(last)) = (value(line), read.allocations.last_mut()) {
                last.values.push(value);
            }
        }
        (!read.allocations.is_empty()).then_some(read)
    }

    /// The number of values that are placed.
    pub fn values(&self) -> usize {
        self.allocations.iter().map(|allocation| allocation.values.len()).sum()
    }

    /// The values that are placed differently, the largest first. The plan has no values for what a reducer computes in
    /// registers, only allocations, so these are compared by their sizes alone.
    pub fn differences(&self, plan: &Memory) -> Vec<Difference> {
        // Names are unique in a module that verifies; of several values of one name, the nth stands for the nth.
        let mut places: FxHashMap<&str, [Vec<ValuePlace>; 2]> = FxHashMap::default();
        for DumpedAllocation { category, values, .. } in &self.allocations {
            for &DumpedValue { ref name, size, offset } in values {
                let place = ValuePlace { size, category: *category, offset };
                places.entry(name).or_default()[0].push(place);
            }
        }
        let mut unnamed: FxHashMap<ValuePlace, usize> = FxHashMap::default();
        for allocation in &plan.allocations {
            if allocation.values.is_empty() {
                let place = ValuePlace { size: allocation.size, category: allocation.category(), offset: 0 };
                *unnamed.entry(place).or_default() += 1;
            }
            for &(value, offset) in &allocation.values {
                let value = &plan.values[value as usize];
                let place = ValuePlace { size: value.size, category: allocation.category(), offset };
                places.entry(&value.name).or_default()[1].push(place);
            }
        }
        let mut differences = Vec::new();
        for (name, mut of_name) in places {
            cancel::tick();
            of_name.iter_mut().for_each(|places| places.sort_unstable());
            for n in 0..of_name[0].len().max(of_name[1].len()) {
                let [dumped, planned] = [0, 1].map(|side| of_name[side].get(n).copied());
                let same_size =
                    dumped.filter(|_| planned.is_none()).and_then(|place| unnamed.get_mut(&place));
                if let Some(left) = same_size.filter(|left| **left > 0) {
                    *left -= 1;
                } else if dumped != planned {
                    differences.push(Difference { name: name.to_owned(), dumped, planned });
                }
            }
        }
        let size = |one: &Difference| one.dumped.max(one.planned).map_or(0, |place| place.size);
        differences.sort_by(|a, b| (size(b), &a.name).cmp(&(size(a), &b.name)));
        differences
    }
}

/// `allocation 3: size 256, page 0, maybe-live-out:`
fn allocation(line: &str) -> Option<DumpedAllocation> {
    let (number, rest) = line.strip_prefix("allocation ")?.split_once(": size ")?;
    number.parse::<u64>().ok()?;
    let mut facts = rest.trim_end_matches(':').split(", ");
    let size = facts.next()?.parse().ok()?;
    let mut category = Category::Temporary;
    for fact in facts {
        // What takes the memory of a parameter is a parameter, whatever else it is.
        match fact {
            "constant" => category = Category::Constant,
            "thread-local" => category = Category::ThreadLocal,
            "maybe-live-out" if category == Category::Temporary => category = Category::Output,
            _ if fact.starts_with("parameter ") => {
                category = Category::Parameter;
                break;
            }
            _ => {}
        }
    }
    Some(DumpedAllocation { size, category, values: Vec::new() })
}

/// ` value: <31 input_fusion{1} @0> (size=32768,offset=0): f32[64,128]{1,0}`
fn value(line: &str) -> Option<DumpedValue> {
    let (defined, rest) = line.trim_start().strip_prefix("value: <")?.split_once("> (size=")?;
    let name = defined.split(' ').nth(1)?;
    let (size, rest) = rest.split_once(",offset=")?;
    let offset = rest.split(')').next()?;
    // The whole result of an instruction that has no tuple is written without its index.
    let index = if name.ends_with('}') { "" } else { "{}" };
    Some(DumpedValue {
        name: format!("{name}{index}"),
        size: size.parse().ok()?,
        offset: offset.parse().ok()?,
    })
}

/// Sums the lines below `Live ranges at 174 (peak):`, such as `a{}: 256 bytes (cumulative: 512 bytes)`.
fn peak(live_ranges: &str) -> Option<Peak> {
    let mut lines = live_ranges.lines().map(str::trim_start);
    let at = lines.find_map(|line| {
        cancel::tick();
        line.strip_prefix("Live ranges at ")?.strip_suffix(" (peak):")?.parse().ok()
    })?;
    let sizes = lines.map_while(|line| {
        let (_, rest) = line.split_once("}: ")?;
        rest.split_once(" bytes")?.0.parse::<u64>().ok()
    });
    Some(Peak { at, bytes: sizes.fold(0, u64::saturating_add) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_read_and_other_lines_skipped() {
        let text = "Used values:\n<0 add @0>\nBufferAssignment:\n \
             value: <440 early @0> (size=4096,offset=0): f32[1024]{0}\n\
            allocation 0: size 4096, parameter 2, shape |f32[1024]| at ShapeIndex {}, maybe-live-out:\n \
             value: <441 a @0> (size=4096,offset=0): f32[1024]{0}\n \
             value: <442 w.1{0} (phi) @0> (size=4000,offset=96): f32[1000]{0}\n \
             value: <443 b @0> (size=-4,offset=0): f32[1]\n \
             value: <444 c @0> (size=4): f32[1]\n\
            allocation 1: size 256, page 0, maybe-live-out:\n\
            allocation 2: size 16, output shape is |(f32[64], f32[64])|, maybe-live-out:\n\
            allocation 3: size 4, constant:\n\
            allocation 4: size 4, thread-local:\n\
            allocation 5: size 18446744073709551615, preallocated-temp:\n\
            allocation 6: size 99999999999999999999, preallocated-temp:\n\
            allocation x: size 1:\nallocation 7: size\n";
        let read = DumpedAssignment::read(text, None).expect("it has allocations");
        let categories: Vec<Category> = read.allocations.iter().map(|one| one.category).collect();
        use Category::{Constant, Output, Parameter, Temporary, ThreadLocal};
        assert_eq!(categories, [Parameter, Output, Output, Constant, ThreadLocal, Temporary]);
        let value = |name: &str, size, offset| DumpedValue { name: name.to_owned(), size, offset };
        assert_eq!(read.allocations[0].values, [value("a{}", 4096, 0), value("w.1{0}", 4000, 96)]);
        assert_eq!((read.values(), read.total, read.peak), (2, u64::MAX, None));
        assert_eq!(DumpedAssignment::read("HloModule m\n", None), None);
    }

    #[test]
    fn the_peak_is_the_sum_of_its_lines() {
        let peak = |live_ranges: &str| {
            DumpedAssignment::read("allocation 0: size 1:\n", Some(live_ranges)).expect("an allocation").peak
        };
        let text = "HloLiveRange (max 9):\n  InstructionSequence:\n    0:a{}: 7 bytes\n  Live ranges at 4 (peak):\n    \
            a{}: 256 bytes (cumulative: 256 bytes)\n    b{1}: 16 bytes (cumulative: 272 bytes)\n  Stack trace:\n    \
            c{}: 5 bytes\n";
        assert_eq!(peak(text), Some(Peak { at: 4, bytes: 272 }));
        assert_eq!(peak("  Live ranges at 99999999999 (peak):\n"), None);
        assert_eq!(peak("HloLiveRange (max 9):\n"), None);
    }
}
