//! Where an instruction is from, what users say of it, what was measured, how exact it has to be.

use std::fmt::Write as _;

use ir::AttributeValue;

use super::strings::{payload_of, string_or_json};
use super::{Context, Proto};
use crate::messages::{
    FrontendAttributes, OpMetadata, Payload, ResultAccuracy, Statistic, StatisticsViz, Tolerance,
};
use crate::scan::{OtherForm, Scanned, Scanner, quoted};

fn scan<T>(value: &AttributeValue, read: fn(&mut Scanner<'_>) -> Scanned<T>) -> Result<T, String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut scanner = Scanner::new(text);
    let read = read(&mut scanner);
    read.and_then(|read| scanner.end().map(|()| read)).map_err(|_| String::new())
}

// ---- metadata ----

pub(super) fn take(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    let metadata = proto.metadata.as_mut()?;
    let mut out = String::from("{");
    write_metadata(&mut out, metadata, context.payloads);
    out.push('}');
    // What the text does not say stays.
    *metadata = OpMetadata {
        size_of_generated_code_in_bytes: metadata.size_of_generated_code_in_bytes,
        size_of_memory_working_set_in_bytes: metadata.size_of_memory_working_set_in_bytes,
        profile_info: std::mem::take(&mut metadata.profile_info),
        ..OpMetadata::default()
    };
    (out.len() > 2).then_some(AttributeValue::Text(out))
}

/// The fields without braces. Source: XLA `hlo/ir/hlo_op_metadata.cc` OpMetadataToString.
pub(super) fn write_metadata(out: &mut String, metadata: &OpMetadata, payloads: &[Vec<u8>]) {
    let start = out.len();
    let mut field = |name: &str, value: &str| {
        if out.len() > start {
            out.push(' ');
        }
        _ = write!(out, "{name}={value}");
    };
    let strings = [
        ("op_type", &metadata.op_type),
        ("op_name", &metadata.op_name),
        ("source_file", &metadata.source_file),
        ("deduplicated_name", &metadata.deduplicated_name),
        ("scheduling_name", &metadata.scheduling_name),
    ];
    for (name, value) in strings {
        if !value.is_empty() {
            field(name, &quoted(value.as_bytes()));
        }
    }
    let numbers = [
        ("source_line", metadata.source_line),
        ("source_end_line", metadata.source_end_line),
        ("source_column", metadata.source_column),
        ("source_end_column", metadata.source_end_column),
        ("stack_frame_id", metadata.stack_frame_id),
    ];
    for (name, value) in numbers {
        if value != 0 {
            field(name, &value.to_string());
        }
    }
    if !metadata.profile_type.is_empty() {
        let types: Vec<String> = metadata.profile_type.iter().map(i32::to_string).collect();
        field("profile_type", &format!("{{{}}}", types.join(",")));
    }
    if let Some(payload) =
        metadata.metadata_payload.as_ref().and_then(|payload| payload_of(payload, payloads))
    {
        field("metadata_payload", &quoted(payload));
    }
}

pub(super) fn put(proto: &mut Proto, value: &AttributeValue, _: &mut Context<'_>) -> Result<(), String> {
    proto.metadata = Some(scan(value, metadata)?);
    Ok(())
}

/// `{op_name="a" source_line=3}`
pub(super) fn metadata(scanner: &mut Scanner<'_>) -> Scanned<OpMetadata> {
    let mut proto = OpMetadata::default();
    scanner.expect('{')?;
    while !scanner.eat('}') {
        scanner.eat(',');
        let name = scanner.word()?;
        scanner.expect('=')?;
        match name {
            "op_type" => proto.op_type = scanner.text()?,
            "op_name" => proto.op_name = scanner.text()?,
            "source_file" => proto.source_file = scanner.text()?,
            "source_line" => proto.source_line = scanner.small_int()?,
            "source_end_line" => proto.source_end_line = scanner.small_int()?,
            "source_column" => proto.source_column = scanner.small_int()?,
            "source_end_column" => proto.source_end_column = scanner.small_int()?,
            "profile_type" if scanner.at('{') => {
                proto.profile_type = scanner.list('{', '}', Scanner::small_int)?
            }
            "profile_type" => proto.profile_type = vec![scanner.small_int()?],
            "deduplicated_name" => proto.deduplicated_name = scanner.text()?,
            "scheduling_name" => proto.scheduling_name = scanner.text()?,
            "stack_frame_id" => proto.stack_frame_id = scanner.small_int()?,
            "metadata_payload" => {
                let value = match scanner.at('{') {
                    true => scanner.balanced()?.into_bytes(),
                    false => scanner.string()?,
                };
                proto.metadata_payload = Some(Payload { value: Some(value), id: None });
            }
            // XLA reads it and keeps nothing.
            "preserve_layout" => _ = scanner.bool()?,
            _ => return Err(OtherForm),
        }
    }
    Ok(proto)
}

// ---- frontend attributes ----

pub(super) fn take_frontend(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let attributes = proto.frontend_attributes.take()?;
    (!attributes.map.is_empty()).then(|| AttributeValue::Text(write_frontend_attributes(&attributes)))
}

pub(super) fn put_frontend(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    proto.frontend_attributes = Some(frontend_attributes(text).map_err(|_| String::new())?);
    Ok(())
}

/// `{a="b",c={"d": 1}}`
pub(crate) fn write_frontend_attributes(attributes: &FrontendAttributes) -> String {
    let pairs: Vec<String> = attributes
        .map
        .iter()
        .map(|(key, value)| format!("{key}={}", string_or_json(value.as_bytes())))
        .collect();
    format!("{{{}}}", pairs.join(","))
}

/// The values are strings, or dictionaries without quotes, which are kept as they are.
pub(crate) fn frontend_attributes(text: &str) -> Scanned<FrontendAttributes> {
    let mut attributes = FrontendAttributes::default();
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or(OtherForm)?;
    for part in ir::split_top_level(inner) {
        let (key, value) = part.split_once('=').ok_or(OtherForm)?;
        let value = value.trim();
        let value = match value.starts_with('{') {
            true => value.to_owned(),
            false => Scanner::new(value).text()?,
        };
        attributes.map.insert(key.trim().to_owned(), value);
    }
    Ok(attributes)
}

// ---- statistics ----

/// `{visualizing_index=1,stat-1=33}`
pub(super) fn take_statistics(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let statistics = proto.statistics_viz.take()?;
    if statistics.statistics.is_empty() {
        return None;
    }
    let mut out = format!("{{visualizing_index={}", statistics.stat_index_to_visualize);
    for Statistic { stat_name, stat_val } in &statistics.statistics {
        _ = write!(out, ",{stat_name}={stat_val:?}");
    }
    out.push('}');
    Some(AttributeValue::Text(out))
}

pub(super) fn put_statistics(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    proto.statistics_viz = Some(scan(value, |scanner| {
        let mut statistics = StatisticsViz::default();
        scanner.expect('{')?;
        while !scanner.eat('}') {
            scanner.eat(',');
            let name = scanner.word()?;
            scanner.expect('=')?;
            match name {
                "visualizing_index" => statistics.stat_index_to_visualize = scanner.int()?,
                _ => {
                    let statistic = Statistic { stat_name: name.to_owned(), stat_val: scanner.float()? };
                    statistics.statistics.push(statistic);
                }
            }
        }
        Ok(statistics)
    })?);
    Ok(())
}

// ---- accuracy ----

const MODES: &[&str] = &["default", "highest"];

/// `{mode=highest}`, `{tolerance={atol=0,rtol=0,ulps=10}}`
pub(super) fn take_accuracy(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let accuracy = proto.result_accuracy.as_mut()?;
    if let Some(mode) = accuracy.mode {
        let mode = MODES.get(usize::try_from(mode).ok()?)?;
        accuracy.mode = None;
        if *mode != "default" {
            return Some(AttributeValue::Text(format!("{{mode={mode}}}")));
        }
    }
    let Tolerance { atol, rtol, ulps } = accuracy.tolerance.take()?;
    Some(AttributeValue::Text(format!("{{tolerance={{atol={atol:?},rtol={rtol:?},ulps={ulps}}}}}")))
}

pub(super) fn put_accuracy(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    proto.result_accuracy = Some(scan(value, |scanner| {
        let mut accuracy = ResultAccuracy::default();
        scanner.expect('{')?;
        while !scanner.eat('}') {
            scanner.eat(',');
            let name = scanner.word()?;
            scanner.expect('=')?;
            if name == "mode" {
                let word = scanner.word()?;
                let mode = MODES.iter().position(|mode| mode.eq_ignore_ascii_case(word)).ok_or(OtherForm)?;
                accuracy.mode = Some(mode as i32);
                continue;
            }
            let tolerance = accuracy.tolerance.get_or_insert_default();
            scanner.expect('{')?;
            while !scanner.eat('}') {
                scanner.eat(',');
                let name = scanner.word()?;
                scanner.expect('=')?;
                match name {
                    "atol" => tolerance.atol = scanner.float()?,
                    "rtol" => tolerance.rtol = scanner.float()?,
                    "ulps" => tolerance.ulps = scanner.int()?,
                    _ => return Err(OtherForm),
                }
            }
        }
        Ok(accuracy)
    })?);
    Ok(())
}
