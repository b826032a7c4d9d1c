//! Numbers with their units, and texts cut to a length.

use std::fmt::{self, Write as _};

/// Bytes with a unit: `800 B`, `12.6 MB`. Powers of ten, as data sheets state bandwidth.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    let number = format!("{value:.decimals$}");
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number} {}", UNITS[unit])
}

/// Three digits and the start of a unit: `640 `, `1.02 k`.
pub(crate) fn scaled(count: u64) -> String {
    // Units of bytes are powers of ten too.
    let shown = bytes(count);
    shown.strip_suffix('B').unwrap_or(&shown).to_owned()
}

/// `1 launch`, `3 launches`, `0 functions`: a count with its unit, which is given in the singular.
pub fn counted(count: u64, one: &str) -> String {
    format!("{count} {}", plural(one, count == 1))
}

/// An average with its unit: `1 sector`, `3.5 sectors`.
pub(crate) fn averaged(average: f64, one: &str) -> String {
    let shown = figure(average);
    let is_one = shown == "1";
    format!("{shown} {}", plural(one, is_one))
}

fn plural(one: &str, is_one: bool) -> String {
    match is_one {
        true => one.to_owned(),
        // For example "launch", "branch" and "pass".
        false if one.ends_with("ch") || one.ends_with("ss") => format!("{one}es"),
        false => format!("{one}s"),
    }
}

/// A number with at most two decimals.
pub(crate) fn figure(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// At most `limit` characters, with a mark for omitted text.
pub fn shorten(text: impl fmt::Display, limit: usize) -> String {
    let mut short = Short { text: String::new(), left: limit };
    if write!(short, "{text}").is_err() {
        short.text.push('…');
    }
    short.text
}

/// A writer that fails at its limit, so that formatting stops there.
struct Short {
    text: String,
    /// The number of characters.
    left: usize,
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_text_is_cut_and_marked() {
        assert_eq!(
            [shorten("äbc", 3), shorten("äbcd", 3), shorten(12345, 2), shorten("", 0)],
            ["äbc", "äbc…", "12…", ""]
        );
    }

    #[test]
    fn one_is_singular() {
        let shown = [0, 1, 2].map(|n| format!("{}, {}", counted(n, "launch"), counted(n, "element")));
        assert_eq!(shown, ["0 launches, 0 elements", "1 launch, 1 element", "2 launches, 2 elements"]);
        let shown = [0.999, 1.0, 1.01, 3.5].map(|n| averaged(n, "sector"));
        assert_eq!(shown, ["1 sector", "1 sector", "1.01 sectors", "3.5 sectors"]);
    }

    #[test]
    fn bytes_have_three_digits() {
        let shown: Vec<_> = [0, 800, 1000, 1024, 12_582_912, 999_999, 1 << 40].map(bytes).to_vec();
        assert_eq!(shown, ["0 B", "800 B", "1 kB", "1.02 kB", "12.6 MB", "1 MB", "1.1 TB"]);
    }
}
