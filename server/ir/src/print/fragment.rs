//! A part of the grammar on its own, in canonical form.

use syntax::hlo::{AttributeKey, Fragment, ValueNode, parse_fragment};

use super::shapes::write_shape;
use super::value::write_value;
use super::values;
use crate::attributes::{ValueRef, WindowDim};
use crate::shape::{Layout, Shape};

/// The canonical form of `text` read as one `fragment`; nothing where it has errors.
pub fn print_fragment(text: &str, fragment: Fragment, metadata: bool) -> Option<String> {
    let (parse, value) = parse_fragment(text, fragment);
    if !parse.errors.is_empty() {
        return None;
    }
    let text = text.trim();
    let mut out = String::new();
    match (fragment, value) {
        (Fragment::Shape, _) => write_shape(&mut out, &Shape::from_text(text)?),
        (Fragment::Layout, _) => out = Layout::from_syntax(parse.layouts.first()?).to_string(),
        (Fragment::Sharding, _) => values::write_sharding(&mut out, text, metadata),
        (Fragment::FrontendAttributes, _) => values::write_frontend_attributes(&mut out, text),
        (Fragment::ReplicaGroups, _) => values::write_replica_groups(&mut out, text),
        (Fragment::PaddingConfig, Some(ValueNode::Triples { start, len })) => {
            let padding = ValueRef::Triples(parse.ints(start, len).as_chunks::<3>().0);
            write_value(&mut out, Some(AttributeKey::Padding), &padding, metadata);
        }
        (Fragment::Window, Some(ValueNode::Window { start, len })) => {
            let window = ValueRef::Window(WindowDim::of_numbers(parse.ints(start, len)));
            write_value(&mut out, Some(AttributeKey::Window), &window, metadata);
        }
        _ => out.push_str(text),
    }
    Some(out)
}
