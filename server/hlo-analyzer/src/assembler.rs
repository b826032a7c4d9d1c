//! Runs NVIDIA's assembler and disassembler, where installed: registers, spills and errors of a kernel, and
//! its SASS.
//!
//! Architecture Invariant: the only programs that are started are those that the user's settings name by an
//! absolute path in a trusted workspace, and those in an absolute folder of PATH; never one that an opened
//! folder names.

mod notes;
mod process;
mod report;
mod sass;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use notes::{note, note_beside, with_sass};
pub use process::{Ended, Limits, WorkFolder, run};

/// Larger texts are not assembled.
pub const MAX_PTX: usize = 4 << 20;
/// The output limit of a program.
const MAX_OUTPUT: usize = 16 << 20;
const LIMITS: Limits<'_> = Limits { patience: Duration::from_secs(20), output: MAX_OUTPUT, stop: None };

/// Paths of the programs found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembler {
    ptxas: PathBuf,
    nvdisasm: Option<PathBuf>,
}

/// Paths from the user's settings; empty where not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssemblerPaths {
    pub ptxas: String,
    pub nvdisasm: String,
    /// Whether the paths may be used. Untrusted paths may come from an opened folder.
    pub trusted: bool,
}

/// The assembler's report on a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembled {
    pub registers: Option<u32>,
    /// Bytes stored to and loaded from local memory by register spills.
    pub spill_stores: u32,
    pub spill_loads: u32,
    pub errors: Vec<AssemblerError>,
    /// The reason for a missing report: a timeout, or the program could not be started.
    pub problem: Option<String>,
    pub sass: Option<Sass>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssemblerError {
    /// The line of the PTX, counted from 0.
    pub line: usize,
    pub message: String,
}

/// Machine code as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sass {
    pub text: String,
    /// For each line of the text, the line of the PTX it comes from, counted from 0.
    pub lines: Vec<Option<usize>>,
}

impl Assembler {
    /// Finds the programs. Returns `None` without `ptxas`.
    pub fn find(paths: &AssemblerPaths) -> Option<Assembler> {
        let ptxas = program(&paths.ptxas, paths.trusted, "ptxas")?;
        Some(Assembler { ptxas, nvdisasm: program(&paths.nvdisasm, paths.trusted, "nvdisasm") })
    }

    pub fn disassembles(&self) -> bool {
        self.nvdisasm.is_some()
    }

    /// Assembles a text for the target it names. Blocks until done, at most for a fixed time.
    pub fn assemble(&self, ptx: &str) -> Assembled {
        let failed = |problem: String| Assembled { problem: Some(problem), ..Assembled::default() };
        if ptx.len() > MAX_PTX {
            return failed(format!("the PTX is larger than the {} MB that are assembled", MAX_PTX >> 20));
        }
        let Some(target) = ptx.lines().find_map(|line| line.strip_prefix(".target ")) else {
            return failed("the PTX names no target".to_owned());
        };
        let folder = match WorkFolder::new() {
            Ok(folder) => folder,
            Err(error) => return failed(format!("no folder to work in: {error}")),
        };
        if let Err(error) = std::fs::write(folder.path().join("kernel.ptx"), ptx) {
            return failed(format!("the PTX cannot be written: {error}"));
        }
        let arguments = ["-v", "-lineinfo", "-arch", target.trim(), "-o", "kernel.cubin", "kernel.ptx"];
        let ended = match run(&self.ptxas, &arguments, folder.path(), &LIMITS) {
            Ended::Exited { success, stdout, stderr } => {
                // Most versions write the report to standard error, but not all.
                let mut assembled = report::read(&format!("{stderr}\n{stdout}"));
                if !success && assembled.errors.is_empty() {
                    let said = stderr.lines().chain(stdout.lines()).find(|line| !line.trim().is_empty());
                    assembled.problem = Some(said.unwrap_or("it failed and says nothing").to_owned());
                }
                assembled
            }
            Ended::TookTooLong | Ended::Stopped => {
                return failed(format!("it was stopped after {} s", LIMITS.patience.as_secs()));
            }
            Ended::NotStarted(error) => return failed(format!("{}: {error}", self.ptxas.display())),
        };
        let is_good = ended.errors.is_empty() && ended.problem.is_none();
        let sass = if is_good { self.disassemble(folder.path()) } else { None };
        Assembled { sass, ..ended }
    }

    /// Disassembles `kernel.cubin` in `folder`. Older programs cannot print PTX lines and run without that
    /// option.
    fn disassemble(&self, folder: &Path) -> Option<Sass> {
        let nvdisasm = self.nvdisasm.as_ref()?;
        [&["-c", "-gp", "kernel.cubin"][..], &["-c", "kernel.cubin"][..]].into_iter().find_map(|arguments| {
            match run(nvdisasm, arguments, folder, &LIMITS) {
                Ended::Exited { success: true, stdout, .. } => Some(sass::read(&stdout)),
                _ => None,
            }
        })
    }
}

/// The program that a setting names, or else the one on PATH.
fn program(configured: &str, trusted: bool, name: &str) -> Option<PathBuf> {
    let configured = Path::new(configured.trim());
    if trusted && configured.is_absolute() && is_program(configured) {
        return Some(configured.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    // A relative folder on PATH would be resolved against the opened workspace.
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(&name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A script that replaces the assembler in tests.
    fn script(folder: &Path, body: &str) -> String {
        let file = folder.join("assembler");
        std::fs::write(&file, format!("#!/bin/sh\n{body}\n")).expect("it can be written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        file.to_str().expect("a plain path").to_owned()
    }

    #[test]
    fn only_a_trusted_absolute_path_is_run() {
        let folder = WorkFolder::new().expect("a folder");
        let own = script(folder.path(), "echo 'ptxas info    : Used 7 registers'");
        let found = |ptxas: &str, trusted| {
            let paths = AssemblerPaths { ptxas: ptxas.to_owned(), nvdisasm: String::new(), trusted };
            Assembler::find(&paths).map(|found| found.ptxas)
        };
        assert_eq!(found(&own, true).as_deref(), Some(Path::new(&own)));
        assert_ne!(found(&own, false).as_deref(), Some(Path::new(&own)));
        assert_ne!(found("assembler", true).as_deref(), Some(Path::new("assembler")));
    }

    #[test]
    fn a_program_may_say_anything_and_take_for_ever() {
        let folder = WorkFolder::new().expect("a folder");
        let check = |body: &str| {
            let paths =
                AssemblerPaths { ptxas: script(folder.path(), body), trusted: true, ..Default::default() };
            Assembler::find(&paths).expect("it is there").assemble(".version 8.8\n.target sm_90\n")
        };
        assert_eq!(check("echo 'ptxas info    : Used 7 registers, used 1 barriers' >&2").registers, Some(7));
        assert_eq!(check("exit 3").problem.as_deref(), Some("it failed and says nothing"));
        assert_eq!(check("echo no licence >&2; exit 1").problem.as_deref(), Some("no licence"));
        assert_eq!(check("head -c 100000000 /dev/zero").problem, None);
        let slow = |stop: Option<&AtomicBool>| {
            let limits = Limits { patience: Duration::from_millis(50), output: 10, stop };
            run(Path::new("/bin/sh"), &["-c", "sleep 60"], folder.path(), &limits)
        };
        assert!(matches!(slow(None), Ended::TookTooLong));
        assert!(matches!(slow(Some(&AtomicBool::new(true))), Ended::Stopped));
    }

    #[test]
    fn what_has_no_target_is_not_assembled() {
        let assembler = Assembler { ptxas: "/nowhere".into(), nvdisasm: None };
        assert!(assembler.assemble("ret;").problem.is_some());
        assert!(assembler.assemble(".target sm_90\n").problem.is_some_and(|p| p.starts_with("/nowhere")));
        assert!(assembler.assemble(&" ".repeat(MAX_PTX + 1)).problem.is_some_and(|p| p.contains("4 MB")));
    }
}
