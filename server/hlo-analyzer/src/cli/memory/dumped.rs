//! The buffer assignment that XLA dumped beside a module.

use std::path::Path;

use ide::DumpedAssignment;

use crate::cli::input;

/// How the names of optimised modules end.
const MODULE: &str = "after_optimizations.txt";

/// The assignment that was dumped beside the module of that path; `None` if there is none.
pub(crate) fn beside(module: &str) -> Result<Option<DumpedAssignment>, String> {
    let Some(front) = module.strip_suffix(".gz").unwrap_or(module).strip_suffix(MODULE) else {
        return Ok(None);
    };
    let stem = format!("{front}{}", MODULE.trim_end_matches(".txt"));
    let path = format!("{stem}-buffer-assignment.txt");
    let Some(assignment) = text(Path::new(&path))? else { return Ok(None) };
    let live_ranges = text(Path::new(&format!("{stem}-live-range.txt")))?;
    match DumpedAssignment::read(&assignment, live_ranges.as_deref()) {
        None => Err(format!("{path} has no line of an allocation")),
        found => Ok(found),
    }
}

/// `None` if there is no such file.
fn text(path: &Path) -> Result<Option<String>, String> {
    path.is_file().then(|| input::read(path).map_err(|error| format!("{error:#}"))).transpose()
}
