//! Valid instructions, broken in one place in a way that XLA's rules forbid, by kind of change.
//!
//! Source of what is forbidden: XLA `service/shape_inference.cc` and `service/hlo_verifier.cc`. No case
//! depends on what the verifier says.

mod attributes;
mod shapes;

use std::collections::BTreeMap;
use std::sync::Mutex;

use generators::hlo;
use generators::{cases, on_all_cores, seed};
use ir::{AttributeKey, Block, Opcode, Part, Shape};
use random::Rng;
use syntax::Span;
use syntax::hlo::{InstructionId, ValueNode};

use crate::{lowered, verified};

/// A text, and its wrong bytes.
pub struct Broken {
    pub kind: &'static str,
    pub text: String,
    pub wrong: Vec<Span>,
}

/// The entry's root, with the data needed to break it.
struct Root<'a> {
    block: &'a Block,
    id: InstructionId,
    opcode: Opcode,
}

#[test]
fn what_is_forbidden_is_told_at_its_place() {
    let opcodes = hlo::opcodes();
    // For each opcode: cases, reported, reported at the token.
    let tally: Mutex<BTreeMap<Opcode, [usize; 3]>> = Mutex::default();
    let misses: Mutex<Vec<String>> = Mutex::default();
    on_all_cores(cases(4_000), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(seed(i));
        let Some(generated) = hlo::random_op(opcode, &mut rng) else { return };
        let Some(broken) = broken(&generated.text, &mut rng) else { return };
        let (is_told, is_there) = judge(&broken);
        let mut tally = tally.lock().expect("no thread panics");
        let row = tally.entry(opcode).or_default();
        row[0] += 1;
        row[1] += usize::from(is_told);
        row[2] += usize::from(is_there);
        if !is_there {
            let what = if is_told { "told elsewhere" } else { "not told" };
            let wrong = broken.wrong[0].of(&broken.text);
            let line = root_line(&broken.text);
            let miss = format!("{what}: {}: {opcode} «{wrong}»\n{line}", broken.kind);
            misses.lock().expect("no thread panics").push(miss);
        }
    });
    let (tally, misses) = (tally.into_inner().expect("no panic"), misses.into_inner().expect("no panic"));
    let mut total = [0; 3];
    for (opcode, row) in &tally {
        eprintln!("{opcode:28} told {} of {}, at the token {}", row[1], row[0], row[2]);
        total.iter_mut().zip(row).for_each(|(total, n)| *total += n);
    }
    eprintln!("{} of {} told, {} at the token", total[1], total[0], total[2]);
    let mut by_text = misses;
    by_text.sort();
    by_text.iter().take(40).for_each(|miss| eprintln!("{miss}"));
    assert!(total[0] > 0, "no case was made");
    assert!(total[1] * 1000 >= total[0] * 990, "less than 99 % is told");
    assert!(total[2] * 100 >= total[0] * 98, "less than 98 % is told at the token");
}

fn root_line(text: &str) -> String {
    let parameters = text.rsplit("ENTRY").next().unwrap_or_default();
    parameters.lines().skip(1).take_while(|line| *line != "}").map(|line| format!("{line}\n")).collect()
}

/// Whether there is a finding, and whether one is where the text is wrong.
fn judge(broken: &Broken) -> (bool, bool) {
    let (block, findings) = verified(&broken.text);
    let mut spans: Vec<Span> = findings.iter().map(|f| block.part(f.instruction, f.part)).collect();
    spans.extend(block.findings.iter().map(|f| f.span));
    spans.extend(block.parse.errors.iter().chain(&block.parse.unknown).map(|e| e.span));
    let holds = |outer: &Span, inner: &Span| outer.start <= inner.start && inner.end <= outer.end;
    let is_there = spans.iter().any(|span| broken.wrong.iter().any(|wrong| holds(span, wrong)));
    (!spans.is_empty(), is_there)
}

/// The text broken in a random way that applies to its root; `None` if the chosen way does not.
fn broken(text: &str, rng: &mut Rng) -> Option<Broken> {
    let block = lowered(text);
    let entry = block.parse.computations.iter().position(|c| c.is_entry)?;
    let id = block.root(entry as u32)?;
    let opcode = block.instruction(id).opcode?;
    // A start without its done is not a valid module to begin with.
    let (_, findings) = verified(text);
    let is_read = block.parse.errors.is_empty() && block.parse.unknown.is_empty();
    let is_valid = is_read && block.findings.is_empty() && findings.is_empty();
    let root = Root { block: &block, id, opcode };
    let ways: [fn(&Root<'_>, &mut Rng) -> Option<Broken>; 10] = [
        shapes::result_size,
        shapes::result_type,
        shapes::operand_type,
        shapes::operand_size,
        attributes::list_out_of_range,
        attributes::list_duplicate,
        attributes::list_length,
        attributes::number,
        attributes::computation,
        attributes::groups,
    ];
    if !is_valid {
        return None;
    }
    for _ in 0..30 {
        if let Some(broken) = rng.pick(&ways)(&root, rng) {
            return Some(broken);
        }
    }
    None
}

impl Root<'_> {
    fn operand(&self, i: usize) -> Option<&Shape> {
        let (_, target) = self.block.operands_of(self.id).nth(i)?;
        match target {
            ir::OperandRef::Local(id) => self.block.shape(id),
            _ => None,
        }
    }

    fn operands(&self) -> usize {
        self.block.instruction(self.id).operands.1 as usize
    }

    fn is(&self, opcodes: &[Opcode]) -> bool {
        opcodes.contains(&self.opcode)
    }

    fn part(&self, part: Part) -> Span {
        self.block.part(self.id, part)
    }

    /// The text with `span` replaced by `insert`.
    fn replaced(&self, kind: &'static str, span: Span, insert: &str) -> Broken {
        let mut text = self.block.text.to_string();
        text.replace_range(span.range(), insert);
        let wrong = vec![Span::new(span.start as usize, span.start as usize + insert.len())];
        Broken { kind, text, wrong }
    }

    /// Replaces operand `i` by another parameter, of this shape.
    fn with_operand(&self, kind: &'static str, i: usize, shape: &str) -> Option<Broken> {
        let (operand, _) = self.block.operands_of(self.id).nth(i)?;
        let mut broken = self.replaced(kind, operand.span, "stranger");
        let entry = self.block.parse.computations.iter().find(|c| c.is_entry)?;
        let parameters =
            entry.instructions.clone().filter(|&id| self.block.parameter_number(id).is_some()).count();
        let first = self.block.instruction(entry.instructions.start).span.start as usize;
        let line = format!("stranger = {shape} parameter({parameters})\n  ");
        broken.text.insert_str(first, &line);
        let moved = |span: Span| Span::new(span.start as usize + line.len(), span.end as usize + line.len());
        broken.wrong = broken.wrong.iter().map(|&span| moved(span)).collect();
        if self.operands() == 1 {
            // The operand and the result are inconsistent: either may be reported.
            let shape = self.part(Part::Shape);
            broken.wrong.push(moved(shape));
        }
        Some(broken)
    }

    /// Attributes that are lists of numbers.
    fn lists(&self) -> Vec<(AttributeKey, Vec<i64>, Span)> {
        let attributes = self.block.parse.attributes_of(self.block.instruction(self.id)).iter();
        let lists = attributes.filter_map(|attribute| match attribute.value {
            ValueNode::Ints { start, len } if len > 0 => {
                Some((attribute.key?, self.block.parse.ints(start, len).to_vec(), attribute.value_span))
            }
            _ => None,
        });
        lists.collect()
    }

    fn span_of(&self, key: AttributeKey) -> Option<Span> {
        let attributes = self.block.parse.attributes_of(self.block.instruction(self.id));
        attributes.iter().find(|a| a.key == Some(key)).map(|a| a.value_span)
    }
}
