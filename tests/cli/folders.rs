//! `check` on folders, such as XLA's dump folders.

use std::path::Path;

use super::{run, text};

const CLEAN: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n";
const BROKEN: &str = "\
HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(q)
}
";
const LIVE_RANGES: &str = "HloLiveRange (max 2):\n  InstructionSequence:\n    0:a_0_.1\n";
const THUNKS: &str = "001: kCustomKernel [source | sink] f grid: [1, 1, 1] threads: [128, 1, 1]\n";

fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("inner")).expect("the folder is made");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the file is written");
    }
    folder
}

#[test]
fn what_xla_dumps_beside_modules_is_skipped() {
    let folder = folder(
        "dump",
        &[
            ("module_0001.jit_f.before_optimizations.txt", CLEAN),
            ("inner/module_0001.jit_f.0001.fusion.after_dce.before_cse.txt", BROKEN),
            ("module_0001.jit_f.gpu_after_optimizations-live-range.txt", LIVE_RANGES),
            ("module_0001.jit_f.thunk_sequence.txt", THUNKS),
            ("notes.txt", "Nothing of XLA's.\n"),
        ],
    );
    let output = run(&["check", folder.to_str().expect("the path is text")]);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{shown}{said}");
    assert!(
        shown.contains("before_cse.txt:5:") && shown.ends_with("1 error, 0 warnings in 2 files\n"),
        "{shown}"
    );
    let note = "note: skipped 2 files that XLA dumps beside modules: live ranges of buffers, thunks\n";
    assert_eq!(said, note);
}

#[test]
fn a_named_file_that_is_no_module_says_what_it_is() {
    let folder = folder("named", &[("a-live-range.txt", LIVE_RANGES), ("m.txt", CLEAN)]);
    let path = |name: &str| folder.join(name).to_str().expect("the path is text").to_owned();
    let (ranges, module) = (path("a-live-range.txt"), path("m.txt"));
    let alone = run(&["check", &ranges]);
    assert_eq!(alone.status.code(), Some(2));
    let said = text(&alone.stderr);
    assert!(
        said.ends_with("a-live-range.txt holds live ranges of buffers, not HLO or MLIR; skipped\n"),
        "{said}"
    );
    let beside = run(&["check", &ranges, &module]);
    assert_eq!((beside.status.code(), text(&beside.stdout).as_str()), (Some(0), ""));
}
