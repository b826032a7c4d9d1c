//! The user's settings, as sent by the client.

use std::path::PathBuf;
use std::time::Duration;

use ide::{AnalysisHost, CoalescingConfig, Device, DomainHints, InlayHintsConfig};
use serde_json::Value;
use tower_lsp::lsp_types::Url;

use crate::assembler::AssemblerPaths;
use crate::budget::Budget;

/// What raises the limit of time, and that of memory, in messages.
pub(super) const RAISES_BUDGET: [&str; 2] =
    ["the setting requests.timeLimit", "the setting requests.memoryLimit"];

/// `{"inlayHints": {"domains": bool, "everywhere": bool, "splits": bool, "memory": bool}, "gpu": {"device": name, "coalescingThreshold": number, "codeLens":
/// bool}, "optimizer": {"hints": bool, "codeLens": bool}, "hover": {"readableVariables": bool}, "diagnostics": {"limit": number},
/// "warnings": {"enable": bool, "disabled": [code], "unoptimized": bool},
/// "documentLinks": {"roots": [path]}, "ptxas": {"enable": bool, "path": path}, "nvdisasm": {"path": path}, "workspace":
/// {"trusted": bool}, "xla": {"python": path}, "documents": {"limit": MiB}, "requests": {"timeLimit": seconds, "memoryLimit": MiB}, "documentation": {"warnings": URI}}`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    /// Show the domain of an instruction's map after the instruction.
    pub(super) inlay_domains: bool,
    /// Also show domains that repeat the result shape.
    pub(super) inlay_everywhere: bool,
    /// Show where a fused computation is partitioned into functions.
    pub(super) inlay_splits: bool,
    /// Show the bytes in use at each instruction of a scheduled module.
    pub(super) inlay_memory: bool,
    /// Show the kernel that XLA would make of each instruction of a module without fusions.
    pub(super) optimizer_hints: bool,
    /// Show the kernels, time and bytes of such a module before and after fusion above its entry.
    pub(super) optimizer_lenses: bool,
    /// The name of the GPU that kernels target.
    pub(super) device: String,
    /// The ratio of sectors per request to the ideal from which a memory access is a warning.
    pub(super) coalescing_threshold: f64,
    /// Show code lenses above kernels.
    pub(super) kernel_lenses: bool,
    /// Name map variables in hovers by their role, where the op defines it.
    pub(super) readable_variables: bool,
    /// The largest number of diagnostics sent per document.
    pub(super) diagnostics_limit: usize,
    /// The longest text, in MiB, that is analysed.
    pub(super) text_limit: usize,
    /// What one request may take.
    pub(super) budget: Budget,
    /// Show warnings about code that computes nothing new.
    pub(super) warnings: bool,
    /// Codes of disabled warnings.
    pub(super) disabled_warnings: Vec<String>,
    /// Also show hints in modules before optimisation.
    pub(super) unoptimized_hints: bool,
    /// Run NVIDIA's assembler if it is found.
    pub(super) assembles: bool,
    pub(super) assembler: AssemblerPaths,
    /// The Python whose XLA compiles modules; empty if none is named. Used in trusted workspaces only.
    pub(super) xla_python: String,
    /// URI of the client's page about diagnostic codes. The server writes a page for clients that name none.
    pub(super) warnings_page: Option<Url>,
    /// Folders against which relative source paths are resolved, in addition to the open ones.
    pub(super) link_roots: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            inlay_domains: true,
            inlay_everywhere: false,
            inlay_splits: true,
            inlay_memory: false,
            optimizer_hints: true,
            optimizer_lenses: true,
            device: ide::DEFAULT_DEVICE.to_owned(),
            coalescing_threshold: CoalescingConfig::default().threshold,
            kernel_lenses: true,
            readable_variables: true,
            diagnostics_limit: 1000,
            text_limit: 256,
            budget: Budget { time: Some(Duration::from_secs(120)), memory: Some(8 << 30) },
            warnings: true,
            disabled_warnings: Vec::new(),
            unoptimized_hints: false,
            assembles: true,
            assembler: AssemblerPaths::default(),
            xla_python: String::new(),
            warnings_page: None,
            link_roots: Vec::new(),
        }
    }
}

impl Settings {
    pub(super) fn inlay_hints(&self) -> InlayHintsConfig {
        let domains = match (self.inlay_domains, self.inlay_everywhere) {
            (false, _) => DomainHints::Off,
            (true, false) => DomainHints::Informative,
            (true, true) => DomainHints::All,
        };
        InlayHintsConfig { domains, splits: self.inlay_splits, memory: self.inlay_memory }
    }

    /// Sets what the database keeps of them.
    pub(super) fn apply(&self, host: &mut AnalysisHost) {
        host.set_coalescing_threshold(self.coalescing_threshold);
        if let Ok(device) = Device::find(&self.device) {
            host.use_device(device);
        }
    }

    /// Whether a text of this length is analysed.
    pub(super) fn analyses(&self, bytes: usize) -> bool {
        bytes <= self.text_limit.saturating_mul(1 << 20)
    }

    pub(super) fn warns_of(&self, code: &str) -> bool {
        self.warnings && !self.disabled_warnings.iter().any(|disabled| disabled == code)
    }

    /// These settings updated with `sent`, which is `initializationOptions` or the `settings` of
    /// `workspace/didChangeConfiguration`; the section may be wrapped in its name, `hlo-analyzer`. Unknown or
    /// invalid values are logged and ignored.
    pub(super) fn updated(&self, sent: &Value) -> Self {
        let mut settings = self.clone();
        let section = sent.get("hlo-analyzer").unwrap_or(sent);
        for (path, value) in leaves(section) {
            let understood = match path.as_str() {
                ".inlayHints.domains" => value.as_bool().map(|on| settings.inlay_domains = on),
                ".inlayHints.everywhere" => value.as_bool().map(|on| settings.inlay_everywhere = on),
                ".inlayHints.splits" => value.as_bool().map(|on| settings.inlay_splits = on),
                ".inlayHints.memory" => value.as_bool().map(|on| settings.inlay_memory = on),
                ".optimizer.hints" => value.as_bool().map(|on| settings.optimizer_hints = on),
                ".optimizer.codeLens" => value.as_bool().map(|on| settings.optimizer_lenses = on),
                ".gpu.device" => value.as_str().map(|name| name.clone_into(&mut settings.device)),
                ".gpu.coalescingThreshold" => {
                    value.as_f64().filter(|n| *n >= 1.0).map(|n| settings.coalescing_threshold = n)
                }
                ".gpu.codeLens" => value.as_bool().map(|on| settings.kernel_lenses = on),
                ".hover.readableVariables" => value.as_bool().map(|on| settings.readable_variables = on),
                ".diagnostics.limit" => value
                    .as_u64()
                    .map(|limit| settings.diagnostics_limit = usize::try_from(limit).unwrap_or(usize::MAX)),
                ".documents.limit" => value
                    .as_u64()
                    .map(|limit| settings.text_limit = usize::try_from(limit).unwrap_or(usize::MAX)),
                ".requests.timeLimit" => value
                    .as_f64()
                    .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                    .map(|limit| settings.budget.time = Some(limit).filter(|limit| !limit.is_zero())),
                ".requests.memoryLimit" => value.as_u64().map(|mib| {
                    settings.budget.memory = Some(mib.saturating_mul(1 << 20)).filter(|bytes| *bytes > 0)
                }),
                ".warnings.enable" => value.as_bool().map(|on| settings.warnings = on),
                ".warnings.disabled" => codes(value).map(|codes| settings.disabled_warnings = codes),
                ".warnings.unoptimized" => value.as_bool().map(|on| settings.unoptimized_hints = on),
                ".ptxas.enable" => value.as_bool().map(|on| settings.assembles = on),
                ".ptxas.path" => value.as_str().map(|path| path.clone_into(&mut settings.assembler.ptxas)),
                ".nvdisasm.path" => {
                    value.as_str().map(|path| path.clone_into(&mut settings.assembler.nvdisasm))
                }
                ".xla.python" => value.as_str().map(|path| path.trim().clone_into(&mut settings.xla_python)),
                ".workspace.trusted" => value.as_bool().map(|on| settings.assembler.trusted = on),
                ".documentation.warnings" => value
                    .as_str()
                    .and_then(|uri| Url::parse(uri).ok())
                    .map(|uri| settings.warnings_page = Some(uri)),
                ".documentLinks.roots" => paths(value).map(|roots| settings.link_roots = roots),
                _ => None,
            };
            if understood.is_none() && !value.is_null() {
                tracing::warn!("the setting hlo-analyzer{path} = {value} is not understood and ignored");
            }
        }
        settings
    }
}

fn codes(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|code| code.as_str().map(str::to_owned)).collect()
}

fn paths(value: &Value) -> Option<Vec<PathBuf>> {
    value.as_array()?.iter().map(|path| path.as_str().map(PathBuf::from)).collect()
}

/// Every value with its path, down to two levels of objects, which is the depth of the settings.
fn leaves(section: &Value) -> Vec<(String, &Value)> {
    let entries = |prefix: &str, value| -> Option<Vec<(String, &Value)>> {
        let object = Value::as_object(value)?;
        Some(object.iter().map(|(key, value)| (format!("{prefix}.{key}"), value)).collect())
    };
    let Some(groups) = entries("", section) else { return vec![(String::new(), section)] };
    groups
        .into_iter()
        .flat_map(|(path, value)| entries(&path, value).unwrap_or_else(|| vec![(path, value)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn check(sent: Value, inlay_domains: bool, diagnostics_limit: usize) {
        let settings = Settings::default().updated(&sent);
        let expected = Settings { inlay_domains, diagnostics_limit, ..Settings::default() };
        assert_eq!(settings, expected, "{sent}");
    }

    #[test]
    fn known_settings_are_taken() {
        check(json!({"inlayHints": {"domains": false}}), false, 1000);
        check(
            json!({"hlo-analyzer": {"inlayHints": {"domains": false}, "diagnostics": {"limit": 5}}}),
            false,
            5,
        );
    }

    #[test]
    fn warnings_are_switched_off_by_code() {
        let sent = json!({"warnings": {"enable": false, "disabled": ["no-op", "round-trip"]}});
        let settings = Settings::default().updated(&sent);
        assert!(!settings.warnings);
        assert_eq!(settings.disabled_warnings, ["no-op", "round-trip"]);
        let settings = settings.updated(&json!({"warnings": {"disabled": [1]}}));
        assert_eq!(settings.disabled_warnings.len(), 2, "what is not understood changes nothing");
    }

    #[test]
    fn the_gpu_is_named() {
        let sent = json!({"gpu": {"device": "a6000", "coalescingThreshold": 4, "codeLens": false}});
        let settings = Settings::default().updated(&sent);
        assert_eq!((settings.device.as_str(), settings.coalescing_threshold), ("a6000", 4.0));
        assert!(!settings.kernel_lenses);
        let settings = settings.updated(&json!({"gpu": {"device": 7, "coalescingThreshold": 0.5}}));
        assert_eq!(settings.coalescing_threshold, 4.0, "what is not understood changes nothing");
    }

    #[test]
    fn programs_are_named_and_trusted_apart() {
        let sent = json!({"ptxas": {"path": "/opt/ptxas"}, "nvdisasm": {"path": "/opt/nvdisasm"}});
        let settings = Settings::default().updated(&sent);
        assert_eq!((settings.assembler.ptxas.as_str(), settings.assembler.trusted), ("/opt/ptxas", false));
        let settings = settings.updated(&json!({"workspace": {"trusted": true}, "ptxas": {"enable": false}}));
        assert_eq!(
            (settings.assembler.nvdisasm.as_str(), settings.assembler.trusted),
            ("/opt/nvdisasm", true)
        );
        assert!(!settings.assembles);
        let settings = settings.updated(&json!({"xla": {"python": " /opt/python "}}));
        assert_eq!(settings.xla_python, "/opt/python");
        assert_eq!(settings.updated(&json!({"xla": {"python": 3}})).xla_python, "/opt/python");
    }

    #[test]
    fn requests_have_limits_unless_they_are_0() {
        let limit = |sent: Value| Settings::default().updated(&sent).budget.time;
        assert_eq!(limit(json!({})), Some(Duration::from_secs(120)));
        assert_eq!(limit(json!({"requests": {"timeLimit": 2.5}})), Some(Duration::from_millis(2500)));
        assert_eq!(limit(json!({"requests": {"timeLimit": 0}})), None);
        assert_eq!(limit(json!({"requests": {"timeLimit": -3}})), Some(Duration::from_secs(120)));
        let limit = |sent: Value| Settings::default().updated(&sent).budget.memory;
        assert_eq!(limit(json!({})), Some(8 << 30));
        assert_eq!(limit(json!({"requests": {"memoryLimit": 100}})), Some(100 << 20));
        assert_eq!(limit(json!({"requests": {"memoryLimit": u64::MAX}})), Some(u64::MAX));
        assert_eq!(limit(json!({"requests": {"memoryLimit": 0}})), None);
    }

    #[test]
    fn texts_have_a_limit() {
        let settings = Settings::default().updated(&json!({"documents": {"limit": 1}}));
        let bytes = |mib: usize| mib << 20;
        assert_eq!([bytes(1), bytes(1) + 1].map(|bytes| settings.analyses(bytes)), [true, false]);
        assert!(Settings::default().updated(&json!({"documents": {"limit": u64::MAX}})).analyses(usize::MAX));
    }

    #[test]
    fn folders_are_a_list() {
        let roots = |sent: Value| Settings::default().updated(&sent).link_roots;
        assert_eq!(
            roots(json!({"documentLinks": {"roots": ["/a", "b"]}})),
            [Path::new("/a"), Path::new("b")]
        );
        assert!(roots(json!({"documentLinks": {"roots": ["/a", 1]}})).is_empty());
    }

    #[test]
    fn variables_are_readable_unless_switched_off() {
        let readable = |sent: Value| Settings::default().updated(&sent).readable_variables;
        assert!(readable(json!({})));
        assert!(readable(json!({"hover": {"readableVariables": "no"}})));
        assert!(!readable(json!({"hlo-analyzer": {"hover": {"readableVariables": false}}})));
    }

    #[test]
    fn the_rest_is_ignored() {
        check(
            json!({"inlayHints": false, "diagnostics": {"limit": -1, "other": [1]}, "x": {"y": {"z": 1}}}),
            true,
            1000,
        );
        check(json!({"inlayHints": {"domains": "no"}, "diagnostics": {"limit": 7}}), true, 7);
        check(json!(null), true, 1000);
        check(json!([1, 2]), true, 1000);
        check(json!({"hlo-analyzer": null}), true, 1000);
    }
}
