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
    let mut text = String::from("HloModule m, is_scheduled=true, num_partitions=4\n\nENTRY e {\n");
    let mut known: Vec<(String, i64)> = Vec::new();
    // Weights that are in memory twice, and a padded layout.
    let (rows, is_read_twice) = (*rng.pick(&sizes), rng.index(2) == 0);
    writeln!(
        text,
        "  w = f32[{rows},8]{{1,0}} parameter(3)\n  wt = f32[8,{rows}]{{1,0}} transpose(w), dimensions={{1,0}}\n  \
         tiled = f32[{rows},3]{{1,0:T(8,128)}} iota(), iota_dimension=0\n  halved = f32[{rows},3]{{1,0:T(8,128)}} negate(tiled)"
    )
    .expect("text is written");
    for n in 0..3 {
        let size = *rng.pick(&sizes);
        writeln!(text, "  p{n} = f32[{size}]{{0}} parameter({n}), sharding={{replicated}}")
            .expect("text is written");
        known.push((format!("p{n}"), size));
    }
    for n in 0..5 + rng.index(40) {
        let (operand, size) = rng.pick(&known).clone();
        let name = format!("v{n}");
        let line = match rng.index(7) {
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
            4 => format!("{name} = f32[{size}]{{0}} reverse({operand}), dimensions={{0}}"),
            5 => {
                writeln!(text, "  one{n} = f32[] constant(1)").expect("text is written");
                format!("{name} = f32[{size}]{{0}} broadcast(one{n}), dimensions={{}}")
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
    let again = if is_read_twice { "w" } else { "wt" };
    writeln!(
        text,
        "  d = f32[8,8]{{1,0}} dot({again}, wt), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\n  \
         z = f32[] constant(0)\n  sums = f32[{rows}]{{0}} reduce(halved, z), dimensions={{1}}, to_apply=add\n  \
         s = f32[64]{{0}} custom-call(d, sums), custom_call_target=\"both\""
    )
    .expect("text is written");
    known.push(("s".to_owned(), 64));
    let results: Vec<(String, i64)> = (0..3).map(|_| rng.pick(&known).clone()).collect();
    let shapes: Vec<String> = results.iter().map(|(_, size)| format!("f32[{size}]{{0}}")).collect();
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    writeln!(text, "  ROOT r = ({}) tuple({})\n}}", shapes.join(", "), names.join(", "))
        .expect("text is written");
    text
}
