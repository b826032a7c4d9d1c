//! The header of a module and the tables after it.

use ir::{Alias, ParsedModule};

use crate::attributes::{frontend_attributes, original_array};
use crate::messages::{
    AliasEntryProto, BufferDonorEntryProto, DebugAttributeTableEntryProto, DebugAttributesProto,
    FileLocation, HloBufferDonorProto, HloInputOutputAliasProto, HloModuleConfigProto, HloModuleProto,
    OriginalArrayProto, OriginalValueRecoveryTableProto, ProgramShapeProto, RecoveryEntry, StackFrame,
    StackFrameIndexProto,
};
use crate::notes::Notes;
use crate::scan::{OtherForm, Scanned, Scanner};
use crate::shapes::program_shape;
use crate::to_text::says_nothing;

/// Puts the header into the message of its module. `entry` is the shape of the entry computation.
pub(super) fn put(
    parsed: &ParsedModule,
    entry: Option<ProgramShapeProto>,
    proto: &mut HloModuleProto,
    notes: &mut Notes,
) -> Result<Option<HloModuleConfigProto>, String> {
    proto.name = match parsed.name.is_empty() {
        true => proto.entry_computation_name.clone(),
        false => parsed.name.clone(),
    };
    let settings = &parsed.settings;
    proto.host_program_shape = match &settings.entry_layout {
        Some((parameters, result)) => {
            let names = entry.map_or(Vec::new(), |entry| entry.parameter_names);
            let names = names.into_iter().chain(std::iter::repeat(String::new()));
            Some(program_shape(parameters.iter().zip(names), result))
        }
        None => entry,
    };
    let alias = |alias: &Alias| AliasEntryProto {
        output_shape_index: alias.output.clone(),
        parameter_number: alias.parameter,
        parameter_shape_index: alias.index.clone(),
        kind: if alias.is_must { crate::to_text::MUST_ALIAS } else { 1 },
    };
    let entries = settings.aliases.iter().map(alias).collect();
    proto.input_output_alias = Some(HloInputOutputAliasProto { entries });
    let donor = |(parameter_number, index): &(i64, Vec<i64>)| BufferDonorEntryProto {
        parameter_number: *parameter_number,
        parameter_shape_index: index.clone(),
    };
    proto.buffer_donor = Some(HloBufferDonorProto { entries: settings.donors.iter().map(donor).collect() });
    let mut config = HloModuleConfigProto::default();
    for (key, value) in &parsed.other_settings {
        let is_put = match key.as_str() {
            "replica_count" => number(value, &mut config.replica_count),
            "num_partitions" => number(value, &mut config.num_partitions),
            "alias_passthrough_params" => {
                config.alias_passthrough_params = value == "true";
                Ok(())
            }
            "allow_spmd_sharding_propagation_to_parameters" => {
                bools(value, &mut config.allow_spmd_sharding_propagation_to_parameters)
            }
            "allow_spmd_sharding_propagation_to_output" => {
                bools(value, &mut config.allow_spmd_sharding_propagation_to_output)
            }
            "frontend_attributes" => {
                frontend_attributes(value).map(|attributes| proto.frontend_attributes = Some(attributes))
            }
            "origin_recovery_table" => {
                proto.original_value_recovery_table = Some(recovery_table(value, notes)?);
                Ok(())
            }
            "backend_config" if value.starts_with('{') => {
                proto.backend_config = value.clone().into_bytes();
                Ok(())
            }
            "backend_config" => Scanner::new(value).string().map(|config| proto.backend_config = config),
            "debug_attributes" => debug_attributes(value).map(|entries| proto.debug_attributes = entries),
            _ => {
                notes.add(format!("the module attribute {key} is not known and left out"));
                Ok(())
            }
        };
        is_put.map_err(|OtherForm| format!("the module attribute {key} has a form that is not known"))?;
    }
    if !parsed.tables.trim().is_empty() {
        proto.stack_frame_index = Some(
            tables(&parsed.tables)
                .map_err(|OtherForm| "the tables of source locations have a form that is not known")?,
        );
    }
    // What XLA assumes without a number is one.
    config.replica_count = config.replica_count.max(1);
    config.num_partitions = config.num_partitions.max(1);
    let is_default = config.replica_count == 1
        && config.num_partitions == 1
        && !config.alias_passthrough_params
        && says_nothing(&config.allow_spmd_sharding_propagation_to_parameters)
        && says_nothing(&config.allow_spmd_sharding_propagation_to_output);
    Ok((!is_default).then_some(config))
}

fn number(text: &str, field: &mut i64) -> Scanned<()> {
    *field = text.trim().parse().map_err(|_| OtherForm)?;
    Ok(())
}

/// One, or a list in braces.
fn bools(text: &str, field: &mut Vec<bool>) -> Scanned<()> {
    let mut scanner = Scanner::new(text);
    *field = match scanner.at('{') {
        true => scanner.list('{', '}', Scanner::bool)?,
        false => vec![scanner.bool()?],
    };
    scanner.end()
}

/// `{ {"name"}:({log_mode=default,callback_id=1}), … }`
fn debug_attributes(text: &str) -> Scanned<Vec<DebugAttributeTableEntryProto>> {
    let mut scanner = Scanner::new(text);
    let entries = scanner.list('{', '}', |scanner| {
        scanner.expect('{')?;
        let array = original_array(scanner)?;
        scanner.expect('}')?;
        scanner.expect(':')?;
        let attributes = scanner.list('(', ')', |scanner| {
            let mut attributes = DebugAttributesProto::default();
            let mut fields = |scanner: &mut Scanner<'_>| -> Scanned<()> {
                let name = scanner.word()?;
                scanner.expect('=')?;
                match name {
                    "log_mode" => {
                        attributes.log_mode = match scanner.word()? {
                            "default" => 1,
                            "fusion_debugger" => 2,
                            _ => return Err(OtherForm),
                        };
                    }
                    "callback_id" => attributes.callback_id = scanner.int()?,
                    "op_id" => attributes.op_id = scanner.int()?,
                    "partitioned" => attributes.partitioned = scanner.bool()?,
                    _ => return Err(OtherForm),
                }
                Ok(())
            };
            scanner.list('{', '}', &mut fields)?;
            Ok(attributes)
        })?;
        Ok(DebugAttributeTableEntryProto { original_array: Some(array), debug_attributes: attributes })
    })?;
    scanner.end()?;
    Ok(entries)
}

/// `{ {"old"} : {"new"}, "module" }`: the quotes of the module are escaped.
fn recovery_table(text: &str, notes: &mut Notes) -> Result<OriginalValueRecoveryTableProto, String> {
    let fault = || "the origin recovery table has a form that is not known".to_owned();
    let mut table = OriginalValueRecoveryTableProto::default();
    let mut rest = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(fault)?;
    loop {
        rest = rest.trim_start_matches([' ', '\n', ',']);
        if rest.is_empty() {
            return Ok(table);
        }
        let (old, behind) = array(rest).ok_or_else(fault)?;
        let behind = behind.trim_start().strip_prefix(':').ok_or_else(fault)?;
        let (new, behind) = array(behind).ok_or_else(fault)?;
        rest = behind;
        let module = behind
            .trim_start()
            .strip_prefix(',')
            .map(str::trim_start)
            .and_then(|text| text.strip_prefix('"'));
        let mut recovery_module = None;
        if let Some(module) = module {
            let end = closing_quote(module).ok_or_else(fault)?;
            let text = module[..end].replace("\\\"", "\"").replace("\\\\", "\\");
            let read = recursion::grow(|| super::module_proto(&text))?;
            read.notes.into_iter().for_each(|note| notes.add(note));
            recovery_module = Some(read.module);
            rest = &module[end + 1..];
        }
        table.entries.push(RecoveryEntry {
            old_original_array: Some(old),
            new_original_array: Some(new),
            recovery_module,
        });
    }
}

/// `{"name" {0}}`, and what follows.
fn array(text: &str) -> Option<(OriginalArrayProto, &str)> {
    let (inside, behind) = ir::bracketed(text.trim_start())?;
    let mut scanner = Scanner::new(inside);
    scanner.expect('{').ok()?;
    let array =
        if scanner.at('}') { OriginalArrayProto::default() } else { original_array(&mut scanner).ok()? };
    Some((array, behind))
}

/// The quote after a module is the first thing of its line.
fn closing_quote(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with('"') {
            return Some(start + line.len() - trimmed.len());
        }
        start += line.len();
    }
    None
}

/// The rows of each table are numbered from 1.
fn tables(text: &str) -> Scanned<StackFrameIndexProto> {
    let mut scanner = Scanner::new(text);
    let mut index = StackFrameIndexProto::default();
    let mut table = |name: &str, row: &mut dyn FnMut(&mut Scanner<'_>) -> Scanned<()>| -> Scanned<()> {
        if !scanner.eat_word(name) {
            return Err(OtherForm);
        }
        for number in 1.. {
            let mut look = scanner.clone();
            match look.int() {
                Ok(own) if own == number => scanner = look,
                Ok(_) => return Err(OtherForm),
                Err(OtherForm) => break,
            }
            cancel::tick();
            row(&mut scanner)?;
        }
        Ok(())
    };
    table("FileNames", &mut |scanner| {
        index.file_names.push(scanner.text()?);
        Ok(())
    })?;
    table("FunctionNames", &mut |scanner| {
        index.function_names.push(scanner.text()?);
        Ok(())
    })?;
    table("FileLocations", &mut |scanner| {
        let mut location = FileLocation::default();
        fields(scanner, |name, value| {
            *match name {
                "file_name_id" => &mut location.file_name_id,
                "function_name_id" => &mut location.function_name_id,
                "line" => &mut location.line,
                "end_line" => &mut location.end_line,
                "column" => &mut location.column,
                "end_column" => &mut location.end_column,
                _ => return Err(OtherForm),
            } = value;
            Ok(())
        })?;
        index.file_locations.push(location);
        Ok(())
    })?;
    table("StackFrames", &mut |scanner| {
        let mut frame = StackFrame::default();
        fields(scanner, |name, value| {
            *match name {
                "file_location_id" => &mut frame.file_location_id,
                "parent_frame_id" => {
                    frame.parent_frame_id = value.checked_sub(1).ok_or(OtherForm)?;
                    return Ok(());
                }
                _ => return Err(OtherForm),
            } = value;
            Ok(())
        })?;
        index.stack_frames.push(frame);
        Ok(())
    })?;
    scanner.end()?;
    Ok(index)
}

/// `{a=1 b=2}`
fn fields(scanner: &mut Scanner<'_>, mut field: impl FnMut(&str, i32) -> Scanned<()>) -> Scanned<()> {
    scanner.expect('{')?;
    while !scanner.eat('}') {
        scanner.eat(',');
        let name = scanner.word()?;
        scanner.expect('=')?;
        field(name, scanner.small_int()?)?;
    }
    Ok(())
}
