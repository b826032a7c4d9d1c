//! Pieces of Markdown that read well in a narrow popup.

/// Bytes with their unit: `800 B`, `12.6 MB`. Powers of ten, as data sheets count bandwidth.
pub(crate) fn bytes(count: u64) -> String {
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

/// A fenced block of `language`.
pub(crate) fn fence(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```\n")
}

/// Text as Markdown shows it verbatim inside a line.
pub(crate) fn code(text: &str) -> String {
    // A backtick inside would end the span.
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

/// At most `limit` characters, with a mark where something was left out.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits() {
        let shown: Vec<_> = [0, 800, 1000, 1024, 12_582_912, 999_999, 1 << 40].map(bytes).to_vec();
        assert_eq!(shown, ["0 B", "800 B", "1 kB", "1.02 kB", "12.6 MB", "1 MB", "1.1 TB"]);
    }
}
