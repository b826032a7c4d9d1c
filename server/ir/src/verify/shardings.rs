//! Shardings against the shapes they cut: as many tile dimensions as the array has, one sharding per leaf of a tuple, no
//! device twice; loops and branches hand on what they are given. Source: `hlo_sharding.cc` Validate, `hlo_parser.cc`
//! ParseSingleSharding, `hlo_verifier.cc` CheckWhileSharding and its like.

use std::ops::Range;

use syntax::hlo::{AttributeKey, InstructionId, Opcode};

use super::{Subject, Verifier};
use crate::finding::{InstructionFinding, Part, Severity};
use crate::print::split_top_level;
use crate::shape::Shape;

impl Verifier<'_> {
    pub(super) fn check_shardings(&mut self) {
        let is_sharding = |key: Option<AttributeKey>| key == Some(AttributeKey::Sharding);
        // Most modules have none.
        if !self.block.parse.attributes.iter().any(|attribute| is_sharding(attribute.key)) {
            return;
        }
        for (id, instruction) in self.block.parse.instructions.iter().enumerate() {
            if instruction.is_broken || is_apart(instruction.opcode) {
                continue;
            }
            let attributes = self.block.parse.attributes_of(instruction).iter();
            let Some(attribute) = attributes.clone().find(|a| is_sharding(a.key)) else { continue };
            let Some(shape) = self.block.shape(id as InstructionId) else { continue };
            if let Some(message) = wrong(attribute.value_span.of(&self.block.text), shape) {
                self.findings.push(InstructionFinding {
                    instruction: id as InstructionId,
                    part: Part::Value(AttributeKey::Sharding),
                    severity: Severity::Error,
                    code: "sharding",
                    message,
                    shapes: None,
                    related: Vec::new(),
                    fix: None,
                });
            }
        }
    }

    /// A loop's state has one sharding everywhere, and all branches return the same one. Absent shardings are compatible with any.
    pub(super) fn check_carried_shardings(&mut self, subject: &Subject<'_>) {
        use AttributeKey::{
            Body, BranchComputations, Condition, FalseComputation, Sharding, TrueComputation,
        };
        if !matches!(subject.opcode, Opcode::While | Opcode::Conditional) {
            return;
        }
        let own = subject.attributes.text(Sharding).map(Box::from);
        let called = |key| subject.attributes.computation(key).and_then(|c| self.called(c));
        let mut shardings: Vec<(Part, Option<Box<str>>)> = vec![(Part::Value(Sharding), own)];
        match subject.opcode {
            Opcode::While => {
                if let Some(body) = called(Body) {
                    shardings.push((Part::Value(Body), body.root_sharding.clone()));
                    shardings.push((Part::Value(Body), body.first_sharding.clone()));
                }
                if let Some(condition) = called(Condition) {
                    shardings.push((Part::Value(Condition), condition.first_sharding.clone()));
                }
            }
            _ => {
                for key in [TrueComputation, FalseComputation] {
                    shardings.extend(called(key).map(|c| (Part::Value(key), c.root_sharding.clone())));
                }
                for (n, name) in subject.attributes.computations(BranchComputations).into_iter().enumerate() {
                    let part = Part::Element(BranchComputations, n as u32);
                    shardings.extend(self.around.callees.get(name).map(|c| (part, c.root_sharding.clone())));
                }
            }
        }
        let mut written = shardings.iter().filter_map(|(part, text)| Some((*part, text.as_deref()?)));
        let Some((_, first)) = written.next() else { return };
        if let Some((part, other)) = written.find(|(_, other)| differ(first, other)) {
            let message = format!(
                "{} goes on with the sharding {other}, but {first} is written elsewhere of the same value",
                subject.opcode
            );
            self.error(subject, "sharding", part, message);
        }
    }
}

/// Whether two shardings cut differently for certain. One may be written in several ways: what is not plain is taken
/// for the same.
fn differ(a: &str, b: &str) -> bool {
    let parts = |text: &str| {
        let inner = text.trim().strip_prefix('{')?.trim_start();
        inner.starts_with('{').then(|| inner.strip_suffix('}').unwrap_or(inner).to_owned())
    };
    match (parts(a), parts(b)) {
        (None, None) => differ_as_one(a, b),
        (Some(a), Some(b)) => {
            let (a, b) = (split_top_level(&a), split_top_level(&b));
            a.len() == b.len() && a.iter().zip(&b).any(|(a, b)| differ_as_one(a, b))
        }
        _ => false,
    }
}

fn differ_as_one(a: &str, b: &str) -> bool {
    match (cuts(a), cuts(b)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

/// Into how many parts each dimension is cut; none for a replicated value. Nothing where subgroups, one device or a
/// named mesh say more.
fn cuts(text: &str) -> Option<Vec<i64>> {
    let text = text.split_once("metadata=").map_or(text, |(before, _)| before);
    let inner = text.trim().trim_start_matches('{').trim_end_matches('}').trim();
    if inner == "replicated" {
        return Some(Vec::new());
    }
    let tiles = inner.strip_prefix("devices=[").filter(|_| !inner.contains("last_tile"))?;
    let sizes: Option<Vec<i64>> =
        tiles.split_once(']')?.0.split(',').map(|n| n.trim().parse().ok()).collect();
    sizes.filter(|sizes| sizes.iter().any(|&n| n > 1))
}

/// Into how many parts a sharding cuts each dimension of an array, and over how many devices it does so with the copies of each
/// part. No parts for a replicated array. `None` where it is that of a tuple, on one device, manual or over a named mesh.
///
/// ```
/// assert_eq!(ir::sharding_parts("{devices=[4,1,2]<=[8] last_tile_dim_replicate}"), Some((vec![4, 1], 8)));
/// ```
pub fn sharding_parts(text: &str) -> Option<(Vec<i64>, i64)> {
    let text = text.split_once("metadata=").map_or(text, |(before, _)| before);
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    if inner == "replicated" {
        return Some((Vec::new(), 0));
    }
    let Single::Tiled { subgroups, .. } = Single::of(inner) else { return None };
    let tiles = inner.strip_prefix("devices=[")?.split_once(']')?.0;
    let mut sizes: Vec<i64> = tiles.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
    let devices = sizes.iter().try_fold(1i64, |all, &size| all.checked_mul(size).filter(|_| size > 0))?;
    sizes.truncate(sizes.len().checked_sub(subgroups)?);
    Some((sizes, devices))
}

/// Ops whose shardings are about other shapes than their results.
fn is_apart(opcode: Option<Opcode>) -> bool {
    use Opcode::{Domain, Infeed, Outfeed, Recv, RecvDone, Send, SendDone};
    matches!(opcode, None | Some(Outfeed | Infeed | Send | SendDone | Recv | RecvDone | Domain))
}

/// Errors in a sharding of a shape.
fn wrong(text: &str, shape: &Shape) -> Option<String> {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('{').map(str::trim_start).filter(|inner| inner.starts_with('{'))
    else {
        let single = Single::of(text);
        return single.problem().or_else(|| wrong_of_leaves(&single, shape));
    };
    if !matches!(shape, Shape::Tuple(_)) {
        return Some(format!("expected one sharding, not that of a tuple, as the shape is {shape}"));
    }
    let shardings = split_top_level(inner.strip_suffix('}').unwrap_or(inner));
    let mut leaves = Vec::new();
    collect_leaves(shape, &mut leaves);
    // XLA asks for one even where there is nothing to shard.
    let expected = leaves.len().max(1);
    if shardings.len() != expected {
        return Some(format!(
            "expected {expected} shardings, one per array of {shape}, but there are {}",
            shardings.len()
        ));
    }
    shardings.iter().zip(leaves).find_map(|(sharding, leaf)| {
        let single = Single::of(sharding);
        single.problem().or_else(|| wrong_of_leaves(&single, leaf))
    })
}

fn collect_leaves<'a>(shape: &'a Shape, leaves: &mut Vec<&'a Shape>) {
    match shape {
        Shape::Tuple(elements) => elements.iter().for_each(|element| collect_leaves(element, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// Of one sharding for all leaves of a shape.
fn wrong_of_leaves(sharding: &Single<'_>, shape: &Shape) -> Option<String> {
    let Single::Tiled { tiles, subgroups, .. } = sharding else { return None };
    match shape {
        Shape::Tuple(elements) => elements.iter().find_map(|element| wrong_of_leaves(sharding, element)),
        Shape::Array(array) if array.rank() + subgroups != *tiles => Some(match subgroups {
            0 => format!(
                "expected {} tile dimensions, the rank of {array}, but there are {tiles}",
                array.rank()
            ),
            _ => format!(
                "expected {} tile dimensions, the rank of {array} and {subgroups} of subgroups, but there are {tiles}",
                array.rank() + subgroups
            ),
        }),
        _ => None,
    }
}

/// One sharding, as far as it can contradict a shape.
enum Single<'a> {
    /// `devices=[tiles…]devices`; the list of devices is empty where they are an iota.
    Tiled { tiles: usize, subgroups: usize, devices: &'a str },
    /// Replicated, on one device, over a named mesh.
    Other,
}

impl Single<'_> {
    fn of(text: &str) -> Single<'_> {
        // What is written of the source comes last and may hold anything.
        let text = text.split_once("metadata=").map_or(text, |(before, _)| before);
        let Some((_, rest)) = text.split_once("devices=[") else { return Single::Other };
        let Some((tiles, rest)) = rest.split_once(']') else { return Single::Other };
        let subgroups = match rest.split_once("last_tile_dims={") {
            Some((_, kinds)) => match kinds.split_once('}').map(|(kinds, _)| kinds.trim()) {
                None | Some("") => 0,
                Some(kinds) => kinds.split(',').count(),
            },
            None => usize::from(rest.contains("last_tile_dim_replicate")),
        };
        let list = rest.trim_start();
        let len = list.bytes().take_while(|b| b.is_ascii_digit() || b" \t\r\n,-".contains(b)).count();
        Single::Tiled {
            tiles: tiles.split(',').count(),
            subgroups,
            devices: &list[Range { start: 0, end: len }],
        }
    }

    fn problem(&self) -> Option<String> {
        let Single::Tiled { devices, .. } = self else { return None };
        if devices.trim().is_empty() {
            return None;
        }
        let mut numbers: Vec<i64> = devices.split(',').filter_map(|n| n.trim().parse().ok()).collect();
        if numbers.len() == 1 {
            return Some("expected several devices: one alone is {maximal device=…}".to_owned());
        }
        numbers.sort_unstable();
        if let Some(negative) = numbers.first().filter(|&&n| n < 0) {
            return Some(format!("expected devices from 0 on, but there is {negative}"));
        }
        let twice = numbers.windows(2).find(|two| two[0] == two[1])?;
        Some(format!("device {} is named twice", twice[0]))
    }
}
