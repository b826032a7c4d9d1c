//! The memory traffic of a kernel, for the machine interface.

use gpu::{Buffer, Counts, Pattern};
use indexing_map::IndexingMap;

use crate::file_context::FileContext;
use crate::kernel::fusion::{FusionError, FusionQuery};

/// A kernel's traffic for one array.
#[derive(Debug, Clone)]
pub struct BufferReply {
    /// The name without `%`. For a result: the op of the fusion that computes it.
    pub name: String,
    pub is_result: bool,
    /// XLA's own verdict; it has none for results.
    pub xla_coalesced: Option<bool>,
    /// Whether the counts are predicted by Triton's layout rules: those of a kernel of Triton.
    pub is_predicted: bool,
    /// The bytes that a thread moves with one instruction, for each width that occurs. Empty where it is unknown.
    pub widths: Vec<i64>,
    /// Whether bulk tensor copies (TMA) move the array, all or in part.
    pub is_bulk: bool,
    /// The reason why the kernel's traffic is unknown.
    pub unknown: Option<String>,
    /// Whether the counts below are coalesced. `None` where they are unknown.
    pub coalesced: Option<bool>,
    /// The best and worst case over runtime variables; equal if there are none.
    pub best: Option<Counts>,
    pub worst: Option<Counts>,
    /// The best and worst case, counting a thread's accesses at adjacent addresses as one request: one of
    /// them loads the sectors, and the others hit the cache.
    pub with_reuse: Option<(Counts, Counts)>,
    /// The element of `with_reuse` that hovers and warnings show: the worst for a gather, else the best.
    pub judged: Option<Counts>,
    /// Whether every request was counted, or proved equal to a counted one, and none depends on runtime data.
    pub is_exact: bool,
    /// The pattern of the most wasteful access.
    pub pattern: Option<Pattern>,
    /// The efficiency for tiles of the requested sizes.
    pub tiled_efficiency: Option<f64>,
    /// Maps from threads to the array's elements, one per access.
    pub maps: Vec<IndexingMap>,
}

pub(crate) fn coalescing(
    context: &FileContext<'_>,
    query: &FusionQuery,
    tile_sizes: Option<&[i64]>,
) -> Result<Vec<BufferReply>, FusionError> {
    let kernel = context.semantics().launched(context, query)?;
    let analysis = kernel.analysis(context)?;
    let buffers = context.kernel_coalescing(kernel.id);
    let replies = buffers.iter().map(|buffer| {
        let operand = match buffer.buffer {
            Buffer::Operand(number) => Some(number),
            Buffer::Result(_) => None,
        };
        BufferReply {
            name: buffer_name(&kernel.operands, analysis, buffer.buffer),
            is_result: operand.is_none(),
            xla_coalesced: buffer.xla_coalesced,
            is_predicted: buffer.is_predicted,
            widths: buffer.widths(),
            is_bulk: buffer.is_bulk(),
            unknown: buffer.unknown.as_deref().map(str::to_owned),
            coalesced: if buffer.is_accessed() { buffer.is_coalesced() } else { None },
            best: buffer.best(),
            worst: buffer.worst(),
            with_reuse: buffer.with_reuse(),
            judged: buffer.judged(),
            is_exact: buffer.is_exact(),
            pattern: buffer.pattern(),
            tiled_efficiency: operand
                .zip(tile_sizes)
                .and_then(|(number, sizes)| analysis.tiled_operand_efficiency(number, sizes)),
            maps: buffer.accesses.iter().map(|a| a.access.elements.map.clone()).collect(),
        }
    });
    Ok(replies.collect())
}

/// The name of an operand as in `operands`, or of the op that computes a result.
pub(crate) fn buffer_name(operands: &[String], analysis: &gpu::FusionAnalysis, buffer: Buffer) -> String {
    match buffer {
        Buffer::Operand(number) => {
            operands.get(number as usize).cloned().unwrap_or_else(|| format!("operand {number}"))
        }
        Buffer::Result(result) => {
            let root = analysis.fused.outputs.get(result).map(|&root| analysis.fused.roots[root]);
            root.map_or_else(String::new, |root| analysis.fused.name(root).to_owned())
        }
    }
}
