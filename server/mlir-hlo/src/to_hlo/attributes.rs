//! What stands behind the operands of an instruction, from the attributes of an op.

use std::fmt::Write as _;

use mlir::{field, integer, integers};

use super::annotations::written_sharding;
use super::windows::{convolution_window, labels, padding, slice, window};
use crate::dot_algorithms;
use crate::lists::{braces, nested};
use crate::op_row::{AttributeRow, Form, Need, OpRow};
use crate::op_text::{OpText, matrix, missing};
use crate::strings::hlo_string;
use crate::types::dimensions;

/// The attributes that the row of an op names, each with a comma in front. `operands` are shapes of HLO.
pub(super) fn attributes(row: &OpRow, op: OpText<'_>, operands: &[&str]) -> Result<String, String> {
    let mut out = String::new();
    for attribute in row.attributes {
        write(attribute, op, operands, &mut out)?;
    }
    Ok(out)
}

fn write(row: &AttributeRow, op: OpText<'_>, operands: &[&str], out: &mut String) -> Result<(), String> {
    let names = &row.names();
    let key = row.key.name();
    let is_needed = matches!(row.need, Need::Always);
    let absent = || if is_needed { Err(missing(row.name)) } else { Ok(()) };
    let first = operands.first().copied().unwrap_or_default();
    match row.form {
        Form::Ints => match op.ints(names) {
            Some(values) => _ = write!(out, ", {key}={}", braces(&values)),
            None => return absent(),
        },
        Form::OneInt => match op.int(names) {
            // StableHLO counts the dimension of a sort from behind where it is negative.
            Some(value) if value < 0 => {
                _ = write!(out, ", {key}={}", braces(&[value + dimensions(first).len() as i64]));
            }
            Some(value) => _ = write!(out, ", {key}={}", braces(&[value])),
            None if row.name == "dimension"
                && key == "dimensions"
                && op.parse.name(op.id, op.text).ends_with("sort") =>
            {
                let last = dimensions(first).len() as i64 - 1;
                _ = write!(out, ", {key}={}", braces(&[last.max(0)]));
            }
            None => return absent(),
        },
        Form::Int => match op.int(names) {
            Some(value) if row.need == Need::Unless(value) => {}
            Some(value) => _ = write!(out, ", {key}={value}"),
            None => return absent(),
        },
        Form::Bool => match (op.int(names), row.need) {
            (Some(value), Need::Unless(usual)) if value == usual => {}
            (Some(value), _) => _ = write!(out, ", {key}={}", value != 0),
            (None, Need::HloAlways) => _ = write!(out, ", {key}=false"),
            (None, _) => return absent(),
        },
        Form::Flag => {
            if op.has(row.name) {
                _ = write!(out, ", {key}=true");
            }
        }
        Form::Float => match op.attribute(names).and_then(|v| v.split(':').next()) {
            Some(number) => _ = write!(out, ", {key}={}", crate::floats::shortened(number.trim())),
            None => return absent(),
        },
        Form::Word(_) => match word(row, op) {
            // The usual kind of comparison follows from the type.
            Some(word) if key == "type" && word != "TOTALORDER" => {}
            Some(word) => _ = write!(out, ", {key}={word}"),
            None => return absent(),
        },
        Form::LowerWord(_, prefix) => match op.word(names) {
            Some(word) => _ = write!(out, ", {key}={prefix}{}", word.to_ascii_lowercase()),
            None => return absent(),
        },
        Form::Text => {
            if let Some(text) = op.string(names).filter(|text| !text.is_empty()) {
                _ = write!(out, ", {key}=\"{}\"", hlo_string(text));
            }
        }
        Form::Domain => {
            let side = |name: &str| {
                let written = op.string(&[name]).ok_or_else(|| missing(name))?;
                written_sharding(written).ok_or_else(|| format!("{name} is a message that is not read"))
            };
            let kind = op.word(names).ok_or_else(|| missing(row.name))?;
            let (entry, exit) = (side("entry_metadata")?, side("exit_metadata")?);
            _ = write!(out, ", {key}={{kind=\"{kind}\", entry={entry}, exit={exit}}}");
        }
        Form::Slice => *out += &slice(op)?,
        Form::Padding => {
            let low = op.needed(&["edge_padding_low", "low"])?;
            let high = op.needed(&["edge_padding_high", "high"])?;
            let interior = op.needed(&["interior_padding", "interior"])?;
            *out += &padding(&low, &high, &interior);
        }
        Form::Window => {
            let sizes = op.needed(&["window_dimensions"])?;
            *out += &window(op, &sizes, None);
        }
        Form::ConvolutionWindow => *out += &convolution_window(op, operands, None)?,
        Form::ConvolutionNumbers => {
            let numbers = op.attribute(names).ok_or_else(|| missing(row.name))?;
            _ = write!(out, ", {key}={}", labels(numbers)?);
        }
        Form::DotNumbers => *out += &dot_numbers(op),
        Form::GatherNumbers => {
            let list = |name| braces(&op.list_in(names, name));
            _ = write!(
                out,
                ", offset_dims={}, collapsed_slice_dims={}, start_index_map={}",
                list("offset_dims"),
                list("collapsed_slice_dims"),
                list("start_index_map")
            );
            if !op.list_in(names, "operand_batching_dims").is_empty() {
                _ = write!(
                    out,
                    ", operand_batching_dims={}, start_indices_batching_dims={}",
                    list("operand_batching_dims"),
                    list("start_indices_batching_dims")
                );
            }
            _ = write!(out, ", index_vector_dim={}", op.number_in(names, "index_vector_dim"));
        }
        Form::ScatterNumbers => {
            let list = |name| braces(&op.list_in(names, name));
            _ = write!(
                out,
                ", update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}",
                list("update_window_dims"),
                list("inserted_window_dims"),
                list("scatter_dims_to_operand_dims")
            );
            if !op.list_in(names, "input_batching_dims").is_empty() {
                _ = write!(
                    out,
                    ", input_batching_dims={}, scatter_indices_batching_dims={}",
                    list("input_batching_dims"),
                    list("scatter_indices_batching_dims")
                );
            }
            _ = write!(out, ", index_vector_dim={}", op.number_in(names, "index_vector_dim"));
        }
        Form::RaggedNumbers => {
            let outer = op.attribute(names).ok_or_else(|| missing(row.name))?;
            // CHLO has all lists beside each other, MHLO those of a dot in an attribute of their own.
            let inner = field(outer, "dot_dimension_numbers").unwrap_or(outer);
            let list = |of: &str, name: &str| field(of, name).and_then(integers).unwrap_or_default();
            for (name, key) in DOT_LISTS {
                let values = list(inner, name);
                if !values.is_empty() || key.contains("contracting") {
                    _ = write!(out, ", {key}={}", braces(&values));
                }
            }
            for (name, key) in
                [("lhs_ragged_dimensions", "lhs_ragged_dims"), ("rhs_group_dimensions", "rhs_group_dims")]
            {
                _ = write!(out, ", {key}={}", braces(&list(outer, name)));
            }
        }
        Form::Precision => {
            let words = op.words(names);
            if words.iter().any(|word| *word != "DEFAULT") {
                let words: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
                _ = write!(out, ", {key}={{{}}}", words.join(","));
            }
        }
        Form::DotAlgorithm => {
            if let Some(value) = op.attribute(names) {
                let name =
                    dot_algorithms::name(value).ok_or_else(|| format!("HLO has no algorithm {value}"))?;
                _ = write!(out, ", {key}={name}");
            }
        }
        Form::Groups | Form::Pairs => {
            let value = op.attribute(names).ok_or_else(|| missing(row.name))?;
            let rows = matrix(value).ok_or_else(|| format!("{} is not read", row.name))?;
            // Groups of several sizes are filled up.
            let rows: Vec<Vec<i64>> =
                rows.into_iter().map(|row| row.into_iter().filter(|&device| device >= 0).collect()).collect();
            let is_empty = rows.iter().all(Vec::is_empty);
            _ = write!(out, ", {key}={}", if is_empty { "{}".to_owned() } else { nested(&rows) });
        }
        Form::Channel => {
            let handle = op.attribute(names).map(|value| field(value, "handle").and_then(integer));
            match handle {
                // No channel.
                None | Some(Some(0)) => {}
                Some(Some(handle)) => _ = write!(out, ", {key}={handle}"),
                Some(None) => return Err(format!("{} is not read", row.name)),
            }
        }
        Form::Accuracy => {
            if let Some(value) = op.attribute(names) {
                *out += &accuracy(value);
            }
        }
        Form::Float2 => {
            let format = op.attribute(&["format"]).unwrap_or_default();
            let custom = format.strip_prefix('e').and_then(|f| f.split_once('m'));
            let number = |name, custom: Option<&str>| {
                let custom = custom.and_then(|text| text.trim().parse().ok());
                op.int(&[name]).or(custom).ok_or_else(|| missing(name))
            };
            let exponent: i64 = number("exponent_bits", custom.map(|c| c.0))?;
            let mantissa: i64 = number("mantissa_bits", custom.map(|c| c.1))?;
            _ = write!(out, ", exponent_bits={exponent}, mantissa_bits={mantissa}");
        }
    }
    Ok(())
}

/// Names of a dot's lists in MLIR and in HLO.
pub(crate) const DOT_LISTS: [(&str, &str); 4] = [
    ("lhs_batching_dimensions", "lhs_batch_dims"),
    ("lhs_contracting_dimensions", "lhs_contracting_dims"),
    ("rhs_batching_dimensions", "rhs_batch_dims"),
    ("rhs_contracting_dimensions", "rhs_contracting_dims"),
];

/// An enumerated value: an attribute, or the first or the last word of the custom form of a comparison.
fn word<'a>(row: &AttributeRow, op: OpText<'a>) -> Option<&'a str> {
    if let Some(word) = op.word(&row.names()) {
        return Some(word);
    }
    let body = op.body().split(" : ").next()?;
    match row.name {
        "comparison_direction" => {
            body.split(',').next().map(str::trim).filter(|w| !w.starts_with(['%', '(']))
        }
        "compare_type" => {
            let last = body.rsplit(',').next()?.split('{').next()?.trim();
            matches!(last, "FLOAT" | "TOTALORDER" | "SIGNED" | "UNSIGNED").then_some(last)
        }
        _ => None,
    }
}

fn dot_numbers(op: OpText<'_>) -> String {
    let numbers = ["dot_dimension_numbers"];
    let mut lists = DOT_LISTS.map(|(name, _)| op.list_in(&numbers, name));
    if op.attribute(&numbers).is_none() {
        let (batch, contracting) = (op.pair("batching_dims"), op.pair("contracting_dims"));
        let (batch, contracting) = (batch.unwrap_or_default(), contracting.unwrap_or_default());
        lists = [batch.0, contracting.0, batch.1, contracting.1];
    }
    let mut out = String::new();
    for ((_, key), list) in DOT_LISTS.iter().zip(&lists) {
        if !list.is_empty() || key.contains("contracting") {
            _ = write!(out, ", {key}={}", braces(list));
        }
    }
    out
}

/// `, result_accuracy={mode=highest}`, or the tolerance; nothing where it is the usual one.
fn accuracy(value: &str) -> String {
    let number = |name: &str| field(value, name).map(|n| n.to_owned());
    let is_zero = |n: &Option<String>| n.as_ref().is_none_or(|n| n.parse::<f64>().is_ok_and(|n| n == 0.0));
    let (atol, rtol, ulps) = (number("atol"), number("rtol"), number("ulps"));
    if !(is_zero(&atol) && is_zero(&rtol) && is_zero(&ulps)) {
        let shown = |n: Option<String>| crate::floats::shortened(&n.unwrap_or_else(|| "0".to_owned()));
        return format!(
            ", result_accuracy={{tolerance={{atol={},rtol={},ulps={}}}}}",
            shown(atol),
            shown(rtol),
            shown(ulps)
        );
    }
    match value.contains("HIGHEST") {
        true => ", result_accuracy={mode=highest}".to_owned(),
        false => String::new(),
    }
}
