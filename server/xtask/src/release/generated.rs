//! Checks of the generated formula and flake by the languages that read them, where those are installed.

use std::path::Path;

use anyhow::{Result, bail};

use super::{homebrew, nix};
use crate::commands::{command, on_path, output};

/// Returns what could not be checked, with the reasons.
pub fn check(folder: &Path, version: &str) -> Result<Vec<String>> {
    let mut skipped = Vec::new();
    let formula = folder.join(homebrew::FILE);
    match on_path(&["ruby"]) {
        None => skipped.push(format!("{} is not run: no ruby on PATH", homebrew::FILE)),
        Some(ruby) => {
            let printed = output(command(ruby, &["-e", FORMULA]).arg(&formula))?;
            if !printed.contains(&format!("version {version}\n")) || !printed.contains("url https://") {
                bail!("{} says:\n{printed}", formula.display());
            }
        }
    }
    let flake = folder.join(nix::FILE);
    match on_path(&["nix-instantiate"]) {
        None => skipped.push(format!("{} is not evaluated: no nix-instantiate on PATH", nix::FILE)),
        Some(nix) => {
            let expression = format!("({FLAKE}) (import {})", flake.display());
            let printed = output(command(nix, &["--eval", "--strict", "--expr"]).arg(&expression))?;
            if !printed.contains(version) {
                bail!("{} has no package of {version}:\n{printed}", flake.display());
            }
        }
    }
    Ok(skipped)
}

/// Runs a formula without Homebrew: what it says of all platforms is printed.
const FORMULA: &str = r##"
class Formula
  def self.method_missing(name, *values)
    puts "#{name} #{values.join(' ')}"
    yield if block_given?
  end
  def self.test = puts("test")
  def self.respond_to_missing?(*) = true
end
load ARGV[0]
abort "no install" unless HloAnalyzer.method_defined?(:install)
"##;

/// Evaluates a flake without nixpkgs: the names and sources of its packages.
const FLAKE: &str = r#"
flake:
let
  pkgs = system: {
    stdenv = {
      isLinux = builtins.match ".*-linux" system != null;
      cc.cc.lib = "libstdc++";
      mkDerivation = package: builtins.deepSeq package "${package.pname}-${package.version} ${package.src}";
    };
    fetchurl = { url, sha256 }: assert builtins.stringLength sha256 == 64; url;
    autoPatchelfHook = "autoPatchelfHook";
    installShellFiles = "installShellFiles";
    lib = {
      optional = condition: value: if condition then [ value ] else [ ];
      licenses.asl20 = "Apache-2.0";
    };
  };
  legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = pkgs name; })
    [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]);
in
builtins.mapAttrs (_: package: package.default) (flake.outputs { nixpkgs = { inherit legacyPackages; }; }).packages
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::target_dir;
    use crate::release::checksums::Checksums;
    use crate::release::platform::PLATFORMS;
    use crate::release::tests::program;

    #[test]
    fn formula_and_flake_are_valid() {
        let folder = target_dir().join("test-generated");
        std::fs::create_dir_all(&folder).unwrap();
        let program = program();
        let archives: Vec<String> = PLATFORMS.iter().map(|one| one.archive(&program.version)).collect();
        let sums = Checksums::for_test(&archives.iter().map(String::as_str).collect::<Vec<_>>());
        let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
        write(homebrew::FILE, homebrew::formula(&program, &sums));
        write(nix::FILE, nix::flake(&program, &sums));
        for skipped in check(&folder, "1.2.3").unwrap() {
            println!("{skipped}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
