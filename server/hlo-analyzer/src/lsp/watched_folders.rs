//! What the client is asked to watch, and what it is told when the compiles of a folder have changed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::notification::{DidChangeWatchedFiles, Notification};
use tower_lsp::lsp_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, OneOf, Registration,
    RegistrationParams, RelativePattern, Url,
};

pub(super) use tower_lsp::lsp_types::request::RegisterCapability as Register;

use super::capabilities::COMPILES_CHANGED;
use super::snapshot::Session;

/// Files of a dump folder came, changed or went.
pub(super) enum CompilesChanged {}

impl Notification for CompilesChanged {
    type Params = CompilesChangedParams;
    const METHOD: &'static str = COMPILES_CHANGED;
}

#[derive(Serialize, Deserialize)]
pub(super) struct CompilesChangedParams {
    /// The folder.
    pub(super) uri: Url,
}

/// The request to report all changes below a folder. `None` if the client does not watch files there.
pub(super) fn registration(session: &Session, folder: &Path) -> Option<RegistrationParams> {
    let client = &session.client;
    let is_open = || session.roots.iter().any(|root| folder.starts_with(root));
    let glob_pattern = match (client.watches_files, client.watches_any_folder) {
        (true, true) => GlobPattern::Relative(RelativePattern {
            base_uri: OneOf::Right(Url::from_directory_path(folder).ok()?),
            pattern: "**/*".to_owned(),
        }),
        (true, false) if is_open() => GlobPattern::String(format!("{}/**/*", literal(folder)?)),
        _ => return None,
    };
    let watchers = vec![FileSystemWatcher { glob_pattern, kind: None }];
    let options = DidChangeWatchedFilesRegistrationOptions { watchers };
    let registration = Registration {
        id: format!("hlo-analyzer-dumps:{}", folder.display()),
        method: DidChangeWatchedFiles::METHOD.to_owned(),
        register_options: Some(serde_json::to_value(options).ok()?),
    };
    Some(RegistrationParams { registrations: vec![registration] })
}

/// A path as a glob that matches it alone. Globs of LSP have no escapes.
fn literal(path: &Path) -> Option<String> {
    let path = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    (!path.contains(['*', '?', '{', '}', '[', ']'])).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::capabilities::ClientProfile;
    use crate::lsp::mailbox::Mailbox;

    fn pattern(watches_files: bool, watches_any_folder: bool, folder: &str) -> Option<serde_json::Value> {
        let mut session = Session::new(Mailbox::new().0);
        session.client = ClientProfile { watches_files, watches_any_folder, ..ClientProfile::default() };
        session.roots = vec!["/project".into()];
        let mut registered = registration(&session, Path::new(folder))?.registrations.remove(0);
        Some(registered.register_options.as_mut()?["watchers"][0]["globPattern"].take())
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_watched_where_the_client_can() {
        let relative = serde_json::json!({"baseUri": "file:///dump%20of%20f/", "pattern": "**/*"});
        assert_eq!(pattern(true, true, "/dump of f"), Some(relative));
        assert_eq!(pattern(true, false, "/project/dump"), Some("/project/dump/**/*".into()));
        assert_eq!(pattern(true, false, "/project/dump[1]"), None);
        assert_eq!(pattern(true, false, "/elsewhere"), None);
        assert_eq!(pattern(false, true, "/project/dump"), None);
    }
}
