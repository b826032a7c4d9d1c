//! Shardings as messages of XLA's, byte by byte in a string: what frontends write of many devices.
//!
//! Source: `xla/xla_data.proto` OpSharding, and the texts that XLA, of jaxlib 0.12.0.1, prints of them.

use crate::lists::joined;

/// Tuples in tuples beyond this depth are not read.
const MAX_DEPTH: usize = 16;

/// The sharding as HLO has it, of the inside of a string of MLIR. Nothing where it is no such message, or holds what is not
/// known here.
pub(crate) fn sharding_of_message(text: &str) -> Option<String> {
    sharding(&bytes(text)?, 0)
}

/// The bytes of a string: of most of them two hexadecimal digits are written.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            found.push(byte);
            continue;
        }
        let (value, length) = match *rest.first()? {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            sign @ (b'\\' | b'"') => (sign, 1),
            _ => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, 2)
            }
        };
        found.push(value);
        rest = &rest[length..];
    }
    Some(found)
}

/// A field's value: a number, or bytes.
enum FieldValue<'m> {
    Number(i64),
    Bytes(&'m [u8]),
}

/// A varint, seven bits per byte with the lowest first, and the rest.
fn varint(message: &[u8]) -> Option<(i64, &[u8])> {
    let mut value = 0u64;
    for (at, &byte) in message.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7F).checked_shl(7 * at as u32)?;
        if byte < 0x80 {
            return Some((value as i64, &message[at + 1..]));
        }
    }
    None
}

/// The number and the value of the first field, and the rest.
fn field(message: &[u8]) -> Option<(i64, FieldValue<'_>, &[u8])> {
    let (key, rest) = varint(message)?;
    match key & 7 {
        0 => {
            let (value, rest) = varint(rest)?;
            Some((key >> 3, FieldValue::Number(value), rest))
        }
        2 => {
            let (length, rest) = varint(rest)?;
            let (body, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((key >> 3, FieldValue::Bytes(body), rest))
        }
        _ => None,
    }
}

fn sharding(mut message: &[u8], depth: usize) -> Option<String> {
    let (mut kind, mut replicates_last) = (0, false);
    let [mut tiles, mut devices, mut last, mut shape, mut order] = [const { Vec::new() }; 5];
    let mut elements = Vec::new();
    let (mut is_in_group, mut group, mut is_like) = (false, 0, false);
    while !message.is_empty() {
        let (number, value, behind) = field(message)?;
        message = behind;
        // Numbers are packed, or fields of their own.
        let add = |list: &mut Vec<i64>, value: &FieldValue<'_>| {
            let FieldValue::Bytes(mut packed) = *value else {
                if let FieldValue::Number(one) = *value {
                    list.push(one);
                }
                return Some(());
            };
            while !packed.is_empty() {
                let (one, behind) = varint(packed)?;
                list.push(one);
                packed = behind;
            }
            Some(())
        };
        match (number, value) {
            (1, FieldValue::Number(value)) => kind = value,
            (3, value) => add(&mut tiles, &value)?,
            (4, value) => add(&mut devices, &value)?,
            (5, FieldValue::Bytes(element)) if depth < MAX_DEPTH => {
                elements.push(sharding(element, depth + 1)?)
            }
            (6, FieldValue::Number(value)) => replicates_last = value != 0,
            // Where it comes from.
            (7, FieldValue::Bytes(_)) => {}
            (8, value) => add(&mut last, &value)?,
            (9, value) => add(&mut shape, &value)?,
            (10, value) => add(&mut order, &value)?,
            (11, FieldValue::Number(value)) => is_in_group = value != 0,
            (12, FieldValue::Number(value)) => group = value,
            (13, FieldValue::Number(value)) => is_like = value != 0,
            _ => return None,
        }
    }
    let word = |kind: i64| {
        Some(match kind {
            0 => "replicated",
            4 => "manual",
            5 => "unknown",
            6 => "unreduced",
            _ => return None,
        })
    };
    let mut text = match kind {
        1 => format!("maximal device={}", devices.first()?),
        2 => return Some(format!("{{{}}}", elements.join(", "))),
        3 => {
            let list = match shape.is_empty() {
                true => joined(&devices, ","),
                false if order.is_sorted() => format!("<=[{}]", joined(&shape, ",")),
                false => format!("<=[{}]T({})", joined(&shape, ","), joined(&order, ",")),
            };
            format!("devices=[{}]{list}", joined(&tiles, ","))
        }
        kind => word(kind)?.to_owned(),
    };
    if replicates_last {
        text += " last_tile_dim_replicate";
    }
    if !last.is_empty() {
        let kinds: Vec<&str> = last.into_iter().map(word).collect::<Option<_>>()?;
        text += &format!(" last_tile_dims={{{}}}", kinds.join(", "));
    }
    if is_in_group {
        text += &format!(" shard_{} {group}", if is_like { "like" } else { "as" });
    }
    Some(format!("{{{text}}}"))
}

#[cfg(test)]
mod tests {
    use super::sharding_of_message;

    #[test]
    fn messages_are_the_texts_of_xla() {
        for (message, text) in [
            ("", "{replicated}"),
            (r"\08\01\22\01\03", "{maximal device=3}"),
            (r"\08\04", "{manual}"),
            (r"\08\05", "{unknown}"),
            (r"\08\03\1A\02\02\01\22\02\00\01", "{devices=[2,1]0,1}"),
            // Letters are not escaped.
            (r"\08\03\1A\02\02\02J\01\04R\01\00", "{devices=[2,2]<=[4]}"),
            (r"\08\03\1A\02\02\02J\02\02\02R\02\01\00", "{devices=[2,2]<=[2,2]T(1,0)}"),
            (r"\08\03\1A\03\02\01\020\01J\01\04R\01\00", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"),
            (
                r"\08\03\1A\04\02\01\02\02B\02\04\00J\01\08R\01\00",
                "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}",
            ),
            (r"\08\02*\00*\0B\08\03\1A\01\02J\01\02R\01\00", "{{replicated}, {devices=[2]<=[2]}}"),
            (r"\08\02", "{}"),
            (r"\08\03\1A\02\02\02\22\04\03\02\01\00", "{devices=[2,2]3,2,1,0}"),
            (r"\08\03\1A\02\01\02J\01\02R\01\00X\01`\03", "{devices=[1,2]<=[2] shard_as 3}"),
            (r"X\01`\04h\01", "{replicated shard_like 4}"),
            (r"\08\03\1A\03\AC\02\02J\02\D8\04R\01\00", "{devices=[300,2]<=[600]}"),
            (r"\08\03\1A\02\02\02:\03\12\01xJ\01\04R\01\00", "{devices=[2,2]<=[4]}"),
        ] {
            assert_eq!(sharding_of_message(message).as_deref(), Some(text), "{message}");
        }
    }

    #[test]
    fn what_is_no_message_is_nothing() {
        for text in [
            "x",
            r"\08",
            r"\08\07",
            r"\08\03\1A\09\02",
            r"\zz",
            r"\",
            r"\FF\FF\FF\FF\FF\FF\FF\FF\FF\FF\FF",
            r"\A2\06\00",
        ] {
            assert_eq!(sharding_of_message(text), None, "{text}");
        }
        let deep = (0..25)
            .fold(Vec::new(), |inner: Vec<u8>, _| [&[8, 2, 0x2A, inner.len() as u8][..], &inner].concat());
        let deep: String = deep.iter().map(|byte| format!("\\{byte:02X}")).collect();
        assert_eq!(sharding_of_message(&deep), None);
    }
}
