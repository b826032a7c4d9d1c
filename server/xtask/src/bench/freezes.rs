//! The latency of an edit during running requests, and the computation after a cancellation.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::commands::cargo;

/// The largest value of one figure.
#[derive(Default)]
struct Largest {
    ms: f64,
    count: usize,
    /// The input and the request of that value.
    of: String,
}

/// Runs the requests of `tests/lsp/nothing_blocks.rs`, which print their measurements.
pub fn freezes(server: &Path, profile: &str) -> Result<()> {
    println!(
        "\nfreezes: every request that computes, on inputs that keep it busy, when an edit comes and when it is cancelled"
    );
    let test = ["test", "--quiet", "--profile", profile, "--package", "hlo-analyzer-tests", "--test", "lsp"];
    let filter = ["--", "--nocapture", "--test-threads", "1", "nothing_waits_for"];
    let mut test = cargo(&[&test[..], &filter].concat());
    let done = test
        .env("HLO_ANALYZER_BIN", server)
        .stdin(Stdio::null())
        .output()
        .context("cannot start the test")?;
    let printed = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        bail!("the test of freezes failed: {}\n{}", done.status, printed.trim_end());
    }
    for (key, what) in
        [("freeze: ", "from an edit to an answer"), ("cancel: ", "of processor time after a cancellation")]
    {
        let largest = largest(&printed, key);
        println!("{:.1} ms {what}, the largest of {}: {}", largest.ms, largest.count, largest.of);
    }
    Ok(())
}

/// The largest value in lines like `freeze: 1.5ms from an edit to an answer: INPUT: REQUEST`.
fn largest(printed: &str, key: &str) -> Largest {
    let mut largest = Largest::default();
    for line in printed.lines().filter_map(|line| line.strip_prefix(key)) {
        let Some((ms, of)) = line.split_once(' ').and_then(|(time, of)| Some((milliseconds(time)?, of)))
        else {
            continue;
        };
        largest.count += 1;
        if ms >= largest.ms {
            let of = of.split_once(": ").map_or(of, |(_, of)| of);
            (largest.ms, largest.of) = (ms, of.to_owned());
        }
    }
    largest
}

/// A duration as `Debug` prints it: `1.5ms`, `2s`.
fn milliseconds(duration: &str) -> Option<f64> {
    let digits = duration.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = duration.split_at(digits);
    let factor = match unit {
        "ns" => 1e-6,
        "µs" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_counts() {
        let printed = "freeze: 1.5ms from an edit to an answer: a: hover\nfreeze: 900µs from an edit: b: x\n\
                       cancel: 2s of processor time: a: hover (it was done)\nfreeze: soon: x\n";
        let found = largest(printed, "freeze: ");
        assert_eq!((found.ms, found.count, found.of.as_str()), (1.5, 2, "a: hover"));
        assert_eq!(largest(printed, "cancel: ").ms, 2000.0);
    }
}
