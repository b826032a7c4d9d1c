//! Terms: what instructions compute from the parameters of their computation, as numbers.

use std::hash::{Hash, Hasher};

use ir::{AttributeValue, Shape, decides_value};
use passes::{ComputationId, InstructionId, Module, is_commutative};
use rustc_hash::{FxHashMap, FxHasher};
use syntax::hlo::{AttributeKey, Opcode};

/// A term. Instructions of the same number compute the same from the same parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number(u32);

/// All terms of two modules.
///
/// Size: about 200 bytes per term.
#[derive(Default)]
pub struct Numbers {
    terms: Vec<Term>,
    of_hash: FxHashMap<u64, Vec<Number>>,
}

/// The terms of a module by instruction, and those of its computations by their roots.
pub struct Numbered {
    of: FxHashMap<InstructionId, Number>,
}

#[derive(PartialEq, Eq)]
struct Term {
    opcode: Opcode,
    /// Without layouts, but for bitcasts.
    shape: Shape,
    /// Of a bitcast, whose value depends on its layout.
    operand_shape: Option<Shape>,
    attributes: Vec<(AttributeKey, AttributeValue)>,
    literal: Option<String>,
    parameter: Option<u32>,
    operands: Vec<Number>,
    callees: Vec<Number>,
    /// The name, where the instruction alone does not determine its value.
    unique: Option<String>,
}

impl Numbered {
    pub fn number(&self, id: InstructionId) -> Option<Number> {
        self.of.get(&id).copied()
    }
}

impl Numbers {
    /// Numbers the instructions of a module.
    pub fn of(&mut self, module: &Module) -> Numbered {
        let mut numbered = Numbered { of: FxHashMap::default() };
        for computation in module.computation_post_order() {
            for id in module.post_order(computation) {
                cancel::tick();
                let number = self.number(module, id, &numbered);
                numbered.of.insert(id, number);
            }
        }
        numbered
    }

    fn number(&mut self, module: &Module, id: InstructionId, known: &Numbered) -> Number {
        let instruction = &module[id];
        let mut operands: Vec<Number> = instruction.operands().iter().map(|id| known.of[id]).collect();
        if let Some(same) = self.simplified(module, id, &operands) {
            return same;
        }
        if is_commutative(instruction.opcode()) {
            operands.sort_unstable_by_key(|number| number.0);
        }
        let is_bitcast = instruction.opcode() == Opcode::Bitcast;
        let shape = instruction.shape();
        let mut attributes: Vec<_> = instruction
            .attributes()
            .iter()
            .filter(|(key, _)| matters(*key, instruction.opcode()))
            .map(|(key, value)| (key, value.clone()))
            .collect();
        attributes.sort_by_key(|(key, _)| *key as u32);
        let root = |callee: ComputationId| known.number(module.root(callee));
        let callees: Option<Vec<Number>> = instruction.called().map(root).collect();
        let is_determined =
            callees.is_some() && !is_elided(instruction.literal()) && !module.has_side_effect(id);
        self.intern(Term {
            opcode: instruction.opcode(),
            shape: if is_bitcast { shape.clone() } else { shape.without_layouts() },
            operand_shape: is_bitcast.then(|| module[module.operand(id, 0)].shape().clone()),
            attributes,
            literal: instruction.literal().map(str::to_owned),
            parameter: instruction.parameter_number(),
            operands,
            callees: callees.unwrap_or_default(),
            unique: (!is_determined || instruction.verbatim().is_some())
                .then(|| original(instruction.name()).to_owned()),
        })
    }

    /// The term of an instruction that moves and changes nothing.
    fn simplified(&self, module: &Module, id: InstructionId, operands: &[Number]) -> Option<Number> {
        let instruction = &module[id];
        let first = *operands.first()?;
        let operand = &module[module.operand(id, 0)];
        let (shape, of) = (instruction.shape(), operand.shape());
        let has_same_shape = shape.without_layouts() == of.without_layouts();
        let dims = instruction.dimensions();
        match instruction.opcode() {
            Opcode::Copy | Opcode::OptBarrier | Opcode::Domain | Opcode::AddDependency => Some(first),
            Opcode::Reshape | Opcode::Convert if has_same_shape => Some(first),
            Opcode::Bitcast if shape == of => Some(first),
            Opcode::Transpose | Opcode::Broadcast if has_same_shape && is_identity(dims) => Some(first),
            Opcode::GetTupleElement => {
                let index = instruction.attributes().int(AttributeKey::Index)?;
                let tuple = &self.terms[first.0 as usize];
                match tuple.opcode {
                    Opcode::Tuple => tuple.operands.get(usize::try_from(index).ok()?).copied(),
                    _ => None,
                }
            }
            Opcode::CopyDone => {
                let start = &self.terms[first.0 as usize];
                (start.opcode == Opcode::CopyStart).then(|| start.operands.first().copied()).flatten()
            }
            // The elements of a tuple, in order, are the tuple.
            Opcode::Tuple => {
                let element = |number: Number| {
                    let term = &self.terms[number.0 as usize];
                    let is_element = term.opcode == Opcode::GetTupleElement;
                    let index = term.attributes.iter().find(|(key, _)| *key == AttributeKey::Index);
                    match index {
                        Some((_, AttributeValue::Int(index))) if is_element => {
                            Some((*index, *term.operands.first()?))
                        }
                        _ => None,
                    }
                };
                let (_, whole) = element(first)?;
                let is_whole = self.terms[whole.0 as usize].shape == shape.without_layouts()
                    && (0..).zip(operands).all(|(index, &number)| element(number) == Some((index, whole)));
                is_whole.then_some(whole)
            }
            _ => None,
        }
    }

    fn intern(&mut self, term: Term) -> Number {
        let mut hasher = FxHasher::default();
        term.opcode.hash(&mut hasher);
        term.shape.dims().hash(&mut hasher);
        term.shape.element().hash(&mut hasher);
        term.literal.hash(&mut hasher);
        term.parameter.hash(&mut hasher);
        term.operands.hash(&mut hasher);
        term.callees.hash(&mut hasher);
        term.unique.hash(&mut hasher);
        let numbers = self.of_hash.entry(hasher.finish()).or_default();
        if let Some(&number) = numbers.iter().find(|number| self.terms[number.0 as usize] == term) {
            return number;
        }
        let number = Number(self.terms.len() as u32);
        numbers.push(number);
        self.terms.push(term);
        number
    }
}

/// The name of the instruction that another was copied from: `add.5` of `add.5.clone.1`.
pub fn original(name: &str) -> &str {
    let mut dots = name.match_indices('.').map(|(at, _)| at);
    dots.nth(1).map_or(name, |second| &name[..second])
}

/// The names that the original of a copy may have, the longest first: of `add.5.clone.1`, `add.5.clone`, `add.5` and `add`.
pub fn stems(name: &str) -> impl Iterator<Item = &str> {
    let is_suffix = |suffix: &str| suffix == "clone" || suffix.bytes().all(|byte| byte.is_ascii_digit());
    std::iter::successors(Some(name), move |name| {
        let (before, suffix) = name.rsplit_once('.')?;
        is_suffix(suffix).then_some(before)
    })
    .skip(1)
}

fn is_identity(dims: &[i64]) -> bool {
    (0..).zip(dims).all(|(at, &dim)| at == dim)
}

/// Whether the text leaves out elements of a constant.
fn is_elided(literal: Option<&str>) -> bool {
    literal.is_some_and(|literal| literal.contains("..."))
}

/// Whether an attribute decides what an instruction computes. Where XLA's own code computes it, the configuration of the backend only
/// says how.
pub fn matters(key: AttributeKey, opcode: Opcode) -> bool {
    decides_value(key) && (key != AttributeKey::BackendConfig || opcode == Opcode::CustomCall)
}
