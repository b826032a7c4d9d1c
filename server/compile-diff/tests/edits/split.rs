//! The split of a fusion in two.

use std::collections::HashSet;

use random::Rng;
use syntax::hlo::{AttributeKey, Opcode};

use crate::edit::{At, Expected, Replacements, Site, callers};

/// Computes one member of a fusion, and what only it needs, in a fusion of its own.
pub fn split(site: &Site<'_, '_>, rng: &mut Rng) -> Option<(Replacements, Expected)> {
    let module = site.module;
    let own = &module.parse.computations[site.home()];
    let is_leaf =
        |id: usize| matches!(site.opcode(id), Some(Opcode::Parameter | Opcode::Constant | Opcode::Iota));
    if own.is_entry
        || module.parse.instructions[site.id].is_root
        || is_leaf(site.id)
        || !site.is_array(site.id)
    {
        return None;
    }
    let fusion = caller(site)?;
    // The member with all that it is computed from.
    let mut part: HashSet<usize> = HashSet::new();
    let mut open = vec![site.id];
    while let Some(id) = open.pop() {
        if part.insert(id) {
            open.extend(site.operands(id).into_iter().map(|(_, operand, _)| operand));
        }
    }
    let is_parameter = |id: &usize| site.opcode(*id) == Some(Opcode::Parameter);
    let mut parameters: Vec<usize> = part.iter().copied().filter(is_parameter).collect();
    parameters.sort_unstable();
    part.retain(|id| !is_parameter(id));
    let is_needed_elsewhere =
        |&id: &usize| id != site.id && site.users(id).iter().any(|user| !part.contains(user));
    if part.iter().any(is_needed_elsewhere) || part.iter().any(|&id| module.parse.instructions[id].is_root) {
        return None;
    }
    let number = rng.range(1, 1 << 30);
    let (body, name) = (format!("split_computation.{number}"), format!("split.{number}"));
    let text = module.text;
    let mut lines = String::new();
    for (at, &id) in parameters.iter().enumerate() {
        lines += &format!("  {} = {} parameter({at})\n", module.name(id), site.shape(id));
    }
    let mut members: Vec<usize> = part.iter().copied().collect();
    members.sort_unstable();
    let mut replacements = Replacements::new();
    let total = own.instructions.clone().filter(|&id| is_parameter(&(id as usize))).count();
    for &id in &members {
        let span = module.parse.instructions[id].span;
        let root = if id == site.id { "ROOT " } else { "" };
        lines += &format!("  {root}{}\n", module.of(span));
        let new = format!("passed.{number} = {} parameter({total})", site.shape(id));
        let start = text[..span.start as usize].rfind('\n').map_or(0, |at| at + 1);
        let end = span.end as usize;
        let end = end + text[end..].find('\n').map_or(0, |at| at + 1);
        replacements.push((start..end, if id == site.id { format!("  {new}\n") } else { String::new() }));
    }
    for user in site.users(site.id) {
        let uses = site.operands(user).into_iter().filter(|(_, used, _)| *used == site.id);
        replacements.extend(uses.map(|(_, _, range)| (range, format!("passed.{number}"))));
    }
    let start = own.span.start as usize;
    replacements.push((start..start, format!("{body} {{\n{lines}}}\n\n")));
    // The fusion before, and its result as one more operand.
    let call = &module.parse.instructions[fusion];
    let operands = module.operands(fusion);
    let argument = |parameter: &usize| {
        let number: usize = module.of(module.parse.instructions[*parameter].argument).trim().parse().ok()?;
        Some(operands.get(number)?.as_ref()?.0.to_owned())
    };
    let arguments: Option<Vec<String>> = parameters.iter().map(argument).collect();
    let line = format!(
        "{name} = {} fusion({}), kind=kLoop, calls={body}\n  ",
        site.shape(site.id),
        arguments?.join(", ")
    );
    let start = call.span.start as usize;
    replacements.push((start..start, line));
    let end = call.argument.end as usize;
    let comma = if operands.is_empty() { "" } else { ", " };
    replacements.push((end..end, format!("{comma}{name}")));
    let old = At::new(module.of(own.name), "");
    Some((replacements, Expected::Moved(old, At::new(&body, ""))))
}

/// The fusion that alone calls the computation of the site.
fn caller(site: &Site<'_, '_>) -> Option<usize> {
    let module = site.module;
    let &[caller] = callers(module, site.home()).as_slice() else { return None };
    let all = module.parse.attributes_of(&module.parse.instructions[caller]);
    let is_fusion = site.opcode(caller) == Some(Opcode::Fusion)
        && all.iter().any(|one| one.key == Some(AttributeKey::Calls))
        && module.operands(caller).iter().all(Option::is_some);
    is_fusion.then_some(caller)
}
