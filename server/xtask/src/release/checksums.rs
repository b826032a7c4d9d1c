//! `SHA256SUMS`: the checksums of all packages, as `sha256sum --check` reads them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::archive;

pub const FILE: &str = "SHA256SUMS";

/// The checksums of the files of a folder, with their names, sorted by name.
pub struct Checksums(Vec<(String, String)>);

impl Checksums {
    pub fn of(folder: &Path) -> Result<Checksums> {
        let mut sums = Vec::new();
        for file in archive::sorted(folder)? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let content = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            if name != FILE {
                sums.push((name.to_owned(), hex(&Sha256::digest(content))));
            }
        }
        Ok(Checksums(sums))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(file, _)| file == name).map(|(_, sum)| sum.as_str())
    }

    pub fn text(&self) -> String {
        self.0.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
    }

    #[cfg(test)]
    pub fn for_test(names: &[&str]) -> Checksums {
        Checksums(
            names.iter().map(|name| (name.to_string(), hex(&Sha256::digest(name.as_bytes())))).collect(),
        )
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest(b"abc")), expected);
        let sums = Checksums::for_test(&["abc"]);
        assert_eq!(sums.get("abc"), Some(expected));
        assert_eq!(sums.get("ab"), None);
        assert_eq!(sums.text(), format!("{expected}  abc\n"));
    }
}
