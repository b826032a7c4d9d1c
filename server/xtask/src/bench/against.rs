//! `cargo xtask bench --against BINARY`: two servers on the same inputs, in turns. Only what runs in a server is compared; the
//! benchmarks of crates have no binary of before.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{Measured, kernel_times, mlir_servers, parse_with_ours, previews};
use crate::commands::root;

/// The number of rounds. The servers alternate, and every second round starts with the other one.
const ROUNDS: usize = 5;
/// The largest ratio of a row that is not slower.
const TOLERANCE: f64 = 1.03;

/// A figure of one server in one round: the name of its row, and the milliseconds or megabytes.
type Figure = (String, f64);

/// The figures of both servers for one row.
struct Row {
    name: String,
    before: f64,
    now: f64,
}

/// The binary after `--against`, which is taken out of the arguments.
pub fn binary(args: &mut Vec<&str>) -> Result<Option<PathBuf>> {
    let Some(at) = args.iter().position(|arg| *arg == "--against") else { return Ok(None) };
    args.remove(at);
    if at == args.len() {
        bail!("--against needs the path of a server");
    }
    let binary = root().join(args.remove(at));
    match binary.is_file() {
        true => Ok(Some(binary)),
        false => bail!("{} is not a file", binary.display()),
    }
}

/// Prints a row per figure, and how many rows are slower.
pub fn against(before: &Path, now: &Path, files: &[PathBuf], kernel_files: &[PathBuf]) -> Result<()> {
    println!(
        "\n{} against {}: the best of {ROUNDS} rounds each, as other programs only add time; ms, or MB of memory",
        now.display(),
        before.display()
    );
    println!("{:<72} {:>10} {:>10} {:>6}", "", "before", "now", "ratio");
    let mut rows = Vec::new();
    for file in files {
        rows.extend(compared(before, now, &|server| file_figures(server, file))?);
    }
    for file in kernel_files {
        rows.extend(compared(before, now, &|server| kernel_figures(server, file))?);
    }
    rows.extend(compared(before, now, &previews::figures)?);
    rows.extend(compared(before, now, &mlir_servers::figures)?);
    let slower = rows.iter().filter(|row| row.is_slower()).count();
    println!("{} rows, {slower} of them slower by more than 3 %", rows.len());
    Ok(())
}

/// Measures both servers in turns and prints their rows.
fn compared(before: &Path, now: &Path, measure: &dyn Fn(&Path) -> Result<Vec<Figure>>) -> Result<Vec<Row>> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for turn in [round, round + 1] {
            match turn % 2 {
                0 => old.push(measure(before)?),
                _ => new.push(measure(now)?),
            }
        }
    }
    let rows = rows(&old, &new);
    rows.iter().for_each(Row::print);
    Ok(rows)
}

/// The least value of each figure in all rounds. A figure that only one of the servers has is left out.
fn rows(old: &[Vec<Figure>], new: &[Vec<Figure>]) -> Vec<Row> {
    let least = |rounds: &[Vec<Figure>], name: &str| {
        let values = rounds.iter().flatten().filter(|(of, _)| of == name).map(|(_, value)| *value);
        values.min_by(f64::total_cmp)
    };
    let names = old.first().into_iter().flatten().map(|(name, _)| name);
    let row =
        |name: &String| Some(Row { name: name.clone(), before: least(old, name)?, now: least(new, name)? });
    names.filter_map(row).collect()
}

impl Row {
    fn ratio(&self) -> f64 {
        self.now / self.before.max(1e-9)
    }

    fn is_slower(&self) -> bool {
        self.ratio() > TOLERANCE
    }

    fn print(&self) {
        let mark = if self.is_slower() { "  slower" } else { "" };
        println!("{:<72} {:>10.3} {:>10.3} {:>6.3}{mark}", self.name, self.before, self.now, self.ratio());
    }
}

fn file_figures(server: &Path, file: &Path) -> Result<Vec<Figure>> {
    let (all, alone) = (parse_with_ours(server, file, None)?, parse_with_ours(server, file, Some("1"))?);
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let ms = |what: &str, seconds: f64| (format!("{name}: {what}"), seconds * 1e3);
    let Measured { seconds, cold_seconds, maps_seconds, maps_bytes, .. } = all;
    Ok(vec![
        ms("text to findings", seconds),
        ms("text to findings, 1 thread", alone.seconds),
        ms("text to findings, first file of a process", cold_seconds),
        ms("maps", maps_seconds),
        (format!("{name}: memory of maps"), maps_bytes / 1e6),
    ])
}

fn kernel_figures(server: &Path, file: &Path) -> Result<Vec<Figure>> {
    let times = kernel_times(server, file)?;
    if times.count == 0.0 {
        return Ok(Vec::new());
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(vec![
        (format!("{name}: all kernels"), times.cold * 1e3),
        (format!("{name}: all kernels after an edit in one"), times.edited * 1e3),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Figure, rows};

    #[test]
    fn the_best_round_counts() {
        let round =
            |parse: f64, maps: f64| -> Vec<Figure> { vec![("parse".into(), parse), ("maps".into(), maps)] };
        let found = rows(&[round(2.0, 9.0), round(3.0, 5.0)], &[round(8.0, 5.0), round(2.1, 5.1)]);
        let shown: Vec<_> =
            found.iter().map(|row| (&*row.name, row.before, row.now, row.is_slower())).collect();
        assert_eq!(shown, [("parse", 2.0, 2.1, true), ("maps", 5.0, 5.0, false)]);
    }

    #[test]
    fn a_figure_of_one_server_is_no_row() {
        let old = [vec![("parse".to_owned(), 1.0)]];
        assert!(rows(&old, &[Vec::new()]).is_empty());
    }

    #[test]
    fn the_option_takes_the_next_argument() {
        assert!(super::binary(&mut vec!["--release"]).is_ok_and(|found| found.is_none()));
        assert!(super::binary(&mut vec!["--against"]).is_err());
        let mut args = vec!["--against", "Cargo.toml", "a.hlo"];
        assert!(super::binary(&mut args).is_ok_and(|found| found.is_some()));
        assert_eq!(args, ["a.hlo"]);
    }
}
