//! Shardings: tiles, meshes, and tuples of them.
//!
//! Source: XLA `hlo/ir/hlo_sharding.cc`, `named_sharding.cc`, `mesh_and_axis.cc`.

mod named;

use ir::AttributeValue;

use super::groups::{iota, write_iota};
use super::metadata::{metadata, write_metadata};
use super::{Context, Proto};
use crate::messages::{OpMetadata, OpSharding};
use crate::scan::{OtherForm, Scanned, Scanner, write_list};
pub(super) use named::{axis, mesh, write_axes, write_mesh};

/// Kinds of shardings by their numbers; those that are one word in a text, and in the last dimensions of tiles.
const KINDS: &[&str] = &["replicated", "maximal", "tuple", "other", "manual", "unknown", "unreduced"];
const TUPLE: i32 = 2;
const OTHER: i32 = 3;
const MAXIMAL: i32 = 1;

pub(super) fn take(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let text = sharding_text(proto.sharding.as_ref()?)?;
    proto.sharding = None;
    Some(AttributeValue::Text(text))
}

pub(super) fn put(proto: &mut Proto, value: &AttributeValue, _: &mut Context<'_>) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut scanner = Scanner::new(text);
    proto.sharding = Some(sharding(&mut scanner).map_err(|_| String::new())?);
    Ok(())
}

/// `{kind="sharding", entry={…}, exit={…}}`: the entry is that of the users.
pub(super) fn take_domain(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let text = |sharding: Option<&OpSharding>| sharding.map_or(Some("{}".to_owned()), sharding_text);
    let entry = text(proto.domain_exit_sharding.as_ref())?;
    let exit = text(proto.domain_entry_sharding.as_ref())?;
    (proto.domain_entry_sharding, proto.domain_exit_sharding) = (None, None);
    Some(AttributeValue::Text(format!("{{kind=\"sharding\", entry={entry}, exit={exit}}}")))
}

pub(super) fn put_domain(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let sides = || -> Scanned<(OpSharding, OpSharding)> {
        let mut scanner = Scanner::new(text);
        scanner.expect('{')?;
        let mut shardings = Vec::new();
        for name in ["kind", "entry", "exit"] {
            if !scanner.eat_word(name) {
                return Err(OtherForm);
            }
            scanner.expect('=')?;
            match name {
                "kind" => _ = scanner.string()?,
                _ => shardings.push(sharding(&mut scanner)?),
            }
            scanner.eat(',');
        }
        let exit = shardings.pop().ok_or(OtherForm)?;
        Ok((shardings.pop().ok_or(OtherForm)?, exit))
    };
    let (entry, exit) = sides().map_err(|_| String::new())?;
    proto.domain_exit_sharding = Some(entry);
    proto.domain_entry_sharding = Some(exit);
    Ok(())
}

/// `None` where a part is not understood.
pub(crate) fn sharding_text(proto: &OpSharding) -> Option<String> {
    if proto.r#type == TUPLE && proto.named_sharding.is_none() {
        let parts: Option<Vec<String>> =
            proto.tuple_shardings.iter().map(|part| recursion::grow(|| sharding_text(part))).collect();
        return Some(format!("{{{}}}", parts?.join(", ")));
    }
    if let Some(named) = &proto.named_sharding {
        return named::text(named);
    }
    let mut out = String::from("{");
    let is_one_device = match proto.iota_reshape_dims.is_empty() {
        true => proto.tile_assignment_devices.len() == 1,
        false => proto.iota_reshape_dims.iter().all(|&dim| dim == 1),
    };
    match proto.r#type {
        MAXIMAL => {
            let &[device] = &proto.tile_assignment_devices[..] else { return None };
            out.push_str(&format!("maximal device={device}"));
        }
        // One device holds all.
        OTHER if is_one_device => out.push_str("replicated"),
        OTHER => write_tiles(&mut out, proto)?,
        kind => out.push_str(KINDS.get(usize::try_from(kind).ok()?)?),
    }
    if proto.is_shard_group {
        let kind = if proto.shard_group_type == 0 { "shard_as" } else { "shard_like" };
        out.push_str(&format!(" {kind} {}", proto.shard_group_id));
    }
    if let [only] = &proto.metadata[..] {
        out.push_str(" metadata={");
        write_metadata(&mut out, only, &[]);
        out.push('}');
    } else if !proto.metadata.is_empty() {
        out.push_str(" metadata={");
        write_metadata_list(&mut out, &proto.metadata);
        out.push('}');
    }
    out.push('}');
    Some(out)
}

fn write_metadata_list(out: &mut String, list: &[OpMetadata]) {
    for (i, metadata) in list.iter().enumerate() {
        out.push_str(if i > 0 { ", {" } else { "{" });
        write_metadata(out, metadata, &[]);
        out.push('}');
    }
}

/// `devices=[2,2]<=[4] last_tile_dims={manual, replicated}`
fn write_tiles(out: &mut String, proto: &OpSharding) -> Option<()> {
    out.push_str("devices=");
    write_list(out, '[', ']', &proto.tile_assignment_dimensions);
    if proto.iota_reshape_dims.is_empty() {
        let devices: Vec<String> = proto.tile_assignment_devices.iter().map(i64::to_string).collect();
        out.push_str(&devices.join(","));
    } else {
        out.push_str("<=");
        write_iota(out, &proto.iota_reshape_dims, &proto.iota_transpose_perm);
    }
    if proto.replicate_on_last_tile_dim {
        out.push_str(" last_tile_dim_replicate");
    }
    if !proto.last_tile_dims.is_empty() {
        let kind = |&kind: &i32| KINDS.get(usize::try_from(kind).ok()?).copied();
        let kinds: Option<Vec<&str>> = proto.last_tile_dims.iter().map(kind).collect();
        out.push_str(&format!(" last_tile_dims={{{}}}", kinds?.join(", ")));
    }
    Some(())
}

/// The sharding of a text, up to its closing brace.
pub(crate) fn sharding(scanner: &mut Scanner<'_>) -> Scanned<OpSharding> {
    let mut look = scanner.clone();
    look.expect('{')?;
    if look.at('{') {
        let tuple_shardings = scanner.list('{', '}', sharding_of_part)?;
        return Ok(OpSharding { r#type: TUPLE, tuple_shardings, ..OpSharding::default() });
    }
    // `{}` is a tuple without elements.
    if look.at('}') {
        *scanner = look;
        scanner.expect('}')?;
        return Ok(OpSharding { r#type: TUPLE, ..OpSharding::default() });
    }
    sharding_of_part(scanner)
}

fn sharding_of_part(scanner: &mut Scanner<'_>) -> Scanned<OpSharding> {
    scanner.expect('{')?;
    if let Some(named_sharding) = named::read(scanner)? {
        return Ok(OpSharding { named_sharding: Some(named_sharding), ..OpSharding::default() });
    }
    let mut proto = OpSharding { r#type: OTHER, ..OpSharding::default() };
    while !scanner.eat('}') {
        let word = scanner.word()?;
        match word {
            "replicated" | "manual" | "maximal" | "unknown" | "unreduced" => {
                let number = KINDS.iter().position(|kind| *kind == word);
                proto.r#type = number.unwrap_or_default() as i32;
            }
            "last_tile_dim_replicate" => proto.replicate_on_last_tile_dim = true,
            "shard_as" | "shard_like" => {
                proto.is_shard_group = true;
                proto.shard_group_type = i32::from(word == "shard_like");
                proto.shard_group_id = scanner.int()?;
            }
            "device" => {
                scanner.expect('=')?;
                proto.tile_assignment_devices = vec![scanner.int()?];
            }
            "devices" => {
                scanner.expect('=')?;
                tiles(scanner, &mut proto)?;
            }
            "last_tile_dims" => {
                scanner.expect('=')?;
                proto.last_tile_dims = scanner.list('{', '}', |scanner| {
                    let word = scanner.word()?;
                    KINDS.iter().position(|kind| *kind == word).map(|kind| kind as i32).ok_or(OtherForm)
                })?;
            }
            "metadata" => {
                scanner.expect('=')?;
                proto.metadata = metadata_list(scanner)?;
            }
            _ => return Err(OtherForm),
        }
    }
    Ok(proto)
}

fn tiles(scanner: &mut Scanner<'_>, proto: &mut OpSharding) -> Scanned<()> {
    proto.tile_assignment_dimensions = scanner.list('[', ']', Scanner::int)?;
    if scanner.eat('<') {
        scanner.expect('=')?;
        let (dims, permutation) = iota(scanner)?;
        proto.iota_reshape_dims = dims;
        let narrow = |dim: i64| i32::try_from(dim).map_err(|_| OtherForm);
        proto.iota_transpose_perm = permutation.into_iter().map(narrow).collect::<Scanned<_>>()?;
        return Ok(());
    }
    loop {
        proto.tile_assignment_devices.push(scanner.int()?);
        if !scanner.eat(',') {
            return Ok(());
        }
    }
}

/// One, or a list in braces.
fn metadata_list(scanner: &mut Scanner<'_>) -> Scanned<Vec<OpMetadata>> {
    let mut look = scanner.clone();
    look.expect('{')?;
    match look.at('{') {
        true => scanner.list('{', '}', metadata),
        false => Ok(vec![metadata(scanner)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shardings_survive_both_ways() {
        for text in [
            "{replicated}",
            "{maximal device=42}",
            "{manual}",
            "{unknown}",
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
            "{devices=[2,2,2,2]<=[2,2,4]T(2,1,0) last_tile_dims={manual, replicated}}",
            "{devices=[2,2,2,2]<=[16] last_tile_dims={manual, unreduced} shard_like 1}",
            "{{maximal device=1}, {replicated metadata={op_name=\"a\"}}}",
            "{replicated metadata={{op_name=\"a\"}, {op_name=\"b\" source_line=3}}}",
            "{}",
            "{replicated shard_as 3}",
            "{mesh['a'=2,'b'=4,'c'=3,'d'=8], [{'b':(2)2}, {'d':(4)2, 'c', ?}, {?}]}",
            "{mesh['a'=2,'b'=4], manual}",
            "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}]}",
            "{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}], replicated={'y'}}",
            "{maximal_mesh[device_id=5]}",
            "{mesh['a'=2,'b'=4], [{'a'}], unreduced=max{'b'}, metadata={{op_name=\"foo\"}, {op_name=\"bar\"}}}",
            "{mesh['a'=2,'b'=4], [{'a'}], manual={'b'}}",
        ] {
            let mut scanner = Scanner::new(text);
            let proto = sharding(&mut scanner).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(scanner.end(), Ok(()), "{text}");
            assert_eq!(sharding_text(&proto).as_deref(), Some(text));
        }
    }

    #[test]
    fn one_device_is_replicated() {
        let proto = sharding(&mut Scanner::new("{devices=[1,1]0}")).unwrap();
        assert_eq!(sharding_text(&proto).as_deref(), Some("{replicated}"));
    }
}
