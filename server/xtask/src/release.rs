//! `cargo xtask release`: all packages of a version in one folder, as the release workflow uploads them. It uploads nothing.
//!
//! The workflow runs it in two halves: `--only build` on a machine of each platform, and `--only assemble` on the packages of all.

mod archive;
mod changelog;
mod checksums;
mod generated;
mod homebrew;
mod nix;
mod platform;
mod sbom;
mod version;
mod workflow;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::checksums::Checksums;
pub use self::platform::Platform;
use self::version::Package;
use crate::commands::{cargo, root, run, target_dir};
use crate::dist;
use crate::tools::{Absent, Tools};
use crate::wheel;

const NOTES: &str = "NOTES.md";
/// The largest wheel: many of them are installed on every machine of a fleet.
const WHEEL_MB: f64 = 12.0;

pub struct Options {
    profile: String,
    out: PathBuf,
    /// `v` and the version: the release has the section of that version in the changelog.
    tag: Option<String>,
    /// The day of a pre-release for VS Code, as 20260131.
    pre_release: Option<String>,
    only: Option<Half>,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    Build,
    Assemble,
}

impl Options {
    pub fn parse(args: &[&str]) -> Result<Options> {
        let out = target_dir().join("packages");
        let mut options = Options { profile: "dist".into(), out, tag: None, pre_release: None, only: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next().with_context(|| format!("{arg} needs a value"))?;
            match (*arg, *value) {
                ("--profile", "dist" | "release") => options.profile = value.to_string(),
                ("--out", _) => options.out = root().join(value),
                ("--tag", _) => options.tag = Some(value.to_string()),
                ("--pre-release", _) => options.pre_release = Some(value.to_string()),
                ("--only", "build") => options.only = Some(Half::Build),
                ("--only", "assemble") => options.only = Some(Half::Assemble),
                ("--profile" | "--only", _) => bail!("{arg} does not take {value}"),
                _ => bail!("release takes --profile, --out, --tag, --pre-release and --only, not {arg}"),
            }
        }
        Ok(options)
    }
}

pub fn release(options: &Options, tools: &Tools) -> Result<()> {
    let program = version::checked()?;
    if let Some(tag) = options.tag.as_deref().filter(|tag| tag.strip_prefix('v') != Some(&program.version)) {
        bail!("the tag is {tag}, but the version is {}", program.version);
    }
    let notes = changelog::notes(&program.version, options.tag.is_some())?;
    workflow::check()?;
    fs::create_dir_all(&options.out)?;
    if options.only != Some(Half::Assemble) {
        build(&program, options, tools).or_else(|Absent(reason)| bail!("{reason}"))?;
    }
    if options.only != Some(Half::Build) {
        assemble(&program, options, &notes)?;
        dry_run_of_crates()?;
    }
    for file in archive::sorted(&options.out)? {
        println!("{:9.2} MB  {}", file.metadata()?.len() as f64 / 1e6, file.display());
    }
    Ok(())
}

/// What `cargo xtask test` checks of a release, without building one.
pub fn check(tools: &Tools) -> Result<(), Absent> {
    let program = version::checked()?;
    changelog::notes(&program.version, false)?;
    workflow::check()?;
    workflow::lint(tools)?;
    for name in published()? {
        // Without the build, which `release` does: the files and the metadata.
        run(&mut cargo(&[
            "package",
            "--no-verify",
            "--allow-dirty",
            "--offline",
            "--quiet",
            "--package",
            &name,
        ]))?;
    }
    Ok(())
}

/// Builds the packages of this platform: archive, extension, wheel, and the bills of materials.
fn build(program: &Package, options: &Options, tools: &Tools) -> Result<(), Absent> {
    let platform = Platform::here()?;
    let out = &options.out;
    let pre_release = match &options.pre_release {
        Some(day) => Some(version::of_day(&program.version, day)?),
        None => None,
    };
    // Apart from the packages, because completions and manual pages are inside archives only.
    let parts = target_dir().join("release-parts");
    let dist_options = dist::Options { profile: options.profile.clone(), out: parts.clone(), pre_release };
    let vsix = dist::dist(&dist_options, tools)?;
    let version = dist_options.pre_release.as_deref().unwrap_or(&program.version);
    let packaged = out.join(format!("hlo-analyzer-{version}-{}.vsix", platform.vscode));
    fs::copy(&vsix, &packaged).map_err(anyhow::Error::from)?;

    let server = dist::server(&options.profile);
    let archive = out.join(platform.archive(&program.version));
    archive::write(&archive, &server, &parts)?;

    let wheel_options =
        dist::Options { profile: options.profile.clone(), out: out.clone(), pre_release: None };
    let wheel = wheel::wheel(&wheel_options, tools)?;
    let megabytes = wheel.metadata().map_err(anyhow::Error::from)?.len() as f64 / 1e6;
    if options.profile == "dist" && megabytes > WHEEL_MB {
        return Err(Absent(format!("{} has {megabytes:.1} MB, {WHEEL_MB} are allowed", wheel.display())));
    }
    let python = wheel::python(tools)?;
    sbom::of_program(&python, &wheel, &out.join(format!("hlo-analyzer-{}.cdx.json", platform.target)))?;
    sbom::of_extension(&out.join("hlo-analyzer-vscode.cdx.json"))?;
    Ok(())
}

/// Writes what needs the packages of all platforms: formula, flake, notes and checksums.
fn assemble(program: &Package, options: &Options, notes: &str) -> Result<()> {
    let out = &options.out;
    let archives = Checksums::of(out)?;
    let missing = platform::PLATFORMS
        .iter()
        .filter(|one| one.runner.is_some())
        .map(|one| one.archive(&program.version))
        .filter(|archive| archives.get(archive).is_none());
    let missing: Vec<String> = missing.collect();
    match (missing.as_slice(), &options.tag) {
        ([], _) => {}
        (missing, None) => println!("without {}: each is built on its platform", missing.join(", ")),
        (missing, Some(tag)) => bail!("{tag} has no {}", missing.join(", ")),
    }
    fs::write(out.join(NOTES), notes)?;
    fs::write(out.join(homebrew::FILE), homebrew::formula(program, &archives))?;
    fs::write(out.join(nix::FILE), nix::flake(program, &archives))?;
    for skipped in generated::check(out, &program.version)? {
        println!("{skipped}");
    }
    fs::write(out.join(checksums::FILE), Checksums::of(out)?.text())?;
    Ok(())
}

/// The crates that go to crates.io: those that stand alone. The program is not among them: it consists of many small crates,
/// all of which would have to be published with it.
fn published() -> Result<Vec<String>> {
    let packages = version::packages()?.into_iter().filter(|one| one.is_published);
    Ok(packages.map(|one| one.name).collect())
}

fn dry_run_of_crates() -> Result<()> {
    for name in published()? {
        run(&mut cargo(&["publish", "--dry-run", "--allow-dirty", "--package", &name]))?;
    }
    Ok(())
}

/// The tag of the version.
pub fn tag() -> Result<String> {
    Ok(format!("v{}", version::checked()?.version))
}

/// The address of a folder of the tree at a tag or branch, as `blob` for pages and `raw` for pictures.
pub fn page(kind: &str, state: &str, folder: &str) -> Result<String> {
    Ok(format!("{}/{kind}/{state}/{folder}", repository(&version::checked()?)))
}

/// The address of the project's pages.
fn repository(program: &Package) -> &str {
    program.repository.as_deref().unwrap_or_default()
}

/// The address of a file of the release.
fn download(program: &Package, file: &str) -> String {
    format!("{}/releases/download/v{}/{file}", repository(program), program.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package for tests of what is generated.
    pub fn program() -> Package {
        Package {
            name: "hlo-analyzer".into(),
            version: "1.2.3".into(),
            is_published: false,
            repository: Some("https://example.org/hlo-analyzer".into()),
            description: "Language server and command line for HLO and MLIR".into(),
        }
    }

    #[test]
    fn options_are_read() {
        let options = Options::parse(&["--only", "assemble", "--tag", "v1.2.3"]).unwrap();
        assert!(options.only == Some(Half::Assemble) && options.tag.as_deref() == Some("v1.2.3"));
        assert!(Options::parse(&["--only", "half"]).is_err());
        assert!(Options::parse(&["--tag"]).is_err());
    }

    #[test]
    fn the_grammars_are_published_and_the_addresses_are_known() {
        assert_eq!(published().unwrap(), ["tree-sitter-hlo"]);
        let packages = version::packages().unwrap();
        for package in packages.iter().filter(|one| one.is_published || one.name == "hlo-analyzer") {
            assert!(
                package.repository.as_deref().is_some_and(|url| url.starts_with("https://")),
                "{}",
                package.name
            );
        }
    }
}
