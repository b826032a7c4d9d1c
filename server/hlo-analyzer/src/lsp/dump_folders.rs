//! The dump folders that the client works in: their listings, and when they are listed again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ide::{ListedFile, StagePlace};
use ropey::Rope;
use tower_lsp::lsp_types::{self, FileChangeType, GotoDefinitionResponse, LocationLink, Url};

use super::read::Read;
use super::snapshot::View;
use crate::dumps;

/// The time between the first reported change in a folder and its next listing. XLA writes a file per pass.
const PAUSE: Duration = Duration::from_millis(200);
/// The age of a listing from which a request lists even a watched folder again. File watchers lose changes.
const RECHECK: Duration = Duration::from_secs(2);

/// The endings of files of a dump that editors open.
const FILE_ENDINGS: [&str; 5] = ["txt", "gz", "mlir", "ptx", "ll"];

/// A listing of a folder.
pub(super) struct Listed {
    pub(super) folder: PathBuf,
    pub(super) files: Result<Vec<ListedFile>, String>,
}

/// The folders that were listed. Owned by the main loop; the analysis has the same listings.
///
/// Size: about 150 bytes per file of the folders.
#[derive(Default)]
pub(super) struct DumpFolders {
    known: HashMap<PathBuf, Known>,
    /// The folders that are being listed, each by one thread.
    running: HashMap<PathBuf, Listing>,
}

struct Known {
    /// Sorted by path.
    files: Vec<ListedFile>,
    listed: Instant,
    /// Whether the client reports changes of its files.
    is_watched: bool,
    /// The first change that the client reported since the last listing began.
    changed: Option<Instant>,
}

/// What the last listing of a folder is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// The client reports changes, and has reported none.
    Fresh,
    /// The same, but the listing is old: the folder is to be listed again beside the request.
    Ageing,
    Stale,
}

/// A listing that a thread makes.
struct Listing {
    /// Requests that start when it ends.
    reads: Vec<Read>,
    /// Requests that came later. Their folder is listed once more, because files may have changed meanwhile.
    later: Option<Vec<Read>>,
}

impl Listed {
    /// Lists a folder, on a thread that may wait for the disk.
    pub(super) fn now(folder: PathBuf) -> Listed {
        tracing::debug!("listing {}", folder.display());
        let files = dumps::list(&folder);
        Listed { folder, files }
    }
}

impl DumpFolders {
    /// A folder has to be listed, for a request if there is one. Returns whether a thread has to start with it.
    pub(super) fn wait(&mut self, folder: &Path, read: Option<Read>) -> bool {
        if let Some(known) = self.known.get_mut(folder) {
            known.changed = None;
        }
        match self.running.entry(folder.to_owned()) {
            Entry::Occupied(mut running) => {
                running.get_mut().later.get_or_insert_default().extend(read);
                false
            }
            Entry::Vacant(free) => {
                free.insert(Listing { reads: read.into_iter().collect(), later: None });
                true
            }
        }
    }

    /// A listing has ended. Returns the requests that waited for it, and whether a thread has to list the folder once more.
    pub(super) fn ended(&mut self, folder: &Path) -> (Vec<Read>, bool) {
        let Some(Listing { reads, later }) = self.running.remove(folder) else { return (Vec::new(), false) };
        let is_again = later.is_some();
        if let Some(reads) = later {
            self.running.insert(folder.to_owned(), Listing { reads, later: None });
        }
        (reads, is_again)
    }

    /// Keeps a listing. Returns whether it differs from the one before.
    pub(super) fn keep(&mut self, folder: &Path, files: &[ListedFile]) -> bool {
        let listed = Instant::now();
        if let Some(known) = self.known.get_mut(folder) {
            known.listed = listed;
            let differs = known.files != files;
            if differs {
                known.files = files.to_owned();
            }
            return differs;
        }
        let known = Known { files: files.to_owned(), listed, is_watched: false, changed: None };
        self.known.insert(folder.to_owned(), known);
        true
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &[ListedFile])> {
        self.known.iter().map(|(folder, known)| (folder.as_path(), known.files.as_slice()))
    }

    pub(super) fn is_known(&self, folder: &Path) -> bool {
        self.known.contains_key(folder)
    }

    pub(super) fn freshness(&self, folder: &Path) -> Freshness {
        let Some(known) = self.known.get(folder).filter(|known| known.is_watched) else {
            return Freshness::Stale;
        };
        match self.running.get(folder) {
            _ if known.changed.is_some() || known.files.is_empty() => Freshness::Stale,
            // It may have begun because of a change.
            Some(_) => Freshness::Stale,
            None if known.listed.elapsed() > RECHECK => Freshness::Ageing,
            None => Freshness::Fresh,
        }
    }

    /// The client is asked to report changes in a folder from now on. Returns whether it was not before.
    pub(super) fn watch(&mut self, folder: &Path) -> bool {
        let known = self.known.get_mut(folder).filter(|known| !known.is_watched && !known.files.is_empty());
        let Some(known) = known else { return false };
        // Files may change until the client watches.
        (known.is_watched, known.changed) = (true, Some(Instant::now()));
        true
    }

    /// The client reports a change of a file or of a folder.
    pub(super) fn changed(&mut self, path: &Path, kind: FileChangeType) {
        for (folder, known) in &mut self.known {
            // A folder that came or went is reported without its files.
            let concerns = |inside: String| {
                let is_hidden = inside.split('/').any(|part| part.starts_with('.'));
                !is_hidden && (kind != FileChangeType::CHANGED || compile::is_dump_name(&inside))
            };
            if path == folder || relative(folder, path).is_some_and(concerns) {
                known.changed.get_or_insert_with(Instant::now);
            }
        }
    }

    /// When the next folder is to be listed because files of it changed.
    pub(super) fn due(&self) -> Option<Instant> {
        self.known.values().filter_map(|known| Some(known.changed? + PAUSE)).min()
    }

    /// The folders that are to be listed now because files of them changed.
    pub(super) fn due_now(&self) -> Vec<PathBuf> {
        let now = Instant::now();
        let is_due = |known: &Known| known.changed.is_some_and(|changed| changed + PAUSE <= now);
        self.known.iter().filter(|(_, known)| is_due(known)).map(|(folder, _)| folder.clone()).collect()
    }

    /// The folder of a file: one that was listed and has it, else the folder that the file is in. A folder is its own.
    pub(super) fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let has = |folder: &Path, known: &Known| {
            let inside = relative(folder, path)?;
            known.files.binary_search_by(|file| file.entry.path.as_str().cmp(&inside)).ok()
        };
        let known = self.known.iter().find(|(folder, known)| has(folder, known).is_some());
        match known {
            Some((folder, _)) => Some(folder.clone()),
            None if self.is_known(path) => Some(path.to_owned()),
            // A name with an ending is a file's. Which it is, is not asked of the disk here.
            None if path
                .extension()
                .is_some_and(|ending| FILE_ENDINGS.iter().any(|known| ending == *known)) =>
            {
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
