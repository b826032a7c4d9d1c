//! Links from metadata to existing source files.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use tower_lsp::lsp_types::{self, DocumentLinkParams, Url};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct DocumentLink;

/// The largest number of links per document, from its start. LSP cannot request those on the screen only.
const MAX_LINKS: usize = 10_000;
/// The largest number of file lookups per response.
const MAX_FILES: usize = 2_000;

impl Request for DocumentLink {
    const METHOD: &'static str = "textDocument/documentLink";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = DocumentLinkParams;
    type Found = Vec<ide::DocumentLink>;
    type Response = Option<Vec<lsp_types::DocumentLink>>;

    fn subject(params: &DocumentLinkParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentLinkParams) -> Cancellable<Self::Found> {
        analysis.document_links(view.file, MAX_LINKS)
    }

    fn respond(view: &View, _: DocumentLinkParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(view.document_links(found)))
    }
}

impl View {
    fn document_links(&self, links: Vec<ide::DocumentLink>) -> Vec<lsp_types::DocumentLink> {
        let mut files = Files {
            roots: self.session.settings.link_roots.iter().chain(&self.session.roots).collect(),
            known: HashMap::new(),
        };
        let link = |link: ide::DocumentLink| {
            let mut target = files.find(&link.path)?;
            let line = link.line.map(|line| format!("L{line}"));
            target.set_fragment(line.as_deref());
            let range = self.range(link.range);
            Some(lsp_types::DocumentLink { range, target: Some(target), tooltip: None, data: None })
        };
        links.into_iter().filter_map(link).collect()
    }
}

struct Files<'a> {
    roots: Vec<&'a PathBuf>,
    known: HashMap<String, Option<Url>>,
}

impl Files<'_> {
    /// The local file for `path`, as it is or below one of the roots. A relative path that leaves its root by
    /// `..` or by a symbolic link gives `None`, because the author of the dump chose it.
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
            relative => self.roots.iter().find_map(|root| is_there(below(root, relative)?)),
        };
        self.known.insert(path.to_owned(), found.clone());
        found
    }
}

/// `path` in `root` with `..` and symbolic links resolved; `None` if missing or outside `root`.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let is_name = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !path.components().all(is_name) {
        return None;
    }
    let (root, found) = (root.canonicalize().ok()?, root.join(path).canonicalize().ok()?);
    found.starts_with(root).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn relative_paths_stay_below_their_root() {
        let folder = std::env::temp_dir().join(format!("hlo-analyzer-links-{}", std::process::id()));
        let root = folder.join("root");
        std::fs::create_dir_all(root.join("in/deep")).expect("a temporary folder");
        for file in ["root/a.py", "root/in/b.py", "out.py"] {
            std::fs::write(folder.join(file), "").expect("a temporary file");
        }
        let links = [("../out.py", "leaves.py"), ("in", "inside"), ("..", "up"), ("in/b.py", "b.py")];
        for (target, name) in links {
            std::os::unix::fs::symlink(target, root.join(name)).expect("a link");
        }
        let find = |path: &str| {
            let mut files = Files { roots: vec![&root], known: HashMap::new() };
            files.find(path).map(|url| url.path().rsplit('/').next().unwrap_or_default().to_owned())
        };
        for path in ["a.py", "./a.py", "in/b.py", "inside/b.py", "b.py"] {
            assert!(find(path).is_some(), "{path}");
        }
        let leaving = [
            "../out.py",
            "in/../../out.py",
            "in/../a.py",
            "leaves.py",
            "up/out.py",
            "in/deep",
            "",
            ".",
            "..",
        ];
        for path in leaving {
            assert_eq!(find(path), None, "{path}");
        }
        // An absolute path shows where it leads.
        assert!(find(&folder.join("out.py").display().to_string()).is_some());
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
