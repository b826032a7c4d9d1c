//! Source files on this machine, by the paths that dumps name.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use tower_lsp::lsp_types::Url;

use super::snapshot::Session;

/// The largest number of file lookups per response.
const MAX_FILES: usize = 2_000;
/// Further folders, and further characters of a path, are omitted from messages.
const MAX_FOLDERS: usize = 4;
const MAX_CHARACTERS: usize = 200;

/// The files that dumps name, for one response.
pub(super) struct SourceFiles {
    roots: Vec<PathBuf>,
    known: HashMap<String, Option<Url>>,
}

impl SourceFiles {
    /// The files that `document` names: below the roots of the setting, those of the workspace, or its own folder,
    /// which may be outside the workspace.
    pub(super) fn new(session: &Session, document: &Url) -> SourceFiles {
        let folder = document.to_file_path().ok().and_then(|path| Some(path.parent()?.to_path_buf()));
        let roots = session.settings.link_roots.iter().chain(&session.roots).cloned().chain(folder).collect();
        SourceFiles { roots, known: HashMap::new() }
    }

    /// The local file for `path`, as it is or below one of the roots. A relative path that leaves its root by
    /// `..` or by a symbolic link gives `None`, because the author of the dump chose it.
    pub(super) fn find(&mut self, path: &str) -> Option<Url> {
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

    /// Why none of the files of a stack is found, in one sentence about one of them: the first for which a folder of the setting
    /// may help, or else the first. `None` without paths.
    pub(super) fn missing<'p>(&self, paths: impl Iterator<Item = &'p str> + Clone) -> Option<String> {
        let mut paths = paths.filter(|path| !path.is_empty());
        let path = paths.clone().find(|path| is_below(Path::new(path))).or_else(|| paths.next())?;
        let file = format!("Source file {}", shown(path));
        let setting = "hlo-analyzer.documentLinks.roots";
        let folders: Vec<String> = self.roots.iter().map(|root| shown(&root.display().to_string())).collect();
        Some(match Path::new(path) {
            absolute if absolute.is_absolute() => format!(
                "{file} does not exist on this machine; the folders of the setting {setting} are for relative paths only"
            ),
            outside if !is_below(outside) => {
                format!("{file} is not looked up, because its relative path contains `..`")
            }
            _ if folders.is_empty() => {
                format!(
                    "{file} has a relative path; add the folder that contains it to the setting {setting}"
                )
            }
            _ => format!(
                "{file} is not in {}; add the folder that contains it to the setting {setting}",
                listed(&folders)
            ),
        })
    }
}

/// Whether a path is relative and has no `..`.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn shown(path: &str) -> String {
    text::visible_line(&ide::shorten(path, MAX_CHARACTERS)).into_owned()
}

/// `/a`, `/a or /b`, `/a, /b, /c, /d or 2 more folders`
fn listed(folders: &[String]) -> String {
    let (named, others) = folders.split_at(folders.len().min(MAX_FOLDERS));
    let mut named = named.to_vec();
    if !others.is_empty() {
        named.push(ide::counted(others.len() as u64, "more folder"));
    }
    match named.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => named.concat(),
    }
}

/// `path` in `root` with `..` and symbolic links resolved; `None` if missing or outside `root`.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    if !is_below(path) {
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
            let mut files = SourceFiles { roots: vec![root.clone()], known: HashMap::new() };
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
