//! Letters between quotes: MLIR escapes bytes by two hexadecimal digits, HLO as C does.

/// The inside of a string of HLO, from that of one of MLIR.
pub(crate) fn hlo_string(mlir: &str) -> String {
    if !mlir.bytes().any(|b| matches!(b, b'\\' | b'\'')) {
        return mlir.to_owned();
    }
    let mut out = String::with_capacity(mlir.len());
    let mut rest = mlir;
    while let Some(at) = rest.find(['\\', '\'']) {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        if rest.as_bytes()[at] == b'\'' {
            out.push_str("\\'");
            rest = escape;
            continue;
        }
        let digits = escape.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (digits, escape.chars().next()) {
            (Some(byte), _) => {
                out.push_str(&format!("\\{byte:03o}"));
                rest = &escape[2..];
            }
            (None, Some(c)) => {
                out.push('\\');
                out.push(c);
                rest = &escape[c.len_utf8()..];
            }
            (None, None) => rest = "",
        }
    }
    out + rest
}

/// The inside of a string of MLIR, from that of one of HLO.
pub(crate) fn mlir_string(hlo: &str) -> String {
    if !hlo.bytes().any(|b| matches!(b, b'\\' | b'"')) {
        return hlo.to_owned();
    }
    let mut out = String::with_capacity(hlo.len());
    let mut letters = hlo.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => match letters.next() {
                Some('n') => out.push_str("\\0A"),
                Some('t') => out.push_str("\\09"),
                Some('r') => out.push_str("\\0D"),
                Some('\\') => out.push_str("\\\\"),
                Some('"') => out.push_str("\\22"),
                Some(first @ '0'..='7') => {
                    let mut value = first.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(digit) = letters.peek().and_then(|c| c.to_digit(8)) else { break };
                        value = value * 8 + digit;
                        letters.next();
                    }
                    out.push_str(&format!("\\{:02X}", value as u8));
                }
                Some('x') => {
                    let mut value = 0;
                    for _ in 0..2 {
                        let Some(digit) = letters.peek().and_then(|c| c.to_digit(16)) else { break };
                        value = value * 16 + digit;
                        letters.next();
                    }
                    out.push_str(&format!("\\{:02X}", value as u8));
                }
                Some(other) => out.push(other),
                None => out.push_str("\\\\"),
            },
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back() {
        for hlo in ["plain", r"a\042b", r"\\", r"\012", "it\\'s"] {
            assert_eq!(hlo_string(&mlir_string(hlo)), hlo);
        }
        assert_eq!(mlir_string(r#"say \"x\""#), r"say \22x\22");
        assert_eq!(hlo_string(r#"{\22a\22: 1}"#), r"{\042a\042: 1}");
    }
}
