//! The folders that the editor has open.

use std::path::PathBuf;

use tower_lsp::lsp_types::InitializeParams;

/// The local folders, given in any of the three ways that LSP provides.
pub(super) fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    if let Some(folders) = params.workspace_folders.as_ref().filter(|folders| !folders.is_empty()) {
        return folders.iter().filter_map(|folder| folder.uri.to_file_path().ok()).collect();
    }
    #[expect(deprecated, reason = "older clients know nothing else")]
    let (uri, path) = (params.root_uri.as_ref(), params.root_path.as_ref());
    let from_uri = uri.and_then(|uri| uri.to_file_path().ok());
    from_uri.or_else(|| path.map(PathBuf::from)).into_iter().collect()
}
