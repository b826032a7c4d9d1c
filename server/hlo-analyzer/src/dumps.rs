//! Dump folders on disk.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use compile::{ArtefactKind, Compile, Entry};
use ide::{AnalysisHost, Device, FileId, ListedFile, ReadDump};

use crate::limits;

/// With `--xla_dump_hlo_to_subfolder` a module is two folders deep.
const MAX_DEPTH: usize = 3;

/// The files of a folder and its sub-folders whose names XLA gives to dumps.
///
/// # Errors
/// Why the folder cannot be listed, in words.
pub(crate) fn list(folder: &Path) -> Result<Vec<ListedFile>, String> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(folder.to_owned(), String::new(), 0)]);
    let (mut seen, most) = (0usize, limits::folder_files());
    while let Some((path, prefix, depth)) = open.pop_front() {
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(why) if depth == 0 => return Err(format!("cannot list {}: {why}", path.display())),
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > most && depth == 0 {
                // XLA writes some hundred per module.
                let folder = folder.display();
                return Err(format!("{folder} has more than {most} files; --max-files N raises that"));
            } else if seen > most {
                // The folder of a project, not of dumps: its own files are enough.
                open.clear();
                break;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            // A link could lead back into the folder.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH && !name.starts_with('.') {
                open.push_back((entry.path(), format!("{prefix}{name}/"), depth + 1));
            } else if kind.is_file() && compile::is_dump_name(&name) {
                found.extend(listed(&entry, format!("{prefix}{name}")));
            }
        }
    }
    found.sort_by(|one, other| one.entry.path.cmp(&other.entry.path));
    Ok(found)
}

fn listed(entry: &fs::DirEntry, path: String) -> Option<ListedFile> {
    let metadata = entry.metadata().ok()?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    Some(ListedFile { entry: Entry { path, size: metadata.len() }, modified })
}

/// The folder of a file, and its name; `None` for a name that no dump has.
pub(crate) fn folder_and_name(file: &Path) -> Option<(PathBuf, String)> {
    let name = file.file_name()?.to_str().filter(|name| compile::is_dump_name(name))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some((folder.unwrap_or(Path::new(".")).to_owned(), name.to_owned()))
}

/// Lists a folder for an analysis and returns the name under which it is listed: its absolute path.
///
/// # Errors
/// Why the folder cannot be listed, in words.
pub(crate) fn list_for(host: &mut AnalysisHost, folder: &Path) -> Result<String, String> {
    let files = list(folder)?;
    let reader: Arc<dyn ReadDump> = Arc::new(OnDisk(folder.to_owned()));
    let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string();
    host.list_dumps(&name, &files, &reader);
    Ok(name)
}

/// The device of a compile; `folder` was listed.
pub(crate) fn device_of(folder: &Path, compile: &Compile) -> Option<&'static Device> {
    let target = compile.artefacts.iter().find(|artefact| artefact.kind == ArtefactKind::GpuTarget)?;
    Device::described(&OnDisk(folder.to_owned()).read(&target.path).ok()?)
}

/// The device of the compile whose stage a file is.
pub(crate) fn device_of_stage(file: &Path) -> Option<&'static Device> {
    let (folder, name) = folder_and_name(file)?;
    let entries: Vec<Entry> = list(&folder).ok()?.into_iter().map(|file| file.entry).collect();
    let compiles = compile::group(&entries).compiles;
    let compile = compiles.iter().find(|compile| compile.stages.iter().any(|stage| stage.path == name))?;
    device_of(&folder, compile)
}

/// Makes an open file the stage of the compile whose dump it is.
///
/// # Errors
/// It is no stage of a dump folder, in words.
pub(crate) fn attach(host: &mut AnalysisHost, path: &Path, file: FileId) -> Result<(), String> {
    let no_dump = || format!("{}: XLA gives no dump such a name", path.display());
    let (folder, name) = folder_and_name(path).ok_or_else(no_dump)?;
    let folder = list_for(host, &folder)?;
    match host.open_dump(&folder, &name, file) {
        true => Ok(()),
        false => Err(format!("{} is not in {folder}", path.display())),
    }
}

/// Reads the files of a folder.
pub(crate) struct OnDisk(pub(crate) PathBuf);

impl ReadDump for OnDisk {
    fn read(&self, path: &str) -> Result<String, String> {
        crate::cli::input::read(&self.0.join(path)).map_err(|why| format!("{why:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_listed_with_its_sub_folders() {
        let folder = test_files::dump_folder();
        let files = list(&folder).expect("the folder exists");
        let paths: Vec<&str> = files.iter().map(|file| file.entry.path.as_str()).collect();
        assert!(paths.contains(&"module_0001.jit_step.before_optimizations.txt"), "{paths:?}");
        assert!(paths.is_sorted() && !paths.iter().any(|path| path.ends_with(".py")), "{paths:?}");
        let text = OnDisk(folder.clone()).read(paths[0]).expect("the file exists");
        assert!(!text.is_empty());
        let below = list(folder.parent().unwrap()).expect("the folder exists");
        assert!(below.iter().any(|file| file.entry.path == format!("dump/{}", paths[0])));
        let why = list(&folder.join("nowhere")).unwrap_err();
        assert!(why.starts_with("cannot list "), "{why}");
        assert!(OnDisk(folder).read("nowhere.txt").unwrap_err().starts_with("cannot open "));
    }
}
