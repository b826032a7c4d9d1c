//! The wire format: the fields of a message without knowing what it is, and walks with a schema.
//!
//! Source: the encoding of protocol buffers, <https://protobuf.dev/programming-guides/encoding/>.

use std::collections::BTreeMap;

use crate::messages::{Field, Schema};

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Varints, and numbers of 32 and 64 bits.
    Number(u64),
    Bytes(&'a [u8]),
}

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault<'a> {
    /// The bytes end in a field; what there is of it, where it holds bytes.
    Truncated {
        field: u32,
        present: &'a [u8],
        missing: u64,
    },
    Invalid,
}

/// The fields of a message in the order of its bytes. Ends after the first fault.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes }
    }

    fn varint(&mut self) -> Result<u64, Fault<'a>> {
        let mut value = 0u64;
        for at in 0..10 {
            let Some(&byte) = self.rest.get(at) else {
                return Err(Fault::Truncated { field: 0, present: &[], missing: 1 });
            };
            value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32).unwrap_or_default();
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Ok(value);
            }
        }
        Err(Fault::Invalid)
    }

    fn bytes(&mut self, field: u32, len: u64) -> Result<&'a [u8], Fault<'a>> {
        let available = self.rest.len() as u64;
        if len > available {
            return Err(Fault::Truncated { field, present: self.rest, missing: len - available });
        }
        let (bytes, rest) = self.rest.split_at(len as usize);
        self.rest = rest;
        Ok(bytes)
    }

    fn field(&mut self) -> Result<(u32, Value<'a>), Fault<'a>> {
        let tag = self.varint()?;
        let field = u32::try_from(tag >> 3).map_err(|_| Fault::Invalid)?;
        if field == 0 || field > MAX_FIELD {
            return Err(Fault::Invalid);
        }
        let number = |bytes: &[u8]| {
            Value::Number(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
        };
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => number(self.bytes(field, 8)?),
            2 => {
                let len = self.varint()?;
                Value::Bytes(self.bytes(field, len)?)
            }
            5 => number(self.bytes(field, 4)?),
            // Groups, which no message of XLA has.
            _ => return Err(Fault::Invalid),
        };
        Ok((field, value))
    }
}

const MAX_FIELD: u32 = (1 << 29) - 1;

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Fault<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// What a walk over all of a message found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Fields that the schema lacks: the message and the number, and how often.
    pub(crate) unknown: BTreeMap<(&'static str, u32), u64>,
    /// About how many bytes the message takes in memory.
    pub(crate) memory: u64,
}

/// The nesting that `prost` decodes.
const MAX_DEPTH: u32 = 100;

impl Survey {
    /// Walks over a message and those in it.
    pub(crate) fn of(bytes: &[u8], schema: &'static Schema) -> Result<Survey, String> {
        let mut survey = Survey::default();
        survey.walk(bytes, schema, 0)?;
        Ok(survey)
    }

    fn walk(&mut self, bytes: &[u8], schema: &'static Schema, depth: u32) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("messages are nested deeper than {MAX_DEPTH} levels"));
        }
        self.memory = self.memory.saturating_add(schema.size as u64);
        for field in Fields::new(bytes) {
            cancel::tick();
            let (number, value) = match field {
                Ok(field) => field,
                Err(Fault::Truncated { missing, .. }) => {
                    return Err(format!("a message of type {} ends {missing} bytes early", schema.name));
                }
                Err(Fault::Invalid) => return Err(format!("a message of type {} is damaged", schema.name)),
            };
            let Some(known) = schema.field(number) else {
                *self.unknown.entry((schema.name, number)).or_default() += 1;
                continue;
            };
            match (known.message, value) {
                (Some(message), Value::Bytes(bytes)) => {
                    recursion::grow(|| self.walk(bytes, message(), depth + 1))?;
                }
                (Some(_), Value::Number(_)) => {
                    return Err(format!(
                        "field {} of {} holds a number, not a message",
                        known.name, schema.name
                    ));
                }
                // Packed numbers of one byte become eight, strings have a header of their own.
                (None, Value::Bytes(bytes)) => {
                    self.memory = self.memory.saturating_add(8 * bytes.len() as u64 + 32)
                }
                (None, Value::Number(_)) => self.memory = self.memory.saturating_add(8),
            }
        }
        Ok(())
    }
}

/// The names of the fields of a message that say something: messages all of whose fields are absent do not.
pub(crate) fn names_of_fields(bytes: &[u8], schema: &'static Schema) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (number, value) in Fields::new(bytes).filter_map(Result::ok) {
        let Some(field) = schema.field(number) else { continue };
        if !names.contains(&field.name) && says_something(value, field, 0) {
            names.push(field.name);
        }
    }
    names
}

fn says_something(value: Value<'_>, field: &'static Field, depth: u32) -> bool {
    match (value, field.message) {
        (Value::Bytes(bytes), Some(message)) if depth < MAX_DEPTH => {
            let mut fields = Fields::new(bytes).filter_map(Result::ok);
            fields.any(|(number, value)| {
                let field = message().field(number);
                field.is_some_and(|field| recursion::grow(|| says_something(value, field, depth + 1)))
            })
        }
        (Value::Bytes(bytes), _) => !bytes.is_empty(),
        (Value::Number(_), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_one_by_one() {
        let bytes = [0x0a, 2, b'h', b'i', 0x18, 0x96, 0x01, 0x25, 1, 0, 0, 0, 0x29, 2, 0, 0, 0, 0, 0, 0, 0];
        let fields: Vec<_> = Fields::new(&bytes).map(Result::unwrap).collect();
        let number = Value::Number;
        assert_eq!(fields, [(1, Value::Bytes(b"hi")), (3, number(150)), (4, number(1)), (5, number(2))]);
    }

    #[test]
    fn faults_end_the_walk() {
        let fault = |bytes: &'static [u8]| Fields::new(bytes).find_map(Result::err);
        assert_eq!(
            fault(&[0x0a, 5, b'h', b'i']),
            Some(Fault::Truncated { field: 1, present: b"hi", missing: 3 })
        );
        assert_eq!(fault(&[0x08]), Some(Fault::Truncated { field: 0, present: &[], missing: 1 }));
        assert_eq!(fault(&[0x0b]), Some(Fault::Invalid), "a group");
        assert_eq!(fault(&[0x00]), Some(Fault::Invalid), "field 0");
        assert_eq!(fault(&[0xff; 11]), Some(Fault::Invalid), "a long varint");
    }
}
