//! The folders that were listed: the owner of the inputs.

use std::sync::Arc;

use compile::Entry;
use rustc_hash::FxHashMap;
use salsa::Setter as _;

use crate::compiles::files::{Access, FileVersion};
use crate::compiles::{DumpFolder, DumpedCompile, DumpedFile, DumpedStage, ReadDump};
use crate::{Database, File};

/// A file of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    pub entry: Entry,
    /// The time of its last modification, in any unit.
    pub modified: u64,
}

/// Owner: the thread that owns the [`Database`]; the only writer of these inputs. Inputs of files and stages that are gone are used
/// again when files of their names appear.
#[derive(Default)]
pub struct DumpFolders {
    folders: FxHashMap<Arc<str>, Known>,
    /// The files that are open in the editor.
    opened: FxHashMap<File, DumpedFile>,
}

struct Known {
    folder: DumpFolder,
    access: Access,
    /// By path.
    files: FxHashMap<Arc<str>, DumpedFile>,
    /// By the path of the text.
    stages: FxHashMap<Arc<str>, DumpedStage>,
    /// In any order; those of a listing are used from the front.
    compiles: Vec<DumpedCompile>,
}

impl DumpFolders {
    /// Takes the listing of a folder. Only what differs from the listing before is written, so nothing is computed again for files
    /// with the same size and time of modification.
    pub fn list(
        &mut self,
        db: &mut Database,
        path: &str,
        listed: &[ListedFile],
        reader: &Arc<dyn ReadDump>,
    ) -> DumpFolder {
        let entries: Vec<Entry> = listed.iter().map(|file| file.entry.clone()).collect();
        let listing = Arc::new(compile::group(&entries));
        let known = match self.folders.get_mut(path) {
            Some(known) => known,
            None => {
                let path: Arc<str> = path.into();
                let folder = DumpFolder::new(db, path.clone(), Arc::default(), Vec::new());
                let access = Access { reader: reader.clone(), programs: Arc::default() };
                let (files, stages) = Default::default();
                let known = Known { folder, access, files, stages, compiles: Vec::new() };
                self.folders.entry(path).or_insert(known)
            }
        };
        known.take(db, listed, listing);
        known.folder
    }

    /// A folder that was listed.
    pub fn folder(&self, path: &str) -> Option<DumpFolder> {
        Some(self.folders.get(path)?.folder)
    }

    /// The folders that were listed, in any order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(|path| &**path)
    }

    /// `file` of the editor is the file at `path` of a folder from now on. Returns whether the folder has it.
    pub fn open(&mut self, db: &mut Database, folder: &str, path: &str, file: File) -> bool {
        let Some(known) = self.folders.get(folder) else { return false };
        let Some(&dumped) = known.files.get(path) else { return false };
        if dumped.open(db) != Some(file) {
            dumped.set_open(db).to(Some(file));
        }
        self.opened.insert(file, dumped);
        let stage = known.stages.get(path).copied();
        if file.stage(db) != stage {
            file.set_stage(db).to(stage);
        }
        true
    }

    /// `file` of the editor is closed: the text on disk counts again.
    pub fn close(&mut self, db: &mut Database, file: File) {
        let Some(dumped) = self.opened.remove(&file) else { return };
        dumped.set_open(db).to(None);
        if file.stage(db).is_some() {
            file.set_stage(db).to(None);
        }
    }
}

/// Writes a field of an input if its value differs.
macro_rules! update {
    ($db:expr, $input:expr, $get:ident, $set:ident, $value:expr) => {
        let value = $value;
        if $input.$get($db) != value {
            $input.$set($db).to(value);
        }
    };
}

impl Known {
    fn take(&mut self, db: &mut Database, listed: &[ListedFile], listing: Arc<compile::Folder>) {
        self.take_files(db, listed);
        let mut compiles = Vec::with_capacity(listing.compiles.len());
        for (index, described) in listing.compiles.iter().enumerate() {
            let compile = match self.compiles.get(index) {
                Some(&compile) => compile,
                None => {
                    let compile = DumpedCompile::new(db, self.folder, index, Vec::new(), Vec::new());
                    self.compiles.push(compile);
                    compile
                }
            };
            let mut stages = Vec::with_capacity(described.stages.len());
            let mut before = None;
            for (at, stage) in described.stages.iter().enumerate() {
                let input = self.stage(db, &stage.path, compile, at, before);
                stages.extend(input);
                before = input.or(before);
            }
            let artefacts = described.artefacts.iter();
            let artefacts: Vec<DumpedFile> =
                artefacts.filter_map(|artefact| self.files.get(artefact.path.as_str()).copied()).collect();
            if *compile.stages(db) != stages {
                compile.set_stages(db).to(stages);
            }
            if *compile.artefacts(db) != artefacts {
                compile.set_artefacts(db).to(artefacts);
            }
            compiles.push(compile);
        }
        self.forget_stages(db, &listing);
        if *self.folder.listing(db) != listing {
            self.folder.set_listing(db).to(listing);
        }
        if *self.folder.compiles(db) != compiles {
            self.folder.set_compiles(db).to(compiles);
        }
    }

    fn take_files(&mut self, db: &mut Database, listed: &[ListedFile]) {
        let mut gone = self.files.clone();
        for file in listed {
            let version = Some(FileVersion { size: file.entry.size, modified: file.modified });
            match gone.remove(file.entry.path.as_str()) {
                Some(input) => {
                    update!(db, input, version, set_version, version);
                }
                None => {
                    let path: Arc<str> = file.entry.path.as_str().into();
                    let input = DumpedFile::new(db, path.clone(), version, None, self.access.clone());
                    self.files.insert(path, input);
                }
            }
        }
        for input in gone.into_values() {
            update!(db, input, version, set_version, None);
        }
    }

    fn stage(
        &mut self,
        db: &mut Database,
        path: &str,
        compile: DumpedCompile,
        index: usize,
        before: Option<DumpedStage>,
    ) -> Option<DumpedStage> {
        let (path, &file) = self.files.get_key_value(path)?;
        let path = path.clone();
        if let Some(&stage) = self.stages.get(&path) {
            update!(db, stage, compile, set_compile, Some(compile));
            update!(db, stage, index, set_index, index);
            update!(db, stage, before, set_before, before);
            return Some(stage);
        }
        let stage = DumpedStage::new(db, Some(compile), index, file, before);
        self.stages.insert(path, stage);
        // The file may have been opened before it was a stage.
        if let Some(open) = file.open(db) {
            open.set_stage(db).to(Some(stage));
        }
        Some(stage)
    }

    fn forget_stages(&mut self, db: &mut Database, listing: &compile::Folder) {
        let listed = listing.compiles.iter().flat_map(|compile| &compile.stages);
        let listed: rustc_hash::FxHashSet<&str> = listed.map(|stage| stage.path.as_str()).collect();
        for (path, &stage) in &self.stages {
            if !listed.contains(&**path) {
                update!(db, stage, compile, set_compile, None);
                update!(db, stage, before, set_before, None);
            }
        }
    }
}
