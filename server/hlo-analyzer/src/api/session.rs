//! Answers requests one after the other with one database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ide::{Analysis, AnalysisHost, DEFAULT_DEVICE, Depth, FileId, Language};
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{Device, Request, Source, params};
use super::{
    access_pattern, coalescing, compile, convert, diff, evaluate, folders, fusion, indexing, kernel, maps,
    memory, optimize, parse, partition, print, tile, tilings,
};
use crate::cli::input;
use crate::{budget, dumps, limits};

/// The name of a method, and what answers it.
type Method = (&'static str, fn(&mut Session, &Value) -> Answer);

/// The methods of `query`.
pub const METHODS: &[Method] = &[
    ("parse", |session, p| parse::parse(session, p, Depth::Parser)),
    ("verify", |session, p| parse::parse(session, p, Depth::Verifier)),
    ("print", print::print),
    ("indexing", indexing::indexing),
    ("grouped_indexing", indexing::grouped),
    ("epilogue_indexing", indexing::epilogue),
    ("fusion", fusion::fusion),
    ("kernel", kernel::kernel),
    ("partition", partition::partition),
    ("tile", tile::tile),
    ("tilings", tilings::tilings),
    ("map", |_, p| maps::map(p)),
    ("expr", |_, p| maps::expr(p)),
    ("access_pattern", access_pattern::access_pattern),
    ("coalescing", coalescing::coalescing),
    ("convert", convert::convert),
    ("diff", |session, p| diff::diff(session, p)),
    ("evaluate", evaluate::evaluate),
    ("compiles", |session, p| folders::compiles(&mut session.host, p)),
    ("lineage", |session, p| match folders::is_of_folder(p) {
        true => folders::lineage(&mut session.host, p),
        false => compile::lineage(p),
    }),
    ("blame", |session, p| match folders::is_of_folder(p) {
        true => folders::blame(&mut session.host, p),
        false => compile::blame(p),
    }),
    ("memory", memory::memory),
    ("optimize", optimize::optimize),
];

/// Keeps the last request's text open, because consecutive requests often share it.
pub struct Session {
    host: AnalysisHost,
    current: Option<Current>,
    /// The default device of requests that name none.
    device: String,
}

/// An open text.
struct Current {
    language: Language,
    text: String,
    /// The file of a dump folder that it is.
    stage: Option<PathBuf>,
    file: FileId,
}

impl Default for Session {
    fn default() -> Self {
        Session { host: AnalysisHost::new(), current: None, device: DEFAULT_DEVICE.to_owned() }
    }
}

impl Session {
    /// A session whose default device is `device`.
    pub fn for_device(device: &str) -> Result<Session, String> {
        let mut session = Session { device: device.to_owned(), ..Session::default() };
        session.host.set_device(device)?;
        Ok(session)
    }

    /// Selects the device that a request names. Otherwise a file of a dump folder has that of its compile.
    pub fn use_device(&mut self, value: &Value) -> Result<(), ApiError> {
        let wanted: Device = params(value)?;
        let chosen = self.host.choose_device(wanted.device.as_deref(), &self.device);
        chosen.map_err(|e| ApiError::new(ErrorKind::InvalidParams, e))
    }

    /// The response to one line, given without its line terminator. Never panics: internal errors become
    /// error responses.
    pub fn answer(&mut self, line: &str) -> Value {
        let request: Request = match serde_json::from_str(line) {
            Ok(request) => request,
            Err(error) => {
                // The id may be readable even if the request is not.
                let id = serde_json::from_str::<Value>(line).ok().and_then(|v| v.get("id").cloned());
                let error = ApiError::new(ErrorKind::InvalidParams, format!("not a request: {error}"));
                return json!({"id": id, "error": error});
            }
        };
        let Request { method, params, .. } = &request;
        let work = |session: &mut Session| session.dispatch(method, params);
        match self.until_cancelled(&cancel::Token::default(), method, work) {
            Ok(result) => json!({"id": request.id, "result": result}),
            Err(error) => json!({"id": request.id, "error": error}),
        }
    }

    /// The result of a request. Never panics: internal errors become errors of the request.
    pub fn call(&mut self, method: &str, params: &Value) -> Answer {
        self.guarded(method, |session| session.dispatch(method, params))
    }

    /// Runs `work`. If it panics, the session starts with a new database, and the error names the work.
    pub fn guarded<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Session) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            // The database may be inconsistent after a panic.
            *self = Session::for_device(&self.device).unwrap_or_default();
            Err(ApiError::new(ErrorKind::Internal, format!("{what} panicked; this is a bug")))
        })
    }

    /// As [`Session::guarded`]; work that `token` cancels, or that exceeds the budget of requests, is an error.
    pub fn until_cancelled<T>(
        &mut self,
        token: &cancel::Token,
        what: &str,
        work: impl FnOnce(&mut Session) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        self.host.cancel_with(token);
        let watched = budget::watch(limits::budget(), {
            let token = token.clone();
            move |_| token.cancel()
        });
        let cancelled = || ApiError::new(ErrorKind::Internal, format!("{what} was cancelled"));
        let done =
            self.guarded(what, |session| token.catch(|| work(session)).unwrap_or_else(|| Err(cancelled())));
        match watched.exceeded() {
            // The error says that something was cancelled, not why.
            Some(exceeded) if done.is_err() => {
                Err(ApiError::new(ErrorKind::Limit, limits::exceeded(what, exceeded)))
            }
            _ => done,
        }
    }

    fn dispatch(&mut self, method: &str, p: &Value) -> Answer {
        match METHODS.iter().find(|(name, _)| *name == method) {
            Some((_, run)) => run(self, p),
            None => Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown method: {method}"))),
        }
    }

    /// The device of a request that names none.
    pub fn default_device(&self) -> &str {
        &self.device
    }

    /// Opens the source of a request and runs `query` on it.
    pub fn with_source<T>(
        &mut self,
        value: &Value,
        query: impl Fn(&Analysis, FileId) -> ide::Cancellable<T>,
    ) -> Result<T, ApiError> {
        let file = self.open_source(value)?;
        self.ask(|analysis| query(analysis, file))
    }

    /// As [`Session::with_source`], for a file of a dump folder, which is listed: `path` names it.
    pub fn with_stage<T>(
        &mut self,
        value: &Value,
        query: impl Fn(&Analysis, FileId) -> ide::Cancellable<T>,
    ) -> Result<T, ApiError> {
        let Source { path, .. } = params(value)?;
        let invalid = |message: String| ApiError::new(ErrorKind::InvalidParams, message);
        let path =
            path.ok_or_else(|| invalid("a stage needs \"path\", a file that XLA dumped".to_owned()))?;
        let file = self.open_source(value)?;
        dumps::attach(&mut self.host, Path::new(&path), file).map_err(invalid)?;
        self.ask(|analysis| query(analysis, file))
    }

    fn open_source(&mut self, value: &Value) -> Result<FileId, ApiError> {
        let source: Source = params(value)?;
        let language = match source.language.as_deref() {
            None => None,
            Some("hlo") => Some(Language::Hlo),
            Some("mlir") => Some(Language::Mlir),
            Some(other) => {
                return Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown language: {other}")));
            }
        };
        let path = source.path.clone();
        let stage = path.as_deref().map(PathBuf::from);
        let stage = stage.filter(|path| dumps::folder_and_name(path).is_some());
        let text = match (source.text, source.path) {
            (Some(text), _) => text,
            (None, Some(path)) => input::read(Path::new(&path))
                .map_err(|e| ApiError::new(ErrorKind::NotFound, format!("{e:#}")))?,
            (None, None) => {
                return Err(ApiError::new(ErrorKind::InvalidParams, "a source needs \"text\" or \"path\""));
            }
        };
        // The path determines the language; a text without a path defaults to HLO.
        let of_path = || path.map_or(Language::Hlo, |path| ide::language_of(&path, &text));
        let language = language.unwrap_or_else(of_path);
        let file = self.open_as(language, text, stage.clone());
        if let Some(path) = stage {
            // A file with a name of XLA's need not be the stage of a compile.
            let _ = dumps::attach(&mut self.host, &path, file);
        }
        Ok(file)
    }

    /// Runs `query` on a snapshot.
    pub fn ask<T>(&self, query: impl Fn(&Analysis) -> ide::Cancellable<T>) -> Result<T, ApiError> {
        query(&self.host.analysis())
            .map_err(|_| ApiError::new(ErrorKind::Internal, "the analysis was cancelled"))
    }

    /// Opens a text in place of that of the last request.
    pub fn open(&mut self, language: Language, text: String) -> FileId {
        self.open_as(language, text, None)
    }

    fn open_as(&mut self, language: Language, text: String, stage: Option<PathBuf>) -> FileId {
        if let Some(current) = &self.current
            && (current.language, &current.text, &current.stage) == (language, &text, &stage)
        {
            return current.file;
        }
        if let Some(current) = self.current.take() {
            self.host.close(current.file);
        }
        let file = self.host.open("", language, &text);
        self.current = Some(Current { language, text, stage, file });
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The architecture in the PTX of a kernel.
    fn target(session: &mut Session, source: Value, device: Option<&str>) -> String {
        let mut params = source;
        params["instruction"] = json!("loop_tanh_fusion");
        if let Some(device) = device {
            params["device"] = json!(device);
        }
        let answer = session.answer(&json!({"id": 1, "method": "kernel", "params": params}).to_string());
        let text = answer["result"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let line = text.lines().find_map(|line| line.strip_prefix(".target "));
        line.expect("PTX names its target").to_owned()
    }

    #[test]
    fn a_dumped_file_is_for_the_device_of_its_compile_unless_the_request_names_one() {
        let path = test_files::dump_folder().join("module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt");
        let text = std::fs::read_to_string(&path).unwrap();
        let (in_folder, alone) = (json!({"path": path}), json!({"text": text}));
        let mut session = Session::for_device("a6000").unwrap();
        for _ in 0..2 {
            assert_eq!(target(&mut session, alone.clone(), None), "sm_86");
            assert_eq!(target(&mut session, in_folder.clone(), None), "sm_90a");
            assert_eq!(target(&mut session, in_folder.clone(), Some("b200")), "sm_100a");
            assert_eq!(target(&mut session, in_folder.clone(), Some("a6000")), "sm_86");
            assert_eq!(target(&mut session, alone.clone(), Some("h100-sxm")), "sm_90a");
        }
        let both = json!({"before": in_folder, "after": alone});
        let mut diff = |params: Value| {
            let answer = session.answer(&json!({"method": "diff", "params": params}).to_string());
            [&answer["result"]["before"], &answer["result"]["after"]].map(|side| side["device"].clone())
        };
        assert_eq!(diff(both.clone()), ["h100-sxm", "a6000"]);
        let mut named = both;
        named["device"] = json!("b200");
        assert_eq!(diff(named), ["b200", "b200"]);
    }
}
