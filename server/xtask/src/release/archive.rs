//! The archive of a platform: the program, shell completions, manual pages and the licence.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use crate::commands::root;

/// The files beside the program, from the root of the checkout.
const BESIDE: [&str; 3] = ["LICENSE", "README.md", "CHANGELOG.md"];

/// Writes `NAME.tar.gz` with one folder, NAME, and returns its path. The same files give the same bytes.
pub fn write(archive: &Path, program: &Path, shell_files: &Path) -> Result<()> {
    let name = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = name.trim_end_matches(".tar.gz");
    let file = File::create(archive).with_context(|| format!("cannot write {}", archive.display()))?;
    let mut tar = Builder::new(GzEncoder::new(file, Compression::best()));
    let program_name =
        program.file_name().and_then(|name| name.to_str()).context("the program has no name")?;
    add(&mut tar, &format!("{folder}/{program_name}"), program, 0o755)?;
    for name in BESIDE {
        add(&mut tar, &format!("{folder}/{name}"), &root().join(name), 0o644)?;
    }
    for group in ["completions", "man"] {
        for file in sorted(&shell_files.join(group))? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            add(&mut tar, &format!("{folder}/{group}/{name}"), &file, 0o644)?;
        }
    }
    tar.into_inner()?.finish()?;
    Ok(())
}

fn add(tar: &mut Builder<GzEncoder<File>>, name: &str, file: &Path, mode: u32) -> Result<()> {
    let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(mode);
    header.set_size(content.len() as u64);
    Ok(tar.append_data(&mut header, name, content.as_slice())?)
}

/// The files of a folder by name.
pub fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{command, output, target_dir};

    #[test]
    fn an_archive_has_the_program_and_what_shells_read() {
        let folder = target_dir().join("test-archive");
        for group in ["completions", "man"] {
            fs::create_dir_all(folder.join(group)).unwrap();
        }
        fs::write(folder.join("hlo-analyzer"), "program").unwrap();
        fs::write(folder.join("completions/hlo-analyzer.bash"), "complete").unwrap();
        fs::write(folder.join("man/hlo-analyzer.1"), "page").unwrap();
        let archive = folder.join("hlo-analyzer-1.2.3-here.tar.gz");
        let written = || {
            write(&archive, &folder.join("hlo-analyzer"), &folder).unwrap();
            fs::read(&archive).unwrap()
        };
        assert_eq!(written(), written());
        let listed = output(command("tar", &["-tvzf"]).arg(&archive)).unwrap();
        let is_listed = |mode: &str, name: &str| {
            listed.lines().any(|line| {
                line.starts_with(mode) && line.ends_with(&format!(" hlo-analyzer-1.2.3-here/{name}"))
            })
        };
        assert!(is_listed("-rwxr-xr-x", "hlo-analyzer"), "{listed}");
        for name in ["LICENSE", "completions/hlo-analyzer.bash", "man/hlo-analyzer.1"] {
            assert!(is_listed("-rw-r--r--", name), "{name} in {listed}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
