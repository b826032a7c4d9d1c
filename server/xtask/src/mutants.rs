//! `cargo xtask mutants`: changes the code of a crate in one place at a time, and counts how many of the changes its tests notice,
//! and how many more the tests of the crates that use it.
//!
//! A whole run takes days, so that a sample is tested: every n-th mutant. Two seeds below n have no mutant in common, so the
//! tests that were written for the survivors of one sample are measured by the next one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, command, output, root, show, target_dir};

/// A crate whose mutants are tested, with what notices them.
struct Subject {
    name: &'static str,
    /// The packages whose tests execute what the crate produces. They are built and run for the mutants that its own tests miss.
    also_tested_by: &'static [&'static str],
}

const SUBJECTS: [Subject; 4] = [
    Subject { name: "indexing-map", also_tested_by: &["indexing"] },
    Subject { name: "indexing", also_tested_by: &["gpu"] },
    Subject { name: "gpu", also_tested_by: &["agreement", "codegen"] },
    Subject { name: "passes", also_tested_by: &["equivalence"] },
];

/// The part of the mutants in percent that the tests must notice.
const LEAST_CAUGHT: f64 = 85.0;

#[derive(Debug, PartialEq)]
struct Options<'a> {
    crates: Vec<&'a str>,
    sample: usize,
    seed: usize,
}

impl<'a> Options<'a> {
    fn parse(mut options: &[&'a str]) -> Result<Options<'a>> {
        let mut parsed = Options { crates: Vec::new(), sample: 100, seed: 0 };
        let number = |text: &str| text.parse().with_context(|| format!("{text} is no number"));
        while let [option, rest @ ..] = options {
            options = match (*option, rest) {
                ("--sample", [value, rest @ ..]) => {
                    parsed.sample = number(value)?;
                    rest
                }
                ("--seed", [value, rest @ ..]) => {
                    parsed.seed = number(value)?;
                    rest
                }
                (name, rest) if SUBJECTS.iter().any(|subject| subject.name == name) => {
                    parsed.crates.push(name);
                    rest
                }
                (other, _) => {
                    let names = SUBJECTS.map(|subject| subject.name).join(", ");
                    bail!("mutants takes --sample N, --seed N and {names}, not {other}")
                }
            };
        }
        Ok(parsed)
    }
}

/// The verdicts on a sample: the names of the mutants with each.
#[derive(Default)]
struct Verdicts {
    caught: Vec<String>,
    /// The tests did not end: an endless loop.
    timed_out: Vec<String>,
    missed: Vec<String>,
    /// The mutants that do not compile; they are not counted.
    unviable: Vec<String>,
}

impl Verdicts {
    fn read(folder: &Path) -> Result<Verdicts> {
        let names = |file: &str| -> Result<Vec<String>> {
            let file = folder.join("mutants.out").join(file);
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Verdicts {
            caught: names("caught.txt")?,
            timed_out: names("timeout.txt")?,
            missed: names("missed.txt")?,
            unviable: names("unviable.txt")?,
        })
    }

    /// The number of mutants that count.
    fn viable(&self) -> usize {
        self.noticed() + self.missed.len()
    }

    fn noticed(&self) -> usize {
        self.caught.len() + self.timed_out.len()
    }
}

/// Tests a sample of the mutants of the chosen crates, or of all four.
pub fn mutants(options: &[&str]) -> Result<()> {
    let options = Options::parse(options)?;
    if output(&mut cargo(&["mutants", "--version"])).is_err() {
        bail!("no cargo-mutants; `cargo install cargo-mutants` installs it");
    }
    let tree = copy_of_the_checkout()?;
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        if options.crates.is_empty() || options.crates.contains(&subject.name) {
            let total = list(subject, &tree)?;
            let shard = Shard::of(total, options.sample, options.seed);
            let own = test(subject, &tree, &[subject.name], &Which::Shard(shard))?;
            let missed = Which::Named(own.missed.clone());
            let also = match own.missed.is_empty() {
                true => Verdicts::default(),
                false => test(subject, &tree, subject.also_tested_by, &missed)?,
            };
            rows.push(Row { name: subject.name, total, own, also });
        }
    }
    print(&rows)
}

/// The verdicts on the mutants of a crate.
struct Row {
    name: &'static str,
    total: usize,
    /// Of the crate's own tests.
    own: Verdicts,
    /// Of the other packages, about the mutants that its own tests missed.
    also: Verdicts,
}

impl Row {
    fn percent(&self) -> f64 {
        percent(self.own.noticed() + self.also.noticed(), self.own.viable())
    }
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

fn print(rows: &[Row]) -> Result<()> {
    for Row { name, own, also, .. } in rows {
        println!("\n{name}: {} survivors", also.missed.len());
        also.missed.iter().for_each(|mutant| println!("  {mutant}"));
        own.timed_out.iter().for_each(|mutant| println!("  endless: {mutant}"));
    }
    println!("\ncrate         mutants  tested  unviable  endless  missed  noticed by its own tests   by all");
    for row in rows {
        println!(
            "{:13} {:7} {:7} {:9} {:8} {:7} {:22.1} % {:6.1} %",
            row.name,
            row.total,
            row.own.viable() + row.own.unviable.len(),
            row.own.unviable.len(),
            row.own.timed_out.len(),
            row.also.missed.len(),
            percent(row.own.noticed(), row.own.viable()),
            row.percent()
        );
    }
    let low: Vec<&str> = rows.iter().filter(|row| row.percent() < LEAST_CAUGHT).map(|row| row.name).collect();
    if !low.is_empty() {
        bail!("tests notice fewer than {LEAST_CAUGHT} % of the changes in {}", low.join(", "));
    }
    Ok(())
}

/// The mutants that a run tests.
enum Which {
    Shard(Shard),
    /// Those of these names, as cargo-mutants prints them.
    Named(Vec<String>),
}

impl Which {
    fn options(&self) -> Vec<String> {
        match self {
            Which::Shard(Shard { number, of }) => {
                vec!["--sharding=round-robin".to_owned(), format!("--shard={number}/{of}")]
            }
            Which::Named(names) => names.iter().map(|name| format!("--re=^{}$", escaped(name))).collect(),
        }
    }
}

/// A regular expression for exactly this text.
fn escaped(text: &str) -> String {
    // `\<` and `\>` would be limits of words.
    let is_special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    text.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Every `of`-th mutant, from number `number`.
#[derive(Debug, PartialEq)]
struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// The one that has at least `sample` of `total` mutants, where there are so many. Seeds that follow each other are far
    /// apart: mutants beside each other are in the same line, and a test that notices one notices the other.
    fn of(total: usize, sample: usize, seed: usize) -> Shard {
        let of = (total / sample.max(1)).max(1);
        let has_common_divisor =
            |step: usize| (2..=step).any(|d| step.is_multiple_of(d) && of.is_multiple_of(d));
        let step = (of * 5 / 8..of).find(|&step| !has_common_divisor(step)).unwrap_or(1);
        Shard { number: seed % of * step % of, of }
    }
}

/// The number of mutants of a crate.
fn list(subject: &Subject, tree: &Path) -> Result<usize> {
    let list = ["mutants", "--list", "--package", subject.name];
    Ok(output(cargo(&list).current_dir(tree))?.lines().count())
}

fn test(subject: &Subject, tree: &Path, tested_by: &[&str], which: &Which) -> Result<Verdicts> {
    let folder = target_dir().join("mutants").join(subject.name).join(tested_by.join("+"));
    fs::create_dir_all(&folder)?;
    let mut test = cargo(&["mutants", "--in-place", "--package", subject.name]);
    test.arg("--test-package").arg(tested_by.join(","));
    test.args(["--profile", "mutants", "--cap-lints", "true"]);
    test.args(which.options());
    test.args(["--minimum-test-timeout", "30", "--no-shuffle", "--output"]).arg(&folder);
    // Not the documentation, whose examples compile one by one.
    test.args(["--", "--lib", "--tests"]);
    // The same random cases for all mutants, and not those that another one failed.
    test.env("PROPTEST_RNG_SEED", "1").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true");
    test.env("CARGO_TARGET_DIR", target_dir().join("mutants/build")).env("CARGO_INCREMENTAL", "1");
    let shown = show(&test);
    println!("$ {shown}");
    let status = test.current_dir(tree).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start `{shown}`"))?;
    // 2: some are missed; 3: some time out.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("`{shown}` failed: {status}");
    }
    Verdicts::read(&folder)
}

/// A copy of the files of the project, in which they are changed: the checkout can be edited in the meantime. It always has
/// the same path, and a file keeps its time while its text is the same, so that cargo builds only what has changed.
fn copy_of_the_checkout() -> Result<PathBuf> {
    let folder = target_dir().join("mutants");
    let tree = folder.join("tree");
    fs::create_dir_all(&tree)?;
    let listed = output(&mut command("git", &["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let files: BTreeSet<&Path> =
        listed.lines().map(Path::new).filter(|file| root().join(file).is_file()).collect();
    for file in &files {
        let (from, to) = (root().join(file), tree.join(file));
        let bytes = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            to.parent().map(fs::create_dir_all).transpose()?;
            fs::write(&to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
        }
    }
    remove_others(&tree, Path::new(""), &files)?;
    link_shared(&folder)?;
    Ok(tree)
}

/// Removes what was in the checkout when it was copied before.
fn remove_others(tree: &Path, below: &Path, files: &BTreeSet<&Path>) -> Result<()> {
    for entry in fs::read_dir(tree.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            remove_others(tree, &path, files)?;
        } else if !files.contains(path.as_path()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The data beside the checkout, for the tests that use more inputs where it is.
#[cfg(unix)]
fn link_shared(folder: &Path) -> Result<()> {
    let (shared, link) = (root().join("../shared"), folder.join("shared"));
    if shared.is_dir() && !link.is_symlink() {
        std::os::unix::fs::symlink(shared.canonicalize()?, link)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn link_shared(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_any_order() {
        let options = Options::parse(&["--seed", "3", "gpu", "--sample", "50"]).expect("they are options");
        assert_eq!(options, Options { crates: vec!["gpu"], sample: 50, seed: 3 });
        assert!(Options::parse(&["ide"]).is_err());
        assert!(Options::parse(&["--sample"]).is_err());
    }

    #[test]
    fn seeds_have_other_mutants() {
        for of in 1..40 {
            let numbers: BTreeSet<usize> = (0..of).map(|seed| Shard::of(of * 50, 50, seed).number).collect();
            assert_eq!(numbers, (0..of).collect());
        }
        assert_eq!(Shard::of(1000, 50, 1), Shard { number: 13, of: 20 });
        assert_eq!(Shard::of(250, 1000, 7), Shard { number: 0, of: 1 });
    }

    #[test]
    fn what_does_not_compile_does_not_count_and_the_tests_of_other_crates_do() {
        let verdicts = |[caught, timed_out, missed, unviable]: [usize; 4]| {
            let names = |count: usize| vec![String::new(); count];
            Verdicts {
                caught: names(caught),
                timed_out: names(timed_out),
                missed: names(missed),
                unviable: names(unviable),
            }
        };
        let row = Row { name: "gpu", total: 500, own: verdicts([6, 1, 3, 40]), also: verdicts([1, 0, 2, 0]) };
        assert_eq!((row.own.viable(), row.percent()), (10, 80.0));
    }

    #[test]
    fn a_name_is_looked_for_as_it_stands() {
        assert_eq!(escaped("a.rs:1: replace + with < in f"), r"a\.rs:1: replace \+ with < in f");
    }
}
