//! The memory section of hovers, and the memory part of lenses above computations.

use ::memory::{Bytes, Category, Memory, Time, sum};
use db::{Language, MemoryIndex};

use super::report::{is_callers, located};
use super::value_name;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::rich_text::{Line, RichText, code, parts, strong};
use crate::units::{bytes, counted};

/// Results of an instruction, and values that share a buffer with one, that are listed.
const LIMIT: usize = 4;

/// Where the results of an instruction of a scheduled module are, since when and until which use. Empty inside fusions, and
/// where the order of the instructions is not stated.
pub(crate) fn section(context: &FileContext<'_>, at: InstructionRef) -> RichText {
    let mut text = RichText::default();
    let Some((memory, position)) = scheduled_step(context, at) else { return text };
    let index = db::memory_index(context.db, context.view.file);
    let Some(values) = index.defined.get(&position) else { return text };
    for &value in values.iter().take(LIMIT) {
        text.item(value_in_words(context, memory, index, value));
    }
    if values.len() > LIMIT {
        text.item(format!("and {} more", counted((values.len() - LIMIT) as u64, "buffer")));
    }
    text.space();
    text
}

/// `memory: 2.1 MB of temporaries at offset 256 · live 21–38 of 40, until %backward (train.py:19) reads it · …`
fn value_in_words(context: &FileContext<'_>, memory: &Memory, index: &MemoryIndex, number: u32) -> Line {
    let value = &memory.values[number as usize];
    let place = index.place_of[number as usize];
    let kind = place.map(|(allocation, offset)| {
        let kind = match memory.allocations[allocation as usize].category() {
            Category::Parameter => "a parameter",
            Category::Constant => "constants",
            Category::Output => "an output",
            Category::Temporary => "temporaries",
            Category::ThreadLocal => "registers",
        };
        format!(" in {kind} at offset {offset}")
    });
    let size = format!("{}{}", bytes(value.bytes), kind.unwrap_or_default());
    let (_, element) = value.name.split_once('{').unwrap_or_default();
    let title = match element {
        "}" => parts![strong("memory:"), " "],
        _ => parts![strong("memory of "), code(format!("{{{element}")), " "],
    };
    let until = match memory.steps.get(value.live.end as usize) {
        Some(step) => match located(context, step) {
            Some(step) => parts![", until ", code(step.with_source()), " uses it"],
            None => Line::default(),
        },
        None if is_callers(memory, number) => parts![", since the caller owns it"],
        None => parts![", since it is a result of the module"],
    };
    let [start, end] = [value.live.start, value.live.end];
    let live = parts![format!("alive {start}–{end} of {}", memory.positions()), until];
    let mut facts = vec![parts![size], live];
    facts.extend(place.and_then(|place| sharers(memory, &index.places[&place], number)));
    if value.live.contains(memory.usage.peak) {
        facts.push("alive at the peak".into());
    }
    parts![title, Line::facts(facts)]
}

/// The values that are in the same place at other times, the largest first.
fn sharers(memory: &Memory, in_place: &[u32], number: u32) -> Option<Line> {
    let own = &memory.values[number as usize];
    let mut others: Vec<u32> = in_place.iter().copied().filter(|&other| other != number).collect();
    let rank = |&other: &u32| {
        let value = &memory.values[other as usize];
        (value.buffer != own.buffer, std::cmp::Reverse(value.bytes), value.live.start)
    };
    others.sort_by_key(rank);
    let names = others
        .iter()
        .take(LIMIT)
        .map(|&other| code(format!("%{}", value_name(&memory.values[other as usize].name))));
    let names = Line::joined(names, ", ");
    let more = others.len().saturating_sub(LIMIT);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!others.is_empty()).then(|| parts!["shares its buffer with ", names, more])
}

/// The peak within a computation whose instructions run as steps: `peak 2.15 MB at %row: 16.4 kB parameters, …`; of
/// the entry also what is allocated. `None` for
/// others, and in modules without a schedule.
pub(crate) fn lens_part(context: &FileContext<'_>, computation: usize) -> Option<String> {
    let memory = scheduled_memory(context)?;
    let body = memory.bodies.iter().find(|body| body.computation as usize == computation)?;
    let is_entry = context.module().is_entry(computation);
    let usage = &memory.usage;
    let at = if is_entry { usage.peak } else { usage.peak_within(body.start, body.end) };
    let used = usage.in_use.get(at as usize)?;
    let named =
        memory.steps.get(at as usize).map_or_else(|| "the end".to_owned(), |step| format!("%{}", step.name));
    let fragmentation = match usage.fragmentation {
        unused if is_entry && unused > 0 => format!(", {} fragmentation", bytes(unused)),
        _ => String::new(),
    };
    let of_all = if is_entry { format!(" of {}", bytes(memory.total)) } else { String::new() };
    Some(format!("peak {}{of_all} at {named}: {}{fragmentation}", bytes(sum(used)), by_kind(used)))
}

/// `1.02 kB parameters, 4 B constants`
pub(super) fn by_kind(used: &Bytes) -> String {
    let kinds = [
        (Category::Parameter, "parameters"),
        (Category::Constant, "constants"),
        (Category::Output, "outputs"),
        (Category::Temporary, "temporaries"),
    ];
    let kinds = kinds.into_iter().filter(|(kind, _)| used[*kind as usize] > 0);
    let kinds: Vec<String> =
        kinds.map(|(kind, name)| format!("{} {name}", bytes(used[kind as usize]))).collect();
    kinds.join(", ")
}

/// The position of an instruction in the schedule that a module states.
pub(super) fn scheduled_step<'a>(
    context: &FileContext<'a>,
    at: InstructionRef,
) -> Option<(&'a Memory, Time)> {
    let memory = scheduled_memory(context)?;
    let block = context.block(at.piece);
    let segment = ir::SegmentRef { piece: at.piece, computation: block.parse.computation_of(at.id)? };
    let computation = context.module().computation_of(segment)?;
    let index = db::memory_index(context.db, context.view.file);
    let position = index.position_of.get(&(computation as u32, block.name(at.id).into()))?;
    Some((memory, *position))
}

/// The plan of a module that states its schedule.
fn scheduled_memory<'a>(context: &FileContext<'a>) -> Option<&'a Memory> {
    is_scheduled(context).then(|| db::module_memory(context.db, context.view.file).as_deref())?
}

/// Whether the text states the order of its instructions.
fn is_scheduled(context: &FileContext<'_>) -> bool {
    context.view.file.language(context.db) == Language::Hlo
        && context.module().settings(0).is_some_and(|settings| settings.is_scheduled)
}

/// Plans what hovers and lenses show.
pub(crate) fn prepare(context: &FileContext<'_>) {
    if scheduled_memory(context).is_some() {
        db::memory_index(context.db, context.view.file);
    }
}

#[cfg(test)]
mod tests;
