//! XLA's kernel and ours side by side: launches, and sectors per request of each array.

use db::KernelId;
use gpu::{Buffer, Launch};

use crate::file_context::FileContext;
use crate::kernel::coalescing_queries::buffer_name;
use crate::kernel::document::runs_as;

/// What is known of both kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelComparison {
    /// The number of kernels that XLA launches for the instruction, one after the other; the first is compared.
    pub kernels: usize,
    /// Our launch, of the first kernel.
    pub launch: Option<Launch>,
    /// The arrays that the executed blocks access, or why XLA's kernel is not executed.
    pub arrays: Result<Vec<ComparedArray>, String>,
    /// The number of blocks that were executed, and whether these are all.
    pub blocks: (u64, bool),
}

/// The traffic of one array.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedArray {
    /// Without `%`.
    pub name: String,
    pub is_result: bool,
    /// Sectors per request of XLA's kernel, counted by executing it on zeros.
    pub xla: f64,
    /// Those of our kernel; `None` if data decides, or if they are not known.
    pub ours: Option<f64>,
}

/// Counts over some blocks may differ that much from those over all.
const TOLERANCE: f64 = 0.02;

impl ComparedArray {
    /// Whether both are known and differ.
    pub fn differs(&self) -> bool {
        self.ours.is_some_and(|ours| (ours - self.xla).abs() > TOLERANCE * ours.max(self.xla))
    }

    fn words(&self) -> String {
        let Self { name, xla, ours, .. } = self;
        match ours {
            None => format!("%{name} {xla:.1} / not known"),
            Some(ours) if self.differs() => format!("%{name} {xla:.1} / {ours:.1} (differs)"),
            Some(ours) => format!("%{name} {xla:.1} / {ours:.1}"),
        }
    }
}

impl KernelComparison {
    pub(crate) fn of<'a>(
        context: &FileContext<'a>,
        id: KernelId<'a>,
        operands: &[String],
        kernels: usize,
    ) -> KernelComparison {
        let Some(Ok(analysis)) = context.kernel(id) else {
            let arrays = Err("the instruction has no kernel to compare with".to_owned());
            return KernelComparison { kernels, launch: None, arrays, blocks: (0, false) };
        };
        let ours = |buffer: Buffer| {
            let traffic = context.kernel_coalescing(id).iter().find(|own| own.buffer == buffer)?;
            let counts = traffic.best().filter(|best| Some(*best) == traffic.worst())?;
            (counts.requests > 0).then(|| counts.sectors_per_request())
        };
        let trace = db::compiles::xla_trace(context.db, id);
        let blocks = trace.as_ref().map_or((0, false), |trace| (trace.blocks, trace.is_whole));
        let arrays = trace.as_ref().map_err(|reason| reason.to_string()).map(|trace| {
            let arrays = trace.arrays.iter().map(|array| ComparedArray {
                name: buffer_name(operands, analysis, array.buffer),
                is_result: matches!(array.buffer, Buffer::Result(_)),
                xla: array.sectors_per_request(),
                ours: ours(array.buffer),
            });
            arrays.collect()
        });
        KernelComparison { kernels, launch: analysis.stated_launch(), arrays, blocks }
    }

    /// The lines of the head. `launch` is XLA's.
    pub(crate) fn words(&self, launch: Option<&Launch>) -> Vec<String> {
        let mut lines = Vec::new();
        if self.kernels > 1 {
            lines.push(format!("XLA launches {} kernels for it, this is the first", self.kernels));
        }
        lines.push(match (launch, &self.launch) {
            (None, Some(ours)) => format!("launch: not known · ours: {}", sizes(ours)),
            (None, None) => "launch: not known".to_owned(),
            (Some(xla), None) => format!("launch: {}", sizes(xla)),
            (Some(xla), Some(ours)) if (xla.grid, xla.block) == (ours.grid, ours.block) => {
                format!("launch: {} · ours is the same", sizes(xla))
            }
            (Some(xla), Some(ours)) => format!("launch: {} · ours differs: {}", sizes(xla), sizes(ours)),
        });
        lines.push(match &self.arrays {
            Err(reason) => format!("sectors per request: not counted: {reason}"),
            Ok(arrays) if arrays.is_empty() => "sectors per request: it accesses no array".to_owned(),
            Ok(arrays) => {
                let words: Vec<String> = arrays.iter().map(ComparedArray::words).collect();
                let some = match self.blocks {
                    (blocks, false) => format!(", in {blocks} blocks"),
                    (_, true) => String::new(),
                };
                format!("sectors per request, XLA's{some} / ours: {}", words.join(" · "))
            }
        });
        lines
    }
}

/// `grid 4 · block 128`
fn sizes(launch: &Launch) -> String {
    let all = runs_as(launch, launch.shared_bytes);
    all.rsplit_once(" · ").map_or(all.clone(), |(sizes, _)| sizes.to_owned())
}
