//! Opening a dump folder, matching its stages, and hovers with origins and blame.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::commands::{command, root, run, target_dir};

/// Times the compile with the largest archive beside this checkout; without one, the small compile of the fixtures.
pub fn compiles(server: &Path) -> Result<()> {
    println!("\ndump folders: matching all stages, and a hover of every instruction of five of them");
    let folder = match largest()? {
        Some(archive) => unpacked(&archive)?,
        None => {
            println!("no compiles beside this checkout: measuring that of the fixtures");
            root().join("test-files/dump")
        }
    };
    run(command(server, &["analysis-stats"]).arg(folder))
}

fn largest() -> Result<Option<PathBuf>> {
    let Ok(entries) = fs::read_dir(root().join("../shared/corpus/compiles")) else { return Ok(None) };
    let mut archives = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(".tar.xz") {
            archives.push((entry.metadata()?.len(), entry.path()));
        }
    }
    Ok(archives.into_iter().max().map(|(_, path)| path))
}

/// The compile of this name beside this checkout.
pub(super) fn archive(name: &str) -> Option<PathBuf> {
    let archive = root().join("../shared/corpus/compiles").join(format!("{name}.tar.xz"));
    archive.is_file().then_some(archive)
}

/// The folder in an archive `NAME.tar.xz`, which is called NAME.
pub(super) fn unpacked(archive: &Path) -> Result<PathBuf> {
    let out = target_dir().join("bench/compiles");
    fs::create_dir_all(&out)?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let folder = out.join(name.trim_end_matches(".tar.xz"));
    if !folder.is_dir() {
        run(command("tar", &["--extract", "--xz", "--file"]).arg(archive).arg("--directory").arg(&out))?;
    }
    Ok(folder)
}
