//! The files of a dump folder: on disk, or as the editor shows them.

use std::fmt;
use std::sync::Arc;

use crate::File;
use crate::compiles::StagePrograms;

/// Reads the files of a folder. Called on the thread of whoever asks for a text, at any time, for paths of the listing.
pub trait ReadDump: Send + Sync {
    /// The text of a file, unpacked if it is compressed.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn read(&self, path: &str) -> Result<String, String>;
}

/// What tells versions of a file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileVersion {
    /// In bytes.
    pub size: u64,
    /// The time of the last modification, in a unit of the reader's choice.
    pub modified: u64,
}

/// A file of a dump folder.
#[salsa::input(debug)]
pub struct DumpedFile {
    /// Relative to the folder.
    pub path: Arc<str>,
    /// `None` for a file that is gone.
    #[returns(copy)]
    pub version: Option<FileVersion>,
    /// The file of the editor that has its text.
    #[returns(copy)]
    pub open: Option<File>,
    pub access: Access,
}

/// How the files of one folder are read, and what is kept of them.
#[derive(Clone)]
pub struct Access {
    pub(crate) reader: Arc<dyn ReadDump>,
    pub(crate) programs: Arc<StagePrograms>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Access")
    }
}

/// The text of a file: the editor's where it is open there.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn dumped_text(db: &dyn salsa::Database, file: DumpedFile) -> Result<Arc<str>, String> {
    if let Some(open) = file.open(db) {
        return Ok(crate::documents::whole_text(db, open).into());
    }
    if file.version(db).is_none() {
        return Err(format!("{} is gone", file.path(db)));
    }
    // Reading takes long, and what waits for the database is served first.
    db.unwind_if_revision_cancelled();
    cancel::check();
    file.access(db).reader.read(file.path(db)).map(Arc::from)
}
