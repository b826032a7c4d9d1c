//! From nothing to the first finding: the size of the wheel, the time of its import and of a report, and the steps and seconds in
//! a fresh Python environment, a fresh VS Code, Neovim and Helix.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::commands::{command, output, root, run, target_dir};
use crate::dist;
use crate::editors;
use crate::test;
use crate::tools::{Absent, Tools};
use crate::wheel;

/// What a new user types, after `pip install hlo-analyzer`.
const SCRIPT: &str = "\
import hlo_analyzer
report = hlo_analyzer.report('tests/editors/fixtures/transposed_read.hlo')
for finding in report.findings:
    print(finding.source, finding.message)
report.save('target/first-finding/report.html')
";

/// A large module from the corpus beside the checkout.
const LARGE: &str = "../shared/corpus/compiles/gpt_train_unrolled.tar.xz";
const OPTIMIZED: &str = "gpu_after_optimizations.txt";

pub fn install(profile: &str, tools: &Tools) -> Result<()> {
    let folder = target_dir().join("first-finding");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut rows = Vec::new();
    python(profile, &folder, tools, &mut rows)?;
    vscode(profile, &folder, tools, &mut rows)?;
    for (name, measured) in editors::first_findings(tools, &dist::server(profile)) {
        let shown =
            measured.map_or_else(|why| format!("not measured: {why:#}"), |seconds| format!("{seconds:.1} s"));
        rows.push((format!("{name}, by its README: 2 steps after the server is installed"), shown));
    }
    println!("\nfrom nothing to the first finding, profile {profile}");
    for (what, figure) in rows {
        println!("  {figure:>9}  {what}");
    }
    Ok(())
}

type Rows = Vec<(String, String)>;

/// The wheel in a fresh environment.
fn python(profile: &str, folder: &Path, tools: &Tools, rows: &mut Rows) -> Result<()> {
    let options = dist::Options { profile: profile.into(), out: folder.to_path_buf(), pre_release: None };
    let wheel = wheel::wheel(&options, tools).map_err(|Absent(reason)| anyhow::anyhow!("{reason}"))?;
    let size = wheel.metadata()?.len() as f64 / 1e6;
    rows.push(("the wheel; at most 12 MB".into(), format!("{size:.1} MB")));

    let started = Instant::now();
    let wheel = wheel.to_str().context("the path of the checkout is not UTF-8")?;
    let python =
        tools.venv(&folder.join("venv"), &[wheel]).map_err(|Absent(reason)| anyhow::anyhow!("{reason}"))?;
    let installed = started.elapsed().as_secs_f64();
    let found = output(&mut command(&python, &["-c", SCRIPT]))?;
    anyhow::ensure!(found.contains("sectors per request"), "the script finds nothing: {found}");
    let total = started.elapsed().as_secs_f64();
    let what =
        format!("fresh Python: venv and pip install ({installed:.1} s), five lines; 2 steps, at most 60 s");
    rows.push((what, format!("{total:.1} s")));

    let mut measured = command(&python, &[]);
    measured.arg(root().join("server/xtask/src/bench/install.py"));
    match large_module(folder)? {
        Some(module) => drop(measured.arg(module)),
        None => println!("without a report of a large module: there is no {LARGE}"),
    }
    for line in output(&mut measured)?.lines() {
        let Some((name, figure)) = line.split_once(' ') else { continue };
        let (what, unit) = match name {
            "import_ms" => ("import hlo_analyzer; at most 50 ms", "ms"),
            "report_s" => ("the page of gpt_train_unrolled in a notebook; at most 1 s", "s"),
            _ => ("its findings, kernels and memory as objects, after that", "s"),
        };
        rows.push((what.into(), format!("{figure} {unit}")));
    }
    Ok(())
}

fn large_module(folder: &Path) -> Result<Option<PathBuf>> {
    let packed = root().join(LARGE);
    if !packed.is_file() {
        return Ok(None);
    }
    let unpacked = folder.join("dump");
    fs::create_dir_all(&unpacked)?;
    run(command("tar", &["-xJf"]).arg(&packed).arg("-C").arg(&unpacked).arg("--strip-components=1"))?;
    let names = fs::read_dir(&unpacked)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(names.into_iter().find(|file| file.to_string_lossy().ends_with(OPTIMIZED)))
}

/// The extension in a VS Code that was never started.
fn vscode(profile: &str, folder: &Path, tools: &Tools, rows: &mut Rows) -> Result<()> {
    let options = dist::Options { profile: profile.into(), out: folder.to_path_buf(), pre_release: None };
    let vsix = dist::dist(&options, tools)?;
    let size = vsix.metadata()?.len() as f64 / 1e6;
    rows.push(("the VS Code extension with the server inside".into(), format!("{size:.1} MB")));
    let measured = match test::vscode_driver("first-finding.ts", tools) {
        Ok(mut driver) => {
            driver.arg("--vsix").arg(vsix).arg("--screenshot").arg(folder.join("vscode.png"));
            editors::seconds_to_first_finding(&output(&mut driver)?)
                .map_or_else(|| "none".to_owned(), |seconds| format!("{seconds:.1} s"))
        }
        Err(Absent(reason)) => format!("not measured: {reason}"),
    };
    rows.push(("fresh VS Code: install the .vsix, open a file; 2 steps".into(), measured));
    Ok(())
}
