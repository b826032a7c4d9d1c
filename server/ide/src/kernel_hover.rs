//! What the GPU will do with an instruction: the part of a popup about its kernel.

use gpu::{Buffer, BufferTraffic, Emitter, FusionAnalysis};
use indexing_map::{IndexingMap, PrintStyle, print_map, wrap};

use crate::block_level_tiles::block_level_tiles;
use crate::coalescing_queries::buffer_name;
use crate::coalescing_warnings::sectors;
use crate::kernel_functions::explained;
use crate::kernel_lens::{launched, net_bytes, time};
use crate::launched_kernel::LaunchedKernel;
use crate::locate::{FileContext, InstructionRef};
use crate::markdown::{bytes, code, counted, fence, figure, prose};

/// Columns of a map before it is broken at a comma.
const MAP_WIDTH: usize = 72;
/// Maps and functions in one popup.
const LIMIT: usize = 8;

/// The short answer first, then memory, then maps, then functions. Empty for what is not launched as a kernel.
pub(crate) fn kernel_hover(context: &FileContext<'_>, at: InstructionRef) -> String {
    if context.is_of_cpu() {
        let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(ir::Opcode::Fusion);
        let why = gpu::Elsewhere::CpuBackend.reason();
        return if is_fusion { format!("**no GPU kernel:** {why}\n\n") } else { String::new() };
    }
    if !context.is_launched(at) {
        return String::new();
    }
    LaunchedKernel::of(context, at).map_or_else(String::new, |kernel| kernel_details(context, &kernel))
}

/// The same of a kernel, whoever launches it.
pub(crate) fn kernel_details(context: &FileContext<'_>, kernel: &LaunchedKernel) -> String {
    let LaunchedKernel { key, operands, .. } = kernel;
    let device = context.db.device().name;
    let analysis = match context.kernel(key) {
        None => return String::new(),
        Some(Err(reason)) => return format!("**no kernel on {device}:** {}\n\n", prose(reason)),
        Some(Ok(analysis)) => analysis,
    };
    let buffers = context.kernel_coalescing(key);
    let estimate = context.kernel_estimate(key).map(|estimate| time(estimate));
    let mut out = summary(analysis, buffers, device, estimate);
    if matches!(analysis.emitter, Emitter::Elsewhere(_)) {
        return out + &block_level_tiles(context, key, analysis);
    }
    for buffer in buffers.iter().filter(|b| !b.accesses.is_empty()) {
        out += &format!("- {}\n", memory(operands, analysis, buffer));
    }
    out += "\n";
    let outputs = analysis.thread_to_output();
    let several = outputs.len() > 1;
    for (i, map) in outputs.iter().take(LIMIT).enumerate() {
        let what = if several { format!("output {i}") } else { "output".to_owned() };
        match map {
            Some(map) => out += &format!("**thread → {what}**\n{}", fence("", &map_text(map))),
            None => out += &format!("**thread → {what}** is decided in the kernel\n\n"),
        }
    }
    for buffer in buffers.iter().filter(|b| matches!(b.buffer, Buffer::Operand(_))).take(LIMIT) {
        let name = code(&format!("%{}", buffer_name(operands, analysis, buffer.buffer)));
        for access in &buffer.accesses {
            let map = &access.access.elements.map;
            if map.is_mapped() && !map.results().is_empty() {
                out += &format!("**thread → {name}**\n{}", fence("", &map_text(map)));
            }
        }
    }
    let Some(partition) = context.kernel_partition(key).filter(|p| p.functions.len() > 1) else {
        return out;
    };
    out += &format!("**{} functions**\n", partition.functions.len());
    for (i, function) in partition.functions.iter().take(LIMIT).enumerate() {
        let reason = explained(&function.reason);
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let count = counted(function.ops.len() as u64, "instruction");
        out += &format!("{}. {} of {count}{reason}\n", i + 1, code(&function.name));
    }
    let omitted = partition.functions.len().saturating_sub(LIMIT);
    if omitted > 0 {
        out += &format!("\n{omitted} more\n");
    }
    out + "\n"
}

/// `**loop** on h100-sxm · hero %t · grid 24576 × 128 threads · 12.6 MB`, and epilogues.
fn summary(
    analysis: &FusionAnalysis,
    buffers: &[BufferTraffic],
    device: &str,
    time: Option<String>,
) -> String {
    let mut parts = vec![format!("**{}** on {device}", analysis.emitter.name())];
    match &analysis.emitter {
        Emitter::Elsewhere(elsewhere) => {
            parts.push(prose(&elsewhere.reason()));
            parts.extend(analysis.stated_launch().map(|launch| launched(&launch)));
            parts.extend(analysis.fused.block_config.as_deref().map(prose));
        }
        _ => {
            parts.push(format!("hero {}", code(&format!("%{}", analysis.fused.name(analysis.hero())))));
            parts.extend(analysis.launch().map(|launch| launched(&launch)));
        }
    }
    parts.extend(net_bytes(analysis, buffers).map(bytes));
    parts.extend(time);
    let mut out = format!("{}\n\n", parts.join(" · "));
    let names = |root: usize, hero: u32| {
        let root = analysis.fused.roots[root];
        (root != hero).then(|| {
            let name = |op| code(&format!("%{}", analysis.fused.name(op)));
            format!("epilogue: from {} to {}\n\n", name(hero), name(root))
        })
    };
    let has_epilogue = matches!(
        analysis.emitter,
        Emitter::Transpose(_) | Emitter::PackedTranspose(_) | Emitter::Reduction(_) | Emitter::Concatenate(_)
    );
    if has_epilogue {
        out.extend(
            analysis.heroes.iter().enumerate().take(LIMIT).filter_map(|(root, &hero)| names(root, hero)),
        );
    }
    out
}

/// `reads %p: contiguous, 16 sectors per request (ideal 16), 1.05 MB`
pub(crate) fn memory(operands: &[String], analysis: &FusionAnalysis, buffer: &BufferTraffic) -> String {
    let name = code(&format!("%{}", buffer_name(operands, analysis, buffer.buffer)));
    let verb = if matches!(buffer.buffer, Buffer::Operand(_)) { "reads" } else { "writes" };
    let (Some(best), Some(worst)) = (buffer.best(), buffer.worst()) else {
        let note = buffer.accesses.iter().find_map(|a| a.access.elements.note.as_deref());
        return format!(
            "{verb} {name}: not known where{}",
            note.map_or_else(String::new, |n| format!(": {}", prose(n)))
        );
    };
    let pattern = buffer
        .worst_access()
        .and_then(|a| a.traffic)
        .map_or_else(String::new, |t| format!("{}, ", t.pattern));
    let sectors = sectors(best, worst);
    let mut text = format!(
        "{verb} {name}: {pattern}{sectors} per request (ideal {}), {} moved for {}",
        figure(best.ideal_sectors_per_request()),
        bytes(best.bytes_moved()),
        bytes(best.bytes_used)
    );
    if buffer.is_sampled() {
        text += ", sampled";
    }
    match (buffer.xla_coalesced, buffer.is_coalesced()) {
        (Some(xla), Some(ours)) if xla != ours => {
            text += &format!(" — XLA's rule: {}coalesced", if xla { "" } else { "not " });
        }
        _ => {}
    }
    text
}

pub(crate) fn map_text(map: &IndexingMap) -> String {
    let text = print_map(map, PrintStyle::Floordiv);
    match text.split_once(", domain: ") {
        Some((map, domain)) => {
            format!("{}\n{}", wrap(map, MAP_WIDTH), wrap(&format!("domain: {domain}"), MAP_WIDTH))
        }
        None => wrap(&text, MAP_WIDTH),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    fn check(text: &str, expect: Expect) {
        let (analysis, file, offset) = open(text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup");
        let from = hover.markdown.find("**loop**").or_else(|| hover.markdown.find("**transpose**"));
        let until = hover.markdown.find("**output →").unwrap_or(hover.markdown.len());
        expect.assert_eq(&hover.markdown[from.expect("a kernel")..until]);
    }

    #[test]
    fn a_fusion_tells_its_kernel() {
        let text = "HloModule m

fused {
  p = f32[64,64] parameter(0)
  e = f32[64,64] exponential(p)
  t = f32[64,64] transpose(e), dimensions={1,0}
  ROOT r = f32[64,64] negate(t)
}

ENTRY e {
  p = f32[64,64] parameter(0)
  ROOT $0f = f32[64,64] fusion(p), kind=kInput, calls=fused
}
";
        check(
            text,
            expect![[r#"
                **transpose** on h100-sxm · hero `%t` · grid 4 × 128 threads, 4.22 kB shared · 32.8 kB · ≈ 0.2 µs

                epilogue: from `%t` to `%r`

                - reads `%p`: contiguous, 4 sectors per request (ideal 4), 16.4 kB moved for 16.4 kB
                - writes `%r`: contiguous, 4 sectors per request (ideal 4), 16.4 kB moved for 16.4 kB

                **thread → output**
                ```
                (th_x, th_y, th_z, bl_x, bl_y,
                  bl_z)[s0, s1] -> ((bl_x mod 2) * 32 + s0 * 4 + th_x floordiv 32,
                  (bl_x floordiv 2) * 32 + th_x mod 32)
                domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0],
                  bl_x in [0, 3], bl_y in [0, 0], bl_z in [0, 0], s0 in [0, 7],
                  s1 in [0, 0]
                ```
                **thread → `%p`**
                ```
                (th_x, th_y, th_z, bl_x, bl_y,
                  bl_z)[s0] -> ((bl_x floordiv 2) * 32 + s0 * 4 + th_x floordiv 32,
                  (bl_x mod 2) * 32 + th_x mod 32)
                domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0],
                  bl_x in [0, 3], bl_y in [0, 0], bl_z in [0, 0], s0 in [0, 7]
                ```
                **3 functions**
                1. `fused_r` of 1 instruction
                2. `fused_t` of 1 instruction: the kernel is built around it
                3. `fused_e` of 2 instructions: the kernel is built around it

            "#]],
        );
    }
}
