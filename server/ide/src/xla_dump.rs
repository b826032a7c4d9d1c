//! Recognises the texts other than modules in XLA's dump folder.

/// The kind of a text dumped by XLA that is not a module; `None` for a module, a part of one, and unknown
/// texts. The content decides; an empty text, or one without a known start, is classified by the end of its
/// name.
pub fn dumped_beside_modules(path: &str, text: &str) -> Option<&'static str> {
    let start = text.trim_start();
    const STARTS: [(&str, &str); 9] = [
        ("HloLiveRange (max ", LIVE_RANGES),
        ("BufferAssignment:", BUFFER_ASSIGNMENT),
        ("Memory Space: ", MEMORY_USAGE),
        ("Total bytes used: ", BUFFER_VALUES),
        ("Total bytes: ", MEMORY_USAGE),
        ("fusion_steps {", FUSION_STEPS),
        ("thunk_metadata {", THUNKS),
        ("gpu_device_info {", TARGET),
        ("entry_computation_layout {", CONFIG),
    ];
    if let Some((_, what)) = STARTS.iter().find(|(prefix, _)| start.starts_with(prefix)) {
        return Some(what);
    }
    if is_thunk_sequence(start) {
        return Some(THUNKS);
    }
    if ::mlir::holds_hlo(text) || ::mlir::starts_like_mlir(text) {
        return None;
    }
    let path = path.strip_suffix(".gz").unwrap_or(path);
    const ENDS: [(&str, &str); 10] = [
        ("-live-range.txt", LIVE_RANGES),
        ("-buffer-assignment.txt", BUFFER_ASSIGNMENT),
        ("-buffer-assignment-values.txt", BUFFER_VALUES),
        ("-memory-usage-report.txt", MEMORY_USAGE),
        ("priority_fusion_dump.txt", FUSION_STEPS),
        (".thunk_sequence.txt", THUNKS),
        (".thunk_metadata.txt", THUNKS),
        (".gpu_target_config.pbtxt", TARGET),
        (".config.pbtxt", CONFIG),
        (".autotune_results.pbtxt", "results of autotuning"),
    ];
    ENDS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, what)| *what)
}

const LIVE_RANGES: &str = "live ranges of buffers";
const BUFFER_ASSIGNMENT: &str = "a buffer assignment";
const BUFFER_VALUES: &str = "the values of a buffer assignment";
const MEMORY_USAGE: &str = "a report of memory usage";
const FUSION_STEPS: &str = "the steps of priority fusion";
const THUNKS: &str = "thunks";
const TARGET: &str = "the description of a device";
const CONFIG: &str = "the configuration of a module";

/// `001: kCustomKernel …`
fn is_thunk_sequence(start: &str) -> bool {
    let behind = start.trim_start_matches(|c: char| c.is_ascii_digit());
    let kind = behind.strip_prefix(": k").filter(|_| behind.len() < start.len());
    kind.is_some_and(|kind| kind.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_tell_before_names_do() {
        let told = [
            ("a.txt", "HloLiveRange (max 2):\n  InstructionSequence:\n", Some(LIVE_RANGES)),
            ("a.txt", "BufferAssignment:\nallocation 0: size 4\n", Some(BUFFER_ASSIGNMENT)),
            ("a.txt", "\nTotal bytes used: 67108888 (64.00MiB)\n\nUsed values:\n", Some(BUFFER_VALUES)),
            ("a.txt", "Memory Space: default (color=0)\nTotal bytes: 6 (6B)\n", Some(MEMORY_USAGE)),
            ("a.txt", "fusion_steps {\n  update_priority {\n", Some(FUSION_STEPS)),
            ("a.txt", "001: kCustomKernel [source | sink] f grid: [1, 1, 1]\n", Some(THUNKS)),
            ("a.txt", "thunk_metadata {\n  thunk_info {\n", Some(THUNKS)),
            ("m.thunk_sequence.txt", "", Some(THUNKS)),
            ("m.priority_fusion_dump.txt.gz", "", Some(FUSION_STEPS)),
            // A module with a user-chosen name.
            ("m-live-range.txt", "// c\n/* d */ HloModule m\n", None),
            ("m-live-range.txt", "module {\n}\n", None),
            ("a.hlo", "ROOT r = f32[] parameter(0)", None),
            ("a.txt", "001: a", None),
            ("a.txt", "", None),
        ];
        for (path, text, what) in told {
            assert_eq!(dumped_beside_modules(path, text), what, "{path}: {text}");
        }
    }
}
