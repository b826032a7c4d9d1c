//! Reads the input of subcommands: a path or `-`; text, or a message or bytecode that holds a module; packed by gzip or not.

use std::fs::File;
use std::io::{Cursor, Read, stdin};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hlo_proto::{Bytecode, Contents};

use super::terminal::complain;
use crate::limits;

/// What a file holds, as text.
#[derive(Debug)]
pub struct Source {
    pub text: String,
    /// Whether the file is one of XLA's messages, and the text that of its module.
    pub is_message: bool,
}

/// The text of `path`, see [`read_source`].
pub fn read(path: &Path) -> Result<String> {
    Ok(read_source(path)?.text)
}

/// Reads `path`. Invalid UTF-8 of a text is replaced, so that the rest can still be analysed. What the text of a message lacks of
/// it is noted on standard error.
pub fn read_source(path: &Path) -> Result<Source> {
    let name = path.display();
    let bytes = if path == Path::new("-") {
        unpacked(stdin().lock()).context("standard input")?
    } else {
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        unpacked(file).with_context(|| format!("cannot read {name}"))?
    };
    match hlo_proto::contents(&bytes) {
        Contents::Text => Ok(Source { text: text_of(bytes), is_message: false }),
        Contents::Module(message) => {
            let read = hlo_proto::read(&bytes, message).and_then(hlo_proto::Module::into_text);
            let module = read.map_err(|why| anyhow!("{name}: {why}"))?;
            for note in &module.notes {
                complain(format_args!("note: {name}: {note}"));
            }
            Ok(Source { text: module.text, is_message: true })
        }
        Contents::Bytecode(Bytecode { range, is_enclosed }) => {
            let start = range.start;
            let text = mlir_bytecode::module_text(bytes.get(range).unwrap_or_default());
            let text = text.map_err(|mlir_bytecode::Error { offset, message }| {
                let within = if is_enclosed { " in an exported function (`jax.export`)" } else { "" };
                anyhow!(
                    "{name} is MLIR bytecode{within} that cannot be read: byte {}: {message}",
                    start + offset
                )
            })?;
            Ok(Source { text, is_message: false })
        }
        Contents::Other(what) => bail!("{name} is {what}"),
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// The bytes of a file, whatever its name says about packing.
fn unpacked(mut reader: impl Read) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut start)?;
    let is_packed = start == [0x1f, 0x8b];
    let whole = Cursor::new(start).chain(reader);
    match is_packed {
        true => limited(flate2::read::MultiGzDecoder::new(whole)),
        false => limited(whole),
    }
}

fn limited(reader: impl Read) -> Result<Vec<u8>> {
    limited_to(limits::input_bytes(), reader)
}

fn limited_to(most: u64, reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        bail!(limits::larger_input());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// A small archive that unpacks to more than the limit is not unpacked to its end.
    #[test]
    fn an_archive_is_unpacked_up_to_the_limit() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b' '; 8 << 20]).expect("memory");
        let packed = packed.finish().expect("memory");
        assert!(packed.len() < 20_000);
        let unpack = |most| limited_to(most, flate2::read::MultiGzDecoder::new(&*packed));
        assert_eq!(unpack(8 << 20).expect("it fits").len(), 8 << 20);
        let error = unpack((8 << 20) - 1).expect_err("it is larger");
        assert!(error.to_string().ends_with("--max-input MIB raises it"), "{error}");
    }
}
