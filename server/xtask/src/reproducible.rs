//! `cargo xtask reproducible`: builds the program twice, in folders of different names, and compares the bytes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::commands::{command, leave_out_paths, output, run, target_dir};
use crate::dist;

/// Folders of different lengths, so that a path in the program moves what is behind it.
const FOLDERS: [&str; 2] = ["a", "another"];

/// Builds what is committed; what is not does not count.
pub fn reproducible() -> Result<()> {
    let folder = target_dir().join("reproducible");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let programs = FOLDERS.iter().map(|name| build(&folder.join(name))).collect::<Result<Vec<_>>>()?;
    let bytes = programs.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let [first, second] = bytes.as_slice() else { bail!("two programs are compared") };
    if let Some(at) = difference(first, second) {
        let [own, other] = [first, second].map(|bytes| around(bytes, at));
        bail!(
            "{} and {} bytes differ from byte {at} on:\n{own}\n{other}\nThe programs are in {}",
            first.len(),
            second.len(),
            folder.display()
        );
    }
    let home = std::env::home_dir().unwrap_or_default();
    for path in [&folder, &home].map(|path| path.to_string_lossy().into_owned()) {
        if path.len() > 1 && first.windows(path.len()).any(|part| part == path.as_bytes()) {
            bail!("the program contains the path {path}");
        }
    }
    println!("two builds in different folders are the same {} bytes", first.len());
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn build(folder: &Path) -> Result<PathBuf> {
    let (checkout, target) = (folder.join("checkout"), folder.join("target"));
    fs::create_dir_all(&checkout)?;
    let archive = folder.join("committed.tar");
    output(command("git", &["archive", "--format=tar", "HEAD", "--output"]).arg(&archive))?;
    output(command("tar", &["--extract", "--file"]).arg(&archive).arg("--directory").arg(&checkout))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = command(cargo, &["build", "--locked", "--profile", "dist", "--package", "hlo-analyzer"]);
    leave_out_paths(&mut build, &checkout);
    run(build.current_dir(&checkout).env("CARGO_TARGET_DIR", &target))?;
    let built = dist::server("dist");
    let name = built.file_name().context("the program has no name")?;
    Ok(target.join("dist").join(name))
}

/// The first byte that differs, or that one of them lacks.
fn difference(first: &[u8], second: &[u8]) -> Option<usize> {
    let differs = first.iter().zip(second).position(|(a, b)| a != b);
    differs.or((first.len() != second.len()).then(|| first.len().min(second.len())))
}

/// The bytes around a place, as text.
fn around(bytes: &[u8], at: usize) -> String {
    const SHOWN: usize = 40;
    let part = &bytes[at.saturating_sub(SHOWN)..(at + SHOWN).min(bytes.len())];
    part.escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::{around, difference};

    #[test]
    fn the_first_difference_is_found() {
        assert_eq!(difference(b"abc", b"abc"), None);
        assert_eq!(difference(b"abc", b"axc"), Some(1));
        assert_eq!(difference(b"abc", b"ab"), Some(2));
        assert_eq!(around(b"a\0b", 1), "a\\x00b");
    }
}
