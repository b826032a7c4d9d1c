//! `check FILE…`: prints all diagnostics in rustc's format.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Result;
use clap::ValueEnum;
use ide::{AnalysisHost, CoalescingConfig, Diagnostic, FrameworkOp, KnownKernels, Severity, counted};
use rayon::prelude::*;
use serde_json::json;
use text::position::position;
use text::{PositionEncoding, visible, visible_line};

use super::terminal::{complain, write_json};
use super::{input, sarif};
use crate::api::kernels::heaviest_kernels;
use crate::api::source;
use crate::findings::{Findings, Wanted, findings};

#[derive(clap::Args)]
pub struct CheckArguments {
    /// Files or directories; `-` is standard input; `.gz` is unpacked. Directories are searched for .hlo,
    /// .mlir, and .txt files that hold a module, as in XLA's dumps.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Exit with code 1 if a diagnostic is at least this severe. Hints are computed only at their own level.
    #[arg(long, value_enum, default_value = "error")]
    fail_on: FailOn,
    /// The GPU that kernels target: `h100-sxm`, `a100-sxm-80`, `b200`, …
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
    /// Warn about kernels that transfer at least this many times the sectors they need.
    #[arg(long, value_name = "TIMES", default_value_t = CoalescingConfig::default().threshold)]
    coalescing_threshold: f64,
    /// List at most this many diagnostics per file; the rest are counted.
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// With `--format json`, list this many kernels per file, the heaviest first, with their estimated times;
    /// the rest are counted.
    #[arg(long, default_value_t = 20)]
    kernels: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Hint,
    Never,
}

pub(super) struct Checked {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) diagnostics: ide::Diagnostics,
    /// Number of warnings beyond the limit.
    pub(super) more_warnings: usize,
    /// Of the shown diagnostics, in their order. As the kernels, for `--format json` only.
    origins: Vec<FrameworkOp>,
    kernels: Option<ide::HeaviestKernels>,
}

/// A file to check.
struct Input {
    path: PathBuf,
    /// Whether the file was found in a directory rather than named by the user.
    is_found: bool,
}

enum Outcome {
    Checked(Box<Checked>),
    /// The kind of file that is not a module, where known.
    Skipped(Option<&'static str>),
}

/// Exit codes: 0 clean, 1 diagnostics at or above `--fail-on`, 2 a file could not be read, or no named file
/// holds a module.
pub fn run(arguments: &CheckArguments) -> Result<ExitCode> {
    AnalysisHost::new().set_device(&arguments.device).map_err(anyhow::Error::msg)?;
    let mut files = Vec::new();
    for path in &arguments.files {
        expand(path.clone(), false, &mut files)?;
    }
    let shows_progress = files.len() > 1 && stderr().is_terminal();
    let done = std::sync::atomic::AtomicUsize::new(0);
    // The stages of a compile have most kernels in common.
    let kernels = KnownKernels::default();
    let results: Vec<Result<Outcome>> = files
        .par_iter()
        .map(|file| {
            let result = check(file, arguments, &kernels);
            if shows_progress {
                let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                eprint!("\r{done} of {} files checked", files.len());
            }
            result
        })
        .collect();
    if shows_progress {
        eprintln!();
    }
    let mut out = std::io::BufWriter::new(stdout().lock());
    let (mut is_unreadable, mut errors, mut warnings, mut hints) = (false, 0, 0, 0);
    let mut reports = Vec::new();
    let mut checked_files = 0;
    for result in &results {
        let checked = match result {
            Ok(Outcome::Checked(checked)) => checked,
            Ok(Outcome::Skipped(_)) => continue,
            Err(error) => {
                is_unreadable = true;
                complain(format_args!("error: {error:#}"));
                continue;
            }
        };
        checked_files += 1;
        for diagnostic in &checked.diagnostics.shown {
            match diagnostic.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
                Severity::Hint => hints += 1,
                Severity::Information => {}
            }
        }
        errors += checked.diagnostics.omitted;
        warnings += checked.more_warnings;
        match arguments.format {
            Format::Text => render(&mut out, checked)?,
            Format::Json => reports.push(report(checked)),
            Format::Sarif => reports.extend(sarif::results(checked)),
        }
    }
    match arguments.format {
        Format::Json => {
            write_json(&mut out, &json!({"files": reports}))?;
            writeln!(out)?;
        }
        Format::Sarif => {
            write_json(&mut out, &sarif::log(reports))?;
            writeln!(out)?;
        }
        Format::Text if errors + warnings > 0 => {
            let found = [(errors, "error"), (warnings, "warning"), (checked_files, "file")];
            let [errors, warnings, files] = found.map(|(count, what)| counted(count as u64, what));
            writeln!(out, "{errors}, {warnings} in {files}")?;
        }
        Format::Text => {}
    }
    out.flush()?;
    let has_skipped_named = complain_of_skipped(&files, &results);
    is_unreadable |= has_skipped_named && checked_files == 0;
    let fails = match arguments.fail_on {
        FailOn::Error => errors > 0,
        FailOn::Warning => errors + warnings > 0,
        FailOn::Hint => errors + warnings + hints > 0,
        FailOn::Never => false,
    };
    Ok(ExitCode::from(if is_unreadable { 2 } else { u8::from(fails) }))
}

/// Reports files that are not modules: each named file separately, found ones as a total. Returns whether a
/// named file is among them.
fn complain_of_skipped(files: &[Input], results: &[Result<Outcome>]) -> bool {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut has_named = false;
    for (file, result) in files.iter().zip(results) {
        let Ok(Outcome::Skipped(Some(what))) = result else { continue };
        if file.is_found {
            *found.entry(what).or_default() += 1;
        } else {
            has_named = true;
            complain(format_args!("note: {} holds {what}, not HLO or MLIR; skipped", file.path.display()));
        }
    }
    let count: usize = found.values().sum();
    if count > 0 {
        let kinds: Vec<&str> = found.into_keys().collect();
        let files = counted(count as u64, "file");
        complain(format_args!("note: skipped {files} that XLA dumps beside modules: {}", kinds.join(", ")));
    }
    has_named
}

fn check(file: &Input, arguments: &CheckArguments, kernels: &KnownKernels) -> Result<Outcome> {
    let path = &file.path;
    let text = input::read(path)?;
    let what = ide::dumped_beside_modules(&path.to_string_lossy(), &text);
    if what.is_some() || (file.is_found && is_text(path) && !ide::holds_hlo(&text)) {
        return Ok(Outcome::Skipped(what));
    }
    let mut host = AnalysisHost::knowing(kernels.clone());
    host.set_device(&arguments.device).map_err(anyhow::Error::msg)?;
    host.set_coalescing_threshold(arguments.coalescing_threshold);
    let name = path.display().to_string();
    let file = host.open(&name, ide::language_of(&name, &text), &text);
    // There is no other writer, so the analysis cannot be cancelled.
    let analysis = host.analysis();
    let wanted = Wanted {
        limit: arguments.limit,
        hints: arguments.fail_on == FailOn::Hint,
        coalescing_threshold: arguments.coalescing_threshold,
    };
    let Findings { diagnostics, more_warnings } = findings(&analysis, file, &wanted);
    let lists_kernels = arguments.format == Format::Json && arguments.kernels > 0;
    let kernels =
        lists_kernels.then(|| analysis.heaviest_kernels(file, arguments.kernels).unwrap_or_default());
    let origin = |one: &Diagnostic| analysis.framework_op(file, one.range.start).unwrap_or_default();
    let origins = match arguments.format {
        Format::Json => diagnostics.shown.iter().map(origin).collect(),
        Format::Text | Format::Sarif => Vec::new(),
    };
    Ok(Outcome::Checked(Box::new(Checked { name, text, diagnostics, more_warnings, origins, kernels })))
}

/// Appends a file, or the files in a directory that may hold modules, in order.
fn expand(path: PathBuf, is_found: bool, files: &mut Vec<Input>) -> Result<()> {
    if !path.is_dir() {
        files.push(Input { path, is_found });
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&path)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for entry in entries {
        let name = unpacked_name(&entry);
        if entry.is_dir() || name.ends_with(".hlo") || name.ends_with(".mlir") || is_text(&entry) {
            expand(entry, true, files)?;
        }
    }
    Ok(())
}

fn is_text(path: &Path) -> bool {
    unpacked_name(path).ends_with(".txt")
}

fn unpacked_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).to_owned()
}

fn render(out: &mut impl Write, checked: &Checked) -> Result<()> {
    let renderer = if stdout().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', checked.text.as_bytes()).collect();
    for diagnostic in &checked.diagnostics.shown {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            _ => Level::NOTE,
        };
        let text = lines_around(&checked.text, diagnostic);
        let line = line_ends.partition_point(|&end| end < text.start) + 1;
        let source = &checked.text[text.clone()];
        // Control pictures are longer in bytes than the characters they replace.
        let inside = |range: &ide::TextRange| {
            let shown = |at: usize| {
                let before = &source[..at.saturating_sub(text.start).min(source.len())];
                visible(before.strip_suffix('\r').unwrap_or(before)).len()
            };
            shown(range.start)..shown(range.end)
        };
        let mut snippet = Snippet::source(visible(source))
            .line_start(line)
            .path(visible_line(&checked.name))
            .annotation(AnnotationKind::Primary.span(inside(&diagnostic.range)));
        for related in &diagnostic.related {
            if text.start <= related.range.start && related.range.end <= text.end {
                let range = inside(&related.range);
                snippet = snippet
                    .annotation(AnnotationKind::Context.span(range).label(visible_line(&related.message)));
            }
        }
        let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code);
        let report: &[Group<'_>] = &[title.element(snippet)];
        writeln!(out, "{}\n", renderer.render(report))?;
    }
    let omitted = checked.diagnostics.omitted + checked.more_warnings + checked.diagnostics.omitted_hints;
    if omitted > 0 {
        let name = visible_line(&checked.name);
        writeln!(out, "{name}: {omitted} more findings are not shown (--limit)")?;
    }
    Ok(())
}

/// The lines of a diagnostic and its related locations. Passing the renderer the whole text would make it
/// scan 40 MB per diagnostic.
fn lines_around(text: &str, diagnostic: &Diagnostic) -> ide::TextRange {
    let mut range = diagnostic.range.clone();
    for related in &diagnostic.related {
        if related.range.start.abs_diff(range.start) < 4096 {
            range = range.start.min(related.range.start)..range.end.max(related.range.end);
        }
    }
    let start = text[..range.start].rfind('\n').map_or(0, |n| n + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |n| range.end + n);
    start..end
}

fn report(checked: &Checked) -> serde_json::Value {
    let rope = ropey::Rope::from_str(&checked.text);
    let place = |range: &ide::TextRange| {
        let start = position(&rope, range.start, PositionEncoding::Utf8);
        let end = position(&rope, range.end, PositionEncoding::Utf8);
        json!({
            "line": start.line + 1,
            "column": start.column + 1,
            "end_line": end.line + 1,
            "end_column": end.column + 1,
        })
    };
    let findings: Vec<_> = checked
        .diagnostics
        .shown
        .iter()
        .zip(&checked.origins)
        .map(|(d, origin)| {
            let severity = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information => "information",
                Severity::Hint => "hint",
            };
            let related: Vec<_> =
                d.related.iter().map(|r| json!({"message": r.message, "at": place(&r.range)})).collect();
            json!({
                "severity": severity,
                "code": d.code,
                "message": d.message,
                "at": place(&d.range),
                "related": related,
                "op_name": origin.name,
                "source": source(origin.source.as_ref()),
            })
        })
        .collect();
    let omitted = checked.diagnostics.omitted + checked.more_warnings + checked.diagnostics.omitted_hints;
    let mut report = json!({"file": checked.name, "findings": findings, "omitted": omitted});
    // Kernels are unknown before the module is compiled.
    if let Some(kernels) = checked.kernels.as_ref().filter(|kernels| kernels.launches > 0) {
        let mut totals = heaviest_kernels(kernels, &place);
        report["kernels"] = totals["kernels"].take();
        totals.as_object_mut().map(|totals| totals.remove("kernels"));
        report["kernel_totals"] = totals;
    }
    report
}
