//! Slices of StableHLO before or after a reshape.

use random::Rng;

use super::Program;
use super::builder::Builder;
use super::groups::{divisor_of, groups};
use super::types::partial as ty;

/// A `stablehlo.slice` of a `stablehlo.reshape`, or the reverse.
pub fn stablehlo_slice(random: &mut Rng) -> Program {
    let groups = groups(random);
    let (is_slice_first, generic, used_twice) = (random.one_in(2), random.one_in(5), random.one_in(4));
    let fine = groups.concat();
    let coarse: Vec<i64> = groups.iter().map(|group| group.iter().product()).collect();
    let (from, to) = if random.one_in(2) { (fine, coarse) } else { (coarse, fine) };
    // If the slice comes first, the sizes are those of a group.
    let (whole, reshaped) = if is_slice_first { (&from, None) } else { (&to, Some(&to)) };
    let mut bounds = [Vec::new(), Vec::new(), Vec::new()];
    let mut sizes = Vec::new();
    let mut is_large = false;
    for &extent in whole {
        let start = random.range(0, extent - 1);
        let stride = if random.one_in(5) { random.range(1, 3) } else { 1 };
        let (start, size, stride) = match random.range(0, 5) {
            0..=2 => (0, extent, 1),
            3 if !is_large => (start, 1, 1),
            _ => (start, random.range(1, (extent - 1 - start) / stride + 1), stride),
        };
        is_large |= size > 1;
        sizes.push(size);
        bounds[0].push(start);
        bounds[1].push(start + (size - 1) * stride + 1);
        bounds[2].push(stride);
    }
    let known = |shape: &[i64]| ty(&shape.iter().copied().map(Some).collect::<Vec<_>>(), "f32", "");
    let slice = |of: &str, from: &str, to: &str| {
        if generic {
            let list = |n: usize| bounds[n].iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            return format!(
                "\"stablehlo.slice\"({of}) <{{start_indices = array<i64: {}>, limit_indices = array<i64: {}>, strides = array<i64: {}>}}> : ({from}) -> {to}",
                list(0),
                list(1),
                list(2)
            );
        }
        let entry = |i: usize| match bounds[2][i] {
            1 => format!("{}:{}", bounds[0][i], bounds[1][i]),
            stride => format!("{}:{}:{stride}", bounds[0][i], bounds[1][i]),
        };
        let entries: Vec<String> = (0..sizes.len()).map(entry).collect();
        format!("stablehlo.slice {of} [{}] : ({from}) -> {to}", entries.join(", "))
    };
    let mut builder = Builder::new(random);
    builder.tensor("%x", &known(&from), &from);
    let (middle, result) = match reshaped {
        Some(reshaped) => (known(reshaped), known(&sizes)),
        None => {
            // The sizes with dimensions split in two or merged.
            let mut other: Vec<i64> = Vec::new();
            for &size in &sizes {
                let part = divisor_of(builder.random, size);
                match other.last_mut() {
                    Some(last) if builder.random.one_in(3) => *last *= size,
                    _ if builder.random.one_in(2) => other.extend([part, size / part]),
                    _ => other.push(size),
                }
            }
            (known(&sizes), known(&other))
        }
    };
    let reshape = |of: &str, from: &str, to: &str| format!("stablehlo.reshape {of} : ({from}) -> {to}");
    let from = known(&from);
    let (first, second) = match is_slice_first {
        true => (slice("%x", &from, &middle), reshape("%y", &middle, &result)),
        false => (reshape("%x", &from, &middle), slice("%y", &middle, &result)),
    };
    builder.lines.push(format!("%y = {first}"));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({middle}) -> ()"));
    }
    builder.lines.push(format!("%z = {second}"));
    builder.lines.push(format!("\"test.use\"(%z) : ({result}) -> ()"));
    builder.program("")
}
