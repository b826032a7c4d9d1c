//! How a kernel uses memory, as the machine interface asks for it.

use gpu::{Buffer, Counts, Pattern};
use indexing_map::IndexingMap;

use crate::fusion_kernel::{FusionError, FusionQuery};
use crate::launched_kernel::LaunchedKernel;
use crate::locate::FileContext;

/// What a kernel does with one array.
#[derive(Debug, Clone)]
pub struct BufferReply {
    /// Without `%`. Of a result: the op of the fusion that computes it.
    pub name: String,
    pub is_result: bool,
    /// XLA's own verdict; it has none on results.
    pub xla_coalesced: Option<bool>,
    /// Why nothing is known of what the kernel moves.
    pub unknown: Option<String>,
    /// The counts below say so. Nothing where they are not known.
    pub coalesced: Option<bool>,
    /// The best and the worst that runtime variables may make of it; else one is the other.
    pub best: Option<Counts>,
    pub worst: Option<Counts>,
    /// The same with instructions of a thread at neighbouring addresses as one request: what one of them brings, the others
    /// find in the cache. Best and worst.
    pub with_reuse: Option<(Counts, Counts)>,
    /// Of `with_reuse` the one that popups and warnings show: the worst of a gather, else the best.
    pub judged: Option<Counts>,
    /// Every request was counted, or is proved to be like one that was, and data decides nothing.
    pub is_exact: bool,
    /// Of the access that wastes most.
    pub pattern: Option<Pattern>,
    /// For tiles of the sizes that were asked about.
    pub tiled_efficiency: Option<f64>,
    /// From threads to the array's elements, an access each.
    pub maps: Vec<IndexingMap>,
}

pub(crate) fn coalescing(
    context: &FileContext<'_>,
    query: &FusionQuery,
    tile_sizes: Option<&[i64]>,
) -> Result<Vec<BufferReply>, FusionError> {
    let kernel = LaunchedKernel::find(context, query)?;
    let analysis = kernel.analysis(context)?;
    let buffers = context.kernel_coalescing(&kernel.key);
    let replies = buffers.iter().map(|buffer| {
        let operand = match buffer.buffer {
            Buffer::Operand(number) => Some(number),
            Buffer::Result(_) => None,
        };
        BufferReply {
            name: buffer_name(&kernel.operands, analysis, buffer.buffer),
            is_result: operand.is_none(),
            xla_coalesced: buffer.xla_coalesced,
            unknown: buffer.unknown.as_deref().map(str::to_owned),
            coalesced: if buffer.accesses.is_empty() { None } else { buffer.is_coalesced() },
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

/// An operand by the name it has in `operands`; a result by the op that computes it.
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
