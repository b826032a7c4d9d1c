//! Kernels as files, for clients that cannot show virtual documents: the command `hlo-analyzer.openKernel`
//! writes the tabs to a folder of this process and asks the client to show them. The files are rewritten when
//! their text changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{ExecuteCommandParams, Position, Url};

use super::capabilities::OPEN_KERNEL;
use super::handlers::Handlers;
use super::kernel_documents::{Maker, Rendered, tabs};
use super::kernel_uri::KernelUri;
use super::mailbox::Event;
use super::read::{Route, Target, WhenEdited};
use super::snapshot::View;
use crate::assembler::WorkFolder;

static OPEN: Route = Route { method: "workspace/executeCommand", when_edited: WhenEdited::Retry(8) };

/// Created with the first file, removed by [`clean`].
static FOLDER: Mutex<Option<WorkFolder>> = Mutex::new(None);

impl Handlers {
    /// `arguments` are the URI of the HLO and a position in it. Returns the tabs with their texts, even if
    /// the client cannot be asked to show them; null where there is no kernel.
    pub(super) fn execute(
        &self,
        params: ExecuteCommandParams,
    ) -> impl Future<Output = Result<Option<Value>>> {
        let mut arguments = params.arguments.into_iter();
        let uri = arguments.next().and_then(|uri| Url::parse(uri.as_str()?).ok());
        let position = arguments.next().and_then(|at| serde_json::from_value::<Position>(at).ok());
        let place = uri.zip(position).filter(|_| params.command == OPEN_KERNEL);
        let asked = place.map(|(uri, position)| {
            let (mailbox, outgoing) = (self.mailbox.clone(), self.mailbox.clone());
            self.ask(
                &OPEN,
                uri,
                Target::At(position),
                move |analysis, view| {
                    let Some(kernel) = analysis.shown_kernel(view.file, view.span.start)? else {
                        return Ok(None);
                    };
                    let shelf = &view.session.kernels;
                    let maker = Maker { analysis, file: view.file, shelf, mailbox: &mailbox };
                    let tabs = tabs(&view.session, &view.uri, &kernel).into_iter();
                    let tabs = tabs.map(|tab| Ok((maker.render(&tab.uri(), &tab)?, tab)));
                    Ok(Some((kernel.instruction, tabs.collect::<ide::Cancellable<Vec<_>>>()?)))
                },
                move |view, found| {
                    let (instruction, tabs) = found?;
                    let (mut shown, mut files) = (Vec::new(), Vec::new());
                    for (rendered, tab) in tabs {
                        let path = view.session.client.show_document.then(|| keep(view, &tab, &rendered)).flatten();
                        files.extend(path.as_deref().and_then(|path| Url::from_file_path(path).ok()));
                        let title = tab.tab.title();
                        let tab = json!({"tab": tab.tab, "title": title, "uri": tab.uri(), "path": path, "text": rendered.text});
                        shown.push(tab);
                    }
                    outgoing.post(Event::ShowDocuments(files));
                    Some(json!({"instruction": instruction, "tabs": shown}))
                },
            )
        });
        async move {
            match asked {
                Some(asked) => asked.await,
                None => Err(Error::invalid_params(format!(
                    "the command is {OPEN_KERNEL} with the URI of a document and a position"
                ))),
            }
        }
    }
}

/// Writes the file of a tab, and registers it for updates.
fn keep(view: &View, tab: &KernelUri, rendered: &Rendered) -> Option<PathBuf> {
    let mut folder = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    if folder.is_none() {
        *folder = WorkFolder::new().inspect_err(|e| tracing::error!("no folder for kernels: {e}")).ok();
    }
    let path = folder.as_ref()?.path().join(tab.file_name());
    drop(folder);
    if !write(&path, &rendered.text) {
        return None;
    }
    view.session.kernels.show(tab.uri(), tab.clone(), &rendered.text, Some(path.clone()));
    Some(path)
}

/// Writes a read-only file atomically.
pub(super) fn write(path: &Path, text: &str) -> bool {
    let part = path.with_extension("part");
    let written = std::fs::write(&part, text).and_then(|()| {
        let mut permissions = part.metadata()?.permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&part, permissions)?;
        std::fs::rename(&part, path)
    });
    written.inspect_err(|error| tracing::error!("{} cannot be written: {error}", path.display())).is_ok()
}

/// Removes the written files.
pub(super) fn clean() {
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner).take();
}
