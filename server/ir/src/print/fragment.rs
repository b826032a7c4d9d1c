//! A part of the grammar on its own, in canonical form.

use syntax::hlo::{Fragment, Value, parse_fragment};

use super::instruction::{write_padding, write_window};
use super::shapes::write_shape;
use super::values;
use crate::shape::{Layout, shape_from_text};

/// The canonical form of `text` read as one `fragment`; nothing where it has errors.
pub fn print_fragment(text: &str, fragment: Fragment, metadata: bool) -> Option<String> {
    let (parse, value) = parse_fragment(text, fragment);
    if !parse.errors.is_empty() {
        return None;
    }
    let text = text.trim();
    let mut out = String::new();
    match (fragment, value) {
        (Fragment::Shape, _) => write_shape(&mut out, &shape_from_text(text)?),
        (Fragment::Layout, _) => out = Layout::from_syntax(parse.layouts.first()?).to_string(),
        (Fragment::Sharding, _) => values::write_sharding(&mut out, text, metadata),
        (Fragment::FrontendAttributes, _) => values::write_frontend_attributes(&mut out, text),
        (Fragment::ReplicaGroups, _) => values::write_replica_groups(&mut out, text),
        (Fragment::PaddingConfig, Some(Value::Triples { start, len })) => {
            write_padding(&mut out, parse.ints(start, len).as_chunks::<3>().0);
        }
        (Fragment::Window, Some(Value::Window { start, len })) => {
            write_window(&mut out, parse.ints(start, len).as_chunks::<7>().0);
        }
        _ => out.push_str(text),
    }
    Some(out)
}
