use super::*;
use expect_test::{Expect, expect};

const FIRST: &str = "HloModule jit_f, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}

FileNames
1 \"models.py\"

FunctionNames
1 \"f\"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%sum.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b), metadata={op_name=\"sum\"}
}

ENTRY %main.9 (p.1: f32[8,4]) -> f32[8,4] {
  %p.1 = f32[8,4]{1,0} parameter(0), metadata={op_name=\"x\"}
  %zero.1 = f32[] constant(0)
  %reduce.1 = f32[8]{0} reduce(%p.1, %zero.1), dimensions={1}, to_apply=%sum.1
  %broadcast.1 = f32[8,4]{1,0} broadcast(%reduce.1), dimensions={0}
  %exp.1 = f32[8,4]{1,0} exponential(%p.1), metadata={op_name=\"exp\"}, control-predecessors={%reduce.1}
  ROOT %divide.1 = f32[8,4]{1,0} divide(%exp.1, /*index=1*/%broadcast.1)
}
";

fn check(first: &str, second: &str, expect: &Expect) {
    let found = compare(first, second).expect("both are modules");
    for (source, text) in [(first, &found.before), (second, &found.after)] {
        let [source, text] = [source, text].map(|text| Program::read(text).expect("it is a module"));
        assert_eq!(source.instructions.len(), text.instructions.len());
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (found.before.lines().collect(), found.after.lines().collect());
    let mut diff = String::new();
    for (mark, lines, others) in [('-', &before, &after), ('+', &after, &before)] {
        lines
            .iter()
            .filter(|line| !others.contains(line))
            .for_each(|line| diff += &format!("{mark}{line}\n"));
    }
    expect.assert_eq(&diff);
}

#[test]
fn annotations_are_left_out() {
    let found = compare(FIRST, FIRST).expect("it is a module");
    assert_eq!(found.before, found.after);
    assert_eq!(found.counts, Counts::default());
    expect![[r#"
        HloModule jit_f, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}

        %sum.1 {
          %a = f32[] parameter(0)
          %b = f32[] parameter(1)
          ROOT %c = f32[] add(%a, %b)
        }

        ENTRY %main.9 {
          %p.1 = f32[8,4]{1,0} parameter(0)
          %zero.1 = f32[] constant(0)
          %reduce.1 = f32[8]{0} reduce(%p.1, %zero.1), dimensions={1}, to_apply=%sum.1
          %broadcast.1 = f32[8,4]{1,0} broadcast(%reduce.1), dimensions={0}
          %exp.1 = f32[8,4]{1,0} exponential(%p.1), control-predecessors={%reduce.1}
          ROOT %divide.1 = f32[8,4]{1,0} divide(%exp.1, %broadcast.1)
        }
    "#]]
    .assert_eq(&found.before);
}

#[test]
fn other_names_and_another_order_are_no_difference() {
    let renamed =
        FIRST.replace(".1", ".77").replace("%c ", "%add.5 ").replace("a: f32", "x: f32").replace("%a", "%x");
    check(FIRST, &renamed, &expect![""]);
    let line = FIRST.lines().find(|line| line.contains("%exp.1 =")).unwrap();
    let line = line.replace(", control-predecessors={%reduce.1}", "");
    let first = FIRST.replace(", control-predecessors={%reduce.1}", "");
    let moved = first.replace(&format!("{line}\n"), "").replace("  %zero.1", &format!("{line}\n  %zero.1"));
    assert_ne!(first, moved);
    let found = compare(&first, &moved).expect("both are modules");
    assert_eq!(found.before, found.after);
}

#[test]
fn the_order_of_a_schedule_is_kept() {
    let first = FIRST.replace("HloModule jit_f", "HloModule jit_f, is_scheduled=true");
    let first = first.replace(", control-predecessors={%reduce.1}", "");
    let line = first.lines().find(|line| line.contains("%exp.1 =")).unwrap();
    let moved = first.replace(&format!("{line}\n"), "").replace("  %zero.1", &format!("{line}\n  %zero.1"));
    let found = compare(&first, &moved).expect("both are modules");
    assert_ne!(found.before, found.after);
    // A reducer has no schedule.
    let (a, b) = ("  %a = f32[] parameter(0)\n", "  %b = f32[] parameter(1)\n");
    let swapped = first.replace(&format!("{a}{b}"), &format!("{b}{a}"));
    assert_ne!(first, swapped);
    let found = compare(&first, &swapped).expect("both are modules");
    assert_eq!(found.before, found.after);
}

#[test]
fn a_new_instruction_stands_above_its_user() {
    let second =
        FIRST.replace("  %reduce.1 = f32[8]{0} reduce(%p.1,", "  %reduce.1 = f32[8]{0} reduce(%copy.3,");
    let second = second.replace(
        "  %p.1 =",
        "  %p.1 = f32[8,4]{1,0} parameter(0)\n  %copy.3 = f32[8,4]{0,1} copy(%p.1)\n  %unused =",
    );
    let second =
        second.replace("%unused = f32[8,4]{1,0} parameter(0)", "%unused = f32[8,4]{1,0} negate(%p.1)");
    let found = compare(FIRST, &second).expect("both are modules");
    assert_eq!(found.counts, Counts { added: 2, removed: 0 });
    let lines: Vec<&str> =
        found.after.lines().map(|line| line.trim().split(' ').next().unwrap_or_default()).collect();
    assert_eq!(
        lines[8..],
        [
            "ENTRY",
            "%p.1",
            "%zero.1",
            "%copy.3",
            "%reduce.1",
            "%broadcast.1",
            "%exp.1",
            "ROOT",
            "%unused",
            "}"
        ]
    );
}

#[test]
fn a_new_instruction_with_a_taken_name_gets_another() {
    // The pass named its copy as the first module names the reduction.
    let second = FIRST.replace("reduce.1", "reduce.2").replace("reduce(%p.1,", "reduce(%reduce.1,");
    let second = second.replace("  %zero.1 =", "  %reduce.1 = f32[8,4]{0,1} copy(%p.1)\n  %zero.1 =");
    check(
        FIRST,
        &second,
        &expect![[r#"
        -  %reduce.1 = f32[8]{0} reduce(%p.1, %zero.1), dimensions={1}, to_apply=%sum.1
        +  %reduce.1.new.1 = f32[8,4]{0,1} copy(%p.1)
        +  %reduce.1 = f32[8]{0} reduce(%reduce.1.new.1, %zero.1), dimensions={1}, to_apply=%sum.1
    "#]],
    );
}

#[test]
fn texts_that_are_no_modules_are_named() {
    let truncated = &FIRST[..FIRST.len() - 20];
    assert!(matches!(compare(truncated, FIRST), Err(NotComparable::Before(_))));
    assert!(matches!(compare(FIRST, truncated), Err(NotComparable::After(_))));
    assert!(matches!(compare(FIRST, "BufferAssignment:\n"), Err(NotComparable::After(_))));
}

/// Shuffles and renames the project's own modules.
#[test]
fn no_order_and_no_names_make_a_difference() {
    let paths = test_files::below(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests"), ".hlo");
    let mut compared = 0;
    for path in paths {
        let first = std::fs::read_to_string(&path).expect("a module").replace("is_scheduled=true, ", "");
        let Ok(program) = Program::read(&first) else { continue };
        let parse = module(&first);
        for seed in 0..20 {
            let mut random = random::Rng::new(seed);
            let mut names = Names::new(&program, &program, &match_programs(&program, &program));
            let mut order = order::as_written(&parse);
            if seed % 2 == 0 {
                for (at, name) in names.instructions.iter_mut().enumerate() {
                    if !name.is_empty() {
                        *name = format!("renamed.{at}").into();
                    }
                }
            } else {
                for (_, instructions) in &mut order {
                    let wishes = random.permutation(instructions.len());
                    let users = order::users(&program, instructions);
                    let shuffled = order::arrange(&users, |at| Some(wishes[at] as u32));
                    *instructions = shuffled.into_iter().map(|at| instructions[at]).collect();
                }
            }
            let edits = edits(&first, &parse, Some((&program, &names)));
            let second = text(&first, &parse, &edits, &order);
            let found = compare(&first, &second).unwrap_or_else(|why| panic!("{why:?}\n{second}"));
            assert_eq!(found.before, found.after, "{} with seed {seed}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared} modules compared");
}
