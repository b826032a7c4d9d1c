//! The bills of materials, in CycloneDX: maturin writes that of the program into the wheel, npm that of the extension.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::commands::{command, output, root};
use crate::dist::EXTENSION;
use crate::tools;

/// Writes the bill of the program, read with a Python from a wheel.
pub fn of_program(python: &Path, wheel: &Path, to: &Path) -> Result<()> {
    let script = "import sys, zipfile\n\
                  archive = zipfile.ZipFile(sys.argv[1])\n\
                  (name,) = [name for name in archive.namelist() if name.endswith('.cyclonedx.json')]\n\
                  sys.stdout.buffer.write(archive.read(name))";
    write(&output(command(python, &["-X", "utf8", "-c", script]).arg(wheel))?, to)
}

/// Writes the bill of the packages that are bundled into the extension.
pub fn of_extension(to: &Path) -> Result<()> {
    let options = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
    let mut npm = command(tools::npm_program("npm"), &options);
    write(&output(npm.current_dir(root().join(EXTENSION)))?, to)
}

fn write(bill: &str, to: &Path) -> Result<()> {
    let components = components(bill).with_context(|| format!("{} would be no CycloneDX", to.display()))?;
    fs::write(to, bill).with_context(|| format!("cannot write {}", to.display()))?;
    println!("{}: {components} components", to.display());
    Ok(())
}

/// The number of components with a name and a version.
fn components(bill: &str) -> Result<usize> {
    let bill: Value = serde_json::from_str(bill)?;
    if bill["bomFormat"] != "CycloneDX" {
        bail!("bomFormat is {}", bill["bomFormat"]);
    }
    let all = bill["components"].as_array().context("it has no components")?;
    match all.iter().find(|one| one["name"].as_str().is_none() || one["version"].as_str().is_none()) {
        Some(one) => bail!("a component without name and version: {one}"),
        None if all.is_empty() => bail!("it has no components"),
        None => Ok(all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn a_bill_names_versions() {
        let bill = |component: &str| format!(r#"{{"bomFormat": "CycloneDX", "components": [{component}]}}"#);
        assert_eq!(components(&bill(r#"{"name": "a", "version": "1"}"#)).unwrap(), 1);
        assert!(components(&bill(r#"{"name": "a"}"#)).is_err());
        assert!(components(&bill("")).is_err());
        assert!(components("{}").is_err());
    }
}
