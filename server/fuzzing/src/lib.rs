//! What must hold for any bytes: a [`Target`] is a property of one part of the server as a function of bytes, which panics
//! where the bytes break it.
//!
//! `cargo xtask fuzz` searches for such bytes with libFuzzer, from the seeds in `seeds/`, one folder per target. The tests of
//! this crate run all seeds, and random changes of them, in every test run. An input that once broke a property stays among
//! the seeds.
//!
//! Targets that need a valid program take the bytes for the decisions of a generator ([`random::Rng::from_bytes`]).

pub mod editor;
mod modules;
mod targets;

pub use targets::TARGETS;

use std::path::{Path, PathBuf};

/// A property of a part of the server.
pub struct Target {
    /// The name of its folder of seeds.
    pub name: &'static str,
    /// What must hold, in one sentence.
    pub property: &'static str,
    pub input: Input,
    /// Files of the project's other tests that are seeds too: folders from the project's root, and how the names end.
    pub fixtures: &'static [(&'static str, &'static str)],
    /// Returns whether the bytes got as far as the property: text that is not parsed does not.
    ///
    /// # Panics
    ///
    /// If the property does not hold.
    pub run: fn(&[u8]) -> bool,
}

/// What the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Text, or a file of a format.
    Content,
    /// The decisions of a generator.
    Decisions,
}

impl Target {
    /// The files that a search starts from, and that tests run.
    pub fn seeds(&self) -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = test_files::below(root.join("seeds").join(self.name), "");
        for (folder, ending) in self.fixtures {
            files.extend(test_files::below(root.join("../..").join(folder), ending));
        }
        files
    }
}

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
