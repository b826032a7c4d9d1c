//! The functions of a kernel: in its MLIR, in the query, in the hover, and in the highlighting of the fused
//! computation.

use std::collections::BTreeSet;

use ide::{FusionQuery, KernelLanguage};

use crate::modules;

fn functions_of(mlir: &str) -> BTreeSet<String> {
    let heads = mlir.lines().filter_map(|line| line.trim_start().strip_prefix("func.func "));
    heads.filter_map(|head| Some(head.split_once('@')?.1.split_once('(')?.0.to_owned())).collect()
}

/// Returns the number of kernels compared, and the number of those with several results.
fn check(name: &str, text: &str) -> (usize, usize) {
    let (analysis, file) = modules::open(text);
    let said = "nobody cancels";
    let Ok(partitions) = analysis.partition(file, None, &[]).expect(said) else { return (0, 0) };
    let (mut compared, mut several) = (0, 0);
    for place in modules::instructions(&analysis, file) {
        let line = &text[place.at..place.end];
        let Some(called) = line.split("calls=").nth(1).filter(|_| line.contains(" fusion(")) else {
            continue;
        };
        let called = called.split([',', '\n', ' ']).next().unwrap_or_default().trim_start_matches('%');
        let query =
            FusionQuery { instruction: place.name.clone(), computation: Some(place.computation.clone()) };
        let Ok(document) = analysis.kernel_document(file, &query, KernelLanguage::Mlir).expect(said) else {
            continue;
        };
        if document.code().is_none() {
            continue;
        }
        let found = partitions.iter().find(|partition| partition.name == called);
        let partition = found.unwrap_or_else(|| panic!("{name}: {called} has functions"));
        let functions = partition.functions.as_ref().expect("there are few");
        let own = functions.iter().filter(|function| !function.is_entry);
        let own: BTreeSet<String> = own.map(|function| function.name.clone()).collect();
        // The MLIR also has the entry, computations on scalars, and epilogues, which belong to a group of
        // roots.
        let plain: String =
            called.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>() + "_";
        let shown: BTreeSet<String> = functions_of(&document.body)
            .into_iter()
            .filter(|f| f.starts_with(&plain) && !f.contains("__epilogue__"))
            .collect();
        assert_eq!(own, shown, "{name}, %{}", place.name);
        let hover = analysis.hover(file, place.at).expect(said).map(|h| h.markdown()).unwrap_or_default();
        let functions = functions.iter().take(8);
        let is_listed = |f: &ide::PartitionedFunction| hover.contains(&format!(". `{}`", f.name));
        assert!(functions.len() < 2 || functions.clone().all(is_listed), "{name}: {hover}");
        // At most one function is called the hero, and none of those that it reads.
        let heroes = hover.lines().filter(|line| line.contains(": the hero")).count();
        assert!(heroes <= 1 || hover.contains("epilogue"), "{name}: {hover}");
        compared += 1;
        several += usize::from(line.contains("= ("));
    }
    (compared, several)
}

#[test]
fn functions_are_those_of_the_kernels_code() {
    let mut counts = (0, 0);
    for (name, text) in modules::all(3) {
        let (compared, several) = check(&name, &text);
        counts = (counts.0 + compared, counts.1 + several);
    }
    eprintln!("{} kernels, {} of them with several results", counts.0, counts.1);
    assert!(counts.0 >= 6 && counts.1 >= 3);
}
