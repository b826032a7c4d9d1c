//! Other configurations of the fusions for Triton: what they cost, and the best ones.

use std::sync::Arc;

use gpu::Reason;
use xtile::configs::{self, ConfigFigures, TileConfig};

use crate::kernel_ids::KernelId;
use crate::kernels::{OfKernel, fusion_source, kernel};

/// The number of configurations that a search keeps.
pub const BEST_CONFIGS: usize = 5;

/// The fastest configurations of a fusion for Triton by XLA's model, or the reason why its search finds none.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_best_configs<'db>(
    db: &'db dyn salsa::Database,
    id: KernelId<'db>,
) -> OfKernel<Vec<ConfigFigures>> {
    let source = fusion_source(db, id).clone()?;
    let Ok(analysis) = kernel(db, id).as_ref()? else { return None };
    let callees = |name: &str| source.callee(name);
    Some(configs::best_configs(&source.name, analysis, &callees, BEST_CONFIGS).map(Arc::new))
}

/// The figures of a fusion for Triton with a configuration, or the reason why XLA refuses it. Not memoised: there are as many
/// configurations as a user asks for.
pub fn kernel_config_figures<'db>(
    db: &'db dyn salsa::Database,
    id: KernelId<'db>,
    config: &TileConfig,
) -> Option<Result<ConfigFigures, Reason>> {
    let source = fusion_source(db, id).clone()?;
    let Ok(analysis) = kernel(db, id).as_ref()? else { return None };
    Some(configs::figures(&source.name, analysis, &|name| source.callee(name), config))
}
