//! The optimised modules of two folders that XLA dumped, in pairs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::diff::{Pair, source};

/// Pairs the optimised modules of two folders by name. A module that only one of them has is an error of its pair.
pub(super) fn pairs(folders: [&Path; 2], devices: [&str; 2]) -> Result<Vec<Pair>> {
    let [before, after] = [optimised(folders[0])?, optimised(folders[1])?];
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    let mut pairs = Vec::new();
    for name in names {
        let paths = [&before, &after].map(|modules| modules.get(name).map(Vec::as_slice).unwrap_or_default());
        for at in 0..paths[0].len().max(paths[1].len()) {
            let side = |side: usize| match paths[side].get(at) {
                Some(path) => source(path, devices[side]),
                None => Err(format!("{} has no optimised module {name}", folders[side].display())),
            };
            pairs.push([side(0), side(1)]);
        }
    }
    Ok(pairs)
}

/// The optimised modules of a folder, by the name of the module; modules of one name in the order of their files.
fn optimised(folder: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(module) = module_name(&name) {
            found.entry(module.to_owned()).or_default().push(path);
        }
    }
    if found.is_empty() {
        bail!("{} has no optimised module: no file ends in after_optimizations.txt", folder.display());
    }
    Ok(found)
}

/// `module_0022.jit_f.sm_9.0a_gpu_after_optimizations.txt` → `jit_f`
fn module_name(file: &str) -> Option<&str> {
    let file = file.strip_suffix(".gz").unwrap_or(file);
    let front = file.strip_suffix("after_optimizations.txt")?;
    let front = front.find("module_").map_or(front, |at| &front[at..]);
    let (_, name) = front.split_once('.')?;
    let end = name.rfind(".sm_").or_else(|| name.rfind('.'))?;
    Some(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::module_name;

    #[test]
    fn names_of_modules() {
        for (file, name) in [
            ("module_0022.jit_f.sm_9.0a_gpu_after_optimizations.txt", Some("jit_f")),
            ("1763.module_0022.jit.f.gpu_after_optimizations.txt.gz", Some("jit.f")),
            ("module_0022.jit_f.cpu_after_optimizations.txt", Some("jit_f")),
            ("module_0022.jit_f.before_optimizations.txt", None),
            ("after_optimizations.txt", None),
        ] {
            assert_eq!(module_name(file), name, "{file}");
        }
    }
}
