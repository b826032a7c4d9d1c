//! Shardings over the axes of a mesh, as the tiles of devices that HLO has.
//!
//! Source: `xla/service/spmd/shardy/stablehlo_round_trip/stablehlo_export.cc` convertToHloSharding, and
//! `xla/hlo/ir/tile_assignment.cc` for how an order of devices is shortened.

use mlir::integers;
use mlir::lists::{closing, split};
use rustc_hash::FxHashMap;

use crate::lists::joined;

/// Devices of a mesh whose order is written out, at most.
const MAX_DEVICES: i64 = 1 << 20;

/// Axes by name, the slowest first, and the devices where they are not in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mesh {
    axes: Vec<(Box<str>, i64)>,
    devices: Option<Vec<i64>>,
}

/// Part of an axis: its number, what is before it in the axis, and its size.
type Part = (usize, i64, i64);

impl Mesh {
    /// `<["x"=2, "y"=4], device_ids=[…]>`, after any prefix.
    pub fn of(text: &str) -> Option<Mesh> {
        let (_, rest) = text.split_once("<[")?;
        // After the attribute, a location may follow.
        let body = &text[text.len() - rest.len() - 1..];
        let body = &body[..closing(body, b'<', b'>')?];
        let mut mesh = Mesh::default();
        for (nth, part) in split(body).into_iter().enumerate() {
            if let Some(list) =
                part.strip_prefix("device_ids").map(|list| list.trim_start_matches([' ', '=']))
            {
                mesh.devices = Some(integers(list)?);
            } else if nth == 0 {
                for axis in split(part.strip_prefix('[')?.strip_suffix(']')?) {
                    let (name, size) = axis.rsplit_once('=')?;
                    let size = size.trim().parse().ok().filter(|&n| n > 0)?;
                    mesh.axes.push((name.trim().trim_matches('"').into(), size));
                }
            }
        }
        let count = mesh.axes.iter().try_fold(1i64, |n, axis| n.checked_mul(axis.1))?;
        (count <= MAX_DEVICES && mesh.axes.len() <= 64).then_some(mesh)
    }

    /// As the attribute has it.
    pub fn text(&self) -> String {
        let axes: Vec<_> = self.axes.iter().map(|(name, size)| format!("\"{name}\"={size}")).collect();
        let devices = self.devices.as_ref().map(|list| format!(", device_ids=[{}]", joined(list, ", ")));
        format!("#sdy.mesh<[{}]{}>", axes.join(", "), devices.unwrap_or_default())
    }

    /// An axis, or `"y":(2)2`: of what size the part before it in the axis is, and its own size.
    fn part(&self, text: &str) -> Option<Part> {
        let (name, sizes) = match text.rsplit_once(":(") {
            Some((name, sizes)) => (name, Some(sizes)),
            None => (text, None),
        };
        let at = self.axes.iter().position(|(own, _)| **own == *name.trim().trim_matches('"'))?;
        let Some(sizes) = sizes else { return Some((at, 1, self.axes[at].1)) };
        let (front, size) = sizes.split_once(')')?;
        let number = |text: &str| text.trim().parse::<i64>().ok().filter(|&n| n > 0);
        let (front, size) = (number(front)?, number(size)?);
        let is_part = front.checked_mul(size).is_some_and(|n| self.axes[at].1 % n == 0);
        is_part.then_some((at, front, size))
    }

    /// Each axis cut where one of these parts starts or ends, in the order of the mesh.
    fn cut(&self, parts: &[Part]) -> Option<Vec<Part>> {
        let mut all = Vec::new();
        for (at, &(_, size)) in self.axes.iter().enumerate() {
            let mut ends = vec![1, size];
            let of = parts.iter().filter(|part| part.0 == at);
            of.for_each(|&(_, front, own)| ends.extend([front, front * own]));
            ends.sort_unstable();
            ends.dedup();
            for pair in ends.windows(2) {
                if pair[1] % pair[0] != 0 {
                    return None;
                }
                all.push((at, pair[0], pair[1] / pair[0]));
            }
        }
        Some(all)
    }
}

/// The meshes of a module, by their symbols.
pub(crate) type Meshes = FxHashMap<Box<str>, Mesh>;

/// `#sdy.sharding<@mesh, [{"x"}, {}]>`, or one per value of `#sdy.sharding_per_value<[…]>`, as HLO writes it. `None` where a mesh
/// is not known, or tiles of devices cannot express the sharding.
pub(crate) fn hlo_sharding(value: &str, meshes: &Meshes) -> Option<String> {
    let body = value.split_once('<')?.1.rsplit_once('>')?.0.trim();
    if !value.starts_with("#sdy.sharding_per_value") {
        return sharding(body, meshes);
    }
    let each = split(body.strip_prefix('[')?.strip_suffix(']')?);
    let each: Vec<String> = each
        .into_iter()
        .map(|one| sharding(one.split_once('<')?.1.rsplit_once('>')?.0, meshes))
        .collect::<Option<_>>()?;
    match each.as_slice() {
        [only] => Some(only.clone()),
        several => Some(format!("{{{}}}", several.join(", "))),
    }
}

/// The symbols in a sharding that are no meshes.
pub(crate) fn unknown_meshes(value: &str, meshes: &Meshes) -> Vec<String> {
    let symbols =
        value.split("<@").skip(1).map(|rest| rest.split([',', '>']).next().unwrap_or_default().trim());
    let mut unknown: Vec<String> = symbols
        .filter(|symbol| !meshes.contains_key(symbol.trim_matches('"')))
        .map(|symbol| format!("@{symbol}"))
        .collect();
    unknown.dedup();
    unknown
}

/// `@mesh, [{"x"}, {"y", ?}], replicated={"z"}`
fn sharding(text: &str, meshes: &Meshes) -> Option<String> {
    let parts = split(text);
    let [mesh, dimensions, others @ ..] = parts.as_slice() else { return None };
    let own;
    let mesh = match mesh.strip_prefix('@') {
        Some(name) => meshes.get(name.trim_matches('"'))?,
        None => {
            own = Mesh::of(mesh)?;
            &own
        }
    };
    if others.iter().any(|other| other.starts_with("unreduced")) {
        return None;
    }
    let mut tiles = Vec::new();
    let mut order: Vec<Part> = Vec::new();
    for dimension in split(dimensions.strip_prefix('[')?.strip_suffix(']')?) {
        // After the braces, a priority may follow.
        let axes = dimension.strip_prefix('{')?.split('}').next()?;
        let axes: Vec<Part> = split(axes)
            .into_iter()
            .filter(|axis| *axis != "?")
            .map(|axis| mesh.part(axis))
            .collect::<Option<_>>()?;
        tiles.push(axes.iter().try_fold(1i64, |n, part| n.checked_mul(part.2))?);
        order.extend(axes);
    }
    if let ([], Some([device])) = (mesh.axes.as_slice(), mesh.devices.as_deref()) {
        return Some(format!("{{maximal device={device}}}"));
    }
    if tiles.iter().all(|&n| n == 1) {
        return Some("{replicated}".to_owned());
    }
    let all = mesh.cut(&order)?;
    // Each part as those that it is cut into.
    let mut turned: Vec<usize> = Vec::new();
    for (at, front, size) in order {
        let inside = |part: &Part| part.0 == at && part.1 >= front && part.1 < front * size;
        turned.extend((0..all.len()).filter(|&n| inside(&all[n])));
    }
    let rest: Vec<usize> = (0..all.len()).filter(|n| !turned.contains(n)).collect();
    let copies: i64 = rest.iter().map(|&n| all[n].2).product();
    turned.extend(rest);
    if copies > 1 {
        tiles.push(copies);
    }
    let replicated = if copies > 1 { " last_tile_dim_replicate" } else { "" };
    let sizes: Vec<i64> = all.iter().map(|part| part.2).collect();
    let devices = devices(&sizes, &turned, mesh.devices.as_deref())?;
    Some(format!("{{devices=[{}]{devices}{replicated}}}", joined(&tiles, ",")))
}

/// `<=[8]`, `<=[2,4]T(1,0)`, or the devices one by one where those of the mesh are in no order.
fn devices(sizes: &[i64], turned: &[usize], own: Option<&[i64]>) -> Option<String> {
    let kept: Vec<usize> = turned.iter().copied().filter(|&n| sizes[n] > 1).collect();
    // Neighbours that stay neighbours are one.
    let mut groups: Vec<(usize, i64)> = Vec::new();
    let mut last = None;
    let is_next = |from: usize, to: usize| from < to && sizes[from + 1..to].iter().all(|&size| size == 1);
    for &n in &kept {
        match groups.last_mut().filter(|_| last.is_some_and(|last| is_next(last, n))) {
            Some(group) => group.1 *= sizes[n],
            None => groups.push((n, sizes[n])),
        }
        last = Some(n);
    }
    if let Some(own) = own {
        let strides: Vec<i64> = (0..sizes.len()).map(|n| sizes[n + 1..].iter().product::<i64>()).collect();
        let count: i64 = sizes.iter().product();
        let device = |mut at: i64| {
            let mut place = 0;
            for &n in turned.iter().rev() {
                place += at % sizes[n] * strides[n];
                at /= sizes[n];
            }
            own.get(place as usize).copied()
        };
        return Some(joined(&(0..count).map(device).collect::<Option<Vec<_>>>()?, ","));
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups[at].0);
    let reshaped: Vec<i64> = order.iter().map(|&at| groups[at].1).collect();
    let place = |at: usize| order.iter().position(|&own| own == at).unwrap_or(at);
    let permutation: Vec<i64> = (0..groups.len()).map(|at| place(at) as i64).collect();
    let turn = match permutation.is_sorted() {
        true => String::new(),
        false => format!("T({})", joined(&permutation, ",")),
    };
    Some(format!("<=[{}]{turn}", joined(&reshaped, ",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meshes() -> Meshes {
        let of = |name: &str, text: &str| (name.into(), Mesh::of(text).expect("it is a mesh"));
        [
            of("mesh", "<[\"x\"=2, \"y\"=4]>"),
            of("big", "#sdy.mesh<[\"a\"=2, \"b\"=3, \"c\"=5, \"d\"=1]>"),
            of("max", "<[], device_ids=[3]>"),
            of("one", "<[\"x\"=1]>"),
            of("d", "<[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>"),
        ]
        .into_iter()
        .collect()
    }

    /// What XLA's own export, of jaxlib 0.12.0.1, writes of each.
    #[test]
    fn shardings_are_those_of_xla() {
        let meshes = meshes();
        for (text, expect) in [
            ("@mesh, [{\"x\"}, {\"y\"}]", "{devices=[2,4]<=[8]}"),
            (
                "@mesh, [{\"y\":(1)2}, {}], replicated={\"x\"}",
                "{devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
            ),
            ("@mesh, [{\"y\":(2)2, \"x\"}, {?}]", "{devices=[4,1,2]<=[4,2]T(1,0) last_tile_dim_replicate}"),
            ("@mesh, [{}, {}]", "{replicated}"),
            ("@mesh, []", "{replicated}"),
            ("mesh<[\"a\"=4]>, [{}, {\"a\"}]", "{devices=[1,4]<=[4]}"),
            ("@mesh, [{}, {\"y\", \"x\"}]", "{devices=[1,8]<=[2,4]T(1,0)}"),
            ("@mesh, [{\"y\"}, {\"x\"}]", "{devices=[4,2]<=[2,4]T(1,0)}"),
            ("@mesh, [{?}, {\"x\", ?}]", "{devices=[1,2,4]<=[8] last_tile_dim_replicate}"),
            ("@mesh, [{}, {\"y\"}]", "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
            ("@max, []", "{maximal device=3}"),
            ("@d, [{\"x\"}, {\"y\"}]", "{devices=[2,2]3,2,1,0}"),
            ("@one, [{\"x\"}, {}]", "{replicated}"),
            ("@mesh, [{\"x\"}p0, {\"y\"}p1]", "{devices=[2,4]<=[8]}"),
            ("@mesh, [{\"y\":(1)2}, {\"y\":(2)2}]", "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
            ("@mesh, [{\"x\", \"y\":(1)2}, {}]", "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"),
            ("@big, [{\"a\"}, {\"b\"}, {\"c\"}]", "{devices=[2,3,5]<=[30]}"),
            ("@big, [{\"c\"}, {\"b\"}, {\"a\"}]", "{devices=[5,3,2]<=[2,3,5]T(2,1,0)}"),
            ("@big, [{\"c\"}, {}, {\"a\"}]", "{devices=[5,1,2,3]<=[6,5]T(1,0) last_tile_dim_replicate}"),
            ("@big, [{\"b\"}, {}, {}]", "{devices=[3,1,1,10]<=[2,3,5]T(1,0,2) last_tile_dim_replicate}"),
            (
                "@big, [{\"d\"}, {\"c\", \"a\"}, {}]",
                "{devices=[1,10,1,3]<=[6,5]T(1,0) last_tile_dim_replicate}",
            ),
            ("@big, [{\"b\", \"c\"}, {\"a\"}, {}]", "{devices=[15,2,1]<=[2,15]T(1,0)}"),
        ] {
            let attribute = format!("#sdy.sharding<{text}>");
            assert_eq!(hlo_sharding(&attribute, &meshes).as_deref(), Some(expect), "{text}");
            let twice = format!("#sdy.sharding_per_value<[<{text}>, <{text}>]>");
            assert_eq!(hlo_sharding(&twice, &meshes), Some(format!("{{{expect}, {expect}}}")), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_nothing() {
        for text in
            ["@none, [{}]", "@mesh, [{\"z\"}]", "@mesh, [{\"y\":(3)2}]", "@mesh, [{}], unreduced={\"x\"}", ""]
        {
            assert_eq!(hlo_sharding(&format!("#sdy.sharding<{text}>"), &meshes()), None, "{text}");
        }
        assert_eq!(Mesh::of("<[\"x\"=9223372036854775807, \"y\"=3]>"), None);
        assert_eq!(Mesh::of("<[\"x\"=0]>"), None);
        let sharding = "#sdy.sharding_per_value<[<@none, [{}]>, <@mesh, [{}]>]>";
        assert_eq!(unknown_meshes(sharding, &meshes()), ["@none"]);
    }

    #[test]
    fn meshes_have_locations_behind_them() {
        let plain = Mesh::of("<[\"x\"=2, \"y\"=4]>");
        assert!(plain.is_some());
        for text in [
            "sdy.mesh @m = <[\"x\"=2, \"y\"=4]> loc(\"<stdin>\":2:3)",
            "sdy.mesh @m = <[\"x\"=2, \"y\"=4]> loc(\"f<x>\")",
            "\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>, sym_name = \"m\"}> : () -> ()",
        ] {
            assert_eq!(Mesh::of(text), plain, "{text}");
        }
    }
}
