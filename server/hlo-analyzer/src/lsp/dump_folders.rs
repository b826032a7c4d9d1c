//! The dump folders that the client works in: their listings, and which files of them are open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ide::{ListedFile, StagePlace};
use ropey::Rope;
use tower_lsp::lsp_types::{self, GotoDefinitionResponse, LocationLink, Url};

use super::snapshot::View;
use crate::dumps;

/// A listing of a folder.
pub(super) struct Listed {
    pub(super) folder: PathBuf,
    pub(super) files: Result<Vec<ListedFile>, String>,
}

/// The folders that were listed. Owned by the main loop; the analysis has the same listings.
///
/// Size: about 150 bytes per file of the folders.
#[derive(Default)]
pub(super) struct DumpFolders(HashMap<PathBuf, Vec<ListedFile>>);

impl Listed {
    /// Lists a folder, on a thread that may wait for the disk.
    pub(super) fn now(folder: PathBuf) -> Listed {
        let files = dumps::list(&folder);
        Listed { folder, files }
    }
}

impl DumpFolders {
    /// Keeps a listing. Returns whether it differs from the one before.
    pub(super) fn keep(&mut self, folder: &Path, files: &[ListedFile]) -> bool {
        if self.0.get(folder).is_some_and(|known| known == files) {
            return false;
        }
        self.0.insert(folder.to_owned(), files.to_owned());
        true
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &[ListedFile])> {
        self.0.iter().map(|(folder, files)| (folder.as_path(), files.as_slice()))
    }

    /// The folder of a file: one that was listed and has it, else the folder that the file is in. A folder is its own.
    pub(super) fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let known = self.0.iter().find(|(folder, files)| {
            let relative = relative(folder, path);
            relative.is_some_and(|relative| files.iter().any(|file| file.entry.path == relative))
        });
        match known {
            Some((folder, _)) => Some(folder.clone()),
            None if self.0.contains_key(path) => Some(path.to_owned()),
            // A name with an ending is a file's. Which it is, is not asked of the disk here.
            None if path.extension().is_some_and(|ending| ending == "txt" || ending == "gz") => {
                path.parent().map(Path::to_owned)
            }
            None => Some(path.to_owned()),
        }
    }
}

/// The name of a folder in the analysis.
pub(super) fn name(folder: &Path) -> String {
    folder.to_string_lossy().into_owned()
}

/// A path inside a folder, with `/` between its parts.
pub(super) fn relative(folder: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(folder).ok()?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The URI of a file of a folder.
pub(super) fn uri(folder: &str, path: &str) -> Option<Url> {
    Url::from_file_path(Path::new(folder).join(path)).ok()
}

impl View {
    /// The name of the folder that the request is about.
    pub(super) fn folder(&self) -> String {
        self.uri.to_file_path().map(|folder| name(&folder)).unwrap_or_default()
    }

    /// The path of a file in that folder.
    pub(super) fn path_in_folder(&self, file: &Url) -> Option<String> {
        relative(&self.uri.to_file_path().ok()?, &file.to_file_path().ok()?)
    }

    /// The URI and the range of a place in a stage, which need not be open.
    pub(super) fn stage_place(&self, place: &StagePlace) -> (Option<Url>, lsp_types::Range) {
        (uri(&place.folder, &place.path), self.range_in(&Rope::from_str(place.text()), place.range.clone()))
    }

    /// Places in files of stages as the targets of a name.
    pub(super) fn stage_targets(&self, places: &[StagePlace]) -> Option<GotoDefinitionResponse> {
        let mut texts: HashMap<String, Rope> = HashMap::new();
        let link = |place: &StagePlace| {
            let StagePlace { folder, path, range, .. } = place;
            let text = texts.entry(path.to_string()).or_insert_with(|| Rope::from_str(place.text()));
            let range = self.range_in(text, range.clone());
            Some(LocationLink {
                origin_selection_range: None,
                target_uri: uri(folder, path)?,
                target_range: range,
                target_selection_range: range,
            })
        };
        self.targets(places.iter().filter_map(link).collect())
    }
}
