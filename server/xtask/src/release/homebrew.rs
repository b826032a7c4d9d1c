//! The formula for Homebrew: the archive of each platform with its checksum.

use std::fmt::Write as _;

use super::checksums::Checksums;
use super::platform::PLATFORMS;
use super::version::Package;
use super::{download, repository};

pub const FILE: &str = "hlo-analyzer.rb";

/// The formula with the archives that have a checksum.
pub fn formula(program: &Package, sums: &Checksums) -> String {
    let mut urls = String::new();
    for system in ["on_macos", "on_linux"] {
        let mut cpus = String::new();
        for platform in &PLATFORMS {
            let archive = platform.archive(&program.version);
            let (Some((of, cpu)), Some(sum)) = (platform.homebrew, sums.get(&archive)) else { continue };
            if of == system {
                let url = download(program, &archive);
                let _ = writeln!(cpus, "    {cpu} do\n      url \"{url}\"\n      sha256 \"{sum}\"\n    end");
            }
        }
        if !cpus.is_empty() {
            let _ = writeln!(urls, "  {system} do\n{cpus}  end\n");
        }
    }
    format!(
        r##"class HloAnalyzer < Formula
  desc "{description}"
  homepage "{homepage}"
  version "{version}"
  license "Apache-2.0"

{urls}  def install
    bin.install "hlo-analyzer"
    bash_completion.install "completions/hlo-analyzer.bash" => "hlo-analyzer"
    zsh_completion.install "completions/_hlo-analyzer"
    fish_completion.install "completions/hlo-analyzer.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/hlo-analyzer --version")
  end
end
"##,
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
    fn each_platform_has_its_archive() {
        let (mac, linux) = (
            "hlo-analyzer-1.2.3-aarch64-apple-darwin.tar.gz",
            "hlo-analyzer-1.2.3-x86_64-unknown-linux-gnu.tar.gz",
        );
        let sums = Checksums::for_test(&[mac, linux, "hlo-analyzer-1.2.3-x86_64-pc-windows-msvc.tar.gz"]);
        let formula = formula(&program(), &sums);
        for (system, cpu, archive) in [("macos", "arm", mac), ("linux", "intel", linux)] {
            let expected = format!(
                "  on_{system} do\n    on_{cpu} do\n      \
                 url \"https://example.org/hlo-analyzer/releases/download/v1.2.3/{archive}\"\n      \
                 sha256 \"{}\"\n    end\n  end\n",
                sums.get(archive).unwrap()
            );
            assert!(formula.contains(&expected), "{formula}");
        }
        assert!(!formula.contains("windows"));
    }
}
