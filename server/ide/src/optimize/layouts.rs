//! Other layouts for arrays that a kernel does not access in whole sectors, as code actions that say what all kernels then take, with
//! the copies that the change needs.
//!
//! Each is computed on the module: the rewritten kernels are analysed as those of the text are.

mod time;

use db::{Language, Target};
use gpu::{Buffer, Device, RemedyChange};
use ir::Opcode;
use passes::{InstructionId, Module, Relaid, Relayout, WrittenBy};

use self::time::{Analysed, time_of};
use super::fusing::{MAX_BYTES, executions_of, total};
use super::known::KnownOptimized;
use super::planned::change_in_words;
use super::rewrites::{Difference, rewrite_of_all};
use super::source::SourceModule;
use crate::TextRange;
use crate::code_actions::{Actions, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::figures::duration;
use crate::kernel::shown_kernel::kernel_around;
use crate::units::{averaged, bytes, figure};

/// The smallest gain that counts, in microseconds.
const LEAST_GAIN: f64 = 0.001;

/// What the ids of these actions start with.
pub const LAYOUT_ACTION: &str = "layout-";

/// An array that a kernel does not access in whole sectors, and the layout in which it would.
struct Access {
    kernel: InstructionId,
    buffer: Buffer,
    value: InstructionId,
    minor_to_major: Vec<i64>,
}

/// A way to the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The caller passes the parameter so.
    Take,
    Store,
    /// Stored so, and returned so as a result.
    Return,
    /// The kernel reads a copy.
    Copy,
}

/// A module after a change, and what that gains.
struct Changed {
    after: Module,
    relaid: Relaid,
    /// Of one execution of the computation.
    before_us: f64,
    after_us: f64,
    kernels: [Analysed; 2],
}

pub(crate) fn offer(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    range: &TextRange,
    actions: &mut Actions<'_>,
) {
    let (db, file) = (context.db, context.view.file);
    let is_meant = file.language(db) == Language::Hlo
        && context.view.text.len_bytes() <= MAX_BYTES
        && !actions.makes_all_changes()
        && actions.may_want(LAYOUT_ACTION)
        && db::has_fusions(db, file).contains(&true);
    let Some(at) = context.instruction_at(range.start).filter(|_| is_meant) else { return };
    let Some(launch) = kernel_around(context, at).filter(|&launch| context.is_launched(launch)) else {
        return;
    };
    let wanted = wanted_layouts(context, at, launch, range.start);
    if wanted.is_empty() {
        return;
    }
    let Ok(source) = known.source(context) else { return };
    let device = db.device_of(file);
    let start = context.range(launch.piece, context.block(launch.piece).instruction(launch.id).name).start;
    let Some(kernel) = source.instruction_at(start) else { return };
    let total = (!actions.is_about_one()).then(|| {
        context.kernels_ahead();
        total(context, |id| time_of(context, id))
    });
    for (buffer, minor_to_major) in wanted {
        let Some(value) = value_of(&source.module, kernel, buffer) else { continue };
        let access = Access { kernel, buffer, value, minor_to_major };
        offer_for(context, &source, &access, total, device, actions);
    }
}

/// The buffers of a kernel that are not coalesced, with the layouts that would mend it: all, that of the operand at the cursor, or those
/// that the instruction at the cursor inside the fusion is the cause of.
fn wanted_layouts(
    context: &FileContext<'_>,
    at: InstructionRef,
    launch: InstructionRef,
    offset: usize,
) -> Vec<(Buffer, Vec<i64>)> {
    let Some(id) = context.kernel_id(launch) else { return Vec::new() };
    let Some(Ok(analysis)) = context.kernel(id) else { return Vec::new() };
    let block = context.block(at.piece);
    let mut operands = block.operands_of(at.id);
    let operand = operands.position(|(operand, _)| {
        let range = context.range(at.piece, operand.span);
        at == launch && range.start <= offset && offset <= range.end
    });
    let buffers = context.kernel_coalescing(id);
    let waste = context.kernel_waste(id, Target::get(context.db).waste_threshold(context.db));
    let mut found = Vec::new();
    for waste in waste.iter() {
        let Some(buffer) = buffers.get(waste.buffer).map(|buffer| buffer.buffer) else { continue };
        let is_here = match (at == launch, operand) {
            (false, _) => analysis.fused.name(waste.cause.op()) == block.name(at.id),
            (true, Some(number)) => buffer == Buffer::Operand(number as u32),
            (true, None) => true,
        };
        if let Some(RemedyChange::Layout(order)) = waste.remedy.as_ref().map(|remedy| &remedy.change)
            && is_here
        {
            found.push((buffer, order.clone()));
        }
    }
    found
}

/// The instruction whose value a kernel reads or writes there.
fn value_of(module: &Module, kernel: InstructionId, buffer: Buffer) -> Option<InstructionId> {
    match buffer {
        Buffer::Operand(number) => module[kernel].operands().get(number as usize).copied(),
        Buffer::Result(_) if module[kernel].shape().as_array().is_some() => Some(kernel),
        Buffer::Result(number) => {
            let is_element = |id: &InstructionId| {
                let index = module[*id].attributes().int(ir::AttributeKey::Index);
                module[*id].opcode() == Opcode::GetTupleElement && index == Some(number as i64)
            };
            module[kernel].users().iter().copied().find(is_element)
        }
    }
}

fn offer_for(
    context: &FileContext<'_>,
    source: &SourceModule,
    access: &Access,
    total: Option<f64>,
    device: &'static Device,
    actions: &mut Actions<'_>,
) {
    let module = &source.module;
    let times = executions_of(context, source, access.kernel);
    let mut found: Vec<(Way, Changed)> = Vec::new();
    for way in [Way::Take, Way::Store, Way::Return, Way::Copy] {
        if actions.wants(&access.id(module, way))
            && let Some(changed) = access.changed(module, way, device)
        {
            found.push((way, changed));
        }
    }
    let gain = |changed: &Changed| changed.before_us - changed.after_us;
    if !actions.is_about_one() {
        // What loses is shown where nothing gains: it says that nothing does.
        found.sort_by(|(_, a), (_, b)| gain(b).total_cmp(&gain(a)));
        let gaining = found.iter().filter(|(_, changed)| gain(changed) > LEAST_GAIN).count();
        found.truncate(gaining.max(1));
    }
    for (way, changed) in found {
        let mut title = access.title(source, way, &changed);
        if let Some(total) = total {
            let after = (total - gain(&changed) * times).max(0.0);
            title += &format!("; module {}", change_in_words(total, after));
            if gain(&changed) <= LEAST_GAIN {
                title += ": no gain";
            }
        }
        let change = || {
            let difference = Difference::new(module, &changed.after);
            let rewrite = rewrite_of_all(context, source, &changed.after, &difference)?;
            Some(rewrite.with_effect(access.effect(source, way, &changed)).checked(module))
        };
        actions.offer(access.id(module, way), title, CodeActionKind::RefactorRewrite, change);
    }
}

impl Access {
    fn id(&self, module: &Module, way: Way) -> String {
        let (value, kernel) = (module[self.value].name(), module[self.kernel].name());
        match way {
            Way::Take => format!("{LAYOUT_ACTION}take-{value}-{kernel}"),
            Way::Store => format!("{LAYOUT_ACTION}store-{value}-{kernel}"),
            Way::Return => format!("{LAYOUT_ACTION}return-{value}-{kernel}"),
            Way::Copy => format!("{LAYOUT_ACTION}copy-{value}-{kernel}"),
        }
    }

    /// The best module of a way.
    fn changed(&self, module: &Module, way: Way, device: &'static Device) -> Option<Changed> {
        let is_parameter = module[self.value].opcode() == Opcode::Parameter;
        let is_read = matches!(self.buffer, Buffer::Operand(_));
        match way {
            Way::Copy if is_read => {
                let mut after = module.clone();
                let copy = after.relayout_for(self.value, self.kernel, &self.minor_to_major)?;
                let relaid = Relaid {
                    readers: vec![self.kernel],
                    copy: Some((copy, vec![self.kernel])),
                    ..Relaid::default()
                };
                Some(Changed::new(module, after, relaid, device))
            }
            Way::Take if is_parameter => self.relaid(module, WrittenBy::Itself, false, device),
            Way::Store | Way::Return if !is_parameter => {
                let ways = [WrittenBy::Itself, WrittenBy::CopyInFusion].into_iter();
                let results = ways.filter_map(|by| self.relaid(module, by, way == Way::Return, device));
                let best = results.min_by(|a, b| a.after_us.total_cmp(&b.after_us))?;
                let changes_results = best.after.header.entry_layout != module.header.entry_layout
                    || best.after[best.after.root(best.after.entry())].shape()
                        != module[module.root(module.entry())].shape();
                (changes_results == (way == Way::Return)).then_some(best)
            }
            _ => None,
        }
    }

    /// The value in the other layout. Users that get slower by it read a copy in the old one, if that is faster.
    fn relaid(
        &self,
        module: &Module,
        by: WrittenBy,
        changes_results: bool,
        device: &'static Device,
    ) -> Option<Changed> {
        let with_copies = |copied_for: &[InstructionId]| {
            let mut after = module.clone();
            let (value, minor_to_major) = (self.value, self.minor_to_major.as_slice());
            let change = Relayout { value, minor_to_major, by, copied_for, changes_results };
            let relaid = after.relayout(&change)?;
            Some(Changed::new(module, after, relaid, device))
        };
        let direct = with_copies(&[])?;
        let is_slower = |id: &InstructionId| {
            let [before, after] = &direct.kernels;
            *id != self.kernel && after.us(&direct.after, *id) > before.us(module, *id) + LEAST_GAIN
        };
        let slower: Vec<InstructionId> =
            direct.relaid.readers.iter().copied().filter(|id| is_slower(id)).collect();
        if slower.is_empty() {
            return Some(direct);
        }
        match with_copies(&slower) {
            Some(copied) if copied.after_us < direct.after_us => Some(copied),
            _ => Some(direct),
        }
    }

    fn layout(&self) -> String {
        let order: Vec<String> = self.minor_to_major.iter().map(i64::to_string).collect();
        format!("{{{}}}", order.join(","))
    }

    /// `Store %x as {0,1}: %f 31 µs → 9.8 µs, copy of 4.2 MB 3.1 µs`
    fn title(&self, source: &SourceModule, way: Way, changed: &Changed) -> String {
        let module = &source.module;
        let (value, kernel) = (name(source, self.value), name(source, self.kernel));
        let layout = self.layout();
        let what = match way {
            Way::Take => format!("Take {value} as {layout} from the caller"),
            Way::Store => format!("Store {value} as {layout}"),
            Way::Return => format!("Store and return {value} as {layout}"),
            Way::Copy => format!("Copy {value} to {layout} for {kernel}"),
        };
        let [before, after] = &changed.kernels;
        let times = change_in_words(before.us(module, self.kernel), after.us(&changed.after, self.kernel));
        let mut title = format!("{what}: {kernel} {times}");
        if let Some((copy, _)) = &changed.relaid.copy {
            title += &format!(", {}", changed.copy_in_words(*copy));
        }
        title
    }

    /// What happens to the sectors, and to the other kernels.
    fn effect(&self, source: &SourceModule, way: Way, changed: &Changed) -> String {
        let module = &source.module;
        let mut parts = Vec::new();
        let kernel = name(source, self.kernel);
        let counts =
            |at: usize, module: &Module| changed.kernels[at].counts(module, self.kernel, self.buffer);
        if let (Some(before), Some(after)) = (counts(0, module), counts(1, &changed.after)) {
            let verb = if matches!(self.buffer, Buffer::Operand(_)) { "reads" } else { "writes" };
            parts.push(format!(
                "{kernel} {verb} {} in {} per request instead of {}, {} instead of {}",
                name(source, self.value),
                averaged(after.sectors_per_request(), "sector"),
                figure(before.sectors_per_request()),
                bytes(after.bytes_moved()),
                bytes(before.bytes_moved()),
            ));
        }
        let others = changed.relaid.writer.iter().chain(&changed.relaid.readers);
        for &other in others.filter(|&&other| other != self.kernel) {
            let [before, after] = &changed.kernels;
            let times = change_in_words(before.us(module, other), after.us(&changed.after, other));
            parts.push(format!("{} {times}", name(source, other)));
        }
        for &removed in &changed.relaid.removed {
            let us = changed.kernels[0].us(module, removed);
            parts.push(format!("{} is not needed any more ({})", name(source, removed), duration(us)));
        }
        if let Some((copy, users)) = &changed.relaid.copy
            && way != Way::Copy
        {
            let users: Vec<String> = users.iter().map(|&user| name(source, user)).collect();
            let users =
                if users.is_empty() { "the result is".to_owned() } else { users.join(", ") + " read" };
            parts.push(format!("{users} a {} in the old layout", changed.copy_in_words(*copy)));
        }
        match way {
            Way::Take => parts.push("free if the caller can pass the parameter so".to_owned()),
            Way::Return => parts.push("free if the caller can take the result so".to_owned()),
            Way::Store | Way::Copy => {}
        }
        parts.join("; ")
    }
}

impl Changed {
    fn new(before: &Module, after: Module, relaid: Relaid, device: &'static Device) -> Changed {
        let mut kept: Vec<InstructionId> = relaid.readers.clone();
        kept.extend(relaid.writer.filter(|writer| !relaid.readers.contains(writer)));
        let old: Vec<InstructionId> = kept.iter().chain(&relaid.removed).copied().collect();
        let new: Vec<InstructionId> =
            kept.iter().copied().chain(relaid.copy.as_ref().map(|(copy, _)| *copy)).collect();
        let kernels = [Analysed::new(before, &old, device), Analysed::new(&after, &new, device)];
        let [before_us, after_us] = [kernels[0].total_us(), kernels[1].total_us()];
        Changed { after, relaid, before_us, after_us, kernels }
    }

    /// `copy of 4.2 MB 3.1 µs`
    fn copy_in_words(&self, copy: InstructionId) -> String {
        let size =
            self.after[copy].shape().bytes().map_or_else(String::new, |size| format!(" of {}", bytes(size)));
        format!("copy{size} {}", duration(self.kernels[1].us(&self.after, copy)))
    }
}

/// The name of an instruction of the text; of an element of a tuple `%x#1`.
fn name(source: &SourceModule, id: InstructionId) -> String {
    let module = &source.module;
    let written = source.instructions.get(Module::index(id)).and_then(Option::as_ref);
    match (written, module[id].operands().first()) {
        (Some(written), _) => written.name.clone(),
        (None, Some(&tuple)) if module[id].opcode() == Opcode::GetTupleElement && tuple < id => {
            let index = module[id].attributes().int(ir::AttributeKey::Index).unwrap_or(0);
            format!("%{}#{index}", module[tuple].name())
        }
        _ => format!("%{}", module[id].name()),
    }
}

#[cfg(test)]
mod tests;
