//! `findings`: errors and warnings, with the instruction they are about.

use std::path::Path;

use ide::{CoalescingConfig, Diagnostic, Severity, counted};
use ropey::Rope;

use super::answer::{Answer, Window};
use super::arguments::Arguments;
use super::source::{Asked, definition, line, module, optimised, origin};
use crate::api::{ApiError, ErrorKind, Session};
use crate::findings::{Wanted, findings as found_in};

/// The most findings of a file; more are counted.
const MAX_FINDINGS: usize = 1000;
/// Files of a folder that is no dump.
const MAX_FILES: usize = 200;

/// The findings of one file, in words.
struct Found {
    items: Vec<String>,
    errors: usize,
    warnings: usize,
    omitted: usize,
}

pub(super) fn findings(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let path = arguments.required("path")?;
    let files = if Path::new(path).is_dir() { in_folder(Path::new(path))? } else { vec![module(path)?] };
    let (mut items, mut errors, mut warnings, mut omitted) = (Vec::new(), 0, 0, 0);
    let mut notes = Vec::new();
    for file in &files {
        let found = Asked::at(session, file.clone(), arguments)
            .and_then(|asked| of_file(session, &asked, arguments, files.len() > 1));
        match found {
            Ok(found) => {
                items.extend(found.items);
                (errors, warnings, omitted) =
                    (errors + found.errors, warnings + found.warnings, omitted + found.omitted);
            }
            // One file of a folder that cannot be read costs itself.
            Err(error) if files.len() > 1 => notes.push(format!("not read: {file}: {}", error.message)),
            Err(error) => return Err(error),
        }
    }
    let counts = [(errors, "error"), (warnings, "warning")];
    let [errors, warnings] = counts.map(|(count, what)| counted(count as u64, what));
    let within = match &files[..] {
        [one] => one.clone(),
        several => format!("{} of {path}", counted(several.len() as u64, "module")),
    };
    let page = window.page(&items, "finding", String::clone);
    let mut answer = Answer::new(vec![format!("{errors}, {warnings} in {within}")], page);
    if omitted > 0 {
        notes.push(format!(
            "{} beyond the first {MAX_FINDINGS} of a file",
            counted(omitted as u64, "finding")
        ));
    }
    answer.notes = notes;
    Ok(answer)
}

/// The optimised modules of a dump folder; of another folder its files of HLO and MLIR.
fn in_folder(folder: &Path) -> Result<Vec<String>, ApiError> {
    let dumped = optimised(folder)?;
    if !dumped.is_empty() {
        return Ok(dumped);
    }
    let cannot = |why: std::io::Error| {
        ApiError::new(ErrorKind::NotFound, format!("cannot list {}: {why}", folder.display()))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with(".hlo") || name.ends_with(".mlir") {
            files.push(entry.path().display().to_string());
        }
    }
    files.sort();
    let message = match files.len() {
        0 => "has no *after_optimizations.txt, .hlo or .mlir file".to_owned(),
        count if count > MAX_FILES => format!("has {count} files of HLO and MLIR: name one of them"),
        _ => return Ok(files),
    };
    Err(ApiError::new(ErrorKind::NotFound, format!("{} {message}", folder.display())))
}

fn of_file(
    session: &mut Session,
    asked: &Asked,
    arguments: &Arguments,
    is_named: bool,
) -> Result<Found, ApiError> {
    let wanted = Wanted {
        limit: MAX_FINDINGS,
        hints: arguments.flag("hints"),
        coalescing_threshold: CoalescingConfig::default().threshold,
    };
    let code = arguments.text("code");
    asked.ask(session, |analysis, file| {
        analysis.check_cancelled()?;
        let found = found_in(analysis, file, &wanted);
        let rope = analysis.text(file);
        let shown: Vec<&Diagnostic> =
            found.diagnostics.shown.iter().filter(|one| code.is_none_or(|code| one.code == code)).collect();
        let count = |severity| shown.iter().filter(|one| one.severity == severity).count();
        let mut items = Vec::new();
        for one in &shown {
            let op = analysis.framework_op(file, one.range.start)?;
            let place = if is_named { format!("{}:", asked.path) } else { "line ".to_owned() };
            items.push(format!("{}{}", item(rope, one, &place), origin(&op)));
        }
        Ok(Found {
            items,
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            omitted: found.diagnostics.omitted + found.more_warnings,
        })
    })
}

/// A finding in words, then the line that it is about.
pub(super) fn item(rope: &Rope, one: &Diagnostic, place: &str) -> String {
    let word = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "hint",
    };
    let at = line(rope, one.range.start);
    let text = definition(rope, &one.range);
    let message = one.message.replace('\n', "\n  ");
    format!("{word}[{}] {place}{at}: {message}\n  {text}", one.code)
}
