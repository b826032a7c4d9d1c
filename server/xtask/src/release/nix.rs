//! The flake for Nix: the archive of each system with its checksum.

use std::fmt::Write as _;

use super::checksums::Checksums;
use super::platform::PLATFORMS;
use super::version::Package;
use super::{download, repository};

pub const FILE: &str = "flake.nix";

/// The flake with the archives that have a checksum.
pub fn flake(program: &Package, sums: &Checksums) -> String {
    let mut archives = String::new();
    for platform in &PLATFORMS {
        let archive = platform.archive(&program.version);
        let (Some(system), Some(sum)) = (platform.nix, sums.get(&archive)) else { continue };
        let url = download(program, &archive);
        let _ = writeln!(
            archives,
            "        {system} = {{\n          url = \"{url}\";\n          sha256 = \"{sum}\";\n        }};"
        );
    }
    format!(
        r#"{{
  description = "{description}";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs =
    {{ nixpkgs, ... }}:
    let
      archives = {{
{archives}      }};
      package =
        system: archive:
        let
          pkgs = nixpkgs.legacyPackages.${{system}};
        in
        pkgs.stdenv.mkDerivation {{
          pname = "hlo-analyzer";
          version = "{version}";
          src = pkgs.fetchurl archive;
          # The program is linked to the C library of other systems.
          nativeBuildInputs = [
            pkgs.installShellFiles
          ] ++ pkgs.lib.optional pkgs.stdenv.isLinux pkgs.autoPatchelfHook;
          buildInputs = pkgs.lib.optional pkgs.stdenv.isLinux pkgs.stdenv.cc.cc.lib;
          installPhase = ''
            runHook preInstall
            install -D -m 755 hlo-analyzer $out/bin/hlo-analyzer
            installShellCompletion --bash completions/hlo-analyzer.bash
            installShellCompletion --zsh completions/_hlo-analyzer
            installShellCompletion --fish completions/hlo-analyzer.fish
            installManPage man/*.1
            runHook postInstall
          '';
          meta = {{
            description = "{description}";
            homepage = "{homepage}";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "hlo-analyzer";
          }};
        }};
    in
    {{
      packages = builtins.mapAttrs (system: archive: {{ default = package system archive; }}) archives;
    }};
}}
"#,
        description = program.description,
        homepage = repository(program),
        version = program.version,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::tests::program;

    #[test]
    fn each_system_has_its_archive() {
        let mac = "hlo-analyzer-1.2.3-aarch64-apple-darwin.tar.gz";
        let sums = Checksums::for_test(&[mac, "hlo-analyzer-1.2.3-x86_64-pc-windows-msvc.tar.gz"]);
        let flake = flake(&program(), &sums);
        let expected = format!(
            "      archives = {{\n        aarch64-darwin = {{\n          \
             url = \"https://example.org/hlo-analyzer/releases/download/v1.2.3/{mac}\";\n          \
             sha256 = \"{}\";\n        }};\n      }};\n",
            sums.get(mac).unwrap()
        );
        assert!(flake.contains(&expected), "{flake}");
    }
}
