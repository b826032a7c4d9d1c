//! The platforms that packages are built for, and their names in each channel.

use anyhow::{Result, bail};

pub struct Platform {
    os: &'static str,
    cpu: &'static str,
    /// The target of rustc, which is in the names of archives.
    pub target: &'static str,
    /// The name in VS Code's marketplace.
    pub vscode: &'static str,
    /// The system of Nix, where it has one.
    pub nix: Option<&'static str>,
    /// The blocks of a Homebrew formula, where it has them.
    pub homebrew: Option<(&'static str, &'static str)>,
    /// The machine of the release workflow; `None` if nothing is released for this platform.
    pub runner: Option<&'static str>,
}

pub const PLATFORMS: [Platform; 6] = [
    Platform {
        os: "linux",
        cpu: "x86_64",
        target: "x86_64-unknown-linux-gnu",
        vscode: "linux-x64",
        nix: Some("x86_64-linux"),
        homebrew: Some(("on_linux", "on_intel")),
        runner: Some("ubuntu-24.04"),
    },
    Platform {
        os: "linux",
        cpu: "aarch64",
        target: "aarch64-unknown-linux-gnu",
        vscode: "linux-arm64",
        nix: Some("aarch64-linux"),
        homebrew: Some(("on_linux", "on_arm")),
        runner: Some("ubuntu-24.04-arm"),
    },
    Platform {
        os: "macos",
        cpu: "x86_64",
        target: "x86_64-apple-darwin",
        vscode: "darwin-x64",
        nix: Some("x86_64-darwin"),
        homebrew: Some(("on_macos", "on_intel")),
        runner: Some("macos-15-intel"),
    },
    Platform {
        os: "macos",
        cpu: "aarch64",
        target: "aarch64-apple-darwin",
        vscode: "darwin-arm64",
        nix: Some("aarch64-darwin"),
        homebrew: Some(("on_macos", "on_arm")),
        runner: Some("macos-15"),
    },
    Platform {
        os: "windows",
        cpu: "x86_64",
        target: "x86_64-pc-windows-msvc",
        vscode: "win32-x64",
        nix: None,
        homebrew: None,
        runner: Some("windows-2025"),
    },
    Platform {
        os: "windows",
        cpu: "aarch64",
        target: "aarch64-pc-windows-msvc",
        vscode: "win32-arm64",
        nix: None,
        homebrew: None,
        runner: None,
    },
];

impl Platform {
    /// The platform of this machine.
    pub fn here() -> Result<&'static Platform> {
        let (os, cpu) = (std::env::consts::OS, std::env::consts::ARCH);
        match PLATFORMS.iter().find(|one| one.os == os && one.cpu == cpu) {
            Some(platform) => Ok(platform),
            None => bail!("no packages are built for {os} on {cpu}"),
        }
    }

    /// The name of the archive with the program.
    pub fn archive(&self, version: &str) -> String {
        format!("hlo-analyzer-{version}-{}.tar.gz", self.target)
    }
}
