//! In which order instructions were created: XLA breaks ties by it, and a text does not state it.
//!
//! Names tell most of it. XLA numbers what has the same base name as it is created. What a framework wrote is named after the last
//! part of its `op_name`, and was created in the order of the program, operands first; what passes made is named after its opcode,
//! and is younger. Against XLA's logs of 21 models, of 100 choices among producers of equal priority, 89 are XLA's.

use std::collections::BinaryHeap;

use ir::{AttributeKey, Graph, Op, OpId, Opcode, is_elementwise};
use rustc_hash::FxHashMap;

use super::Computation;

/// Who created an instruction, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Creator {
    /// The framework's exporter: arrays of one constant come before all that uses them.
    Constants,
    /// The framework.
    Program,
    Pass,
    /// The passes that write reductions anew, for their layouts and as trees. They come after the others.
    Reductions,
    /// The passes that make fusions for Triton, which come last.
    Fusion,
}

impl Computation {
    /// Estimates in which order the ops were created, of a computation as a text has it. The order of users is that of the text then, a
    /// guess.
    pub fn estimate_ages(&mut self) {
        let ages = estimated_ages(&self.graph);
        self.set_ages(ages);
        for id in self.ids().collect::<Vec<_>>() {
            self.estimate_users_of_split(id);
        }
    }
}

impl Computation {
    /// Puts the slices into which a pass has split an array into XLA's order. They were added in order, behind the user that they
    /// replace; removing that moved the last one to its place.
    fn estimate_users_of_split(&mut self, id: OpId) {
        let number = |&user: &OpId| {
            let (op, name) = (self.op(user), Name::of(self.name(user), false));
            (op.opcode == Opcode::Slice && is_named_by_opcode(op, name.base)).then_some((name.number, user))
        };
        let users: Option<Vec<_>> = self.users(id).iter().map(number).collect();
        match users {
            Some(mut users) if users.len() > 2 => {
                users.sort_unstable();
                users.rotate_right(1);
                self.order_users(id, users.into_iter().map(|(_, user)| user));
            }
            _ if self.users(id).len() > 1 => self.guess_users(id),
            _ => {}
        }
    }
}

fn estimated_ages(graph: &Graph) -> Vec<u32> {
    let ops = || graph.ops.iter().zip(&graph.names);
    let names: Vec<Name<'_>> = ops().map(|(op, name)| Name::of(name, op.opcode == Opcode::Fusion)).collect();
    let creators: Vec<Creator> = (0..graph.ops.len()).map(|op| creator(graph, &names, op)).collect();
    let mut order = in_order_of_names(graph, &names);
    order.sort_by_key(|&op| creators[op]);
    let mut ages = vec![0; order.len()];
    for (age, op) in order.into_iter().enumerate() {
        ages[op] = age as u32;
    }
    ages
}

/// A name as XLA makes it: a base, and the numbers that make it unique.
struct Name<'a> {
    base: &'a str,
    /// The first number. Names that have none come before those that have one.
    number: Option<u64>,
}

impl Name<'_> {
    /// XLA appends `.0` to all names but those of fusions before it fuses, so that one number alone stands in place of `.0`.
    fn of(name: &str, is_fusion: bool) -> Name<'_> {
        let numbered = |base: &'_ str| base.rsplit_once('.').and_then(|(_, tail)| tail.parse::<u64>().ok());
        let (mut base, mut first, mut count) = (name, None, 0);
        while let Some(number) = numbered(base) {
            base = base.rsplit_once('.').map_or(base, |(head, _)| head);
            (first, count) = (Some(number), count + 1);
        }
        Name { base, number: first.filter(|_| is_fusion || count > 1) }
    }
}

fn creator(graph: &Graph, names: &[Name<'_>], id: usize) -> Creator {
    let (op, base) = (&graph.ops[id], names[id].base);
    let operand = graph.operands[id].first().map(|&operand| operand as usize);
    let operand_is = |opcode: Opcode| operand.is_some_and(|operand| graph.ops[operand].opcode == opcode);
    let is_from_pass = |id: usize| {
        is_elementwise(graph.ops[id].opcode) && is_named_by_opcode(&graph.ops[id], names[id].base)
    };
    // An operand of another rank or layout than before needs a new instruction, which gets the name of the old one.
    let has_new_operand = operand.is_some_and(is_from_pass);
    let has_metadata = op.attributes.get(AttributeKey::Metadata).is_some();
    match op.opcode {
        Opcode::Fusion => Creator::Fusion,
        Opcode::Broadcast if operand_is(Opcode::Constant) => match is_from_program(op, base) {
            true => Creator::Constants,
            false if has_metadata => Creator::Pass,
            false => Creator::Constants,
        },
        Opcode::Broadcast if has_new_operand => Creator::Pass,
        Opcode::Broadcast if !has_metadata => Creator::Program,
        Opcode::Reduce
            if has_new_operand
                || is_named_by_opcode(op, base)
                || operand_is(Opcode::Reduce)
                || operand_is(Opcode::Bitcast) =>
        {
            Creator::Reductions
        }
        _ if is_from_program(op, base) => Creator::Program,
        _ => Creator::Pass,
    }
}

fn is_from_program(op: &Op, base: &str) -> bool {
    match op.opcode {
        Opcode::Constant | Opcode::Parameter => true,
        Opcode::Fusion => false,
        _ => is_named_by_program(op, base) || !is_named_by_opcode(op, base),
    }
}

fn is_named_by_opcode(op: &Op, base: &str) -> bool {
    let opcode = op.opcode.name();
    let is_opcode = base.len() == opcode.len()
        && base.bytes().zip(opcode.bytes()).all(|(b, o)| b == o || (b == b'_' && o == b'-'));
    is_opcode || matches!(base, "bitcast" | "reduce")
}

/// Whether the base is the last part of the `op_name`, with `_` for what names of instructions cannot have.
fn is_named_by_program(op: &Op, base: &str) -> bool {
    let metadata = op.attributes.text(AttributeKey::Metadata).unwrap_or_default();
    let Some((_, rest)) = metadata.split_once("op_name=\"") else { return false };
    let path = rest.split('"').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    last.chars().map(|c| if is_kept(c) { c } else { '_' }).eq(base.chars())
}

/// All ops, such that those of a base are in the order of their numbers, and operands come before users where both are from the program;
/// else as late as the text has them: an optimiser's loops over parameters, one after the other, are not told apart by what they read.
fn in_order_of_names(graph: &Graph, names: &[Name<'_>]) -> Vec<usize> {
    let count = graph.ops.len();
    let (mut earlier, mut waits) = (vec![Vec::new(); count], vec![0_u32; count]);
    let mut comes_before = |one: usize, other: usize| {
        earlier[other].push(one);
        waits[one] += 1;
    };
    let mut alike: FxHashMap<&str, Vec<(Option<u64>, usize)>> = FxHashMap::default();
    for (op, name) in names.iter().enumerate() {
        alike.entry(name.base).or_default().push((name.number, op));
    }
    for mut named in alike.into_values() {
        named.sort_unstable();
        for pair in named.windows(2) {
            comes_before(pair[0].1, pair[1].1);
        }
    }
    let is_from_program: Vec<bool> =
        (0..count).map(|op| is_from_program(&graph.ops[op], names[op].base)).collect();
    for (op, operands) in graph.operands.iter().enumerate().filter(|&(op, _)| is_from_program[op]) {
        for &operand in operands.iter().filter(|&&operand| is_from_program[operand as usize]) {
            comes_before(operand as usize, op);
        }
    }
    let mut ready: BinaryHeap<usize> = (0..count).filter(|&op| waits[op] == 0).collect();
    // Both orders may contradict each other: then the last op of the text that waits goes on.
    let mut waiting = (0..count).rev();
    let mut is_listed = vec![false; count];
    let mut order = Vec::with_capacity(count);
    while let Some(op) = ready.pop().or_else(|| waiting.find(|&op| !is_listed[op])) {
        if std::mem::replace(&mut is_listed[op], true) {
            continue;
        }
        order.push(op);
        for &next in &earlier[op] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(next);
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_split_array() {
        let module = "\
HloModule m
ENTRY e {
 p = f32[8,12] parameter(0)
 n = f32[8,12] negate(p)
 slice.2.0 = f32[8,4] slice(n), slice={[0:8],[8:12]}
 slice.1.0 = f32[8,4] slice(n), slice={[0:8],[0:4]}
 slice.3 = f32[8,4] slice(n), slice={[0:8],[4:8]}
 a = f32[8,4] add(slice.2.0, slice.1.0)
 m = f32[8,4] multiply(a, slice.3)
 ROOT d = f32[8,4] divide(m, slice.1.0)
}
";
        let graphs = ir::graphs_of_text(module);
        let mut computation = Computation::of(&graphs[0].1, "e");
        computation.estimate_ages();
        let users = |name: &str| {
            let users = computation.users(computation.graph.find(name).unwrap());
            users.iter().map(|&user| computation.name(user)).collect::<Vec<_>>()
        };
        // `slice.3` was `slice` before it got a number: the first.
        assert_eq!(users("n"), ["slice.2.0", "slice.3", "slice.1.0"]);
        let is_guess = |name: &str| computation.guesses_users(computation.graph.find(name).unwrap());
        assert!(is_guess("slice.1.0") && !is_guess("n") && !is_guess("p"));
    }
}
