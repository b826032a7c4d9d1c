//! `HloModule name, …`, and the tables of source locations.

use std::fmt::Write as _;

use crate::attributes::{string_or_json, write_frontend_attributes, write_original_array};
use crate::messages::{
    DebugAttributesProto, HloModuleConfigProto, HloModuleProto, OriginalValueRecoveryTableProto,
    RecoveryEntry, StackFrameIndexProto,
};
use crate::notes::Notes;
use crate::scan::{quoted, write_list};
use crate::shapes::take_shape;

/// Writes the header with what it has of the module, and takes that out.
pub(super) fn write(
    out: &mut String,
    module: &mut HloModuleProto,
    is_scheduled: bool,
    config: Option<HloModuleConfigProto>,
    notes: &mut Notes,
) -> Result<(), String> {
    let name = std::mem::take(&mut module.name);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if name.is_empty() || !name.bytes().all(is_name) {
        let plain: String =
            name.chars().map(|c| if c.is_ascii() && is_name(c as u8) { c } else { '_' }).collect();
        notes.add(format!("the module is called {}, which is no name in HLO text", quoted(name.as_bytes())));
        _ = write!(out, "HloModule m{plain}");
    } else {
        _ = write!(out, "HloModule {name}");
    }
    if is_scheduled {
        out.push_str(", is_scheduled=true");
    }
    write_aliases(out, module);
    if let Some(program) = &mut module.host_program_shape {
        let mut parameters = Vec::with_capacity(program.parameters.len());
        for shape in &mut program.parameters {
            parameters.push(take_shape(shape)?.to_string());
        }
        let result = take_shape(program.result.get_or_insert_default())?;
        _ = write!(out, ", entry_computation_layout={{({})->{result}}}", parameters.join(", "));
        // The names are those of the parameters.
        module.host_program_shape = None;
    }
    if let Some(config) = config {
        write_config(out, &config);
    }
    if let Some(attributes) = module.frontend_attributes.take()
        && !attributes.map.is_empty()
    {
        _ = write!(out, ", frontend_attributes={}", write_frontend_attributes(&attributes));
    }
    if let Some(table) = module.original_value_recovery_table.take() {
        write_recovery_table(out, table, notes)?;
    }
    write_debug_attributes(out, module);
    let backend_config = std::mem::take(&mut module.backend_config);
    if !backend_config.is_empty() {
        _ = write!(out, ", backend_config={}", string_or_json(&backend_config));
    }
    out.push('\n');
    if let Some(index) = module.stack_frame_index.take() {
        write_tables(out, &index);
    }
    out.push('\n');
    // They identify the module in a process, and the name follows from the id.
    module.id = 0;
    module.pjrt_id = None;
    module.entry_computation_name.clear();
    Ok(())
}

fn write_aliases(out: &mut String, module: &mut HloModuleProto) {
    let aliases = module.input_output_alias.take().unwrap_or_default().entries;
    for (i, alias) in aliases.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { ", input_output_alias={ " });
        write_list(out, '{', '}', &alias.output_shape_index);
        _ = write!(out, ": ({}, ", alias.parameter_number);
        write_list(out, '{', '}', &alias.parameter_shape_index);
        out.push_str(if alias.kind == MUST_ALIAS { ", must-alias)" } else { ", may-alias)" });
    }
    out.push_str(if aliases.is_empty() { "" } else { " }" });
    let donors = module.buffer_donor.take().unwrap_or_default().entries;
    for (i, donor) in donors.iter().enumerate() {
        _ = write!(out, "{}({}, ", if i > 0 { ", " } else { ", buffer_donor={ " }, donor.parameter_number);
        write_list(out, '{', '}', &donor.parameter_shape_index);
        out.push(')');
    }
    out.push_str(if donors.is_empty() { "" } else { " }" });
}

/// The kind of an alias that must be honoured. Source: XLA `hlo.proto` Kind.
pub(crate) const MUST_ALIAS: i32 = 2;

/// One `false` is what XLA assumes.
pub(crate) fn says_nothing(list: &[bool]) -> bool {
    matches!(list, [] | [false])
}

fn write_config(out: &mut String, config: &HloModuleConfigProto) {
    if config.alias_passthrough_params {
        out.push_str(", alias_passthrough_params=true");
    }
    for (name, list) in [
        (
            "allow_spmd_sharding_propagation_to_parameters",
            &config.allow_spmd_sharding_propagation_to_parameters,
        ),
        ("allow_spmd_sharding_propagation_to_output", &config.allow_spmd_sharding_propagation_to_output),
    ] {
        if !says_nothing(list) {
            _ = write!(out, ", {name}=");
            write_list(out, '{', '}', list);
        }
    }
    for (name, count) in [("replica_count", config.replica_count), ("num_partitions", config.num_partitions)]
    {
        if count > 1 {
            _ = write!(out, ", {name}={count}");
        }
    }
}

/// `{"old"} : {"new"}, "module text"`. Source: XLA `HloModule::OriginalValueRecoveryTable::ToString`.
fn write_recovery_table(
    out: &mut String,
    table: OriginalValueRecoveryTableProto,
    notes: &mut Notes,
) -> Result<(), String> {
    if table.entries.is_empty() {
        return Ok(());
    }
    out.push_str(", origin_recovery_table={\n");
    for entry in table.entries {
        let RecoveryEntry { old_original_array, new_original_array, recovery_module } = entry;
        out.push_str("  {");
        write_original_array(out, &old_original_array.unwrap_or_default());
        out.push_str("} : {");
        write_original_array(out, &new_original_array.unwrap_or_default());
        out.push('}');
        if let Some(module) = recovery_module {
            // A string of several lines, whose text is indented.
            let text = recursion::grow(|| super::module_text(module, None))?;
            text.notes.into_iter().for_each(|note| notes.add(note));
            out.push_str(",\n  \"\n");
            let escaped = text.text.trim_end().replace('\\', "\\\\").replace('"', "\\\"");
            for line in escaped.lines() {
                _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "    " });
            }
            out.push_str("  \"");
        }
        out.push('\n');
    }
    out.push('}');
    Ok(())
}

/// `{"v"}:({log_mode=default,callback_id=1})`. Source: XLA `HloModule::Print`.
fn write_debug_attributes(out: &mut String, module: &mut HloModuleProto) {
    let entries = std::mem::take(&mut module.debug_attributes);
    if entries.is_empty() {
        return;
    }
    out.push_str(",\ndebug_attributes={\n");
    let count = entries.len();
    for (i, entry) in entries.iter().enumerate() {
        out.push_str("  {");
        write_original_array(out, &entry.original_array.clone().unwrap_or_default());
        out.push_str("}:(");
        let attributes: Vec<String> = entry.debug_attributes.iter().map(debug_attributes).collect();
        out.push_str(&attributes.join(","));
        out.push_str(if i + 1 < count { "),\n" } else { ")\n" });
    }
    out.push('}');
}

/// Without the fields that say nothing.
fn debug_attributes(attributes: &DebugAttributesProto) -> String {
    let mut fields = Vec::new();
    match attributes.log_mode {
        0 => {}
        2 => fields.push("log_mode=fusion_debugger".to_owned()),
        _ => fields.push("log_mode=default".to_owned()),
    }
    if attributes.callback_id != 0 {
        fields.push(format!("callback_id={}", attributes.callback_id));
    }
    if attributes.partitioned {
        fields.push("partitioned=true".to_owned());
    }
    if attributes.op_id != 0 {
        fields.push(format!("op_id={}", attributes.op_id));
    }
    format!("{{{}}}", fields.join(","))
}

/// Source: XLA `HloModule::PrintStackFrameIndex`.
fn write_tables(out: &mut String, index: &StackFrameIndexProto) {
    if *index == StackFrameIndexProto::default() {
        return;
    }
    out.push_str("\nFileNames\n");
    for (i, name) in index.file_names.iter().enumerate() {
        _ = writeln!(out, "{} {}", i + 1, quoted(name.as_bytes()));
    }
    out.push_str("\nFunctionNames\n");
    for (i, name) in index.function_names.iter().enumerate() {
        _ = writeln!(out, "{} {}", i + 1, quoted(name.as_bytes()));
    }
    out.push_str("\nFileLocations\n");
    for (i, location) in index.file_locations.iter().enumerate() {
        _ = writeln!(
            out,
            "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}",
            i + 1,
            location.file_name_id,
            location.function_name_id,
            location.line,
            location.end_line,
            location.column,
            location.end_column
        );
    }
    out.push_str("\nStackFrames\n");
    for (i, frame) in index.stack_frames.iter().enumerate() {
        _ = writeln!(
            out,
            "{} {{file_location_id={} parent_frame_id={}}}",
            i + 1,
            frame.file_location_id,
            // Rows of this table count from 1, and the message has 0 for no caller.
            i64::from(frame.parent_frame_id) + 1
        );
    }
}
