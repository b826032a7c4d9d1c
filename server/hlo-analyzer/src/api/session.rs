//! Answers requests one after the other with one database.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ide::{Analysis, AnalysisHost, DEFAULT_DEVICE, Depth, FileId, Language};
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{Device, Request, Source, params};
use super::{
    access_pattern, coalescing, compile, convert, diff, evaluate, folders, fusion, indexing, kernel, maps,
    memory, parse, partition, print, tile,
};
use crate::cli::input;
use crate::dumps;

/// Keeps the last request's text open, because consecutive requests often share it.
pub struct Session {
    host: AnalysisHost,
    current: Option<(Language, String, FileId)>,
    /// The default device of requests that name none.
    device: String,
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

    /// Selects the device that a request names.
    pub fn use_device(&mut self, value: &Value) -> Result<(), ApiError> {
        let wanted: Device = params(value)?;
        let name = wanted.device.unwrap_or_else(|| self.device.clone());
        self.host.set_device(&name).map_err(|e| ApiError::new(ErrorKind::InvalidParams, e))
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
        let answer = catch_unwind(AssertUnwindSafe(|| self.dispatch(&request)));
        let answer = answer.unwrap_or_else(|_| {
            // The database may be inconsistent after a panic, so start a new one.
            *self = Session::for_device(&self.device).unwrap_or_default();
            Err(ApiError::new(ErrorKind::Internal, format!("{} panicked; this is a bug", request.method)))
        });
        match answer {
            Ok(result) => json!({"id": request.id, "result": result}),
            Err(error) => json!({"id": request.id, "error": error}),
        }
    }

    fn dispatch(&mut self, request: &Request) -> Answer {
        let p = &request.params;
        match request.method.as_str() {
            "parse" => parse::parse(self, p, Depth::Parser),
            "verify" => parse::parse(self, p, Depth::Verifier),
            "print" => print::print(self, p),
            "indexing" => indexing::indexing(self, p),
            "grouped_indexing" => indexing::grouped(self, p),
            "epilogue_indexing" => indexing::epilogue(self, p),
            "fusion" => fusion::fusion(self, p),
            "kernel" => kernel::kernel(self, p),
            "partition" => partition::partition(self, p),
            "tile" => tile::tile(self, p),
            "map" => maps::map(p),
            "expr" => maps::expr(p),
            "access_pattern" => access_pattern::access_pattern(self, p),
            "coalescing" => coalescing::coalescing(self, p),
            "convert" => convert::convert(self, p),
            "diff" => diff::diff(self, p),
            "evaluate" => evaluate::evaluate(self, p),
            "compiles" => folders::compiles(&mut self.host, p),
            "lineage" if folders::is_of_folder(p) => folders::lineage(&mut self.host, p),
            "blame" if folders::is_of_folder(p) => folders::blame(&mut self.host, p),
            "lineage" => compile::lineage(p),
            "blame" => compile::blame(p),
            "memory" => memory::memory(self, p),
            other => Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown method: {other}"))),
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
        let attached = dumps::attach(&mut self.host, Path::new(&path), file);
        let found = attached.map_err(invalid).and_then(|()| self.ask(|analysis| query(analysis, file)));
        // Other requests take the device that they name, not that of the compile.
        self.current = None;
        self.host.close(file);
        found
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
        Ok(self.open(language, text))
    }

    /// Runs `query` on a snapshot.
    pub fn ask<T>(&self, query: impl Fn(&Analysis) -> ide::Cancellable<T>) -> Result<T, ApiError> {
        query(&self.host.analysis())
            .map_err(|_| ApiError::new(ErrorKind::Internal, "the analysis was cancelled"))
    }

    /// Opens a text in place of that of the last request.
    pub fn open(&mut self, language: Language, text: String) -> FileId {
        if let Some((l, t, file)) = &self.current
            && *l == language
            && *t == text
        {
            return *file;
        }
        if let Some((_, _, file)) = self.current.take() {
            self.host.close(file);
        }
        let file = self.host.open("", language, &text);
        self.current = Some((language, text, file));
        file
    }
}
