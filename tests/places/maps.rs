//! The maps of an instruction: in its hover, in `explain`, in the query's result, in its hint.

use ide::{
    Direction, DomainHints, HoverConfig, IndexingKind, IndexingQuery, IndexingReply, InlayHintsConfig, Rules,
};
use indexing_map::{PrintStyle, print_map};

use crate::modules;

/// Removes white space and the comma at which a hover breaks a line, which are not part of a map.
fn letters(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    text.replace(",domain:", "domain:")
}

/// Returns the number of maps compared.
fn check(name: &str, text: &str) -> usize {
    let (analysis, file) = modules::open(text);
    let said = "nobody cancels";
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect(said);
    let hints = InlayHintsConfig { domains: DomainHints::All, splits: false, memory: false };
    let hints = analysis.inlay_hints(file, 0..text.len(), &hints).expect(said);
    let mut compared = 0;
    for place in modules::instructions(&analysis, file) {
        let line = text[place.at..place.end].split(" = ").nth(1).unwrap_or_default();
        // Their maps are described in words, or nothing is read by index.
        if [" tuple(", " while(", " parameter(", " constant(", " iota("].iter().any(|op| line.contains(op)) {
            continue;
        }
        let config = HoverConfig { readable_variables: false, ..HoverConfig::default() };
        let hover = analysis.hover_with(file, place.at, &config).expect(said);
        let hover = hover.map(|hover| hover.markdown()).unwrap_or_default();
        if hover.contains("more maps") || !hover.contains("→") {
            continue;
        }
        let query = IndexingQuery {
            instruction: place.name.clone(),
            computation: Some(place.computation.clone()),
            kind: IndexingKind::One { direction: Direction::OutputToInput, index: 0, physical_layout: false },
            simplify: true,
            rules: Rules::Exact,
        };
        let Ok(IndexingReply::Operands(maps)) = analysis.indexing(file, &query).expect(said) else {
            continue;
        };
        let hint = hints.iter().find(|hint| (place.at..=place.end).contains(&hint.offset));
        let accesses: Vec<_> = maps.operands.iter().flatten().collect();
        for access in &accesses {
            let map = print_map(&access.map, PrintStyle::Floordiv);
            let is_shown = match () {
                () if access.map.is_undefined() => hover.contains("no map"),
                () if access.map.results().is_empty() => hover.contains("the scalar"),
                () if access.is_identity() && access.runtime_variables.is_empty() => {
                    hover.contains("identity")
                }
                () => letters(&hover).contains(&letters(&map)),
            };
            assert!(is_shown, "{name}, %{}: {map} is not in the popup\n{hover}", place.name);
            let is_explained = match () {
                () if access.map.is_undefined() => explained.contains("no map"),
                () if access.map.results().is_empty() => explained.contains(": the scalar"),
                () if access.is_identity() => explained.contains(": identity"),
                () => explained.contains(&format!(": {map}\n")),
            };
            assert!(is_explained, "{name}, %{}: {map} is not explained\n{explained}", place.name);
            compared += 1;
        }
        let is_open = accesses.iter().any(|access| !access.runtime_variables.is_empty());
        if let Some(hint) = hint.filter(|_| !is_open) {
            assert!(!hint.label.contains("rt"), "{name}, %{}: {}", place.name, hint.label);
        }
    }
    compared
}

#[test]
fn maps_are_the_same_everywhere() {
    let compared: usize = modules::all(23).iter().map(|(name, text)| check(name, text)).sum();
    eprintln!("{compared} maps compared");
    assert!(compared > 100);
}

/// Known indices are folded in all outputs, giving the exact map.
#[test]
fn known_indices_are_folded() {
    let (analysis, file) = modules::open(modules::MODULE);
    let runtime_variables = |instruction: &str| {
        let query = IndexingQuery {
            instruction: instruction.to_owned(),
            computation: Some("e".to_owned()),
            kind: IndexingKind::One { direction: Direction::OutputToInput, index: 0, physical_layout: false },
            simplify: true,
            rules: Rules::Exact,
        };
        let Ok(IndexingReply::Operands(maps)) = analysis.indexing(file, &query).expect("nobody cancels")
        else {
            panic!("{instruction} has maps");
        };
        maps.operands[0].iter().map(|access| access.runtime_variables.len()).sum::<usize>()
    };
    let found = ["known", "chained", "open", "taken", "far", "f4", "f5"].map(runtime_variables);
    assert_eq!(found, [0, 0, 1, 0, 1, 1, 0]);
}
