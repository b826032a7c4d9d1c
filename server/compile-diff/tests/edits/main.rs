//! Random edits of modules: the comparison reports each of them, and nothing else. Modules are those of the generator, the project's
//! own and, where they are beside the checkout, those that XLA optimised.

mod edit;
mod scramble;
mod sources;
mod split;
mod text;

use std::fmt::Write as _;

use compile_diff::{Change, Changes, Module, What, changes};
use random::Rng;

use edit::{At, Edit, Expected};

/// How many edits were made and reported, and how much of what was reported is no edit.
#[derive(Debug, Default)]
struct Score {
    edits: usize,
    reported: usize,
    reports: usize,
    false_reports: usize,
    misses: String,
}

/// A single thing that a comparison says, with its places before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    New(At),
    Gone(At),
    Moved { from: At, to: At },
    Changed { before: At, after: At, what: What },
    Root { before: At, after: At },
    Other(String),
}

fn said(before: &Module<'_>, after: &Module<'_>, found: &Changes) -> Vec<Said> {
    let computation = |module: &Module<'_>, at: u32| At::new(module.program.computation(at).name, "");
    let place = |module: &Module<'_>, id: u32| {
        At::new(module.program.computation_of(id).name, module.program.instruction(id).name)
    };
    let mut said = Vec::new();
    for change in &found.changes {
        match change {
            Change::New { instruction, .. } => said.push(Said::New(place(after, *instruction))),
            Change::Gone { instruction, .. } => said.push(Said::Gone(place(before, *instruction))),
            Change::Moved { from, to, .. } => {
                said.push(Said::Moved { from: computation(before, *from), to: computation(after, *to) });
            }
            Change::Changed { before: source, after: id, differences } => {
                said.extend(differences.iter().map(|difference| Said::Changed {
                    before: place(before, *source),
                    after: place(after, *id),
                    what: difference.what.clone(),
                }));
            }
            Change::Root { before: one, after: other } => {
                said.push(Said::Root {
                    before: computation(before, *one),
                    after: computation(after, *other),
                });
            }
            other => said.push(Said::Other(format!("{other:?}"))),
        }
    }
    said
}

impl Score {
    /// Makes some edits in a module, and asks for them. Half of the edited modules get new names and another order.
    fn ask(&mut self, module: &str, seed: u64) {
        let mut rng = Rng::new(seed);
        let count = 1 + rng.index(4);
        let (mut text, mut edits) = (module.to_owned(), Vec::<Edit>::new());
        for _ in 0..count {
            if let Some((next, edit)) = edit::random(&text, &mut rng, &edits) {
                text = next;
                edits.push(edit);
            }
        }
        let names = if rng.flag() { scramble::scramble(&mut text, &mut rng) } else { Default::default() };
        let is_reversed = rng.flag();
        let (one, other) = if is_reversed { (text.as_str(), module) } else { (module, text.as_str()) };
        let read = |text| Module::read(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let (before, after) = (read(one), read(other));
        assert_eq!((&before.errors, &after.errors), (&Vec::new(), &Vec::new()), "seed {seed}\n{text}");
        let (found, _) = changes(&before, &after);
        let mut said = said(&before, &after, &found);
        self.edits += edits.len();
        self.reports += said.len();
        let mut note = String::new();
        for edit in &edits {
            let wanted = edit.expected.after(&names).reversed_if(is_reversed);
            let known = said.len();
            said.retain(|said| !wanted.is_said_by(said));
            if said.len() < known {
                self.reported += 1;
            } else {
                writeln!(note, "  not reported: {wanted:?}").expect("text is written");
            }
        }
        self.false_reports += said.len();
        for said in &said {
            writeln!(note, "  no edit: {said:?}").expect("text is written");
        }
        if !note.is_empty() {
            writeln!(
                self.misses,
                "seed {seed}, {edits:?}, reversed {is_reversed}, new names {}:\n{note}",
                !names.is_empty()
            )
            .expect("text is written");
        }
    }

    fn check(&self, what: &str) {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        eprintln!(
            "{what}: {} of {} edits reported ({:.2} %); {} of {} reports are no edit ({:.2} %)",
            self.reported,
            self.edits,
            share(self.reported, self.edits),
            self.false_reports,
            self.reports,
            share(self.false_reports, self.reports)
        );
        if std::env::var_os("HLO_ANALYZER_MISSES").is_some() {
            eprintln!("{}", self.misses);
        }
        assert!(self.edits >= 200, "{what}: {} edits", self.edits);
        assert!(share(self.reported, self.edits) >= 99.0, "{}", self.misses);
        assert!(share(self.false_reports, self.reports) <= 1.0, "{}", self.misses);
    }
}

impl Expected {
    fn is_said_by(&self, said: &Said) -> bool {
        match (self, said) {
            (Expected::New(name), Said::New(title)) | (Expected::Gone(name), Said::Gone(title)) => {
                title == name
            }
            (Expected::Moved(one, other), Said::Moved { from, to }) => from == one && to == other,
            (Expected::Changed(one, other, what), Said::Changed { before, after, what: found }) => {
                before == one
                    && after == other
                    && std::mem::discriminant(what) == std::mem::discriminant(found)
            }
            (Expected::Root(one, other), Said::Root { before, after }) => before == one && after == other,
            _ => false,
        }
    }
}

#[test]
fn edits_of_generated_modules_are_reported_and_nothing_else() {
    let mut score = Score::default();
    for case in 0..generators::cases(400) {
        let seed = generators::seed(case);
        let module = sources::generated(&mut Rng::new(seed));
        score.ask(&module, seed);
    }
    score.check("generated modules");
}

#[test]
fn edits_of_own_modules_are_reported_and_nothing_else() {
    let mut score = Score::default();
    for (_, module) in sources::own() {
        for case in 0..generators::cases(40) {
            score.ask(&module, generators::seed(case));
        }
    }
    score.check("own modules");
}

#[test]
fn renaming_and_reordering_are_no_changes() {
    let mut modules: Vec<String> = sources::own().into_iter().map(|(_, text)| text).collect();
    modules.extend((0..200).map(|case| sources::generated(&mut Rng::new(generators::seed(case)))));
    for (case, module) in modules.iter().enumerate() {
        let mut text = module.clone();
        scramble::scramble(&mut text, &mut Rng::new(case as u64));
        let read = |text| Module::read(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let (before, after) = (read(module), read(&text));
        let (found, pairing) = changes(&before, &after);
        assert_eq!(said(&before, &after, &found), [], "{module}\nagainst\n{text}");
        assert!(pairing.before.iter().all(Option::is_some), "{module}\nagainst\n{text}");
    }
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn edits_of_optimised_modules_are_reported_and_nothing_else() {
        let mut score = Score::default();
        for (name, module) in sources::optimised() {
            let mut text = module.clone();
            scramble::scramble(&mut text, &mut Rng::new(1));
            let (before, after) =
                (Module::read(&module).expect("it is HLO"), Module::read(&text).expect("it is HLO"));
            let (found, _) = changes(&before, &after);
            assert_eq!(said(&before, &after, &found), [], "{name} under other names");
            for case in 0..generators::cases(12) {
                score.ask(&module, generators::seed(case));
            }
        }
        score.check("optimised modules");
    }
}
