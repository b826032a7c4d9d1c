//! What two instructions that are paired have different.

use matching::{Operand, Pairing, Value};
use rustc_hash::FxHashMap;
use syntax::hlo::{Attribute, AttributeKey, Opcode, ValueNode};

use crate::config;
use crate::module::Module;
use crate::words::{apart, squeezed};

/// One difference of two paired instructions, with what is there before and after as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub what: What,
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum What {
    Opcode,
    /// Element type or extents.
    Shape,
    Layout,
    /// Operand of this number.
    Operand(u32),
    /// The number of operands.
    Operands,
    /// The number of a parameter.
    Number,
    Literal,
    /// The computation that it calls.
    Callee,
    Attribute(String),
    /// A member of `backend_config`, with its path.
    Configuration(String),
}

impl What {
    /// `shape`, `operand 1`, `backend_config num_warps`
    pub fn words(&self) -> String {
        match self {
            What::Opcode => "opcode".into(),
            What::Shape => "shape".into(),
            What::Layout => "layout".into(),
            What::Operand(number) => format!("operand {number}"),
            What::Operands => "number of operands".into(),
            What::Number => "parameter number".into(),
            What::Literal => "literal".into(),
            What::Callee => "called computation".into(),
            What::Attribute(key) => key.clone(),
            What::Configuration(path) if path.is_empty() => "backend_config".into(),
            What::Configuration(path) => format!("backend_config {path}"),
        }
    }
}

/// Compares paired instructions.
pub(crate) struct Comparer<'a, 't, 's> {
    pub(crate) before: &'a Module<'t>,
    pub(crate) after: &'a Module<'s>,
    pub(crate) pairing: &'a Pairing,
}

impl Comparer<'_, '_, '_> {
    /// The differences of a pair that do not follow from those of others.
    pub(crate) fn differences(&self, source: u32, id: u32) -> Vec<Difference> {
        let mut found = Vec::new();
        let (before, after) = (&self.before.program, &self.after.program);
        let (one, other) = (before.instruction(source), after.instruction(id));
        let has_same_opcode = before.has_opcode_of(source, other);
        if !has_same_opcode {
            found.push(difference(What::Opcode, one.opcode_text, other.opcode_text));
        }
        // The results of a fusion follow from what it computes.
        let follows = self.has_other_results(source, id);
        if one.shape != other.shape && !follows {
            let what = if one.dimensions == other.dimensions { What::Layout } else { What::Shape };
            let shape = |module: &Module<'_>, id: u32| {
                squeezed(module.of(module.parse.instructions[id as usize].shape_span))
            };
            let (one, other) = apart(&shape(self.before, source), &shape(self.after, id));
            found.push(Difference { what, before: one, after: other });
        }
        if has_same_opcode {
            let is_plumbing = self.before.is_plumbing(source) && self.after.is_plumbing(id);
            if one.opcode == Some(Opcode::Parameter) && one.number != other.number && !is_plumbing {
                let number =
                    |number: Option<u32>| number.map_or_else(String::new, |number| number.to_string());
                found.push(difference(What::Number, &number(one.number), &number(other.number)));
            }
            if one.opcode == Some(Opcode::Constant) {
                let literal = |module: &Module<'_>, id: u32| {
                    squeezed(module.of(module.parse.instructions[id as usize].argument))
                };
                let (theirs, ours) = (literal(self.before, source), literal(self.after, id));
                if theirs != ours {
                    let (before, after) = apart(&theirs, &ours);
                    found.push(Difference { what: What::Literal, before, after });
                }
            }
            self.attributes(source, id, &mut found);
            self.callees(source, id, &mut found);
        }
        self.operands(source, id, follows, &mut found);
        found
    }

    /// Whether two instructions pass other values into a fusion or out of it, because the fusion computes something else.
    fn has_other_results(&self, source: u32, id: u32) -> bool {
        let module = |module: &Module<'_>, id: u32| -> Option<u32> {
            let fusion = match module.program.instruction(id).opcode {
                Some(Opcode::GetTupleElement) => module.program.operands(id).first()?.instruction,
                Some(Opcode::Tuple) => module.holder(module.program.instruction(id).computation)?,
                _ => id,
            };
            Some(module.program.computation(module.body(fusion)?).root)
        };
        let (Some(theirs), Some(ours)) = (module(self.before, source), module(self.after, id)) else {
            return false;
        };
        self.pairing.after[theirs as usize] != Some(ours)
            || self.before.program.operands(theirs).len() != self.after.program.operands(ours).len()
                && self.after.program.instruction(ours).opcode == Some(Opcode::Tuple)
    }

    fn attributes(&self, source: u32, id: u32, found: &mut Vec<Difference>) {
        let of = |module: &Module<'_>, id: u32| -> Vec<Attribute> {
            let parse = &module.parse;
            let all = parse.attributes_of(&parse.instructions[id as usize]);
            all.iter().filter(|attribute| !is_note(attribute)).copied().collect()
        };
        let (theirs, ours) = (of(self.before, source), of(self.after, id));
        let has_same_key = |one: &Attribute, other: &Attribute| {
            self.before.of(one.key_span) == self.after.of(other.key_span)
        };
        for one in &theirs {
            let other = ours.iter().find(|other| has_same_key(one, other));
            self.attribute(Some(one), other, (source, id), found);
        }
        for other in &ours {
            if !theirs.iter().any(|one| has_same_key(one, other)) {
                self.attribute(None, Some(other), (source, id), found);
            }
        }
    }

    fn attribute(
        &self,
        one: Option<&Attribute>,
        other: Option<&Attribute>,
        (source, id): (u32, u32),
        found: &mut Vec<Difference>,
    ) {
        let Some((any, holder)) =
            one.map(|one| (one, self.before.text)).or(other.map(|other| (other, self.after.text)))
        else {
            return;
        };
        let text = |module: &Module<'_>, attribute: Option<&Attribute>| {
            attribute.map_or_else(String::new, |attribute| squeezed(module.of(attribute.value_span)))
        };
        let (theirs, ours) = (text(self.before, one), text(self.after, other));
        if theirs == ours
            || any.key == Some(AttributeKey::ControlPredecessors)
                && self.has_same_predecessors(&theirs, &ours, (source, id))
        {
            return;
        }
        if any.key == Some(AttributeKey::Index) && self.is_same_element(source, id) {
            return;
        }
        if any.key == Some(AttributeKey::BackendConfig) {
            return configuration(&theirs, &ours, found);
        }
        let (before, after) = apart(&theirs, &ours);
        found.push(Difference { what: What::Attribute(any.key_span.of(holder).to_owned()), before, after });
    }

    /// Whether a `get-tuple-element` of a fusion yields what its counterpart does.
    fn is_same_element(&self, source: u32, id: u32) -> bool {
        let value = |module: &Module<'_>, id: u32| {
            let operand = module.program.operands(id).first()?;
            let mut value = module.source(operand);
            let number = module.program.instruction(id).number?;
            value.path.push(number);
            // The element of a fusion's tuple is what the fusion computes for it.
            let parts = module.program.operands(value.instruction);
            let is_tuple = module.program.instruction(value.instruction).opcode == Some(Opcode::Tuple);
            match value.path.as_slice() {
                [index] if is_tuple => Some(module.source(parts.get(*index as usize)?)),
                _ => Some(value),
            }
        };
        match (value(self.before, source), value(self.after, id)) {
            (Some(theirs), Some(ours)) => self.is_same(&theirs, &ours) || self.is_new(&theirs, &ours),
            _ => false,
        }
    }

    fn has_same_predecessors(&self, theirs: &str, ours: &str, (source, id): (u32, u32)) -> bool {
        let named = |module: &Module<'_>, id: u32, list: &str| -> Vec<Option<u32>> {
            let computation = module.program.instruction(id).computation;
            let names =
                list.trim_matches(['{', '}']).split(',').map(|name| name.trim().trim_start_matches('%'));
            names
                .filter(|name| !name.is_empty())
                .map(|name| module.program.named(computation, name))
                .collect()
        };
        let mut theirs: Vec<Option<u32>> = named(self.before, source, theirs)
            .into_iter()
            .map(|one| self.pairing.after[one? as usize])
            .collect();
        let mut ours = named(self.after, id, ours);
        theirs.sort_unstable();
        ours.sort_unstable();
        theirs == ours && !ours.contains(&None)
    }

    fn callees(&self, source: u32, id: u32, found: &mut Vec<Difference>) {
        let (before, after) = (&self.before.program, &self.after.program);
        let (theirs, ours) = (before.callees(source), after.callees(id));
        if theirs.len() != ours.len() {
            let count = |count: usize| count.to_string();
            found.push(difference(What::Callee, &count(theirs.len()), &count(ours.len())));
            return;
        }
        for (&one, &other) in theirs.iter().zip(ours) {
            let is_paired = self.pairing.computation_after[one as usize] == Some(other);
            let is_equal =
                self.pairing.digests_before[one as usize] == self.pairing.digests_after[other as usize];
            if !is_paired && !is_equal {
                let (before, after) = (before.computation(one).name, after.computation(other).name);
                found.push(difference(What::Callee, &format!("%{before}"), &format!("%{after}")));
            }
        }
    }

    /// Whether two paired computations have other roots, and this does not follow from what is new or elsewhere.
    pub(crate) fn has_other_root(&self, before: u32, after: u32) -> bool {
        let root = |module: &Module<'_>, computation: u32| Value {
            instruction: module.program.computation(computation).root,
            path: Vec::new(),
        };
        let (theirs, ours) = (root(self.before, before), root(self.after, after));
        if self.is_same(&theirs, &ours) || self.is_new(&theirs, &ours) {
            return false;
        }
        let home =
            |module: &Module<'_>, id: Option<u32>| id.map(|id| module.program.instruction(id).computation);
        // A fusion that computes less, or more, has another root.
        home(self.after, self.pairing.after[theirs.instruction as usize]) == Some(after)
            && home(self.before, self.pairing.before[ours.instruction as usize]) == Some(before)
    }

    fn operands(&self, source: u32, id: u32, follows: bool, found: &mut Vec<Difference>) {
        let (before, after) = (&self.before.program, &self.after.program);
        if let (Some(one), Some(other)) = (self.before.body(source), self.after.body(id)) {
            return self.arguments((source, one), (id, other), found);
        }
        let (theirs, ours) = (before.operands(source), after.operands(id));
        if theirs.len() != ours.len() {
            let is_root_of_fusion = self.before.is_plumbing(source) && self.after.is_plumbing(id);
            if !is_root_of_fusion && !follows {
                let count = |count: usize| count.to_string();
                found.push(difference(What::Operands, &count(theirs.len()), &count(ours.len())));
            }
            return;
        }
        let is_element = before.instruction(source).opcode == Some(Opcode::GetTupleElement);
        if is_element && self.is_same_element(source, id) {
            return;
        }
        for (at, (one, other)) in theirs.iter().zip(ours).enumerate() {
            if !self.is_same_operand(one, other) {
                found.push(self.operand((source, at), (id, at)));
            }
        }
    }

    fn operand(&self, (source, one): (u32, usize), (id, other): (u32, usize)) -> Difference {
        let (before, after) = (self.before.operand_title(source, one), self.after.operand_title(id, other));
        Difference { what: What::Operand(other as u32), before, after }
    }

    /// Operands of fusions and calls: what is passed to paired parameters. The users of other parameters have the difference.
    fn arguments(&self, (source, before): (u32, u32), (id, after): (u32, u32), found: &mut Vec<Difference>) {
        if self.pairing.computation_after[before as usize] != Some(after) {
            return;
        }
        for ours in self.after.program.computation(after).instructions.clone() {
            let other = self.after.program.instruction(ours);
            let Some(theirs) =
                self.pairing.before[ours as usize].filter(|_| other.opcode == Some(Opcode::Parameter))
            else {
                continue;
            };
            let one = self.before.program.instruction(theirs);
            let Some(numbers) = one.number.zip(other.number).filter(|_| one.computation == before) else {
                continue;
            };
            let (one, other) = (numbers.0 as usize, numbers.1 as usize);
            let operands =
                (self.before.program.operands(source).get(one), self.after.program.operands(id).get(other));
            if let (Some(was), Some(now)) = operands
                && !self.is_same_operand(was, now)
                && !self.is_used_for_the_same(ours)
            {
                found.push(self.operand((source, one), (id, other)));
            }
        }
    }

    /// Whether all users of a parameter use what their counterparts do: parameters are paired by their places, and a fusion that
    /// computes less has other ones.
    fn is_used_for_the_same(&self, parameter: u32) -> bool {
        let mut uses = self.after.program.uses(parameter).peekable();
        uses.peek().is_some()
            && uses.all(|(user, number)| {
                let Some(source) = self.pairing.before[user as usize] else { return true };
                let theirs = self.before.program.operands(source).get(number as usize);
                let ours = self.after.program.operands(user).get(number as usize);
                theirs.zip(ours).is_some_and(|(theirs, ours)| {
                    let (one, other) = (self.before.source(theirs), self.after.source(ours));
                    self.is_same(&one, &other) || self.is_new(&one, &other)
                })
            })
    }

    fn is_same_operand(&self, theirs: &Operand, ours: &Operand) -> bool {
        let written = |module: &Module<'_>, operand: &Operand| Value {
            instruction: operand.instruction,
            path: module.program.path(operand).to_vec(),
        };
        let (one, other) = (written(self.before, theirs), written(self.after, ours));
        if self.is_same(&one, &other) {
            return true;
        }
        let (one, other) = (self.before.source(theirs), self.after.source(ours));
        self.is_same(&one, &other) || self.is_new(&one, &other)
    }

    /// Whether two values are counterparts, or their counterparts have the same value.
    fn is_same(&self, theirs: &Value, ours: &Value) -> bool {
        let Some(now) = self.pairing.after[theirs.instruction as usize] else { return false };
        let values = &self.pairing.values_after;
        let program = &self.after.program;
        let (one, other) = (program.instruction(now), program.instruction(ours.instruction));
        let is_equal = now == ours.instruction
            || values[now as usize] == values[ours.instruction as usize]
                && one.computation == other.computation
                && one.shape == other.shape;
        is_equal && theirs.path == ours.path
    }

    /// Whether one of two values is new or gone, which is reported there.
    fn is_new(&self, theirs: &Value, ours: &Value) -> bool {
        self.pairing.after[theirs.instruction as usize].is_none()
            || self.pairing.before[ours.instruction as usize].is_none()
    }
}

fn difference(what: What, before: &str, after: &str) -> Difference {
    Difference { what, before: before.to_owned(), after: after.to_owned() }
}

fn configuration(theirs: &str, ours: &str, found: &mut Vec<Difference>) {
    let (theirs, ours) = (config::members(theirs), config::members(ours));
    // The first of several members of one path counts.
    let by_path = |members: &'_ [(String, String)]| -> FxHashMap<String, String> {
        members.iter().rev().cloned().collect()
    };
    let [values_before, values_after] = [by_path(&theirs), by_path(&ours)];
    let paths = theirs.iter().chain(ours.iter().filter(|(path, _)| !values_before.contains_key(path)));
    for (path, _) in paths {
        let value = |values: &FxHashMap<String, String>| values.get(path).cloned().unwrap_or_default();
        let (one, other) = (value(&values_before), value(&values_after));
        if one != other {
            let (before, after) = apart(&one, &other);
            found.push(Difference { what: What::Configuration(path.clone()), before, after });
        }
    }
}

/// Attributes that decide neither value nor code, and computations, which are compared themselves.
fn is_note(attribute: &Attribute) -> bool {
    use AttributeKey::{Metadata, Origin, Statistics};
    let is_computation = matches!(
        attribute.value,
        ValueNode::Computation(_) | ValueNode::Computations { .. } | ValueNode::Inline(_)
    );
    is_computation || matches!(attribute.key, Some(Metadata | Origin | Statistics))
}
