//! The module that a path means, and places in it.

use std::path::Path;

use ide::{Analysis, FileId, FrameworkOp, SymbolKind, TextRange, shorten};
use ropey::Rope;
use serde_json::{Value, json};
use text::PositionEncoding;
use text::position::position;

use super::arguments::{Arguments, invalid};
use crate::api::{ApiError, ErrorKind, Session};
use crate::dumps::list;

/// Optimised modules that an error lists.
const LISTED: usize = 20;
/// Characters of an instruction's definition.
const DEFINITION: usize = 300;
/// Bytes that show what kind of file it is.
const HEAD: usize = 4096;
/// Names that an error suggests.
const SUGGESTED: usize = 5;

/// The file of a call: `path` itself, or the optimised module of a dump folder.
///
/// # Errors
/// There is no such file, it is no module, or the folder has several modules; the message lists them.
pub(super) fn module(path: &str) -> Result<String, ApiError> {
    let folder = Path::new(path);
    if !folder.is_dir() {
        return is_file(folder).map(|()| path.to_owned());
    }
    match &optimised(folder)?[..] {
        [] => {
            let message = format!(
                "{path} is a folder without an optimised module (*after_optimizations.txt): name a file, or the folder of --xla_dump_to"
            );
            Err(ApiError::new(ErrorKind::NotFound, message))
        }
        [one] => Ok(one.clone()),
        several => {
            let shown = several.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join("\n  ");
            let more = several.len().saturating_sub(LISTED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            let count = several.len();
            Err(invalid(format!(
                "{path} has {count} optimised modules: give one as \"path\"\n  {shown}{more}"
            )))
        }
    }
}

/// The optimised modules of a dump folder.
///
/// # Errors
/// The folder cannot be listed.
pub(super) fn optimised(folder: &Path) -> Result<Vec<String>, ApiError> {
    let files = list(folder).map_err(|why| ApiError::new(ErrorKind::NotFound, why))?;
    let entries: Vec<_> = files.into_iter().map(|file| file.entry).collect();
    let stage = |compile: &compile::Compile| Some(compile.after_optimizations()?.path.clone());
    let found = compile::group(&entries).compiles.iter().filter_map(stage).collect::<Vec<_>>();
    Ok(found.iter().map(|path| folder.join(path).display().to_string()).collect())
}

fn is_file(path: &Path) -> Result<(), ApiError> {
    let name = path.display();
    let message = match path.try_exists() {
        Ok(true) => return Ok(()),
        Ok(false) => {
            let here = std::env::current_dir().unwrap_or_default();
            format!("no file or folder {name}: paths are absolute, or relative to {}", here.display())
        }
        Err(why) => format!("cannot read {name}: {why}"),
    };
    Err(ApiError::new(ErrorKind::NotFound, message))
}

/// A module with what a call asks of it.
pub(super) struct Asked {
    /// The path of the module.
    pub(super) path: String,
    /// `path` and `device`, as a request of `query` has them.
    pub(super) source: Value,
}

impl Asked {
    /// The module that the arguments name.
    ///
    /// # Errors
    /// See [`module`]; or the device is unknown, or the file holds no module.
    pub(super) fn of(session: &mut Session, arguments: &Arguments) -> Result<Asked, ApiError> {
        Asked::at(session, module(arguments.required("path")?)?, arguments)
    }

    /// As [`Asked::of`], with the path of a module in place of the argument's.
    pub(super) fn at(session: &mut Session, path: String, arguments: &Arguments) -> Result<Asked, ApiError> {
        let mut source = arguments.only(&["device"]);
        source["path"] = json!(path);
        session.use_device(&source)?;
        let what = session.with_source(&source, |analysis, file| {
            let rope = analysis.text(file);
            let start = rope.byte_slice(..head_end(rope)).to_string();
            Ok(ide::dumped_beside_modules(&path, &start))
        })?;
        match what {
            Some(what) => Err(invalid(format!("{path} holds {what}, not HLO or MLIR"))),
            None => Ok(Asked { path, source }),
        }
    }

    /// Runs `query` on the module.
    pub(super) fn ask<T>(
        &self,
        session: &mut Session,
        query: impl Fn(&Analysis, FileId) -> ide::Cancellable<T>,
    ) -> Result<T, ApiError> {
        session.with_source(&self.source, query)
    }

    /// The answer of `query` to a method about an instruction of the module.
    pub(super) fn call(
        &self,
        session: &mut Session,
        method: &str,
        arguments: &Arguments,
        names: &[&str],
    ) -> Result<Value, ApiError> {
        let mut params = arguments.only(names);
        params["path"] = self.source["path"].clone();
        if let Some(device) = self.source.get("device") {
            params["device"] = device.clone();
        }
        session.call(method, &params)
    }

    /// The offset of an instruction.
    ///
    /// # Errors
    /// The module has none of that name; the message suggests names.
    pub(super) fn find(&self, session: &mut Session, name: &str) -> Result<usize, ApiError> {
        let found = self.ask(session, |analysis, file| {
            if let Some(at) = analysis.find_instruction(file, name)? {
                return Ok(Ok(at));
            }
            // Names end in a number, and start with what the instruction does.
            let mut stem = name;
            while let Some(end) = stem.rfind(['.', '_', '-']) {
                stem = &stem[..end];
                let (near, _) = analysis.workspace_symbols(stem, SUGGESTED)?;
                let is_instruction = |kind| !matches!(kind, SymbolKind::Computation | SymbolKind::Entry);
                let near: Vec<String> = near
                    .into_iter()
                    .filter(|(_, symbol)| is_instruction(symbol.kind))
                    .map(|(_, symbol)| format!("%{}", symbol.name))
                    .collect();
                if !near.is_empty() {
                    return Ok(Err(near));
                }
            }
            Ok(Err(Vec::new()))
        })?;
        found.map_err(|near| {
            let near = if near.is_empty() { String::new() } else { format!("; it has {}", near.join(", ")) };
            let message = format!("no instruction %{name} in {}{near}", self.path);
            ApiError::new(ErrorKind::NotFound, message)
        })
    }
}

/// The end of the part that shows what kind of file it is.
fn head_end(rope: &Rope) -> usize {
    rope.char_to_byte(rope.byte_to_char(rope.len_bytes().min(HEAD)))
}

/// The line of an offset, from 1.
pub(super) fn line(rope: &Rope, offset: usize) -> usize {
    position(rope, offset, PositionEncoding::Utf8).line + 1
}

/// The line of the text that a range starts in, without metadata.
pub(super) fn definition(rope: &Rope, range: &TextRange) -> String {
    let line = rope.line(rope.byte_to_line(range.start.min(rope.len_bytes()))).to_string();
    let line = line.trim();
    shorten(line.split_once(", metadata={").map_or(line, |(front, _)| front), DEFINITION)
}

/// ` · jit(step)/tanh · layer.py:9`; empty without metadata.
pub(super) fn origin(op: &FrameworkOp) -> String {
    let name = op.name.as_ref().map_or_else(String::new, |name| format!(" · {}", shorten(name, 120)));
    let source = op.source.as_ref().map_or_else(String::new, |frame| format!(" · {}", frame.short()));
    name + &source
}
