//! The value of an attribute, in XLA's form: the one printer of modules, fragments and single ops.

use std::fmt::Write as _;

use syntax::hlo::AttributeKey;

use super::escape::{requote, requote_or_json};
use super::literal::write_shaped_literal;
use super::shapes::{separate, write_shape};
use super::tokens::split_top_level;
use super::values;
use crate::attributes::{ValueRef, WindowDim};
use crate::shape::Shape;

/// Writes `value`. Nothing is written for what is as if it were not there: precisions that are all the default.
///
/// `metadata` says whether shardings keep theirs.
pub(super) fn write_value(out: &mut String, key: Option<AttributeKey>, value: &ValueRef<'_>, metadata: bool) {
    use AttributeKey::{BackendConfig, Slice};
    match value {
        ValueRef::Bool(value) => _ = write!(out, "{value}"),
        ValueRef::Int(value) => _ = write!(out, "{value}"),
        ValueRef::Ints(ints) => write_ints(out, ints),
        ValueRef::Triples(triples) if key == Some(Slice) => write_ranges(out, triples),
        ValueRef::Triples(triples) => write_padding(out, triples),
        ValueRef::Window(window) => write_window(out, window),
        ValueRef::Computation(name) => out.push_str(name),
        ValueRef::Names(names) => {
            out.push('{');
            for (i, name) in names.iter().enumerate() {
                separate(out, i, false);
                out.push_str(name);
            }
            out.push('}');
        }
        // Only its parse can write it.
        ValueRef::Inline(_) => {}
        ValueRef::Word(word) => write_word(out, word, key),
        ValueRef::Quoted(inside) if key == Some(BackendConfig) => requote_or_json(out, inside),
        ValueRef::Quoted(inside) => requote(out, inside),
        ValueRef::Shape(shape) => write_shape(out, shape),
        ValueRef::Text(text) => write_text(out, key, text, metadata),
    }
}

fn write_text(out: &mut String, key: Option<AttributeKey>, text: &str, metadata: bool) {
    use AttributeKey::*;
    match key {
        Some(Sharding) => values::write_sharding(out, text, metadata),
        Some(Metadata) => values::write_metadata(out, text),
        Some(FrontendAttributes) => values::write_frontend_attributes(out, text),
        Some(Statistics) => values::write_statistics(out, text),
        Some(ResultAccuracy) => values::write_result_accuracy(out, text),
        Some(ReplicaGroups) => values::write_replica_groups(out, text),
        Some(SourceTargetPairs | SliceSizes | ParameterReplication) => values::write_dense(out, text),
        Some(OperandPrecision) => {
            if let Some(precisions) = values::precisions(text) {
                out.push_str(&precisions);
            }
        }
        Some(OutputToOperandAliasing) => {
            out.push('{');
            values::write_aliasing(out, text, false);
            out.push('}');
        }
        Some(OperandLayoutConstraints) => {
            out.push('{');
            let inner = text.trim().trim_start_matches('{').strip_suffix('}').unwrap_or(text);
            for (i, part) in split_top_level(inner).into_iter().enumerate() {
                separate(out, i, false);
                match Shape::from_text(part) {
                    Some(shape) => write_shape(out, &shape),
                    None => out.push_str(part),
                }
            }
            out.push('}');
        }
        Some(Epsilon) => values::write_number(out, text),
        Some(Literal) => write_shaped_literal(out, text, &mut Shape::from_text),
        Some(Domain) => values::write_domain(out, text, metadata),
        Some(Origin | SparsityConfig | BlockScalingConfig) => values::write_spaced(out, text),
        _ => out.push_str(text),
    }
}

pub(super) fn write_ints(out: &mut String, ints: &[i64]) {
    out.push('{');
    for (i, n) in ints.iter().enumerate() {
        let _ = write!(out, "{}{n}", if i > 0 { "," } else { "" });
    }
    out.push('}');
}

/// `{[0:4:2], [0:3:1]}`; strides only where one is not 1.
fn write_ranges(out: &mut String, ranges: &[[i64; 3]]) {
    let with_stride = ranges.iter().any(|r| r[2] != 1);
    out.push('{');
    for (i, [start, limit, stride]) in ranges.iter().enumerate() {
        separate(out, i, false);
        let _ = write!(out, "[{start}:{limit}");
        if with_stride {
            let _ = write!(out, ":{stride}");
        }
        out.push(']');
    }
    out.push('}');
}

/// `0_1x2_3`, or with interior padding `0_1_0x2_3_4`.
pub(super) fn write_padding(out: &mut String, dims: &[[i64; 3]]) {
    let with_interior = dims.iter().any(|d| d[2] != 0);
    for (i, [low, high, interior]) in dims.iter().enumerate() {
        let _ = write!(out, "{}{low}_{high}", if i > 0 { "x" } else { "" });
        if with_interior {
            let _ = write!(out, "_{interior}");
        }
    }
}

/// `{size=3x3 stride=2x2 pad=1_1x1_1 …}`: sizes, and what is not the default in some dimension.
pub(super) fn write_window(out: &mut String, dims: &[WindowDim]) {
    type Field = (&'static str, fn(&WindowDim) -> i64, i64);
    const FIELDS: [Field; 5] = [
        ("stride", |d| d.stride, 1),
        ("pad", |d| d.pad_low, 0),
        ("lhs_dilate", |d| d.base_dilation, 1),
        ("rhs_dilate", |d| d.window_dilation, 1),
        ("rhs_reversal", |d| i64::from(d.is_reversed), 0),
    ];
    out.push_str("{size=");
    let sizes = |out: &mut String, of: fn(&WindowDim) -> i64, is_pad: bool| {
        for (i, dim) in dims.iter().enumerate() {
            let _ = write!(out, "{}{}", if i > 0 { "x" } else { "" }, of(dim));
            if is_pad {
                let _ = write!(out, "_{}", dim.pad_high);
            }
        }
    };
    sizes(out, |d| d.size, false);
    for (name, of, default) in FIELDS {
        let is_pad = name == "pad";
        if dims.iter().any(|d| of(d) != default || is_pad && d.pad_high != default) {
            let _ = write!(out, " {name}=");
            sizes(out, of, is_pad);
        }
    }
    out.push('}');
}

/// The spelling of an enum's value: some are read in any case.
fn write_word(out: &mut String, word: &str, key: Option<AttributeKey>) {
    use AttributeKey::*;
    match key {
        Some(Distribution | Algorithm) => out.push_str(&word.to_ascii_lowercase()),
        Some(Schedule | ApiVersion) => out.push_str(&word.to_ascii_uppercase()),
        _ => out.push_str(word),
    }
}
