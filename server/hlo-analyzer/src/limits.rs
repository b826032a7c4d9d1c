//! Limits of what is read, so that a small archive or a wrong path cannot exhaust memory. A flag raises each of them, and the message
//! about what exceeds a limit names the flag.

use std::sync::OnceLock;
use std::time::Duration;

use crate::budget::{Budget, Exceeded};

#[derive(clap::Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Read at most so many MiB of a file, after unpacking.
    #[arg(long, global = true, hide_short_help = true, value_name = "MIB", default_value_t = 1024)]
    max_input: u64,
    /// Take at most so many MiB of text in a request of `query` that holds several texts in memory.
    #[arg(long, global = true, hide_short_help = true, value_name = "MIB", default_value_t = 64)]
    max_text: u64,
    /// Take at most so many MiB of one request of `query`.
    #[arg(long, global = true, hide_short_help = true, value_name = "MIB", default_value_t = 256)]
    max_request: u64,
    /// End a request of `query` or `mcp` that takes longer than so many seconds; 0 for none.
    #[arg(long, global = true, hide_short_help = true, value_name = "SECONDS", default_value_t = 300)]
    max_time: u64,
    /// End a request of `query` or `mcp` during which the process grows by more than so many MiB; 0 for none.
    #[arg(long, global = true, hide_short_help = true, value_name = "MIB", default_value_t = 8192)]
    max_memory: u64,
    /// List folders of at most so many files.
    #[arg(long, global = true, hide_short_help = true, value_name = "N", default_value_t = 100_000)]
    max_files: usize,
}

static LIMITS: OnceLock<Limits> = OnceLock::new();

fn limits() -> Limits {
    *LIMITS.get_or_init(|| Limits {
        max_input: 1024,
        max_text: 64,
        max_request: 256,
        max_time: 300,
        max_memory: 8192,
        max_files: 100_000,
    })
}

impl Limits {
    /// Makes these the limits of the process.
    pub fn set(self) {
        // They are set once, at its start.
        _ = LIMITS.set(self);
    }
}

/// The most bytes of one file.
pub fn input_bytes() -> u64 {
    limits().max_input.saturating_mul(1 << 20)
}

/// Says that a file has more bytes.
pub fn larger_input() -> String {
    format!("larger than the limit of {} MiB; --max-input MIB raises it", limits().max_input)
}

/// An error if these texts of a request have too many bytes.
///
/// # Errors
/// What is too long, and the flag that raises the limit.
pub fn check_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), String> {
    let bytes: u64 = texts.into_iter().map(|text| text.len() as u64).sum();
    let limit = limits().max_text;
    match bytes > limit.saturating_mul(1 << 20) {
        true => Err(format!("the text has {bytes} bytes, more than {limit} MiB; --max-text MIB raises that")),
        false => Ok(()),
    }
}

/// The most bytes of one line of `query`: by default enough for a module of 40 MB with every character escaped.
pub fn request_bytes() -> u64 {
    limits().max_request.saturating_mul(1 << 20)
}

/// What one request may take.
pub fn budget() -> Budget {
    let Limits { max_time, max_memory, .. } = limits();
    Budget {
        time: Some(max_time).filter(|seconds| *seconds > 0).map(Duration::from_secs),
        memory: Some(max_memory).filter(|mib| *mib > 0).map(|mib| mib.saturating_mul(1 << 20)),
    }
}

/// Says that work took more.
pub fn exceeded(what: &str, exceeded: Exceeded) -> String {
    exceeded.message(what, ["--max-time SECONDS", "--max-memory MIB"])
}

/// The most files of one folder.
pub fn folder_files() -> usize {
    limits().max_files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_names_the_flag() {
        let text = " ".repeat(40 << 20);
        assert_eq!(check_texts([text.as_str()]), Ok(()));
        let error = check_texts([text.as_str(), text.as_str()]).expect_err("80 MiB are more than 64");
        assert_eq!(error, "the text has 83886080 bytes, more than 64 MiB; --max-text MIB raises that");
    }
}
