//! `cargo xtask kernels`: runs the kernels that XLA's GPU compiler generated for a few thousand fusions, and
//! ours for the same fusions, on the CPU, and compares them with the reference interpreter.

use anyhow::{Result, bail};

use crate::commands::{cargo, root, run};

pub fn kernels(options: &[&str]) -> Result<()> {
    let which = match options {
        [] => "",
        ["--all"] => "all",
        [part] if !part.starts_with('-') => part,
        _ => bail!("kernels takes --all, or a part of a name"),
    };
    if !root().join("../shared/conformance/data").is_dir() {
        println!("there are no kernels of XLA's compiler beside this checkout");
        return Ok(());
    }
    for (package, test) in [("agreement", "xla_kernels"), ("codegen", "executed")] {
        let mut test = cargo(&[
            "test",
            "--release",
            "--package",
            package,
            "--test",
            test,
            "--",
            "--nocapture",
            "--include-ignored",
        ]);
        run(test.env("HLO_ANALYZER_KERNELS", which))?;
    }
    Ok(())
}
