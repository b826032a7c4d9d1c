//! What is wrong with a dump folder, in words.

use crate::artefact::ArtefactKind;
use crate::folder::Compile;
use crate::stage::{Stage, StageKind};

/// The problems of one compile.
pub(crate) fn of_compile(compile: &Compile) -> Vec<String> {
    let title = compile.title();
    if compile.stages.is_empty() {
        let is_proto = compile.artefacts.iter().any(|artefact| artefact.kind == ArtefactKind::Proto);
        let why = match is_proto {
            true => "its modules are protocol buffers; dump them with --xla_dump_hlo_as_text",
            false => "no module of it is in the folder",
        };
        return vec![format!("{title} has no stage to show: {why}")];
    }
    let mut problems = Vec::new();
    problems.extend(ends(compile, &title));
    problems.extend(numbers(&compile.stages, &title));
    for stage in compile.stages.iter().filter(|stage| stage.size == 0) {
        problems.push(format!("{} is empty: the dump was cut off", stage.path));
    }
    problems
}

fn ends(compile: &Compile, title: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let of_kind = |kind| compile.stages.iter().filter(move |stage| stage.kind == kind);
    match of_kind(StageKind::BeforeOptimizations).count() {
        0 => problems.push(format!(
            "{title} has no module before optimizations: origins end at {}",
            compile.stages[0].name()
        )),
        1 => {}
        count => problems.push(format!("{title} has {count} modules before optimizations")),
    }
    let last: Vec<&Stage> = of_kind(StageKind::AfterOptimizations).collect();
    match last[..] {
        [] => problems.push(format!(
            "{title} has no module after optimizations: the compile did not finish, or its last files are missing"
        )),
        [_] => {}
        [first, .., other] => problems.push(format!(
            "{title} has {} modules after optimizations, such as {} and {}: several compiles share these names",
            last.len(),
            first.after,
            other.after
        )),
    }
    problems
}

fn numbers(stages: &[Stage], title: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let numbers: Vec<u32> = stages.iter().filter_map(|stage| stage.number).collect();
    let mut next = 0;
    for &number in &numbers {
        if number > next {
            let range = match number - next {
                1 => format!("stage {next:04} of {title} is"),
                _ => format!("stages {next:04} to {:04} of {title} are", number - 1),
            };
            problems.push(format!("{range} missing from the folder"));
        }
        next = next.max(number.saturating_add(1));
    }
    let repeated = numbers.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if repeated > 0 {
        let first = numbers.windows(2).find(|pair| pair[0] == pair[1]).map_or(0, |pair| pair[0]);
        problems.push(format!(
            "{title} has {repeated} stage numbers twice, the first is {first:04}: two compiles of one name and id \
             share the folder; dump each into a folder of its own"
        ));
    }
    problems
}

/// The problems of a folder as a whole.
pub(crate) fn of_folder(compiles: &[Compile]) -> Vec<String> {
    let mut problems = Vec::new();
    for pair in compiles.windows(2) {
        let [one, other] = pair else { continue };
        let is_same = |of: fn(&Compile) -> (&str, Option<u64>)| of(one) == of(other);
        if one.id.is_some() && is_same(|compile| (&compile.folder, compile.id)) && one.module != other.module
        {
            problems.push(format!(
                "{} and {} both have the module id {}: two processes dumped into the folder",
                one.title(),
                other.title(),
                one.id.unwrap_or_default()
            ));
        }
    }
    problems
}
