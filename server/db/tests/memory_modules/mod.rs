//! Plans of modules, and random modules to plan.

use std::fmt::Write;
use std::sync::Arc;

use db::{Database, Documents, Language};
use memory::Memory;
use random::Rng;

pub fn planned(text: &str) -> Arc<Memory> {
    planned_or_not(text).unwrap_or_else(|| panic!("no entry computation:\n{text}"))
}

pub fn planned_or_not(text: &str) -> Option<Arc<Memory>> {
    let (mut db, mut documents) = (Database::default(), Documents::default());
    let file = documents.open(&mut db, Language::Hlo, text);
    let file = documents.view(file).expect("it is open").file;
    db::module_memory(&db, file).clone()
}

/// A random module in which values live long, share tuples and go through a loop.
pub fn random_module(rng: &mut Rng) -> String {
    let sizes = [1i64, 64, 100, 256, 1000];
    let mut text = String::from("HloModule m, is_scheduled=true\n\nENTRY e {\n");
    let mut known: Vec<(String, i64)> = Vec::new();
    for n in 0..3 {
        let size = *rng.pick(&sizes);
        writeln!(text, "  p{n} = f32[{size}]{{0}} parameter({n})").expect("text is written");
        known.push((format!("p{n}"), size));
    }
    for n in 0..5 + rng.index(40) {
        let (operand, size) = rng.pick(&known).clone();
        let name = format!("v{n}");
        let line = match rng.index(5) {
            0 => format!("{name} = f32[{size}]{{0}} negate({operand})"),
            1 => format!("{name} = f32[{size}]{{0}} copy({operand})"),
            2 => {
                let same: Vec<&String> =
                    known.iter().filter(|(_, s)| *s == size).map(|(name, _)| name).collect();
                format!("{name} = f32[{size}]{{0}} add({operand}, {})", rng.pick(&same))
            }
            3 => {
                let new = *rng.pick(&sizes);
                known.push((name.clone(), new));
                writeln!(text, "  i{n} = s32[] constant(0)").expect("text is written");
                let line = format!(
                    "{name} = f32[{new}]{{0}} custom-call({operand}, i{n}), custom_call_target=\"resize\""
                );
                writeln!(text, "  {line}").expect("text is written");
                continue;
            }
            _ => {
                writeln!(text, "  t{n} = (f32[{size}]{{0}}, f32[{size}]{{0}}) custom-call({operand}), custom_call_target=\"two\"")
                    .expect("text is written");
                format!("{name} = f32[{size}]{{0}} add(t{n}#0, t{n}#1)")
            }
        };
        writeln!(text, "  {line}").expect("text is written");
        known.push((name, size));
    }
    let results: Vec<(String, i64)> = (0..3).map(|_| rng.pick(&known).clone()).collect();
    let shapes: Vec<String> = results.iter().map(|(_, size)| format!("f32[{size}]{{0}}")).collect();
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(text, "  ROOT r = ({}) tuple({})\n}}", shapes.join(", "), names.join(", "))
        .expect("text is written");
    text
}
