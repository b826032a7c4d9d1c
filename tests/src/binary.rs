//! Finds the binary under test, after building it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The binary set by `HLO_ANALYZER_BIN`, else the release build of this checkout. Cargo builds it once per
/// test process even if it exists, so that no test uses an outdated server.
pub fn hlo_analyzer() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("HLO_ANALYZER_BIN") {
        Some(path) => path.into(),
        None => build(),
    })
}

fn build() -> PathBuf {
    // …/target/PROFILE/deps/test-HASH
    let test = std::env::current_exe().expect("a test knows its own path");
    let target = test.ancestors().nth(3).expect("tests lie in target/PROFILE/deps");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package", "hlo-analyzer", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo can be started");
    assert!(status.success(), "the server does not build");
    target.join("release").join(format!("hlo-analyzer{}", std::env::consts::EXE_SUFFIX))
}
