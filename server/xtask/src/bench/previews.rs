//! Times kernels as text: from a module of one fusion to its MLIR and PTX, compared with XLA's own compiler
//! on the same fusions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::number_after;
use crate::commands::{command, on_path, output, root, target_dir};
use crate::tools::Tools;

const UNPACK: &str = include_str!("pairs.py");
const COMPILE: &str = include_str!("xla_kernels.py");
/// The number of fusions that XLA also compiles, taken evenly from all.
const SAMPLE: usize = 60;
/// The GPU for which XLA compiles.
const DEVICE: &str = "h100-sxm";
const ASKED: f64 = 40.0;

struct Preview {
    file: PathBuf,
    seconds: f64,
}

/// Ours on all pairs, XLA's on a sample, in one run.
pub fn previews(server: &Path, tools: &Tools) -> Result<()> {
    println!("\nshow kernel: from the text of a module to MLIR and PTX");
    let Some((all, mut of_device)) = all_of_ours(server)? else {
        println!(
            "skipped: the kernels of XLA's compiler are not beside this checkout, or there is no python3"
        );
        return Ok(());
    };
    println!("{} kernels: p50 {:.2} ms, p99 {:.2} ms", all.len(), at(&all, 50) * 1e3, at(&all, 99) * 1e3);
    match compiler(tools) {
        Ok(compiler) => beside_xla(&compiler, &mut of_device)?.print(),
        Err(why) => println!("without XLA's compiler: {why}"),
    }
    Ok(())
}

/// Ours beside XLA's on a sample; `None` where something for it is missing.
pub(super) fn compared(server: &Path, tools: &Tools) -> Result<Option<Compared>> {
    let Some((_, mut of_device)) = all_of_ours(server)? else { return Ok(None) };
    compiler(tools).ok().map(|compiler| beside_xla(&compiler, &mut of_device)).transpose()
}

/// Seconds, in ascending order, and by how much ours is faster.
pub(super) struct Compared {
    ours: Vec<f64>,
    xla: Vec<f64>,
    ratios: Vec<f64>,
}

impl Compared {
    /// The medians.
    pub(super) fn seconds(&self) -> (f64, f64) {
        (at(&self.ours, 50), at(&self.xla, 50))
    }

    fn print(&self) {
        let (ours, xla) = self.seconds();
        println!(
            "{} of them on {DEVICE}, medians: ours {:.2} ms, XLA's compiler with its assembler {:.0} ms; ours is {:.0} times faster \
             (at least {ASKED}), {:.0} times at the slowest tenth",
            self.ratios.len(),
            ours * 1e3,
            xla * 1e3,
            at(&self.ratios, 50),
            at(&self.ratios, 10)
        );
    }
}

/// Half of the kernels and all but a hundredth take at most so many milliseconds.
pub(super) fn figures(server: &Path) -> Result<Vec<(String, f64)>> {
    let Some((all, _)) = all_of_ours(server)? else { return Ok(Vec::new()) };
    let row = |part| (format!("show kernel, p{part} of {}", all.len()), at(&all, part) * 1e3);
    Ok(vec![row(50), row(99)])
}

/// The sorted seconds for all kernels of XLA's compiler, and the kernels on [`DEVICE`]; `None` where they are not beside this
/// checkout.
fn all_of_ours(server: &Path) -> Result<Option<(Vec<f64>, Vec<Preview>)>> {
    let data = root().join("../shared/conformance/data");
    let archives: Vec<PathBuf> = ["xla_gpu", "xla_gpu_emitters", "xla_gpu_sweep"]
        .iter()
        .map(|set| data.join(set).join("pairs.jsonl.gz"))
        .filter(|archive| archive.is_file())
        .collect();
    let Some(python) = on_path(&["python3"]).filter(|_| !archives.is_empty()) else { return Ok(None) };
    let folder = target_dir().join("bench/pairs");
    if !folder.is_dir() {
        output(command(python, &["-c", UNPACK]).arg(&folder).args(&archives))?;
    }
    let mut all: Vec<f64> = Vec::new();
    let mut of_device = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let device = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = ours(server, &path, &device)?;
        all.extend(found.iter().map(|preview| preview.seconds));
        if device == DEVICE {
            of_device = found;
        }
    }
    all.sort_by(f64::total_cmp);
    Ok(Some((all, of_device)))
}

fn at(sorted: &[f64], part: usize) -> f64 {
    sorted.get((sorted.len() * part / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn ours(server: &Path, folder: &Path, device: &str) -> Result<Vec<Preview>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut stats = command(server, &["analysis-stats", "--previews", "--json", "--device", device]);
    let printed = output(stats.args(&files))?;
    let lines = printed.lines().zip(files).filter(|(line, _)| line.contains("\"has_code\":true"));
    let previews = lines.map(|(line, file)| {
        let seconds = number_after(line, "preview_seconds").context("no time")?;
        Ok(Preview { file, seconds })
    });
    previews.collect()
}

/// A Python with XLA's GPU plugin, and the script that runs the compiler.
fn compiler(tools: &Tools) -> Result<(PathBuf, PathBuf), String> {
    let tool = root().join("../shared/tools/xla_gpu_kernels.py");
    if !tool.is_file() {
        return Err("the tool that asks it is not beside this checkout".into());
    }
    let named = std::env::var_os("HLO_ANALYZER_XLA_PYTHON").map(PathBuf::from);
    let cached = tools.cache().join("xla-gpu/bin/python");
    let candidates = named.into_iter().chain(on_path(&["python3"])).chain([cached]);
    let probe = "import jaxlib; from jaxlib import _hlo; import jax_plugins.xla_cuda12";
    let found = candidates.into_iter().find(|python| output(&mut command(python, &["-c", probe])).is_ok());
    let found = found
        .ok_or("no python3 here has jaxlib and jax-cuda12-pjrt; HLO_ANALYZER_XLA_PYTHON may name one")?;
    Ok((found, tool))
}

fn beside_xla((python, tool): &(PathBuf, PathBuf), of_device: &mut [Preview]) -> Result<Compared> {
    of_device.sort_by(|a, b| a.file.cmp(&b.file));
    let step = of_device.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&Preview> = of_device.iter().step_by(step).collect();
    let spec = root().join(format!("../shared/data/gpu-specs/{}.txtpb", DEVICE.replace('-', "_")));
    let mut compile = command(python, &["-c", COMPILE]);
    compile.arg(tool).arg(spec).args(sample.iter().map(|preview| &preview.file));
    let printed = output(&mut compile)?;
    let mut found = Compared { ours: Vec::new(), xla: Vec::new(), ratios: Vec::new() };
    for (line, preview) in printed.lines().zip(sample) {
        let Ok(seconds) = line.trim().parse::<f64>() else { continue };
        found.ratios.push(seconds / preview.seconds.max(1e-9));
        found.ours.push(preview.seconds);
        found.xla.push(seconds);
    }
    for list in [&mut found.ratios, &mut found.ours, &mut found.xla] {
        list.sort_by(f64::total_cmp);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn parts_of_a_list() {
        let list: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!((at(&list, 50), at(&list, 99), at(&[], 50)), (50.0, 99.0, 0.0));
    }
}
