//! URIs of previews: documents that show a module after passes of XLA's optimizer:
//! `hlo-analyzer-preview:/m.after_dce.hlo?{"file":"file:///m.hlo","passes":["dce"],"part":"module"}`, with the query as in
//! `query_uri.rs`.

use ide::OptimizeRequest;
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;

use super::query_uri;

pub(super) const SCHEME: &str = "hlo-analyzer-preview";

/// What a document shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    /// The module after the passes.
    Module,
    /// The two sides of a line diff.
    Before,
    After,
}

/// One document of one preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PreviewUri {
    pub(super) file: Url,
    /// Names of passes and pipelines.
    pub(super) passes: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) pipeline: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    pub(super) part: Part,
}

/// Whether a document has findings of its own. A preview would repeat those of the text, where they are mended.
pub(super) fn has_findings(uri: &Url) -> bool {
    uri.scheme() != SCHEME
}

impl PreviewUri {
    /// Returns `None` for URIs of other schemes or formats.
    pub(super) fn parse(uri: &Url) -> Option<PreviewUri> {
        query_uri::parse(uri, SCHEME)
    }

    pub(super) fn uri(&self) -> Url {
        query_uri::write(SCHEME, &self.file_name(), self).unwrap_or_else(|| self.file.clone())
    }

    /// For example `m.after_fusion-pipeline.hlo`.
    fn file_name(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let plain = |name: &str| -> String {
            name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(60).collect()
        };
        let last = self.file.path().rsplit('/').next().unwrap_or_default();
        let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
        let title = match (self.part, self.passes.as_slice()) {
            (Part::Before, _) => "before".to_owned(),
            (_, []) => "unchanged".to_owned(),
            (_, [only]) => format!("after_{}", plain(only)),
            (_, [.., last]) => format!("after_{}_passes_to_{}", self.passes.len(), plain(last)),
        };
        format!("{}.{title}.hlo", plain(stem))
    }

    pub(super) fn request(&self) -> OptimizeRequest {
        OptimizeRequest {
            passes: self.passes.clone(),
            pipeline: self.pipeline.clone(),
            until: self.until.clone(),
            check: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_come_back_whatever_they_hold() {
        for (file, passes) in [
            ("file:///dump.hlo", vec!["fusion-pipeline"]),
            ("file:///a%20b/%25.hlo?x=1&y#z", vec!["é\"{}%20 +&=#?/\\", ""]),
            ("untitled:Untitled-1", vec![]),
        ] {
            for part in [Part::Module, Part::Before, Part::After] {
                let preview = PreviewUri {
                    file: Url::parse(file).unwrap(),
                    passes: passes.iter().map(|&pass| pass.to_owned()).collect(),
                    pipeline: String::new(),
                    until: Some("cse".to_owned()).filter(|_| part == Part::After),
                    part,
                };
                let uri = preview.uri();
                assert!(uri.path().ends_with(".hlo"), "{uri}");
                assert_eq!(PreviewUri::parse(&uri), Some(preview));
            }
        }
        for uri in ["file:///a.hlo", "hlo-analyzer-preview:/m.hlo", "hlo-analyzer-preview:/m.hlo?%7B%"] {
            assert_eq!(PreviewUri::parse(&Url::parse(uri).unwrap()), None, "{uri}");
        }
    }
}
