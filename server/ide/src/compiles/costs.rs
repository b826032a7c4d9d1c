//! Kernels, bytes and time of a stage.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use db::Database;
use db::compiles::{DumpedStage, TextHash, dumped_text, stage_device, stage_links, text_hash};

use crate::units::{bytes, counted, figure};
use crate::{AnalysisHost, Language};

/// Texts above this size are not analysed to fill a tooltip.
const MAX_BYTES: usize = 8 << 20;

/// What a stage costs on the device of its compile.
#[derive(Debug, Clone, PartialEq)]
pub struct StageCosts {
    /// The number of kernel executions.
    pub launches: u64,
    /// That the kernels need to read and write.
    pub bytes: u64,
    pub total_us: f64,
    /// `3 kernels · 12.3 µs · 4.1 MB · h100-sxm`
    pub text: String,
    /// What the pass changed of that: `−1 kernel · −1.2 MB · −3 µs`, empty if nothing; all of it where the kernels of the stage before
    /// are not known.
    pub change: String,
}

/// `None` if the kernels of the stage are not known yet, which they are once fusions are made, or if it is too large.
///
/// The stage is analysed apart from the files of the editor, and only the figures are kept.
pub(crate) fn stage_costs(db: &Database, known: &KnownCosts, stage: DumpedStage) -> Option<StageCosts> {
    let mut costs = known.of(db, stage)?;
    let links = stage_links(db, stage);
    if !links.is_equal() {
        costs.change = match links.before().and_then(|before| known.of(db, before)) {
            Some(before) => costs.change_from(&before),
            None => {
                let time = format!("{} µs", figure(costs.total_us));
                [counted(costs.launches, "kernel"), bytes(costs.bytes), time].join(" · ")
            }
        };
    }
    Some(costs)
}

/// The costs of the stages that were analysed last: a stage is asked about for itself, and as the one before another.
///
/// Size: at most [`KnownCosts::MAX`] entries of about 200 bytes.
#[derive(Default)]
pub(crate) struct KnownCosts(Mutex<VecDeque<(Subject, Option<StageCosts>)>>);

/// What costs depend on. Devices of one name may differ, because dump folders describe their own.
type Subject = (TextHash, &'static gpu::Device);

impl KnownCosts {
    /// More than the stages of a large folder.
    const MAX: usize = 1024;

    /// Without the change of the pass.
    fn of(&self, db: &Database, stage: DumpedStage) -> Option<StageCosts> {
        let file = stage.file(db);
        let subject = (text_hash(db, file).clone().ok()?, stage_device(db, stage));
        if let Some((_, costs)) = self.lock().iter().find(|(known, _)| *known == subject) {
            return costs.clone();
        }
        // A file that cannot be read now, or has another text by now, says nothing about the text of this hash.
        let text = dumped_text(db, file).ok().filter(|text| TextHash::of(text) == subject.0)?;
        crate::analysis::check_cancelled(db);
        let costs = costs(&text, subject.1);
        // An analysis that was cancelled has no figures either.
        crate::analysis::check_cancelled(db);
        let mut known = self.lock();
        known.retain(|(other, _)| *other != subject);
        known.push_back((subject, costs.clone()));
        if known.len() > Self::MAX {
            known.pop_front();
        }
        costs
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Subject, Option<StageCosts>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StageCosts {
    fn change_from(&self, before: &StageCosts) -> String {
        let sign = |is_less: bool| if is_less { "−" } else { "+" };
        let launches = self.launches.abs_diff(before.launches);
        let bytes_changed = self.bytes.abs_diff(before.bytes);
        let time = figure((self.total_us - before.total_us).abs());
        let parts = [
            (launches > 0)
                .then(|| sign(self.launches < before.launches).to_owned() + &counted(launches, "kernel")),
            (bytes_changed > 0).then(|| sign(self.bytes < before.bytes).to_owned() + &bytes(bytes_changed)),
            (time != figure(0.0)).then(|| format!("{}{time} µs", sign(self.total_us < before.total_us))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn costs(text: &str, device: &'static gpu::Device) -> Option<StageCosts> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut host = AnalysisHost::new();
    host.use_device(device);
    let file = host.open("", Language::Hlo, text);
    let report = host.analysis().heaviest_kernels(file, usize::MAX).ok()?;
    if report.kernels.is_empty() {
        return None;
    }
    let needed =
        report.kernels.iter().map(|kernel| kernel.figures.bytes_needed.saturating_mul(kernel.executions));
    let needed = needed.fold(0, u64::saturating_add);
    let at_least = if report.is_at_least || report.unknown_loops > 0 { "≥ " } else { "" };
    let parts = [
        counted(report.launches, "kernel"),
        format!("{at_least}{}", figure(report.total_us) + " µs"),
        bytes(needed),
        device.name.to_owned(),
    ];
    Some(StageCosts {
        launches: report.launches,
        bytes: needed,
        total_us: report.total_us,
        text: parts.join(" · "),
        change: String::new(),
    })
}
