//! `cargo xtask bench` measures: parsing and checking of texts, compared with XLA's own parser (which builds
//! and verifies the module) on the same files in one run; opening a file in a fresh process; the maps of all
//! instructions of a file; all kernel information of a file; kernels as text, compared with XLA's compiler;
//! the server on MLIR, compared with upstream's; a dump folder; the memory of modules; how time grows with the text; edits and cancellations during requests; maps by
//! themselves; and the execution of PTX.

mod against;
mod compiles;
mod freezes;
mod generate;
mod generate_mlir;
mod install;
mod linearity;
mod memory;
mod mlir_servers;
mod optimizer;
mod page;
mod previews;
mod xla;

pub use generate::training_step as generated_hlo;
pub use generate_mlir::module as generated_mlir;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::commands::{cargo, command, output, root, run, target_dir};
use crate::dist;
use crate::tools::Tools;

/// The number of rounds. Ours and XLA's parser alternate, so that a slow phase of the machine affects both.
/// Reports the median.
const ROUNDS: usize = 3;

/// One parser on one file in one round: the median of several runs in one process.
#[derive(Clone, Copy, Default)]
struct Measured {
    /// From text to diagnostics.
    seconds: f64,
    instructions: u64,
    /// The same for the first file of a process; 0 for XLA, like the fields below.
    cold_seconds: f64,
    /// Seconds for the maps of all instructions, and the increase in resident bytes.
    maps_seconds: f64,
    maps_bytes: f64,
}

impl Measured {
    fn median(rounds: &[Measured]) -> Measured {
        let of = |field: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(field).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Measured {
            seconds: of(|m| m.seconds),
            instructions: rounds[0].instructions,
            cold_seconds: of(|m| m.cold_seconds),
            maps_seconds: of(|m| m.maps_seconds),
            maps_bytes: of(|m| m.maps_bytes),
        }
    }
}

struct Row {
    name: String,
    bytes: u64,
    ours: Measured,
    /// Ours with one thread.
    alone: Measured,
    xla: Option<Measured>,
}

pub fn bench(args: &[&str], tools: &Tools) -> Result<()> {
    let mut args = args.to_vec();
    let before = against::binary(&mut args)?;
    let install = args.contains(&"--with-jaxlib");
    let only_previews = args.contains(&"--previews");
    let only_mlir = args.contains(&"--mlir");
    let only_freezes = args.contains(&"--freezes");
    let only_compiles = args.contains(&"--compiles");
    let only_install = args.contains(&"--install");
    let only_memory = args.contains(&"--memory");
    let only_linearity = args.contains(&"--linearity");
    let only_optimizer = args.contains(&"--optimizer");
    let writes_page = args.contains(&"--page");
    // `--release` measures the profile with assertions, which saves the `dist` build.
    let profile = if args.contains(&"--release") { "release" } else { "dist" };
    let options = [
        "--with-jaxlib",
        "--previews",
        "--mlir",
        "--freezes",
        "--compiles",
        "--memory",
        "--install",
        "--linearity",
        "--optimizer",
        "--page",
        "--release",
    ];
    let files = args.iter().filter(|arg| !options.contains(arg));
    let named: Vec<PathBuf> = files.map(|arg| root().join(arg)).collect();
    if let Some(missing) = named.iter().find(|file| !file.is_file()) {
        bail!("{} is not a file", missing.display());
    }

    if only_install {
        return install::install(profile, tools);
    }
    let server = dist::build_server(profile)?;
    if only_previews {
        return previews::previews(&server, tools);
    }
    if only_linearity {
        return linearity::linearity(&server, profile);
    }
    if only_freezes {
        return freezes::freezes(&server, profile);
    }
    if only_compiles {
        return compiles::compiles(&server);
    }
    if only_memory {
        let files = if named.is_empty() { corpus()? } else { named };
        return memory::memory(&server, &files);
    }
    if only_optimizer {
        return optimizer::optimizer(&server);
    }
    if only_mlir {
        return mlir_servers::mlir_servers(&server);
    }
    let named_none = named.is_empty();
    let files = if named_none { corpus()? } else { named };
    let mut kernel_files = files.clone();
    if named_none {
        kernel_files.extend(optimized()?);
    }
    if let Some(before) = before {
        return against::against(&before, &server, &files, &kernel_files);
    }
    let peer = xla::Parser::find(tools, install);
    match &peer {
        Ok(parser) => println!("XLA's parser: {}", parser.version()),
        Err(reason) => println!("ours alone, without XLA's parser: {reason}"),
    }
    let rows = parses(&server, &files, peer.as_ref().ok())?;
    print_table(&rows);
    if writes_page {
        let largest = files.last().context("no file to measure")?;
        return page::write(&server, profile, tools, largest, &rows, peer.ok().as_ref());
    }
    kernels(&server, &kernel_files)?;
    previews::previews(&server, tools)?;
    mlir_servers::mlir_servers(&server)?;
    compiles::compiles(&server)?;
    memory::memory(&server, &kernel_files)?;
    optimizer::optimizer(&server)?;
    freezes::freezes(&server, profile)?;
    simplification()?;
    execution()
}

/// A row per file, ours and XLA's parser in turns.
fn parses(server: &Path, files: &[PathBuf], peer: Option<&xla::Parser>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for file in files {
        let (mut ours, mut alone, mut xla) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(parse_with_ours(server, file, None)?);
            alone.push(parse_with_ours(server, file, Some("1"))?);
            if let Some(parser) = peer {
                xla.push(parser.parse(file)?);
            }
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        rows.push(Row {
            name,
            bytes: file.metadata()?.len(),
            ours: Measured::median(&ours),
            alone: Measured::median(&alone),
            xla: (!xla.is_empty()).then(|| Measured::median(&xla)),
        });
    }
    Ok(rows)
}

/// All files as one.
fn sum(rows: &[Row]) -> Row {
    let sum = |of: &dyn Fn(&Row) -> Measured| {
        rows.iter().map(of).fold(Measured::default(), |sum, one| Measured {
            seconds: sum.seconds + one.seconds,
            instructions: sum.instructions + one.instructions,
            cold_seconds: sum.cold_seconds + one.cold_seconds,
            ..sum
        })
    };
    Row {
        name: "all, one after the other".into(),
        bytes: rows.iter().map(|row| row.bytes).sum(),
        ours: sum(&|row| row.ours),
        alone: sum(&|row| row.alone),
        xla: rows.iter().all(|row| row.xla.is_some()).then(|| sum(&|row| row.xla.unwrap_or_default())),
    }
}

/// Runs the benchmark in the executor's crate: PTX instructions of threads per second.
fn execution() -> Result<()> {
    println!("\nPTX, run on one core");
    let example = ["run", "--quiet", "--profile", "dist", "--package", "executor", "--example", "bench"];
    run(&mut cargo(&example))
}

/// The time of all kernel information of a file (emitters, maps, functions, memory accesses, times) as a
/// multiple of its parsing time, and the time after an edit inside one fused computation as a fraction of
/// that. Skips files without kernels.
fn kernels(server: &Path, files: &[PathBuf]) -> Result<()> {
    println!("\nwhat the GPU will do: all kernels of a file, and again after an edit in one of them");
    for file in files {
        let median = median_kernel_times(server, file)?;
        let KernelTimes { cold, edited, count, .. } = median;
        if count > 0.0 {
            let (times_parse, part) = (median.times_parse(), cold / edited.max(1e-9));
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            println!(
                "{name}: {count} kernels in {:.1} ms, {times_parse:.1} times the parsing (at most 10); after an edit {:.2} ms, \
                 1/{part:.0} (at most 1/50)",
                cold * 1e3,
                edited * 1e3
            );
        }
    }
    Ok(())
}

/// The seconds for all kernel information of a file, in one process.
#[derive(Clone, Copy)]
struct KernelTimes {
    parse: f64,
    cold: f64,
    /// After an edit inside one fused computation.
    edited: f64,
    /// The number of kernels.
    count: f64,
}

impl KernelTimes {
    fn times_parse(&self) -> f64 {
        self.cold / self.parse.max(1e-9)
    }
}

/// The round whose ratio to parsing is the median.
fn median_kernel_times(server: &Path, file: &Path) -> Result<KernelTimes> {
    let rounds: Result<Vec<_>> = (0..ROUNDS).map(|_| kernel_times(server, file)).collect();
    let mut rounds = rounds?;
    rounds.sort_by(|a, b| a.times_parse().total_cmp(&b.times_parse()));
    Ok(rounds[ROUNDS / 2])
}

fn kernel_times(server: &Path, file: &Path) -> Result<KernelTimes> {
    let printed = output(command(server, &["analysis-stats", "--json"]).arg(file))?;
    let number = |key| number_after(&printed, key).unwrap_or(0.0);
    Ok(KernelTimes {
        parse: number("parse_seconds"),
        cold: number("kernels_seconds"),
        edited: number("kernel_edit_seconds"),
        count: number("kernels"),
    })
}

/// Runs the benchmark in the maps' crate, on the maps for which results of XLA's simplifier are available.
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

fn parse_with_ours(server: &Path, file: &Path, threads: Option<&str>) -> Result<Measured> {
    let mut command = command(server, &["analysis-stats", "--json"]);
    if let Some(threads) = threads {
        command.env("RAYON_NUM_THREADS", threads);
    }
    let printed = output(command.arg(file))?;
    let number = |key| number_after(&printed, key);
    let seconds = number("parse_seconds")
        .with_context(|| format!("`analysis-stats --json` printed no parse_seconds:\n{printed}"))?;
    Ok(Measured {
        seconds,
        instructions: number("instructions").unwrap_or(0.0) as u64,
        cold_seconds: number("open_seconds").unwrap_or(0.0) + number("diagnostics_seconds").unwrap_or(0.0),
        maps_seconds: number("maps_seconds").unwrap_or(0.0),
        maps_bytes: number("maps_bytes").unwrap_or(0.0),
    })
}

/// The number after the first `"key":`; no further JSON parsing is needed here.
fn number_after(json: &str, key: &str) -> Option<f64> {
    let (_, rest) = json.split_once(&format!("\"{key}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// A module with many kernels, if available.
fn optimized() -> Result<Option<PathBuf>> {
    const MEMBER: &str = "gpt_train_unrolled.gpu_opt.hlo";
    let archive = root().join("../shared/corpus/jax-dev.tar.gz");
    if !archive.is_file() {
        println!("\nskipped {MEMBER}, which is not beside this checkout");
        return Ok(None);
    }
    let mut tar = command("tar", &["--extract", "--gzip", "--to-stdout", "--wildcards", "--file"]);
    let text = output(tar.arg(&archive).arg(format!("*{MEMBER}")))?;
    let file = target_dir().join("bench").join(MEMBER);
    fs::create_dir_all(target_dir().join("bench"))?;
    fs::write(&file, text)?;
    Ok(Some(file))
}

/// The HLO files of the corpus beside the checkout, unpacked; without a corpus, one generated module.
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
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "\nfrom text to findings, {threads} threads; the first file of a process in ms; medians of {ROUNDS} rounds"
    );
    println!(
        "{:<56} {:>7} {:>8} {:>7} {:>10} {:>9} {:>9} {:>6} {:>10}",
        "file", "MB", "instr", "cold ms", "ours MB/s", "1 thread", "XLA MB/s", "ratio", "1 thread"
    );
    for row in rows {
        print_row(row);
    }
    print_row(&sum(rows));
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

fn print_row(row: &Row) {
    let megabytes = row.bytes as f64 / 1e6;
    let rate = |measured: Measured| format!("{:.1}", megabytes / measured.seconds);
    let ratio = |ours: Measured| row.xla.map(|xla| format!("{:.1}", xla.seconds / ours.seconds));
    println!(
        "{:<56} {megabytes:>7.2} {:>8} {:>7.1} {:>10} {:>9} {:>9} {:>6} {:>10}",
        row.name,
        row.xla.unwrap_or(row.ours).instructions,
        row.ours.cold_seconds * 1e3,
        rate(row.ours),
        rate(row.alone),
        row.xla.map_or("-".into(), rate),
        ratio(row.ours).unwrap_or("-".into()),
        ratio(row.alone).unwrap_or("-".into()),
    );
}

#[cfg(test)]
mod tests {
    use super::{Measured, number_after};

    #[test]
    fn a_slow_round_does_not_count() {
        let rounds = [3.0, 1.0, 100.0].map(|seconds| Measured { seconds, ..Measured::default() });
        assert_eq!(Measured::median(&rounds).seconds, 3.0);
    }

    #[test]
    fn numbers_are_read_in_each_notation() {
        let json = r#"[{"file": "a", "parse_seconds" : 1.5e-3, "instructions":42}]"#;
        assert_eq!(number_after(json, "parse_seconds"), Some(0.0015));
        assert_eq!(number_after(json, "instructions"), Some(42.0));
        assert_eq!(number_after(json, "absent"), None);
    }
}
