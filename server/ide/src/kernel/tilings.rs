//! "What if the tiles were 64×128?": the configurations of a fusion for Triton side by side. The one in the text, the one that
//! is asked for, and the best ones of XLA's search.

mod table;

use db::KernelId;
use gpu::FusionAnalysis;
pub use xtile::configs::{ConfigChange, ConfigFigures, TileConfig};

use crate::file_context::FileContext;
use crate::kernel::document::{KernelDocument, KernelOrigin};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::shown_kernel::queried_instruction;

/// Why other fusions have none.
const NOT_TRITON: &str = "only fusions for Triton have tiles";
const NO_TILES: &str = "a Triton fusion whose configuration states no tiles";

/// The configurations of one fusion.
#[derive(Debug, Clone)]
pub struct Tilings {
    /// The fusion, without `%`.
    pub instruction: String,
    pub device: &'static str,
    /// Each configuration once: that in the text, that asked for, then the best ones, the fastest first.
    pub configs: Vec<Tiling>,
    /// Why XLA's search finds no best ones.
    pub no_search: Option<String>,
}

/// One configuration of a fusion.
#[derive(Debug, Clone)]
pub struct Tiling {
    pub config: TileConfig,
    /// Whether it is in the text.
    pub is_stated: bool,
    pub is_asked: bool,
    /// Its place in XLA's search, from 1, if it is among the best.
    pub rank: Option<usize>,
    /// Or the reason why XLA refuses it.
    pub figures: Result<ConfigFigures, String>,
}

/// The configurations of the fusion that `query` names, and that with `change`. An error also says what is wrong with the
/// change.
pub(crate) fn tilings(
    context: &FileContext<'_>,
    query: &FusionQuery,
    change: &ConfigChange,
) -> Result<Tilings, FusionError> {
    let at = queried_instruction(context, query)?;
    let no_shape = || FusionError::NotFound(format!("{} has no known shape", query.instruction));
    let id = context.kernel_id(at).ok_or_else(no_shape)?;
    let refused = |why: &str| FusionError::NotEmitted(why.to_owned());
    let analysis = context.kernel(id).ok_or_else(no_shape)?.as_ref().map_err(|why| refused(why))?;
    let stated = stated(analysis).map_err(refused)?;
    let mut rows = Rows { context, id, configs: Vec::new() };
    rows.row(&stated).is_stated = true;
    if *change != ConfigChange::default() {
        let asked = stated.changed(change).map_err(|why| refused(&why))?;
        rows.row(&asked).is_asked = true;
    }
    let best = context.best_configs(id);
    for (place, best) in best.as_ref().map_or(&[][..], |best| best).iter().enumerate() {
        rows.row(&best.config).rank = Some(place + 1);
    }
    let device = context.db.device_of(context.view.file).name;
    let instruction = query.instruction.clone();
    Ok(Tilings { instruction, device, configs: rows.configs, no_search: best.err() })
}

/// The configuration in the text, or why there is none.
pub(crate) fn stated(analysis: &FusionAnalysis) -> Result<TileConfig, &'static str> {
    match analysis.is_for_triton() {
        true => TileConfig::of(&analysis.fused).ok_or(NO_TILES),
        false => Err(NOT_TRITON),
    }
}

impl<'a> FileContext<'a> {
    /// The fastest configurations, or why there are none.
    pub(crate) fn best_configs(&self, id: KernelId<'a>) -> Result<&'a [ConfigFigures], String> {
        match db::kernel_best_configs(self.db, id) {
            Some(Ok(best)) => Ok(best),
            Some(Err(why)) => Err(why.to_string()),
            None => Err("the instruction has no kernel".to_owned()),
        }
    }

    /// What a configuration costs, or why XLA refuses it.
    pub(crate) fn config_figures(
        &self,
        id: KernelId<'a>,
        config: &TileConfig,
    ) -> Result<ConfigFigures, String> {
        let figures = db::kernel_config_figures(self.db, id, config);
        figures.unwrap_or_else(|| Err("the instruction has no kernel".into())).map_err(|why| why.to_string())
    }
}

struct Rows<'c, 'a> {
    context: &'c FileContext<'a>,
    id: KernelId<'a>,
    configs: Vec<Tiling>,
}

impl Rows<'_, '_> {
    /// The row of a configuration, which is added where it is missing.
    fn row(&mut self, config: &TileConfig) -> &mut Tiling {
        let known = self.configs.iter().position(|known| known.config.is_same_kernel(config));
        let place = known.unwrap_or_else(|| {
            let figures = self.context.config_figures(self.id, config);
            let config = config.clone();
            self.configs.push(Tiling { config, is_stated: false, is_asked: false, rank: None, figures });
            self.configs.len() - 1
        });
        &mut self.configs[place]
    }
}

/// The table as a document of a kernel.
pub(crate) fn tilings_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<KernelDocument, FusionError> {
    let tilings = tilings(context, query, &ConfigChange::default())?;
    let (head, body) = tilings.parts();
    let origin = KernelOrigin::Elsewhere("Triton writes this kernel".to_owned());
    let lines = vec![None; body.lines().count()];
    Ok(KernelDocument { body, lines, ..KernelDocument::new(head, origin) })
}
