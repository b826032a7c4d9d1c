//! Links to files of this machine and to pages of the documentation.

use text::is_invisible;

use super::Inline;

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// An absolute path, and a line in it.
    File {
        path: String,
        line: Option<u32>,
    },
    Page(String),
}

/// A link to a line of a local file. `None` if `path` is not absolute, or starts with the name of another
/// machine.
pub(crate) fn file_link(label: String, path: &str, line: Option<u32>) -> Option<Inline> {
    let is_here = path.starts_with('/') && !path.starts_with("//") && !path.contains(is_invisible);
    is_here.then(|| Inline::Link { label, target: Target::File { path: path.to_owned(), line } })
}

/// A link to a page of public documentation.
pub(crate) fn page_link(label: &str, url: impl Into<String>) -> Inline {
    Inline::Link { label: label.to_owned(), target: Target::Page(url.into()) }
}

impl Target {
    pub(super) fn uri(&self) -> String {
        match self {
            Target::File { path, line } => {
                let anchor = line.map_or_else(String::new, |line| format!("#L{line}"));
                format!("file://{}{anchor}", percent_encoded(path))
            }
            Target::Page(url) => url.clone(),
        }
    }
}

/// A path as part of a URI.
pub fn percent_encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
