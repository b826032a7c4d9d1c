//! Hashes of what is compared: shapes, attributes and metadata, without what means nothing.

use syntax::hlo::{AttributeKey, Parse, ShapeNode};

use crate::hash::{Hash, Kind, text as text_hash};

/// Hashes of a shape with and without layout, and its number of elements.
pub(super) type ShapeHashes = (u64, u64, u64);

/// Per shape of the parse. Inner shapes stand before outer ones.
pub(super) fn shapes(parse: &Parse) -> Vec<ShapeHashes> {
    let mut known: Vec<ShapeHashes> = Vec::with_capacity(parse.shapes.len());
    for shape in &parse.shapes {
        let start = Hash::of(Kind::Shape);
        let hashes = match shape {
            ShapeNode::Array { element, dims, layout } => {
                let dims = parse.ints(dims.0, dims.1);
                let array = start.text(element.name()).words(dims.iter().map(|&d| d as u64));
                let elements = dims.iter().fold(1u64, |n, &d| n.saturating_mul(d.unsigned_abs()));
                let layout = layout.map(|layout| &parse.layouts[layout as usize]);
                let with_layout = match layout {
                    // A layout that says nothing but the default order is as good as none.
                    Some(layout) if !is_default(layout) => array.text(&format!("{layout:?}")),
                    _ => array,
                };
                (with_layout.end(), array.end(), elements)
            }
            ShapeNode::Tuple(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| known.get(part.0 as usize).copied().unwrap_or_default())
                    .collect();
                let hash = |of: fn(&ShapeHashes) -> u64| start.word(1).words(parts.iter().map(of)).end();
                let elements = parts.iter().fold(0u64, |n, part| n.saturating_add(part.2));
                (hash(|part| part.0), hash(|part| part.1), elements)
            }
            ShapeNode::Buffer(inner) => {
                let (exact, loose, elements) = known.get(inner.0 as usize).copied().unwrap_or_default();
                (start.word(2).word(exact).end(), start.word(2).word(loose).end(), elements)
            }
        };
        known.push(hashes);
    }
    known
}

fn is_default(layout: &syntax::hlo::LayoutNode) -> bool {
    let order = layout.minor_to_major.iter().rev();
    order.copied().eq(0..layout.minor_to_major.len() as i64)
        && *layout
            == syntax::hlo::LayoutNode { minor_to_major: layout.minor_to_major.clone(), ..Default::default() }
}

/// Attributes that say nothing about the value.
pub(super) fn is_annotation(key: AttributeKey) -> bool {
    use AttributeKey::*;
    matches!(key, FrontendAttributes | Sharding | Origin | Statistics | ControlPredecessors)
}

/// Hashes an attribute without white space and `%`.
pub(super) fn squeezed(hash: Hash, value: &str) -> u64 {
    let is_kept = |b: &u8| !b.is_ascii_whitespace() && *b != b'%';
    if value.bytes().all(|b| is_kept(&b)) {
        return hash.text(value).end();
    }
    let kept: Vec<u8> = value.bytes().filter(is_kept).collect();
    hash.text(&String::from_utf8_lossy(&kept)).end()
}

/// Hashes metadata without the names that the scheduler and the deduplicator of computations note in it.
pub(super) fn metadata(value: &str) -> u64 {
    let inside = value.trim().trim_start_matches('{').trim_end_matches('}').trim();
    if !NOTES.iter().any(|note| inside.contains(note)) {
        return text_hash(inside);
    }
    let mut kept = inside.to_owned();
    for note in NOTES {
        if let Some(at) = kept.find(note) {
            let behind = kept[at + note.len()..].split_once('"').map_or("", |(_, behind)| behind);
            kept = format!("{} {}", kept[..at].trim_end(), behind.trim_start());
        }
    }
    match kept.trim() {
        "" => 0,
        kept => text_hash(kept),
    }
}

const NOTES: [&str; 2] = ["scheduling_name=\"", "deduplicated_name=\""];
