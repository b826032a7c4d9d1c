//! `cargo xtask bench`: how fast a module is parsed, ours beside XLA's own parser on the same files in one run; and how
//! long the maps of all its instructions take beside that, and maps by themselves.

mod generate;
mod xla;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::commands::{cargo, command, output, root, run, target_dir};
use crate::dist;
use crate::tools::Tools;

/// Ours and XLA's take turns this often, so that a slow moment of the machine meets both.
const ROUNDS: usize = 3;

/// One parser on one file: the best of all rounds.
#[derive(Clone, Copy)]
struct Measured {
    seconds: f64,
    instructions: u64,
    /// Seconds for the maps of all instructions, and resident bytes that they left; 0 for XLA.
    maps_seconds: f64,
    maps_bytes: f64,
}

impl Measured {
    fn better(self, other: Option<Measured>) -> Measured {
        let Some(other) = other else { return self };
        let maps_seconds = self.maps_seconds.min(other.maps_seconds);
        let best = if other.seconds < self.seconds { other } else { self };
        Measured { maps_seconds, ..best }
    }
}

struct Row {
    name: String,
    bytes: u64,
    ours: Measured,
    xla: Option<Measured>,
}

pub fn bench(args: &[&str], tools: &Tools) -> Result<()> {
    let install = args.contains(&"--with-jaxlib");
    let named: Vec<PathBuf> =
        args.iter().filter(|arg| **arg != "--with-jaxlib").map(|arg| root().join(arg)).collect();
    if let Some(missing) = named.iter().find(|file| !file.is_file()) {
        bail!("{} is not a file", missing.display());
    }

    let server = dist::build_server("dist")?;
    let files = if named.is_empty() { corpus()? } else { named };
    let peer = xla::Parser::find(tools, install);
    match &peer {
        Ok(parser) => println!("XLA's parser: {}", parser.version()),
        Err(reason) => println!("ours alone, without XLA's parser: {reason}"),
    }
    let peer = peer.ok();

    let mut rows = Vec::new();
    for file in &files {
        let (mut ours, mut xla) = (None, None);
        for _ in 0..ROUNDS {
            ours = Some(parse_with_ours(&server, file)?.better(ours));
            if let Some(parser) = &peer {
                xla = Some(parser.parse(file)?.better(xla));
            }
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ours = ours.context("no round")?;
        rows.push(Row { name, bytes: file.metadata()?.len(), ours, xla });
    }
    print_table(&rows);
    simplification()
}

/// The bench of the maps' own crate, on the maps of which XLA's simplifier was asked too where they are at hand.
fn simplification() -> Result<()> {
    println!("\nmaps simplified, parsed and composed");
    let mut bench = cargo(&[
        "run",
        "--quiet",
        "--profile",
        "dist",
        "--package",
        "indexing-map",
        "--example",
        "map_bench",
        "--",
    ]);
    let maps = root().join("../shared/conformance/data/oracle_simplify.jsonl.gz");
    if maps.is_file() {
        bench.arg(maps);
    } else {
        println!(
            "skipped the maps of XLA's simplifier, which are not beside this checkout: measuring generated ones"
        );
    }
    run(&mut bench)
}

fn parse_with_ours(server: &Path, file: &Path) -> Result<Measured> {
    let printed = output(command(server, &["analysis-stats", "--json"]).arg(file))?;
    let number = |key| number_after(&printed, key);
    let seconds = number("parse_seconds")
        .with_context(|| format!("`analysis-stats --json` printed no parse_seconds:\n{printed}"))?;
    Ok(Measured {
        seconds,
        instructions: number("instructions").unwrap_or(0.0) as u64,
        maps_seconds: number("maps_seconds").unwrap_or(0.0),
        maps_bytes: number("maps_bytes").unwrap_or(0.0),
    })
}

/// The number behind the first `"key":`, which is all of JSON that is needed here.
fn number_after(json: &str, key: &str) -> Option<f64> {
    let (_, rest) = json.split_once(&format!("\"{key}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The HLO files of the corpus beside the checkout, unpacked; without a corpus, one module made here.
fn corpus() -> Result<Vec<PathBuf>> {
    let out = target_dir().join("bench");
    fs::create_dir_all(&out)?;
    let mut files = Vec::new();
    for folder in ["hlo", "scale"] {
        let Ok(entries) = fs::read_dir(root().join("../shared/corpus").join(folder)) else { continue };
        for entry in entries {
            let packed = entry?.path();
            let name = packed.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(".hlo.gz") else { continue };
            let file = out.join(name).with_extension("hlo");
            if !file.is_file() {
                let copy = out.join(format!("{name}.hlo.gz"));
                fs::write(&copy, fs::read(&packed)?)?;
                run(command("gzip", &["--decompress", "--force"]).arg(&copy))?;
            }
            files.push(file);
        }
    }
    if files.is_empty() {
        let file = out.join("generated_training_step.hlo");
        fs::write(&file, generate::training_step(generate::LAYERS))?;
        println!("no corpus beside this checkout: measuring {}", file.display());
        files.push(file);
    }
    files.sort_by_key(|file| file.metadata().map(|meta| meta.len()).unwrap_or(0));
    Ok(files)
}

fn print_table(rows: &[Row]) {
    let head = ["file", "MB", "instr", "ours MB/s", "XLA MB/s", "ratio"];
    println!("\n{:<56} {:>7} {:>8} {:>10} {:>9} {:>6}", head[0], head[1], head[2], head[3], head[4], head[5]);
    for row in rows {
        let instructions = row.xla.map_or(row.ours.instructions, |xla| xla.instructions);
        let xla = row.xla.map(|xla| xla.seconds);
        print_row(&row.name, row.bytes, instructions, row.ours.seconds, xla);
    }
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let ours = rows.iter().map(|row| row.ours.seconds).sum();
    let xla = rows.iter().map(|row| row.xla.map(|xla| xla.seconds)).sum::<Option<f64>>();
    let instructions = rows.iter().map(|row| row.xla.unwrap_or(row.ours).instructions).sum();
    print_row("all, one after the other", bytes, instructions, ours, xla);
    print_maps(rows);
}

fn print_maps(rows: &[Row]) {
    println!(
        "\n{:<56} {:>9} {:>14} {:>12}",
        "maps of all instructions", "ms", "times parsing", "bytes/instr"
    );
    for row in rows {
        let ours = row.ours;
        println!(
            "{:<56} {:>9.1} {:>14.2} {:>12.1}",
            row.name,
            ours.maps_seconds * 1e3,
            ours.maps_seconds / ours.seconds,
            ours.maps_bytes / (ours.instructions as f64).max(1.0)
        );
    }
}

fn print_row(name: &str, bytes: u64, instructions: u64, ours: f64, xla: Option<f64>) {
    let megabytes = bytes as f64 / 1e6;
    let (rate, ratio) = match xla {
        Some(xla) => (format!("{:.1}", megabytes / xla), format!("{:.1}", xla / ours)),
        None => ("-".into(), "-".into()),
    };
    println!("{name:<56} {megabytes:>7.2} {instructions:>8} {:>10.1} {rate:>9} {ratio:>6}", megabytes / ours);
}

#[cfg(test)]
mod tests {
    use super::number_after;

    #[test]
    fn numbers_are_read_in_each_notation() {
        let json = r#"[{"file": "a", "parse_seconds" : 1.5e-3, "instructions":42}]"#;
        assert_eq!(number_after(json, "parse_seconds"), Some(0.0015));
        assert_eq!(number_after(json, "instructions"), Some(42.0));
        assert_eq!(number_after(json, "absent"), None);
    }
}
