//! Shardings over the axes of a mesh. Source: XLA `hlo/ir/named_sharding.cc`, `hlo/ir/mesh_and_axis.cc`.

use super::super::groups::{iota, write_iota};
use super::{metadata_list, write_metadata_list};
use crate::messages::{
    AxisRefProto, DimensionSharding, IotaTransform, MeshAxis, MeshProto, NamedShardingProto, SubAxis,
};
use crate::scan::{OtherForm, Scanned, Scanner, write_list};

const REDUCTIONS: &[&str] = &["sum", "max", "min"];

/// `{mesh['a'=2,'b'=4], [{'a'}, {?}]}`
pub(super) fn text(proto: &NamedShardingProto) -> Option<String> {
    let empty = MeshProto::default();
    let mesh = proto.mesh.as_ref().unwrap_or(&empty);
    let is_maximal = mesh.axes.is_empty() && !mesh.device_ids.is_empty();
    let reduction = REDUCTIONS.get(usize::try_from(proto.reduction_op).ok()?)?;
    let reduction = if proto.reduction_op == 0 { "" } else { reduction };
    let covers_mesh = |axes: &[AxisRefProto]| {
        !axes.is_empty()
            && axes.len() == mesh.axes.len()
            && axes
                .iter()
                .enumerate()
                .all(|(i, axis)| axis.mesh_axis_index == i as i64 && axis.sub_axis_info.is_none())
    };
    let has_no_dims = proto.dim_shardings.is_empty();
    let mut out = String::from("{");
    if !is_maximal
        && has_no_dims
        && [&proto.replicated_axes, &proto.unreduced_axes, &proto.manual_axes]
            .iter()
            .all(|axes| axes.is_empty())
    {
        if mesh.axes.iter().any(|axis| axis.size != 1) || mesh.axes.is_empty() {
            out.push_str("replicated");
        } else {
            write_mesh(&mut out, mesh);
            out.push_str(", replicated");
        }
    } else if has_no_dims
        && proto.replicated_axes.is_empty()
        && proto.manual_axes.is_empty()
        && covers_mesh(&proto.unreduced_axes)
    {
        out.push_str("unreduced");
        if !reduction.is_empty() {
            out.push('=');
            out.push_str(reduction);
        }
        // A text without a mesh cannot say which one.
    } else {
        write_mesh(&mut out, mesh);
        if has_no_dims
            && proto.replicated_axes.is_empty()
            && proto.unreduced_axes.is_empty()
            && covers_mesh(&proto.manual_axes)
        {
            out.push_str(", manual");
        } else if !is_maximal {
            write_dims(&mut out, mesh, &proto.dim_shardings)?;
            for (name, axes) in [
                ("replicated=", &proto.replicated_axes),
                ("unreduced=", &proto.unreduced_axes),
                ("manual=", &proto.manual_axes),
            ] {
                if !axes.is_empty() {
                    out.push_str(", ");
                    out.push_str(name);
                    out.push_str(if name == "unreduced=" { reduction } else { "" });
                    write_axes(&mut out, mesh, axes)?;
                }
            }
        }
    }
    if !proto.metadata.is_empty() {
        out.push_str(", metadata={");
        write_metadata_list(&mut out, &proto.metadata);
        out.push('}');
    }
    out.push('}');
    Some(out)
}

fn write_dims(out: &mut String, mesh: &MeshProto, dims: &[DimensionSharding]) -> Option<()> {
    out.push_str(", [");
    for (i, dim) in dims.iter().enumerate() {
        out.push_str(if i > 0 { ", {" } else { "{" });
        let mut parts = Vec::new();
        for axis in &dim.axes {
            parts.push(axis_text(mesh, axis)?);
        }
        if !dim.is_closed {
            parts.push("?".to_owned());
        }
        out.push_str(&parts.join(", "));
        out.push('}');
    }
    out.push(']');
    Some(())
}

/// `mesh['a'=2,'b'=4]`, with the order of its devices where that is not the usual one.
pub(in super::super) fn write_mesh(out: &mut String, mesh: &MeshProto) {
    if let ([], &[device]) = (&mesh.axes[..], &mesh.device_ids[..]) {
        out.push_str(&format!("maximal_mesh[device_id={device}]"));
        return;
    }
    out.push_str("mesh");
    write_list(out, '[', ']', mesh.axes.iter().map(|axis| format!("'{}'={}", axis.name, axis.size)));
    if let Some(iota) = mesh.iota_transform.as_ref().filter(|_| mesh.device_ids.is_empty()) {
        out.push_str(", device_ids=(");
        write_iota(out, &iota.reshape_dims, &iota.transpose_perm);
        out.push(')');
    } else if !mesh.device_ids.is_empty() {
        out.push_str(", device_ids=");
        write_list(out, '(', ')', &mesh.device_ids);
    }
}

/// `{'a', 'b':(2)2}`; `None` where the mesh has no such axis.
pub(in super::super) fn write_axes(out: &mut String, mesh: &MeshProto, axes: &[AxisRefProto]) -> Option<()> {
    let texts: Option<Vec<String>> = axes.iter().map(|axis| axis_text(mesh, axis)).collect();
    out.push_str(&format!("{{{}}}", texts?.join(", ")));
    Some(())
}

fn axis_text(mesh: &MeshProto, axis: &AxisRefProto) -> Option<String> {
    let name = &mesh.axes.get(usize::try_from(axis.mesh_axis_index).ok()?)?.name;
    Some(match &axis.sub_axis_info {
        Some(sub) => format!("'{name}':({}){}", sub.pre_size, sub.size),
        None => format!("'{name}'"),
    })
}

/// After the opening brace; `None` for a sharding of another form.
pub(super) fn read(scanner: &mut Scanner<'_>) -> Scanned<Option<NamedShardingProto>> {
    let mut look = scanner.clone();
    let is_mesh = ["mesh", "maximal_mesh", "single_device"].iter().any(|word| look.eat_word(word));
    if !is_mesh {
        return Ok(None);
    }
    let mesh = mesh(scanner)?;
    let mut proto = NamedShardingProto::default();
    let all: Vec<AxisRefProto> = (0..mesh.axes.len() as i64)
        .map(|mesh_axis_index| AxisRefProto { mesh_axis_index, sub_axis_info: None })
        .collect();
    while !scanner.eat('}') {
        scanner.eat(',');
        if scanner.at('[') {
            proto.dim_shardings = scanner.list('[', ']', |scanner| dimension(scanner, &mesh))?;
            continue;
        }
        let word = scanner.word()?;
        let has_value = scanner.eat('=');
        match word {
            "replicated" if !has_value => {}
            "manual" if !has_value => proto.manual_axes.clone_from(&all),
            "unreduced" if !has_value => proto.unreduced_axes.clone_from(&all),
            "replicated" => proto.replicated_axes = scanner.list('{', '}', |scanner| axis(scanner, &mesh))?,
            "manual" => proto.manual_axes = scanner.list('{', '}', |scanner| axis(scanner, &mesh))?,
            "unreduced" => {
                if scanner.is_at_word() {
                    let word = scanner.word()?;
                    let reduction = REDUCTIONS.iter().position(|known| *known == word);
                    proto.reduction_op = reduction.ok_or(OtherForm)? as i32;
                }
                proto.unreduced_axes = scanner.list('{', '}', |scanner| axis(scanner, &mesh))?;
            }
            "metadata" => proto.metadata = metadata_list(scanner)?,
            _ => return Err(OtherForm),
        }
    }
    proto.mesh = Some(mesh);
    Ok(Some(proto))
}

/// The axes of one dimension; `?` where others may be added.
fn dimension(scanner: &mut Scanner<'_>, mesh: &MeshProto) -> Scanned<DimensionSharding> {
    let mut dim = DimensionSharding { axes: Vec::new(), is_closed: true };
    scanner.expect('{')?;
    while !scanner.eat('}') {
        scanner.eat(',');
        match scanner.eat('?') {
            true => dim.is_closed = false,
            false => dim.axes.push(axis(scanner, mesh)?),
        }
    }
    Ok(dim)
}

pub(in super::super) fn mesh(scanner: &mut Scanner<'_>) -> Scanned<MeshProto> {
    let mut proto = MeshProto::default();
    if scanner.word()? != "mesh" {
        scanner.expect('[')?;
        if !scanner.eat_word("device_id") {
            return Err(OtherForm);
        }
        scanner.expect('=')?;
        proto.device_ids = vec![scanner.int()?];
        scanner.expect(']')?;
        return Ok(proto);
    }
    proto.axes = scanner.list('[', ']', |scanner| {
        let name = match scanner.is_at_word() {
            true => scanner.word()?.to_owned(),
            false => scanner.text()?,
        };
        scanner.expect('=')?;
        Ok(MeshAxis { name, size: scanner.int()? })
    })?;
    let mut look = scanner.clone();
    if look.eat(',') && look.eat_word("device_ids") {
        *scanner = look;
        scanner.expect('=')?;
        let mut look = scanner.clone();
        look.expect('(')?;
        if look.at('[') {
            scanner.expect('(')?;
            let (reshape_dims, transpose_perm) = iota(scanner)?;
            scanner.expect(')')?;
            proto.iota_transform = Some(IotaTransform { reshape_dims, transpose_perm });
        } else {
            proto.device_ids = scanner.list('(', ')', Scanner::int)?;
        }
    }
    Ok(proto)
}

/// `'a'`, the number of an axis, or a part of one: `'a':(2)4`.
pub(in super::super) fn axis(scanner: &mut Scanner<'_>, mesh: &MeshProto) -> Scanned<AxisRefProto> {
    let mesh_axis_index = if scanner.is_at_word() {
        scanner.int()?
    } else {
        let name = scanner.text()?;
        mesh.axes.iter().position(|axis| axis.name == name).ok_or(OtherForm)? as i64
    };
    let mut sub_axis_info = None;
    if scanner.eat(':') {
        scanner.expect('(')?;
        let pre_size = scanner.int()?;
        scanner.expect(')')?;
        sub_axis_info = Some(SubAxis { pre_size, size: scanner.int()? });
    }
    Ok(AxisRefProto { mesh_axis_index, sub_axis_info })
}
