//! The forms of numbers. Each function returns the end of its form if the text at an offset has it.
//!
//! Source: the regular expressions of XLA `hlo/parser/hlo_lexer.cc`, in their order.

pub(crate) fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// `1.`, `1.5`, `.5`, `1e5`, `1.5e-5`, without the sign.
pub(crate) fn decimal(bytes: &[u8], at: usize) -> Option<usize> {
    let whole = digits_end(bytes, at);
    let (end, dot) = match bytes.get(whole) {
        Some(b'.') => (digits_end(bytes, whole + 1), true),
        _ => (whole, false),
    };
    let has_digits = whole > at || (dot && end > whole + 1);
    if !has_digits {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits_end(bytes, end + 1 + sign);
        if exponent > end + 1 + sign {
            return Some(exponent);
        }
    }
    dot.then_some(end)
}

fn labels_end(bytes: &[u8], at: usize, letters: &[u8]) -> Option<usize> {
    let mut end = at;
    while bytes.get(end).is_some_and(|b| b.is_ascii_digit() || *b == b'?' || letters.contains(b)) {
        end += 1;
    }
    (end >= at + 2).then_some(end)
}

/// `b01f_01io->b01f`.
pub(crate) fn dim_labels(bytes: &[u8], at: usize) -> Option<usize> {
    let input = labels_end(bytes, at, b"bf")?;
    if bytes.get(input) != Some(&b'_') {
        return None;
    }
    let kernel = labels_end(bytes, input + 1, b"io")?;
    if bytes.get(kernel..kernel + 2) != Some(b"->") {
        return None;
    }
    labels_end(bytes, kernel + 2, b"bf")
}

/// `3x3`, `1x2x3`.
pub(crate) fn dxd(bytes: &[u8], at: usize) -> Option<usize> {
    let first = digits_end(bytes, at);
    let mut end = first;
    while bytes.get(end) == Some(&b'x') {
        let next = digits_end(bytes, end + 1);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    (end > first).then_some(end)
}

/// `0_1`, `0_1x2_3`, `-1_2_3`.
pub(crate) fn pad(bytes: &[u8], at: usize) -> Option<usize> {
    let group = |at: usize| -> Option<usize> {
        let number = |at: usize| {
            let from = at + usize::from(bytes.get(at) == Some(&b'-'));
            let end = digits_end(bytes, from);
            (end > from).then_some(end)
        };
        let low = number(at)?;
        if bytes.get(low) != Some(&b'_') {
            return None;
        }
        let high = number(low + 1)?;
        if bytes.get(high) == Some(&b'_')
            && let end = digits_end(bytes, high + 1)
            && end > high + 1
        {
            return Some(end);
        }
        Some(high)
    };
    let mut end = group(at)?;
    while bytes.get(end) == Some(&b'x')
        && let Some(next) = group(end + 1)
    {
        end = next;
    }
    Some(end)
}

/// `(0x7fc01)` after `nan`.
pub(crate) fn nan_payload(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at..at + 3) == Some(b"(0x") {
        let mut end = at + 3;
        while bytes.get(end).is_some_and(u8::is_ascii_hexdigit) {
            end += 1;
        }
        if end > at + 3 && bytes.get(end) == Some(&b')') {
            return end + 1;
        }
    }
    at
}
