//! Reads the input of subcommands: a path, `-`, or a `.gz` file.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The most bytes read or unpacked, so that a small archive cannot exhaust memory.
const MAX_BYTES: u64 = 1 << 30;

/// The text of `path`. Invalid UTF-8 is replaced, so that the rest can still be analysed.
pub fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let bytes = if path == Path::new("-") {
        limited(stdin().lock()).context("standard input")?
    } else {
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        match path.extension().is_some_and(|e| e == "gz") {
            true => limited(flate2::read::MultiGzDecoder::new(file)),
            false => limited(file),
        }
        .with_context(|| format!("cannot read {name}"))?
    };
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

fn limited(reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("larger than the limit of {} MiB", MAX_BYTES >> 20);
    }
    Ok(bytes)
}
