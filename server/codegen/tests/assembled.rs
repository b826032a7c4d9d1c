//! Parses our texts, and assembles them with ptxas. It is searched in `HLO_ANALYZER_PTXAS` and on `PATH`;
//! without it, that test says so and passes. Tests fusions of our own, and a seeded sample of the corpus; `CODEGEN_ASSEMBLE=all`
//! takes the whole corpus.

#![allow(clippy::print_stdout, reason = "how many texts were assembled")]

mod written;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use agreement::xla_kernels::hash;
use written::written;

/// The devices, and their names for ptxas.
const DEVICES: [(&str, &str); 3] = [("a100-sxm-80", "sm_80"), ("h100-sxm", "sm_90a"), ("b200", "sm_100")];
/// One of this many fusions of the corpus is tested.
const ONE_OF: u64 = 60;

const OWN: [&str; 4] = [
    "\
fused {
  p0 = bf16[64,200] parameter(0)
  n = bf16[64,200] negate(p0)
  ROOT r = bf16[64,200] exponential(n)
}
ENTRY e {
  p0 = bf16[64,200] parameter(0)
  ROOT f = bf16[64,200] fusion(p0), kind=kLoop, calls=fused
}
",
    "\
fused {
  p0 = s8[96,100] parameter(0)
  ROOT r = s8[100,96] transpose(p0), dimensions={1,0}
}
ENTRY e {
  p0 = s8[96,100] parameter(0)
  ROOT f = s8[100,96] fusion(p0), kind=kInput, calls=fused
}
",
    "\
add {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b)
}
fused {
  p0 = bf16[50,8] parameter(0)
  p1 = s64[40,1] parameter(1)
  p2 = bf16[40,1,8] parameter(2)
  ROOT r = bf16[50,8] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
ENTRY e {
  p0 = bf16[50,8] parameter(0)
  p1 = s64[40,1] parameter(1)
  p2 = bf16[40,1,8] parameter(2)
  ROOT f = bf16[50,8] fusion(p0, p1, p2), kind=kInput, calls=fused
}
",
    "\
less {
  a = f64[] parameter(0)
  b = f64[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
fused {
  p0 = f64[3,70] parameter(0)
  ROOT r = f64[3,70] sort(p0), dimensions={1}, to_apply=less
}
ENTRY e {
  p0 = f64[3,70] parameter(0)
  ROOT f = f64[3,70] fusion(p0), kind=kInput, calls=fused
}
",
];

/// Assembles a text; fails with the errors of ptxas.
fn assemble(ptxas: &Path, text: &str, target: &str, number: usize) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{target}-{number}.ptx"));
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let output = file.with_extension("cubin");
    let run = Command::new(ptxas).arg(format!("-arch={target}")).arg("-o").arg(&output).arg(&file).output();
    let run = run.map_err(|e| format!("{}: {e}", ptxas.display()))?;
    _ = std::fs::remove_file(&output);
    if run.status.success() {
        _ = std::fs::remove_file(&file);
        return Ok(());
    }
    let said = String::from_utf8_lossy(&run.stderr);
    Err(format!("{}: {}", file.display(), said.lines().next().unwrap_or("it fails without a word")))
}

/// The modules with a fusion each: those of our own, and a sample of the corpus.
fn modules() -> Vec<(String, String)> {
    let module = |text: &str| (format!("HloModule m\n\n{text}"), "f".to_owned());
    let mut modules: Vec<(String, String)> = OWN.iter().copied().map(module).collect();
    let takes_all = std::env::var("CODEGEN_ASSEMBLE").is_ok_and(|which| which == "all");
    if test_files::needs::find_shared("conformance/data").is_some() {
        let loaded = agreement::xla_kernels::load();
        // The corpus has the same fusion compiled for several devices.
        let mut seen = BTreeSet::new();
        for pair in loaded.pairs {
            let taken = takes_all || hash(&pair.name).is_multiple_of(ONE_OF);
            if taken && seen.insert(hash(&pair.hlo)) {
                modules.push((pair.hlo, pair.fusion));
            }
        }
    }
    modules
}

/// Parsing a text gives statements that print its lines: no instruction is printed as another one.
#[test]
fn our_texts_parse_to_what_they_print() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let mut texts = 0;
    for (hlo, fusion) in &modules() {
        for (device, _) in DEVICES {
            let Ok(kernel) = written(hlo, fusion, device) else { continue };
            for kernel in std::iter::once(&kernel).chain(&kernel.then) {
                let module = ptx::parse(&kernel.ptx).unwrap_or_else(|error| panic!("{fusion}: {error}"));
                let printed = module.to_string();
                let pairs = printed.lines().filter(is_code).zip(kernel.ptx.lines().filter(is_code));
                for (printed, own) in pairs {
                    assert_eq!(printed, own, "{fusion} on {device}");
                }
                let counts = [&printed, &kernel.ptx].map(|text| text.lines().filter(is_code).count());
                assert_eq!(counts[0], counts[1], "{fusion} on {device}");
                texts += 1;
            }
        }
    }
    assert!(texts >= OWN.len() * DEVICES.len(), "{texts} texts");
}

mod needs_ptxas {
    use super::*;

    #[test]
    #[ignore = "needs ptxas: cargo xtask test"]
    fn ptxas_takes_our_texts() {
        let ptxas = test_files::needs::ptxas();
        let modules = modules();
        let mut texts = 0;
        let mut wrong = Vec::new();
        for (number, (hlo, fusion)) in modules.iter().enumerate() {
            for (device, target) in DEVICES {
                // A kernel that is not emitted cannot be wrong.
                let Ok(kernel) = written(hlo, fusion, device) else { continue };
                for (n, kernel) in std::iter::once(&kernel).chain(&kernel.then).enumerate() {
                    // The text may use features specific to one device, which others of its generation lack.
                    let text = &kernel.ptx;
                    let target = if text.contains(&format!(".target {target}a")) {
                        format!("{target}a")
                    } else {
                        target.to_owned()
                    };
                    texts += 1;
                    if let Err(words) = assemble(&ptxas, text, &target, number * 100 + n) {
                        wrong.push(format!("{fusion} on {device}: {words}"));
                    }
                }
            }
        }
        println!("{texts} texts of {} fusions assembled, {} not", modules.len(), wrong.len());
        assert!(texts >= OWN.len() * DEVICES.len(), "{texts} texts");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
