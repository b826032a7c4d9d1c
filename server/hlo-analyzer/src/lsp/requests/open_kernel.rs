//! The command `hlo-analyzer.openKernel`, for clients without a command of their own: asks the client to show the tabs of a
//! kernel, as documents of the server if it can (`workspace/textDocumentContent`), else as files that the server writes.

use std::sync::Arc;

use serde::Deserialize as _;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{ExecuteCommandParams, Position, Url};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::capabilities::OPEN_KERNEL;
use crate::lsp::kernel_files::keep;
use crate::lsp::kernel_tab::{KernelTab, Rendered, tabs};
use crate::lsp::mailbox::Event;

/// `arguments` are the URI of the HLO and a position in it. Returns the tabs with their texts, even if the client
/// cannot be asked to show them; null where there is no kernel.
pub(in crate::lsp) struct OpenKernel;

impl Request for OpenKernel {
    const METHOD: &'static str = "workspace/executeCommand";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = ExecuteCommandParams;
    type Found = Option<(String, Vec<(KernelTab, Arc<Rendered>)>)>;
    type Response = Option<Value>;

    fn subject(params: &ExecuteCommandParams) -> Subject {
        match place(params) {
            Some((uri, position)) => Subject::Part(uri, Target::At(position)),
            None => Subject::Invalid(format!(
                "the command is {OPEN_KERNEL} with the URI of a document and a position"
            )),
        }
    }

    fn run(snapshot: &Snapshot, _: &ExecuteCommandParams) -> Cancellable<Self::Found> {
        let Snapshot { analysis, view } = snapshot;
        let Some(kernel) = analysis.shown_kernel(view.file, view.span.start)? else { return Ok(None) };
        let has_xla = snapshot.has_xla_kernel(&kernel)?;
        let tabs = tabs(&view.session, &view.uri, &kernel, has_xla).into_iter().map(KernelTab::from);
        let tabs = tabs.map(|tab| Ok((snapshot.render(&tab)?, tab)));
        let tabs = tabs.map(|rendered| rendered.map(|(rendered, tab)| (tab, rendered)));
        Ok(Some((kernel.instruction, tabs.collect::<Cancellable<_>>()?)))
    }

    fn respond(view: &View, _: ExecuteCommandParams, found: Self::Found) -> Result<Self::Response> {
        let Some((instruction, tabs)) = found else { return Ok(None) };
        let (mut shown, mut files) = (Vec::new(), Vec::new());
        let client = &view.session.client;
        for (KernelTab { uri, kernel }, rendered) in tabs {
            let mut path = None;
            if client.show_document && client.asks_for_content {
                files.push(uri.clone());
            } else if client.show_document {
                path = keep(view, &kernel, &rendered);
                files.extend(path.as_deref().and_then(|path| Url::from_file_path(path).ok()));
            }
            let (tab, title) = (kernel.tab, kernel.tab.title());
            shown.push(json!({"tab": tab, "title": title, "uri": uri, "path": path, "text": &rendered.text}));
        }
        view.session.mailbox.post(Event::ShowDocuments(files));
        Ok(Some(json!({"instruction": instruction, "tabs": shown})))
    }
}

fn place(params: &ExecuteCommandParams) -> Option<(Url, Position)> {
    let [uri, position, ..] = params.arguments.as_slice() else { return None };
    let place = (Url::parse(uri.as_str()?).ok()?, Position::deserialize(position).ok()?);
    Some(place).filter(|_| params.command == OPEN_KERNEL)
}
