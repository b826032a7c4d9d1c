//! The values of the first module that an instruction stands for.
//!
//! Source: XLA `hlo/ir/hlo_original_value.cc`.

use std::collections::BTreeMap;

use ir::AttributeValue;

use super::{Context, Proto};
use crate::messages::{OriginalArrayProto, OriginalValueElementProto, OriginalValueProto};
use crate::scan::{OtherForm, Scanned, Scanner, quoted, write_list};

/// Names of shapes: what a tuple has more elements than these is not written.
const MAX_ELEMENTS: i64 = 1 << 16;

/// `{({}, {"v2" {0,1}})}`, `{[synthetic_call]}`
pub(super) fn take(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let origin = proto.original_value.as_ref()?;
    let mut out = String::from("{");
    if origin.is_synthetic_call {
        out.push_str("[synthetic_call]");
    } else {
        let mut tree = Tree::default();
        for element in &origin.elements {
            tree.insert(&element.shape_index, element.original_array.as_ref())?;
        }
        tree.write(&mut out)?;
    }
    out.push('}');
    proto.original_value = None;
    Some(AttributeValue::Text(out))
}

/// The values by their places in a tuple.
#[derive(Default)]
struct Tree<'a> {
    array: Option<&'a OriginalArrayProto>,
    elements: BTreeMap<i64, Tree<'a>>,
}

impl<'a> Tree<'a> {
    fn insert(&mut self, index: &[i64], array: Option<&'a OriginalArrayProto>) -> Option<()> {
        if index.len() > syntax::MAX_DEPTH as usize {
            return None;
        }
        let mut at = self;
        for &i in index {
            if !(0..MAX_ELEMENTS).contains(&i) {
                return None;
            }
            at = at.elements.entry(i).or_default();
        }
        at.array = array;
        Some(())
    }

    fn write(&self, out: &mut String) -> Option<()> {
        if self.elements.is_empty() {
            out.push('{');
            if let Some(array) = self.array {
                write_original_array(out, array);
            }
            out.push('}');
            return Some(());
        }
        out.push('(');
        for (place, (&i, element)) in self.elements.iter().enumerate() {
            // All elements of a tuple are there.
            if i != place as i64 {
                return None;
            }
            out.push_str(if place > 0 { ", " } else { "" });
            recursion::grow(|| element.write(out))?;
        }
        out.push(')');
        Some(())
    }
}

/// `"v2" {0,1}`
pub(crate) fn write_original_array(out: &mut String, array: &OriginalArrayProto) {
    out.push_str(&quoted(array.instruction_name.as_bytes()));
    if !array.shape_index.is_empty() {
        out.push(' ');
        write_list(out, '{', '}', &array.shape_index);
    }
}

pub(crate) fn original_array(scanner: &mut Scanner<'_>) -> Scanned<OriginalArrayProto> {
    let instruction_name = scanner.text()?;
    let shape_index = if scanner.at('{') { scanner.ints()? } else { Vec::new() };
    Ok(OriginalArrayProto { instruction_name, shape_index })
}

pub(super) fn put(proto: &mut Proto, value: &AttributeValue, _: &mut Context<'_>) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut scanner = Scanner::new(text);
    let mut origin = OriginalValueProto::default();
    let mut read = || -> Scanned<()> {
        scanner.expect('{')?;
        if scanner.eat('[') {
            if !scanner.eat_word("synthetic_call") {
                return Err(OtherForm);
            }
            scanner.expect(']')?;
            origin.is_synthetic_call = true;
        } else {
            node(&mut scanner, &mut Vec::new(), &mut origin)?;
        }
        scanner.expect('}')?;
        scanner.end()
    };
    read().map_err(|_| String::new())?;
    proto.original_value = Some(origin);
    Ok(())
}

fn node(scanner: &mut Scanner<'_>, index: &mut Vec<i64>, origin: &mut OriginalValueProto) -> Scanned<()> {
    if index.len() > syntax::MAX_DEPTH as usize {
        return Err(OtherForm);
    }
    if scanner.eat('(') {
        let mut i = 0;
        while !scanner.eat(')') {
            scanner.eat(',');
            index.push(i);
            recursion::grow(|| node(scanner, index, origin))?;
            index.pop();
            i += 1;
        }
        return Ok(());
    }
    scanner.expect('{')?;
    let original_array = if scanner.at('}') { None } else { Some(original_array(scanner)?) };
    scanner.expect('}')?;
    origin.elements.push(OriginalValueElementProto { shape_index: index.clone(), original_array });
    Ok(())
}
