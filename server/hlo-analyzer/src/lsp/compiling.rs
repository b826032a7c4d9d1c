//! `hlo-analyzer/compileWithXla` and the command `hlo-analyzer.compileWithXla`: XLA compiles an open document.
//!
//! The compile runs on a thread of its own, because it takes from seconds to minutes and needs neither the database nor the main
//! loop. Dropping the future of the response, as `$/cancelRequest` does, stops it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::Url;

use super::mailbox::Event;
use super::read::REQUEST_FAILED;
use super::requests::Source;
use crate::xla_compiler::{Failure, Job, PATIENCE, cached_dump, compile};

/// The name of the setting that names a Python.
const SETTING: &str = "xla.python";

/// Whether a compile runs: XLA uses all cores, and two compiles of one module write to one folder.
#[derive(Clone, Default)]
pub(super) struct Compiling(Arc<AtomicBool>);

/// Why there is no compile, in a sentence.
struct Reason {
    text: String,
    /// Whether another value of the setting would help.
    is_of_setting: bool,
}

/// The one compile that runs.
struct Turn(Arc<AtomicBool>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Stops the compile whose response nobody waits for.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Compiling {
    /// `{"module", "folder"}`, the URIs of the optimised module and of the dump, or `{"reason", "setting"}`: a sentence, and the
    /// setting to change or null.
    pub(super) async fn response(&self, source: Source) -> Result<Value> {
        Ok(match self.run(source).await? {
            Ok(module) => json!({
                "module": Url::from_file_path(&module).ok(),
                "folder": module.parent().and_then(|folder| Url::from_file_path(folder).ok()),
            }),
            Err(Reason { text, is_of_setting }) => {
                json!({"reason": text, "setting": is_of_setting.then_some(SETTING)})
            }
        })
    }

    /// The same for clients without this request: the reason is an error, and the client is asked to show the module.
    pub(super) async fn command(&self, source: Source) -> Result<Option<Value>> {
        let session = source.session.clone();
        let module = self.run(source).await?.map_err(|reason| Error {
            message: reason.text.into(),
            ..Error::new(ErrorCode::ServerError(REQUEST_FAILED))
        })?;
        if session.client.show_document {
            session.mailbox.post(Event::ShowDocuments(Url::from_file_path(&module).into_iter().collect()));
        }
        Ok(Some(json!(Url::from_file_path(&module).ok())))
    }

    async fn run(&self, source: Source) -> Result<std::result::Result<PathBuf, Reason>> {
        let python = match python(&source) {
            Ok(python) => python.to_owned(),
            Err(reason) => return Ok(Err(reason)),
        };
        if self.0.swap(true, Ordering::AcqRel) {
            let text = "another compile is running: wait for it, or cancel it".to_owned();
            return Ok(Err(Reason { text, is_of_setting: false }));
        }
        let turn = Turn(self.0.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let _guard = StopOnDrop(stop.clone());
        let cancel: Box<dyn Fn() + Send> = {
            let stop = stop.clone();
            Box::new(move || stop.store(true, Ordering::Relaxed))
        };
        let working = source.session.working("Compiling with XLA".to_owned(), &source.uri, Some(cancel));
        let (reply, answer) = oneshot::channel();
        let work = move || {
            let compiled = compiled(&source, &python, &stop);
            drop(turn);
            drop(working);
            // If this fails, the receiver no longer waits.
            let _ = reply.send(compiled);
        };
        let started = std::thread::Builder::new().name("XLA".into()).spawn(work);
        started.map_err(|_| Error::internal_error())?;
        answer.await.map_err(|_| Error::internal_error())
    }
}

/// The Python that the user named.
fn python(source: &Source) -> std::result::Result<&str, Reason> {
    let settings = &source.session.settings;
    let why = match settings.xla_python.as_str() {
        "" => "no Python is set: set hlo-analyzer.xla.python to the absolute path of a Python 3 with jax and its CUDA plugin \
               (pip install 'jax[cuda12]')"
            .to_owned(),
        _ if !settings.assembler.trusted => {
            let text = "the Python that the settings name runs in trusted folders only: trust this folder, and compile again".to_owned();
            return Err(Reason { text, is_of_setting: false });
        }
        // A relative path would be resolved against the opened folder.
        path if !Path::new(path).is_absolute() => {
            format!("hlo-analyzer.xla.python is {path}: write an absolute path")
        }
        path => return Ok(path),
    };
    Err(Reason { text: why, is_of_setting: true })
}

fn compiled(source: &Source, python: &str, stop: &AtomicBool) -> std::result::Result<PathBuf, Reason> {
    let &Source { ref text, language, device, ref name, .. } = source;
    let dump = cached_dump(name, text, device).map_err(|text| Reason { text, is_of_setting: false })?;
    let (python, patience, stop) = (Path::new(python), PATIENCE, Some(stop));
    let job = Job { python, text, language, device, dump: &dump, patience, stop };
    compile(&job).map_err(|Failure { why, is_of_python }| Reason {
        text: format!("{} is not compiled: {why}", name.display()),
        is_of_setting: is_of_python,
    })
}
