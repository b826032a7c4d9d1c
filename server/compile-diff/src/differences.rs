//! What two instructions that are paired have different.

mod operands;

use matching::{Pairing, Value};
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
