//! Random programs with loops, conditionals, calls of them in each other, and updates in place.

use std::fmt::Write as _;

use random::Rng;

/// Elements of all arrays.
const SHAPE: &str = "f32[4]";
/// Arrays in the state of a loop and in the operand of a branch.
const WIDTH: usize = 3;

struct Programs<'r> {
    rng: &'r mut Rng,
    /// The computations, callees first.
    text: String,
    count: usize,
}

/// The text of a module.
pub fn random(rng: &mut Rng) -> String {
    let mut programs = Programs { rng, text: String::new(), count: 0 };
    let mut entry = Body::default();
    for number in 0..WIDTH {
        entry.line(&format!("p{number} = {SHAPE} parameter({number})"));
        entry.values.push(format!("p{number}"));
    }
    entry.line("choice = pred[] parameter(3)");
    entry.line("zero = s32[] constant(0)");
    entry.line(&format!("fixed = {SHAPE} constant({{1, 2, 3, 4}})"));
    entry.values.push("fixed".to_owned());
    programs.steps(&mut entry, "zero", "choice", 2);
    let results = programs.picked(&entry, WIDTH);
    let shapes = [SHAPE; WIDTH].join(", ");
    entry.line(&format!("ROOT result = ({shapes}) tuple({})", results.join(", ")));
    format!("HloModule m\n{}\nENTRY entry {{\n{}}}\n", programs.text, entry.text)
}

/// The instructions of a computation, and its arrays.
#[derive(Default)]
struct Body {
    text: String,
    values: Vec<String>,
}

impl Body {
    fn line(&mut self, line: &str) {
        _ = writeln!(self.text, "  {line}");
    }
}

impl Programs<'_> {
    fn name(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    fn picked(&mut self, body: &Body, count: usize) -> Vec<String> {
        // Late values more often: what is early is read late then.
        let last = body.values.len();
        let mut pick = || match self.rng.flag() {
            true => body.values[last.saturating_sub(1 + self.rng.index(3.min(last)))].clone(),
            false => self.rng.pick(&body.values).clone(),
        };
        (0..count).map(|_| pick()).collect()
    }

    /// Adds instructions. `depth` is how deep control flow may nest.
    fn steps(&mut self, body: &mut Body, at: &str, choice: &str, depth: usize) {
        for _ in 0..2 + self.rng.index(4) {
            let name = self.name();
            let picked = self.picked(body, WIDTH);
            match self.rng.index(if depth > 0 { 6 } else { 4 }) {
                0 => body.line(&format!("{name} = {SHAPE} negate({})", picked[0])),
                1 => body.line(&format!("{name} = {SHAPE} add({}, {})", picked[0], picked[1])),
                2 | 3 => {
                    body.line(&format!("{name}_part = f32[2] slice({}), slice={{[0:2]}}", picked[1]));
                    let operands = format!("{}, {name}_part, {at}", picked[0]);
                    body.line(&format!("{name} = {SHAPE} dynamic-update-slice({operands})"));
                }
                4 => {
                    self.looped(body, &name, &picked, depth);
                    continue;
                }
                _ => {
                    self.chosen(body, &name, &picked, choice, depth);
                    continue;
                }
            }
            body.values.push(name);
        }
    }

    fn looped(&mut self, body: &mut Body, name: &str, picked: &[String], depth: usize) {
        let arrays = [SHAPE; WIDTH].join(", ");
        let state = format!("(s32[], {arrays})");
        let mut inner = Body::default();
        inner.line(&format!("{name}_s = {state} parameter(0)"));
        inner.line(&format!("{name}_i = s32[] get-tuple-element({name}_s), index=0"));
        for index in 1..=WIDTH {
            inner.line(&format!("{name}_e{index} = {SHAPE} get-tuple-element({name}_s), index={index}"));
            inner.values.push(format!("{name}_e{index}"));
        }
        inner.line(&format!("{name}_one = s32[] constant(1)"));
        inner.line(&format!("{name}_next = s32[] add({name}_i, {name}_one)"));
        inner.line(&format!("{name}_is = pred[] compare({name}_i, {name}_one), direction=LT"));
        self.steps(&mut inner, &format!("{name}_i"), &format!("{name}_is"), depth - 1);
        let results = self.picked(&inner, WIDTH).join(", ");
        inner.line(&format!("ROOT {name}_r = {state} tuple({name}_next, {results})"));
        _ = writeln!(self.text, "\n{name}_body {{\n{}}}", inner.text);
        _ = writeln!(
            self.text,
            "\n{name}_condition {{\n  {name}_c = {state} parameter(0)\n  {name}_n = s32[] get-tuple-element({name}_c), index=0\n  \
             {name}_end = s32[] constant(3)\n  ROOT {name}_less = pred[] compare({name}_n, {name}_end), direction=LT\n}}"
        );
        body.line(&format!("{name}_start = s32[] constant(0)"));
        body.line(&format!("{name}_init = {state} tuple({name}_start, {})", picked.join(", ")));
        let calls = format!("condition={name}_condition, body={name}_body");
        body.line(&format!("{name} = {state} while({name}_init), {calls}"));
        self.elements(body, name, 1);
    }

    fn chosen(&mut self, body: &mut Body, name: &str, picked: &[String], choice: &str, depth: usize) {
        let shape = format!("({})", [SHAPE; WIDTH].join(", "));
        for branch in 0..2 {
            let own = format!("{name}_{branch}");
            let mut inner = Body::default();
            inner.line(&format!("{own}_p = {shape} parameter(0)"));
            for index in 0..WIDTH {
                inner.line(&format!("{own}_e{index} = {SHAPE} get-tuple-element({own}_p), index={index}"));
                inner.values.push(format!("{own}_e{index}"));
            }
            inner.line(&format!("{own}_at = s32[] constant({branch})"));
            inner.line(&format!("{own}_is = pred[] constant(true)"));
            self.steps(&mut inner, &format!("{own}_at"), &format!("{own}_is"), depth - 1);
            let results = self.picked(&inner, WIDTH).join(", ");
            inner.line(&format!("ROOT {own}_r = {shape} tuple({results})"));
            _ = writeln!(self.text, "\n{own}_branch {{\n{}}}", inner.text);
        }
        body.line(&format!("{name}_operand = {shape} tuple({})", picked.join(", ")));
        let branches = format!("true_computation={name}_0_branch, false_computation={name}_1_branch");
        let operands = format!("{choice}, {name}_operand, {name}_operand");
        body.line(&format!("{name} = {shape} conditional({operands}), {branches}"));
        self.elements(body, name, 0);
    }

    fn elements(&mut self, body: &mut Body, name: &str, first: usize) {
        for index in first..first + WIDTH {
            body.line(&format!("{name}_x{index} = {SHAPE} get-tuple-element({name}), index={index}"));
            body.values.push(format!("{name}_x{index}"));
        }
    }
}
