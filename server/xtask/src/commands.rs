//! Runs other programs: every command is printed before it runs, and an error names the command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the checkout.
pub fn root() -> PathBuf {
    // `server/xtask` is two levels below the root, whatever the current folder is.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// Cargo's target folder: the one set in the environment, else `target` in the checkout.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A command that runs in the root of the checkout.
pub fn command(program: impl AsRef<OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// The cargo that started this process, so that a `+toolchain` on the command line applies to the whole run. What users
/// install is built without the paths of this machine.
pub fn cargo(args: &[&str]) -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args);
    if args.windows(2).any(|pair| pair == ["--profile", "dist"]) {
        leave_out_paths(&mut cargo, &root());
    }
    cargo
}

/// Has the compiler write other names for the folders of a checkout and of crates into programs. So one state makes the same
/// bytes on every machine (`cargo xtask reproducible`), and a message of a panic names no folder of the builder.
pub fn leave_out_paths(build: &mut Command, checkout: &Path) {
    const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
    let inherited = std::env::var(FLAGS).or_else(|_| {
        std::env::var("RUSTFLAGS").map(|flags| flags.split_whitespace().collect::<Vec<_>>().join("\x1f"))
    });
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags: Vec<String> = inherited.iter().filter(|flags| !flags.is_empty()).cloned().collect();
    for (folder, name) in [(Some(checkout.to_path_buf()), "hlo-analyzer"), (home, "cargo")] {
        if let Some(folder) = folder {
            flags.push(format!("--remap-path-prefix={}={name}", folder.display()));
        }
    }
    build.env(FLAGS, flags.join("\x1f"));
}

/// Runs a command with inherited output streams; an exit status other than 0 is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs a command silently and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let done = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        bail!("`{shown}` failed: {}\n{}", done.status, stderr.trim_end());
    }
    String::from_utf8(done.stdout).with_context(|| format!("`{shown}` printed bytes that are not UTF-8"))
}

/// The first of `names` that is an executable file on PATH.
pub fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name))).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The command as typed in a shell, without the environment; paths inside the checkout are shortened.
pub fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let root = format!("{}/", root().display());
    words.map(|word| word.to_string_lossy().replace(&root, "")).collect::<Vec<_>>().join(" ")
}
