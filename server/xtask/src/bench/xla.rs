//! XLA's own parser, as exposed by the jaxlib package.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Measured, number_after};
use crate::commands::{command, on_path, output};
use crate::tools::{Absent, Tools};

const SCRIPT: &str = include_str!("xla_parse.py");
const PROBE: &str =
    "import jaxlib; from jaxlib import _hlo; _hlo.hlo_module_from_text; print(jaxlib.__version__)";
/// Parses per process; the median counts.
const REPEATS: &str = "3";

pub struct Parser {
    python: PathBuf,
    version: String,
}

impl Parser {
    /// A Python that can import jaxlib: the one on PATH, the one that an earlier run installed, or with
    /// `install` a new one in the cache.
    pub fn find(tools: &Tools, install: bool) -> Result<Parser, String> {
        let environment = tools.cache().join("jaxlib");
        let candidates = on_path(&["python3"]).into_iter().chain([environment.join("bin/python")]);
        if let Some(found) = candidates.filter_map(Parser::probe).next() {
            return Ok(found);
        }
        if !install {
            return Err(
                "no python3 here can import jaxlib; --with-jaxlib installs it into the cache folder".into()
            );
        }
        let python = tools.venv(&environment, &["jaxlib"]).map_err(|Absent(reason)| reason)?;
        Parser::probe(python).ok_or_else(|| "the installed jaxlib has no HLO text parser".into())
    }

    fn probe(python: PathBuf) -> Option<Parser> {
        let version = output(&mut command(&python, &["-c", PROBE])).ok()?;
        Some(Parser { python, version: format!("jaxlib {}", version.trim()) })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn parse(&self, file: &Path) -> Result<Measured> {
        let printed = output(command(&self.python, &["-c", SCRIPT]).arg(file).arg(REPEATS))?;
        let number = |key| number_after(&printed, key).with_context(|| format!("no {key} in {printed}"));
        let instructions = number("instructions")? as u64;
        Ok(Measured { seconds: number("parse_seconds")?, instructions, ..Measured::default() })
    }
}
