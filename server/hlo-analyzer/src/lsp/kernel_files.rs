//! Kernels as files in a folder of this process, for clients that cannot show virtual documents. The files are
//! rewritten when their text changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::kernel_tab::Rendered;
use super::kernel_uri::KernelUri;
use super::snapshot::View;
use crate::assembler::WorkFolder;

/// Created with the first file, removed by [`clean`].
static FOLDER: Mutex<Option<WorkFolder>> = Mutex::new(None);

/// Writes the file of a tab, and registers it for updates.
pub(super) fn keep(view: &View, tab: &KernelUri, rendered: &Rendered) -> Option<PathBuf> {
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
