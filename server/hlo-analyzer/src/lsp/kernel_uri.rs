//! URIs of kernel documents:
//! `hlo-analyzer-kernel:/fusion.1.ptx?{"file":"file:///dump.hlo","computation":"main","instruction":"fusion.1","tab":"ptx"}`,
//! with the query as in `query_uri.rs`.

use ide::{FusionQuery, KernelLanguage};
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;

use super::query_uri;

pub(super) const SCHEME: &str = "hlo-analyzer-kernel";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tab {
    Mlir,
    /// The MLIR after each pass.
    Passes,
    Ptx,
    Sass,
    /// XLA's own code, from its dump.
    Xla,
    /// Of a fusion for Triton: what one block does with its tiles.
    Tiles,
    /// The same in Triton's operations.
    Triton,
    /// Other tile sizes for it, and what they cost.
    Tilings,
    /// A summary of a kernel whose code comes from elsewhere.
    About,
}

impl Tab {
    /// The text of our kernel from which the tab is rendered; `None` for XLA's.
    pub(super) fn language(self) -> Option<KernelLanguage> {
        match self {
            Tab::Mlir => Some(KernelLanguage::Mlir),
            Tab::Passes => Some(KernelLanguage::MlirAfter("all")),
            Tab::Ptx | Tab::Sass | Tab::About => Some(KernelLanguage::Ptx),
            Tab::Tiles => Some(KernelLanguage::Tiles),
            Tab::Triton => Some(KernelLanguage::Triton),
            Tab::Tilings => Some(KernelLanguage::Tilings),
            Tab::Xla => None,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Tab::Mlir => "MLIR",
            Tab::Passes => "MLIR after each pass",
            Tab::Ptx => "PTX",
            Tab::Sass => "SASS",
            Tab::Tiles => "tiles",
            Tab::Triton => "Triton",
            Tab::Tilings => "tile sizes",
            Tab::Xla => "XLA's",
            Tab::About => "about",
        }
    }

    /// The file extension, from which editors infer the language.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Tab::Mlir => "mlir",
            Tab::Passes => "passes.mlir",
            Tab::Ptx => "ptx",
            Tab::Sass => "sass",
            Tab::Tiles => "xtile.mlir",
            Tab::Triton => "ttir.mlir",
            Tab::Tilings => "tilings.txt",
            Tab::Xla => "xla.ptx",
            Tab::About => "kernel.txt",
        }
    }
}

/// One tab of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KernelUri {
    pub(super) file: Url,
    pub(super) computation: String,
    pub(super) instruction: String,
    pub(super) tab: Tab,
}

impl KernelUri {
    /// Returns `None` for URIs of other schemes or formats.
    pub(super) fn parse(uri: &Url) -> Option<KernelUri> {
        query_uri::parse(uri, SCHEME)
    }

    pub(super) fn uri(&self) -> Url {
        query_uri::write(SCHEME, &self.file_name(), self).unwrap_or_else(|| self.file.clone())
    }

    /// For example `fusion.1.ptx`.
    pub(super) fn file_name(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let name = self.instruction.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80);
        format!("{}.{}", name.collect::<String>(), self.tab.extension())
    }

    pub(super) fn query(&self) -> FusionQuery {
        FusionQuery { instruction: self.instruction.clone(), computation: Some(self.computation.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_whatever_they_hold() {
        for (file, name) in [
            ("file:///dump.hlo", "fusion.1"),
            ("file:///a%20b/%25.hlo?x=1&y#z", "é\"{}%20 +&=#?/\\"),
            ("untitled:Untitled-1", ""),
        ] {
            for tab in [
                Tab::Mlir,
                Tab::Passes,
                Tab::Ptx,
                Tab::Sass,
                Tab::Tiles,
                Tab::Triton,
                Tab::Tilings,
                Tab::Xla,
                Tab::About,
            ] {
                let kernel = KernelUri {
                    file: Url::parse(file).unwrap(),
                    computation: "main".to_owned(),
                    instruction: name.to_owned(),
                    tab,
                };
                let uri = kernel.uri();
                assert!(uri.path().ends_with(tab.extension()), "{uri}");
                assert_eq!(KernelUri::parse(&uri), Some(kernel.clone()));
                // An editor may leave some characters unencoded.
                let plain = uri.as_str().replace("%22", "\"").replace("%3A", ":").replace("%2C", ",");
                assert_eq!(Url::parse(&plain).ok().and_then(|uri| KernelUri::parse(&uri)), Some(kernel));
            }
        }
    }

    #[test]
    fn others_are_not_ours() {
        for uri in [
            "file:///a.hlo",
            "hlo-analyzer-kernel:/f.ptx",
            "hlo-analyzer-kernel:/f.ptx?%7B%",
            "hlo-analyzer-kernel:x",
        ] {
            assert_eq!(KernelUri::parse(&Url::parse(uri).unwrap()), None, "{uri}");
        }
    }
}
