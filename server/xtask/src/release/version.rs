//! The one version of all packages, and the files that repeat it.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::commands::{cargo, command, output, root};

/// A package of the workspace, as cargo describes it.
pub struct Package {
    pub name: String,
    pub version: String,
    pub is_published: bool,
    pub repository: Option<String>,
    pub description: String,
}

/// The packages of the workspace.
pub fn packages() -> Result<Vec<Package>> {
    let printed = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&printed)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(packages
        .iter()
        .map(|one| Package {
            name: text(&one["name"]),
            version: text(&one["version"]),
            // `null` is any registry, an empty list none.
            is_published: one["publish"].is_null(),
            repository: one["repository"].as_str().map(str::to_owned),
            description: text(&one["description"]),
        })
        .collect())
}

/// The package of the program, after checking that every package has its version.
pub fn checked() -> Result<Package> {
    let packages = packages()?;
    let mut found: Vec<(String, String)> =
        packages.iter().map(|one| (one.name.clone(), one.version.clone())).collect();
    let program = packages.into_iter().find(|one| one.name == "hlo-analyzer");
    let program = program.context("the workspace has no package hlo-analyzer")?;
    found.extend(repeated()?);
    let differing = differing(&found, &program.version);
    if !differing.is_empty() {
        bail!("the version is {}, but:\n{}", program.version, differing.join("\n"));
    }
    Ok(program)
}

/// The versions in files that cargo does not read, with the names of the files.
fn repeated() -> Result<Vec<(String, String)>> {
    let patterns = [
        "*package.json",
        "*package-lock.json",
        "*tree-sitter.json",
        "*pyproject.toml",
        "*extension.toml",
        "editor-clients/zed/Cargo.toml",
        "*.el",
    ];
    let mut list = command("git", &["ls-files", "--cached", "--others", "--exclude-standard", "--"]);
    let listed = output(list.args(patterns))?;
    let mut found = Vec::new();
    for file in listed.lines().filter(|file| root().join(file).is_file()) {
        let text = std::fs::read_to_string(root().join(file))?;
        let versions = versions_in(file, &text).with_context(|| format!("cannot read {file}"))?;
        found.extend(versions.into_iter().map(|version| (file.to_owned(), version)));
    }
    Ok(found)
}

/// The versions that a file gives our packages. Private packages, such as those of tests, have none.
fn versions_in(file: &str, text: &str) -> Result<Vec<String>> {
    let name = file.rsplit('/').next().unwrap_or(file);
    // A missing version differs from every other.
    let of = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    if name.ends_with(".json") {
        let json: Value = serde_json::from_str(text)?;
        return Ok(match name {
            "package.json" if json["private"] == true => Vec::new(),
            "package.json" => vec![of(&json["version"])],
            // The lock of a private package repeats that it has no version.
            "package-lock.json" if json["version"].is_null() => Vec::new(),
            "package-lock.json" => vec![of(&json["version"]), of(&json["packages"][""]["version"])],
            _ => vec![of(&json["metadata"]["version"])],
        });
    }
    let lines = text.lines().filter_map(|line| match name {
        name if name.ends_with(".el") => line.strip_prefix(";; Version: "),
        // Zed takes the grammars from the tag of the release.
        "extension.toml" => line.strip_prefix("version = ").or_else(|| line.strip_prefix("rev = ")),
        _ => line.strip_prefix("version = "),
    });
    let bare = |version: &str| {
        let version = version.trim_matches('"');
        version.strip_prefix('v').unwrap_or(version).to_owned()
    };
    Ok(lines.map(bare).collect())
}

/// The files whose version is another one.
fn differing(found: &[(String, String)], version: &str) -> Vec<String> {
    let others = found.iter().filter(|(_, other)| other != version);
    others.map(|(file, other)| format!("  {file}: {other}")).collect()
}

/// The version of a pre-release for VS Code, which has no pre-release suffix: the day replaces the last number. It is
/// newer than the release and older than the next one, which has a higher second number.
pub fn of_day(version: &str, day: &str) -> Result<String> {
    let [major, minor, _] = version.split('.').collect::<Vec<_>>()[..] else {
        bail!("{version} is no version of three numbers");
    };
    if day.len() != 8 || !day.bytes().all(|byte| byte.is_ascii_digit()) {
        bail!("a day is written as 20260131, not {day}");
    }
    Ok(format!("{major}.{minor}.{day}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_the_same_version() {
        let found = repeated().unwrap();
        for file in [
            "vscode/package.json",
            "vscode/package-lock.json",
            "tree-sitter.json",
            "hlo-analyzer.el",
            "zed/extension.toml",
        ] {
            assert!(found.iter().any(|(name, _)| name.ends_with(file)), "no version in {file}: {found:?}");
        }
        checked().unwrap();
    }

    #[test]
    fn another_version_is_found() {
        let check = |file: &str, text: &str, expected: &[&str]| {
            assert_eq!(versions_in(file, text).unwrap(), expected, "{file}");
        };
        check("a/package.json", r#"{"version": "1.2.3"}"#, &["1.2.3"]);
        check("a/package.json", "{}", &["none"]);
        check("a/package.json", r#"{"private": true}"#, &[]);
        check(
            "a/package-lock.json",
            r#"{"version": "1.2.3", "packages": {"": {"version": "1.2.4"}}}"#,
            &["1.2.3", "1.2.4"],
        );
        check("tree-sitter.json", r#"{"metadata": {"version": "1.2.3"}}"#, &["1.2.3"]);
        check("extension.toml", "id = \"x\"\nversion = \"1.2.3\"\nrev = \"v1.2.4\"\n", &["1.2.3", "1.2.4"]);
        check("pyproject.toml", "[project]\ndynamic = [\"version\"]\n", &[]);
        check("x.el", ";; Version: 1.2.3\n", &["1.2.3"]);
        let found = [("a".to_owned(), "1.2.3".to_owned()), ("b".to_owned(), "1.2.4".to_owned())];
        assert_eq!(differing(&found, "1.2.3"), ["  b: 1.2.4"]);
    }

    #[test]
    fn a_day_is_the_last_number_of_a_pre_release() {
        assert_eq!(of_day("0.1.3", "20260131").unwrap(), "0.1.20260131");
        assert!(of_day("0.1.3", "today").is_err());
        assert!(of_day("0.1", "20260131").is_err());
    }
}
