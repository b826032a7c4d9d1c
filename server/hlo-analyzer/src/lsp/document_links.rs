//! From metadata to source files that are there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{DocumentLink, Url};

use super::handlers::Handlers;
use super::read::WhenEdited::Retry;
use super::read::{Route, Target};
use super::snapshot::View;

static DOCUMENT_LINK: Route = Route { method: "textDocument/documentLink", when_edited: Retry(32) };

/// Links of one document, from its top. LSP has no way to ask for those on the screen.
const MAX_LINKS: usize = 10_000;
/// Files that are looked for, for one answer.
const MAX_FILES: usize = 2_000;

impl Handlers {
    pub(super) fn links(&self, uri: Url) -> impl Future<Output = Result<Option<Vec<DocumentLink>>>> {
        self.ask(
            &DOCUMENT_LINK,
            uri,
            Target::Document,
            |analysis, view| analysis.document_links(view.file, MAX_LINKS),
            |view, links| Some(view.document_links(links)),
        )
    }
}

impl View {
    fn document_links(&self, links: Vec<ide::DocumentLink>) -> Vec<DocumentLink> {
        let mut files = Files {
            roots: self.session.settings.link_roots.iter().chain(&self.session.roots).collect(),
            known: HashMap::new(),
        };
        let link = |link: ide::DocumentLink| {
            let mut target = files.find(&link.path)?;
            let line = link.line.map(|line| format!("L{line}"));
            target.set_fragment(line.as_deref());
            let range = self.range(link.range);
            Some(DocumentLink { range, target: Some(target), tooltip: None, data: None })
        };
        links.into_iter().filter_map(link).collect()
    }
}

struct Files<'a> {
    roots: Vec<&'a PathBuf>,
    known: HashMap<String, Option<Url>>,
}

impl Files<'_> {
    /// The file that `path` means on this machine: as it is, or below one of the roots.
    fn find(&mut self, path: &str) -> Option<Url> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        if self.known.len() >= MAX_FILES {
            return None;
        }
        let is_there = |path: PathBuf| path.is_file().then(|| Url::from_file_path(path).ok()).flatten();
        let found = match Path::new(path) {
            empty if empty.as_os_str().is_empty() => None,
            absolute if absolute.is_absolute() => is_there(absolute.to_path_buf()),
            relative => self.roots.iter().find_map(|root| is_there(root.join(relative))),
        };
        self.known.insert(path.to_owned(), found.clone());
        found
    }
}
