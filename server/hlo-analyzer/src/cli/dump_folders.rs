//! The optimised modules of folders that XLA dumped, and those of two folders in pairs.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use compile::Compile;
use ide::Device;

use super::diff::{Pair, source};
use crate::diff::Source;
use crate::dumps::{device_of, list};

/// Pairs the optimised modules of two folders by name. A module that only one of them has is an error of its pair. `devices` are for
/// compiles without a `gpu_target_config.pbtxt`.
pub(super) fn pairs(folders: [&Path; 2], devices: [&'static Device; 2]) -> Result<Vec<Pair>> {
    let [before, after] = [optimised(folders[0])?, optimised(folders[1])?];
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let mut pairs = Vec::new();
    for name in names {
        let compiles =
            [&before, &after].map(|modules| modules.get(name).map(Vec::as_slice).unwrap_or_default());
        for at in 0..compiles[0].len().max(compiles[1].len()) {
            let side = |side: usize| match compiles[side].get(at) {
                Some(compile) => read(folders[side], compile, devices[side]),
                None => Err(format!("{} has no optimised module {name}", folders[side].display())),
            };
            pairs.push([side(0), side(1)]);
        }
    }
    Ok(pairs)
}

/// The optimised modules of a folder, in the order of their names. `device` is for compiles without a `gpu_target_config.pbtxt`.
pub(super) fn optimised_sources(
    folder: &Path,
    device: &'static Device,
) -> Result<Vec<Result<Source, String>>> {
    let compiles = optimised(folder)?.into_values().flatten();
    Ok(compiles.map(|compile| read(folder, &compile, device)).collect())
}

/// The compiles of a folder with an optimised module, by the name of the module; those of one name in the order of their ids.
fn optimised(folder: &Path) -> Result<BTreeMap<String, Vec<Compile>>> {
    let files = list(folder).map_err(|why| anyhow!(why))?;
    let entries: Vec<_> = files.into_iter().map(|file| file.entry).collect();
    let mut found: BTreeMap<String, Vec<Compile>> = BTreeMap::new();
    for compile in compile::group(&entries).compiles {
        if compile.after_optimizations().is_some() {
            found.entry(compile.title()).or_default().push(compile);
        }
    }
    if found.is_empty() {
        bail!("{} has no optimised module: no file ends in after_optimizations.txt", folder.display());
    }
    Ok(found)
}

/// The optimised module of a compile, with the device that it targets.
fn read(folder: &Path, compile: &Compile, device: &'static Device) -> Result<Source, String> {
    let stage = compile.after_optimizations().ok_or_else(|| format!("{} has no stages", compile.title()))?;
    source(&folder.join(&stage.path), device_of(folder, compile).unwrap_or(device))
}
