//! The time from an edit to an answer, for the parts of `analysis-stats` that measure one.

use std::time::{Duration, Instant};

use anyhow::Result;
use ide::{AnalysisHost, FileId, TextEdit};

/// Edits of a kind, whose median time is reported.
const EDITS: usize = 9;

/// The median time until `answer` has returned, after `old` becomes `new` at some of the places, spread over the text. Each edit is
/// taken back before the next one. Zero without places.
pub(super) fn median(
    host: &mut AnalysisHost,
    file: FileId,
    places: &[usize],
    [old, new]: [&str; 2],
    answer: impl Fn(&AnalysisHost) -> Result<()>,
) -> Result<Duration> {
    let count = EDITS.min(places.len());
    let mut times = Vec::new();
    for at in (0..count).map(|n| places[n * places.len() / count]) {
        let started = Instant::now();
        host.apply(file, &[TextEdit { range: at..at + old.len(), insert: new.to_owned() }]);
        answer(host)?;
        times.push(started.elapsed());
        host.apply(file, &[TextEdit { range: at..at + new.len(), insert: old.to_owned() }]);
        answer(host)?;
    }
    times.sort_unstable();
    Ok(times.get(times.len() / 2).copied().unwrap_or_default())
}
