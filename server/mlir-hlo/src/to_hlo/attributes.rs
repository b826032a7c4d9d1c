//! The attributes of an instruction, from those of an op.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, Opcode};
use mlir::{field, integer, integers};
use mlir_ops::OpText;

use super::annotations::written_sharding;
use super::body::Operand;
use super::windows::{convolution_window, labels, slice, triples, window};
use crate::dimension_lists::{DOT_LISTS, GATHER_LISTS, IndexLists, SCATTER_LISTS};
use crate::dot_algorithms;
use crate::lists::nested;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{AttributeRow, Form, Need, OpRow};
use crate::op_table::opcode_of;
use crate::op_text::{matrix, missing, needed};
use crate::strings::hlo_string;

/// The attributes that the row of an op names.
pub(super) fn attributes(row: &OpRow, op: &OpText<'_>, operands: &[Operand]) -> Result<Attributes, NotInHlo> {
    attributes_of(row.attributes, op, operands)
}

/// Those of these rows.
pub(super) fn attributes_of<'r>(
    rows: impl IntoIterator<Item = &'r AttributeRow>,
    op: &OpText<'_>,
    operands: &[Operand],
) -> Result<Attributes, NotInHlo> {
    let mut out = Attributes::default();
    for row in rows {
        read(row, op, operands, &mut out)?;
    }
    Ok(out)
}

fn read(
    row: &AttributeRow,
    op: &OpText<'_>,
    operands: &[Operand],
    out: &mut Attributes,
) -> Result<(), NotInHlo> {
    let names = &row.names();
    let key = row.key;
    let absent = || if row.need == Need::Always { Err(missing(row.name)) } else { Ok(()) };
    let rank = || operands.first().map_or(0, |first| first.shape.dims().len() as i64);
    match row.form {
        Form::Ints => match op.list(names) {
            Some(values) => out.push(key, values),
            None => return absent(),
        },
        Form::OneInt => match op.int(names) {
            // StableHLO counts the dimension of a sort from the end where it is negative.
            Some(value) if value < 0 => out.push(key, vec![value + rank()]),
            Some(value) => out.push(key, vec![value]),
            None if row.name == "dimension"
                && key == K::Dimensions
                && opcode_of(op.name()) == Some(Opcode::Sort) =>
            {
                out.push(key, vec![(rank() - 1).max(0)]);
            }
            None => return absent(),
        },
        Form::Int => match op.int(names) {
            Some(value) if row.need == Need::Unless(value) => {}
            Some(value) => out.push(key, value),
            None => return absent(),
        },
        Form::Bool => match (op.int(names), row.need) {
            (Some(value), Need::Unless(usual)) if value == usual => {}
            (Some(value), _) => out.push(key, value != 0),
            // The largest are taken where nothing else is said.
            (None, Need::HloAlways) => out.push(key, key == K::Largest),
            (None, _) => return absent(),
        },
        Form::Flag => {
            if op.has(row.name) {
                out.push(key, true);
            }
        }
        Form::Float => match op.first_of(names).and_then(|v| v.split(':').next()) {
            Some(number) => out.push(key, Value::Text(crate::floats::shortened(number.trim()))),
            None => return absent(),
        },
        Form::Word(_) => match word(row, op) {
            // The usual kind of comparison follows from the type.
            Some(word) if key == K::Type && word != "TOTALORDER" => {}
            Some(word) => out.push(key, Value::Word(word.to_owned())),
            None => return absent(),
        },
        Form::LowerWord(_, prefix) => match op.case(names) {
            Some(word) => out.push(key, Value::Word(format!("{prefix}{}", word.to_ascii_lowercase()))),
            None => return absent(),
        },
        Form::Text => {
            if let Some(text) = op.string(names).filter(|text| !text.is_empty()) {
                out.push(key, Value::Quoted(hlo_string(text)));
            }
        }
        Form::Domain => {
            let side = |name: &str| {
                let written = op.string(&[name]).ok_or_else(|| missing(name))?;
                written_sharding(written)
                    .ok_or_else(|| NotInHlo::from(format!("{name} is a message that is not read")))
            };
            let kind = op.case(names).ok_or_else(|| missing(row.name))?;
            let (entry, exit) = (side("entry_metadata")?, side("exit_metadata")?);
            out.push(key, Value::Text(format!("{{kind=\"{kind}\", entry={entry}, exit={exit}}}")));
        }
        Form::Slice => out.push(key, slice(op)?),
        Form::Padding => {
            let low = needed(op, &["edge_padding_low", "low"])?;
            let high = needed(op, &["edge_padding_high", "high"])?;
            let interior = needed(op, &["interior_padding", "interior"])?;
            push_padding(out, &low, &high, &interior);
        }
        Form::Window => {
            let sizes = needed(op, &["window_dimensions"])?;
            push_window(out, window(op, &sizes, None));
        }
        Form::ConvolutionWindow => push_window(out, convolution_window(op, operands, None)?),
        Form::ConvolutionNumbers => {
            let numbers = op.first_of(names).ok_or_else(|| missing(row.name))?;
            out.push(key, Value::Word(labels(numbers)?));
        }
        Form::DotNumbers => dot_numbers(op, out),
        Form::GatherNumbers => index_numbers(op, names, GATHER_LISTS, out),
        Form::ScatterNumbers => index_numbers(op, names, SCATTER_LISTS, out),
        Form::RaggedNumbers => {
            let outer = op.first_of(names).ok_or_else(|| missing(row.name))?;
            // CHLO has all lists in one attribute, MHLO those of a dot in an attribute of their own.
            let inner = field(outer, "dot_dimension_numbers").unwrap_or(outer);
            let list = |of: &str, name: &str| field(of, name).and_then(integers).unwrap_or_default();
            push_dot_lists(out, DOT_LISTS.map(|(name, _)| list(inner, name)));
            out.push(K::LhsRaggedDims, list(outer, "lhs_ragged_dimensions"));
            out.push(K::RhsGroupDims, list(outer, "rhs_group_dimensions"));
        }
        Form::Precision => {
            let words = op.cases(names);
            if words.iter().any(|word| *word != "DEFAULT") {
                let words: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
                out.push(key, Value::Text(format!("{{{}}}", words.join(","))));
            }
        }
        Form::DotAlgorithm => {
            if let Some(value) = op.first_of(names) {
                let name = dot_algorithms::name(value)
                    .ok_or_else(|| NotInHlo::NoInstruction(format!("HLO has no algorithm {value}").into()))?;
                out.push(key, Value::Word(name.to_owned()));
            }
        }
        Form::Groups | Form::Pairs => {
            let value = op.first_of(names).ok_or_else(|| missing(row.name))?;
            let rows = matrix(value).ok_or_else(|| format!("{} is not read", row.name))?;
            let is_pair = |row: &Vec<i64>| row.len() == 2 && row.iter().all(|&device| device >= 0);
            if row.form == Form::Pairs && !rows.iter().all(is_pair) {
                return Err(format!("{} has rows that are no pairs of devices", row.name).into());
            }
            // Groups of several sizes are filled up.
            let rows: Vec<Vec<i64>> =
                rows.into_iter().map(|row| row.into_iter().filter(|&device| device >= 0).collect()).collect();
            let is_empty = rows.iter().all(Vec::is_empty);
            out.push(key, Value::Text(if is_empty { "{}".to_owned() } else { nested(&rows) }));
        }
        Form::Channel => {
            let handle = op.first_of(names).map(|value| field(value, "handle").and_then(integer));
            match handle {
                // No channel.
                None | Some(Some(0)) => {}
                Some(Some(handle)) => out.push(key, handle),
                Some(None) => return Err(format!("{} is not read", row.name).into()),
            }
        }
        Form::Accuracy => {
            if let Some(accuracy) = op.first_of(names).and_then(accuracy) {
                out.push(key, Value::Text(accuracy));
            }
        }
        Form::Float2 => {
            let format = op.first_of(&["format"]).unwrap_or_default();
            let custom = format.strip_prefix('e').and_then(|f| f.split_once('m'));
            let number = |name, custom: Option<&str>| {
                let custom = custom.and_then(|text| text.trim().parse().ok());
                op.int(&[name]).or(custom).ok_or_else(|| missing(name))
            };
            let exponent: i64 = number("exponent_bits", custom.map(|c| c.0))?;
            let mantissa: i64 = number("mantissa_bits", custom.map(|c| c.1))?;
            out.push(K::ExponentBits, exponent);
            out.push(K::MantissaBits, mantissa);
        }
    }
    Ok(())
}

fn index_numbers(op: &OpText<'_>, names: &[&str], lists: IndexLists, out: &mut Attributes) {
    let has_batches = !op.list_in(names, lists[2].0).is_empty();
    let (batches, others): (Vec<_>, Vec<_>) = (0..).zip(lists).partition(|(at, _)| matches!(at, 2 | 3));
    // As XLA prints them.
    for (_, (name, key)) in others.into_iter().chain(batches.into_iter().filter(|_| has_batches)) {
        out.push(key, op.list_in(names, name));
    }
    out.push(K::IndexVectorDim, op.number_in(names, "index_vector_dim"));
}

/// Adds a window unless it has no dimensions.
pub(super) fn push_window(out: &mut Attributes, window: Vec<ir::WindowDim>) {
    if !window.is_empty() {
        out.push(K::Window, window);
    }
}

/// Adds a padding unless it has no dimensions.
pub(super) fn push_padding(out: &mut Attributes, low: &[i64], high: &[i64], interior: &[i64]) {
    let padding = triples(low, high, interior);
    if !padding.is_empty() {
        out.push(K::Padding, padding);
    }
}

/// Adds contracting dimensions, and batch dimensions where there are any.
pub(crate) fn push_dot_lists(out: &mut Attributes, lists: [Vec<i64>; 4]) {
    for ((_, key), list) in DOT_LISTS.into_iter().zip(lists) {
        if !list.is_empty() || matches!(key, K::LhsContractingDims | K::RhsContractingDims) {
            out.push(key, list);
        }
    }
}

/// An enumerated value: an attribute, or the first or the last word of the custom form of a comparison.
fn word<'a>(row: &AttributeRow, op: &OpText<'a>) -> Option<&'a str> {
    if let Some(word) = op.case(&row.names()) {
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

fn dot_numbers(op: &OpText<'_>, out: &mut Attributes) {
    let numbers = ["dot_dimension_numbers"];
    let mut lists = DOT_LISTS.map(|(name, _)| op.list_in(&numbers, name));
    if op.first_of(&numbers).is_none() {
        let (batch, contracting) = (op.pair("batching_dims"), op.pair("contracting_dims"));
        let (batch, contracting) = (batch.unwrap_or_default(), contracting.unwrap_or_default());
        lists = [batch.0, contracting.0, batch.1, contracting.1];
    }
    push_dot_lists(out, lists);
}

/// `{mode=highest}`, or the tolerance; nothing where it is the usual one.
fn accuracy(value: &str) -> Option<String> {
    let number = |name: &str| field(value, name).map(|n| n.to_owned());
    let is_zero = |n: &Option<String>| n.as_ref().is_none_or(|n| n.parse::<f64>().is_ok_and(|n| n == 0.0));
    let (atol, rtol, ulps) = (number("atol"), number("rtol"), number("ulps"));
    if !(is_zero(&atol) && is_zero(&rtol) && is_zero(&ulps)) {
        let shown = |n: Option<String>| crate::floats::shortened(&n.unwrap_or_else(|| "0".to_owned()));
        let (atol, rtol, ulps) = (shown(atol), shown(rtol), shown(ulps));
        return Some(format!("{{tolerance={{atol={atol},rtol={rtol},ulps={ulps}}}}}"));
    }
    value.contains("HIGHEST").then(|| "{mode=highest}".to_owned())
}
