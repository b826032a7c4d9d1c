//! The comparison of two modules, from their results upwards.

use passes::{ComputationId, InstructionId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::Opcode;

use crate::cone::{Cuts, cone};
use crate::context::{Context, Side, is_opaque};
use crate::flatten::flatten;
use crate::numbers::{Numbers, matters, original};
use crate::sample::{self, Callees, Compared};
use crate::verdict::{Difference, Open, Verdict};

/// How often a cone that differs is cut further up before it is cut at the parameters.
const LEVELS: usize = 4;
/// The most instructions of a cone.
const MAX_CONE: usize = 4_000;

/// An instruction before and after the rewrite.
type Pair = (InstructionId, InstructionId);

/// Compares what two modules compute. `before` and `after` are the module before and after a rewrite: the more names they share, the
/// more of it can be compared.
pub fn compare(before: &Module, after: &Module) -> Verdict {
    let mut numbers = Numbers::default();
    let mut side = |module: &Module| {
        let module = flatten(module);
        Side { numbered: numbers.of(&module), module }
    };
    let (before, after) = (side(before), side(after));
    let roots = (before.module.root(before.module.entry()), after.module.root(after.module.entry()));
    let shapes = [before.module[roots.0].shape(), after.module[roots.1].shape()];
    if !shapes[0].is_compatible(shapes[1]) {
        let reason = format!("the result was {}, and is {}", shapes[0], shapes[1]);
        let instruction = after.module[roots.1].name().to_owned();
        return Verdict { open: vec![Open { instruction, reason }], ..Verdict::default() };
    }
    let callees = (Callees::new(&before.module), Callees::new(&after.module));
    let mut proof = Proof {
        before: &before,
        after: &after,
        callees: (&callees.0, &callees.1),
        contexts: FxHashMap::default(),
        known: FxHashMap::default(),
        refuted: FxHashSet::default(),
    };
    proof.run(roots)
}

/// How a pair is known to be equal, or why not.
enum Known {
    /// It is, if these pairs are.
    Equal {
        elements: u64,
        if_equal: Vec<(Pair, Role)>,
    },
    Different(Difference),
    Open(String),
}

/// Why a pair must be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Cones were cut there; they may be cut further up.
    Cut,
    /// An operand of two equal ops.
    Operand,
    /// The result of a computation that two equal ops call.
    Result,
}

struct Proof<'a> {
    before: &'a Side,
    after: &'a Side,
    callees: (&'a Callees<'a>, &'a Callees<'a>),
    contexts: FxHashMap<(ComputationId, ComputationId), Context>,
    known: FxHashMap<Pair, Known>,
    /// Instructions after the rewrite whose names or places do not make them the same.
    refuted: FxHashSet<InstructionId>,
}

impl Proof<'_> {
    fn run(&mut self, roots: Pair) -> Verdict {
        loop {
            let (reached, refuted) = self.reach(roots);
            // A pair that only the names suggest costs nothing: what relied on it is compared without it.
            let mut is_changed = false;
            for &(pair, role, user) in &refuted {
                match role {
                    // What is not evaluated cannot be compared otherwise.
                    Role::Cut if is_opaque(self.after.module[pair.1].opcode()) => {}
                    Role::Cut => is_changed |= self.refuted.insert(pair.1),
                    Role::Result => is_changed |= self.reconsider(user, pair),
                    // Then the op that reads it differs, too, which may itself be a cut.
                    Role::Operand if user != pair => is_changed |= self.blame(user, pair),
                    Role::Operand => {}
                }
            }
            if !is_changed {
                return self.verdict(&reached);
            }
            let refuted = &self.refuted;
            self.known.retain(|_, known| match known {
                Known::Equal { if_equal, .. } => {
                    if_equal.iter().all(|(pair, role)| *role != Role::Cut || !refuted.contains(&pair.1))
                }
                _ => true,
            });
        }
    }

    /// All pairs that the roots depend on, and those of them that differ, with who asked for them.
    fn reach(&mut self, roots: Pair) -> (Vec<Pair>, Vec<(Pair, Role, Pair)>) {
        let mut reached = Vec::new();
        let mut different = Vec::new();
        let mut seen: FxHashSet<Pair> = FxHashSet::default();
        let mut open = vec![(roots, Role::Operand, roots)];
        while let Some((pair, role, user)) = open.pop() {
            cancel::check();
            if !self.known.contains_key(&pair) {
                let known = self.compare(pair);
                self.known.insert(pair, known);
            }
            match &self.known[&pair] {
                Known::Different(_) => different.push((pair, role, user)),
                Known::Equal { if_equal, .. } if seen.insert(pair) => {
                    open.extend(if_equal.iter().map(|&(next, role)| (next, role, pair)));
                }
                _ => {}
            }
            reached.push(pair);
        }
        reached.sort_unstable();
        reached.dedup();
        (reached, different)
    }

    fn verdict(&self, reached: &[Pair]) -> Verdict {
        let mut verdict = Verdict::default();
        for pair in reached {
            match &self.known[pair] {
                Known::Equal { elements, .. } if self.is_same_term(*pair) => verdict.elements += elements,
                Known::Equal { elements, .. } => {
                    verdict.compared += 1;
                    verdict.elements += elements;
                }
                Known::Different(difference) => verdict.differences.push(difference.clone()),
                Known::Open(reason) => {
                    let instruction = self.after.module[pair.1].name().to_owned();
                    verdict.open.push(Open { instruction, reason: reason.clone() });
                }
            }
        }
        verdict
    }

    /// Whether the computation that `pair` calls, whose results differ, leaves `pair` open. Returns whether that is new.
    ///
    /// The results of a loop's body may differ for values that the loop never has.
    fn reconsider(&mut self, pair: Pair, result: Pair) -> bool {
        let Some(Known::Equal { .. }) = self.known.get(&pair) else { return false };
        let known = match self.by_values(pair) {
            Known::Open(_) => {
                let result = self.after.module[result.1].name();
                Known::Open(format!(
                    "%{result}, which it computes, differs for some values, maybe for none that it has"
                ))
            }
            known => known,
        };
        self.known.insert(pair, known);
        true
    }

    /// Lets a pair differ as one that it reads. Returns whether that is new.
    fn blame(&mut self, pair: Pair, operand: Pair) -> bool {
        let (Some(Known::Equal { .. }), Some(Known::Different(difference))) =
            (self.known.get(&pair), self.known.get(&operand))
        else {
            return false;
        };
        let difference = Known::Different(difference.clone());
        self.known.insert(pair, difference);
        true
    }

    fn is_same_term(&self, (old, new): Pair) -> bool {
        let (old, new) = (self.before.numbered.number(old), self.after.numbered.number(new));
        old.is_some() && old == new
    }

    fn compare(&mut self, pair: Pair) -> Known {
        if self.is_same_term(pair) {
            return Known::Equal { elements: 0, if_equal: Vec::new() };
        }
        self.by_operands(pair).unwrap_or_else(|| self.by_values(pair))
    }

    /// Two equal ops are equal if their operands are. `None` where that is not the question.
    fn by_operands(&mut self, pair: Pair) -> Option<Known> {
        let (old, new) = (&self.before.module[pair.0], &self.after.module[pair.1]);
        let is_opaque = is_opaque(new.opcode()) || new.opcode() == Opcode::Conditional;
        let is_same_op = old.opcode() == new.opcode()
            && old.shape().is_compatible(new.shape())
            && old.operands().len() == new.operands().len()
            && old.literal() == new.literal()
            && old.parameter_number() == new.parameter_number()
            && old.verbatim() == new.verbatim()
            && is_same_in_words(new.opcode(), old.attributes(), new.attributes());
        if !is_same_op || new.operands().is_empty() {
            return None;
        }
        // A bitcast reads its operand in the layout that it has.
        if new.opcode() == Opcode::Bitcast {
            return None;
        }
        let has_effect =
            self.before.module.has_side_effect(pair.0) || self.after.module.has_side_effect(pair.1);
        if has_effect && original(old.name()) != original(new.name()) {
            return Some(Known::Open("its value does not follow from its operands".to_owned()));
        }
        let mut if_equal: Vec<(Pair, Role)> = Vec::new();
        let called: Vec<_> = old.called().zip(new.called()).collect();
        if old.called().count() != new.called().count() {
            return None;
        }
        for (old, new) in called {
            let roots = (self.before.module.root(old), self.after.module.root(new));
            match self.is_same_term(roots) {
                true => {}
                false if is_opaque => if_equal.push((roots, Role::Result)),
                false => return None,
            }
        }
        let operands = old.operands().iter().copied().zip(new.operands().iter().copied());
        let operands: Vec<Pair> = operands.collect();
        for (old, new) in operands {
            let shapes = [self.before.module[old].shape(), self.after.module[new].shape()];
            if !shapes[0].is_compatible(shapes[1]) {
                return None;
            }
            match self.is_same_term((old, new)) {
                true => {}
                // Names that agree are a hint, and no more than a cut.
                false if self.is_cut_of((old, new)) => if_equal.push(((old, new), Role::Cut)),
                false if is_opaque => if_equal.push(((old, new), Role::Operand)),
                false => return None,
            }
        }
        Some(Known::Equal { elements: 0, if_equal })
    }

    fn is_cut_of(&mut self, (old, new): Pair) -> bool {
        if self.refuted.contains(&new) {
            return false;
        }
        let context = self.context((old, new));
        context.cuts_after.get(&new).is_some_and(|cut| context.cuts_before.get(&old) == Some(cut))
    }

    fn context(&mut self, (old, new): Pair) -> &Context {
        let pair = (self.before.module[old].parent(), self.after.module[new].parent());
        self.contexts.entry(pair).or_insert_with(|| Context::new(self.before, self.after, pair))
    }

    /// Compares elements of both, from cuts that go further up as long as they differ.
    fn by_values(&mut self, pair: Pair) -> Known {
        self.context(pair);
        let parents = (self.before.module[pair.0].parent(), self.after.module[pair.1].parent());
        let context = &self.contexts[&parents];
        let (old, new) = (&self.before.module, &self.after.module);
        let mut expanded: FxHashSet<InstructionId> = FxHashSet::default();
        let mut first = None;
        for level in 0..=LEVELS {
            let is_cut = |module: &Module, id: InstructionId, key: InstructionId| {
                let opcode = module[id].opcode();
                let is_end = level == LEVELS && !is_opaque(opcode);
                opcode == Opcode::Parameter || !is_end && !expanded.contains(&key)
            };
            let mut cuts = Cuts::default();
            let before = cone(
                old,
                pair.0,
                &|id| {
                    let key = context.cuts_before.get(&id).copied().filter(|&key| is_cut(old, id, key))?;
                    let partners = &context.partners[&key];
                    partners.iter().any(|new| !self.refuted.contains(new)).then_some(key)
                },
                &mut cuts,
                false,
            );
            let after = cone(
                new,
                pair.1,
                &|id| {
                    let key = context.cuts_after.get(&id).copied().filter(|&key| is_cut(new, id, key));
                    key.filter(|_| !self.refuted.contains(&id))
                },
                &mut cuts,
                true,
            );
            let (before, after) = match (before, after) {
                (Ok(before), Ok(after)) => (before, after),
                (Err(why), _) | (_, Err(why)) => return Known::Open(why),
            };
            let size = before.graph.ops.len().max(after.graph.ops.len());
            let compared = match size > MAX_CONE {
                true => {
                    Compared::Open(format!("it depends on more than {MAX_CONE} instructions that changed"))
                }
                false => sample::compare((&before, self.callees.0), (&after, self.callees.1), &cuts.found),
            };
            match compared {
                Compared::Equal { elements } => {
                    return Known::Equal { elements, if_equal: self.assumed(context, &cuts) };
                }
                Compared::Different { leaf, position, was, is } => {
                    let name = |module: &Module, id: InstructionId| module[id].name().to_owned();
                    let (before, after) = (name(old, pair.0), name(new, pair.1));
                    let difference = Difference { before, after, leaf, position, was, is };
                    let before = expanded.len();
                    let keys = cuts.found.iter().map(|cut| cut.key);
                    expanded.extend(keys.filter(|key| !is_opaque(old[*key].opcode())));
                    if expanded.len() == before {
                        return Known::Different(difference);
                    }
                    first.get_or_insert(difference);
                }
                // It differs from some values of the cuts; whether from those that they have is not known.
                Compared::Open(why) => return Known::Open(why),
            }
        }
        match first {
            Some(difference) => Known::Different(difference),
            None => Known::Open("it is not evaluated".to_owned()),
        }
    }

    /// The pairs that were assumed to be equal: cuts of different terms.
    fn assumed(&self, context: &Context, cuts: &Cuts) -> Vec<(Pair, Role)> {
        let mut pairs: Vec<Pair> = Vec::new();
        for cut in &cuts.found {
            if cut.after.is_empty() {
                // Only the cone before has it: any instruction that it is, is equal.
                let partners = context.partners[&cut.key].iter();
                pairs.extend(
                    partners.filter(|new| !self.refuted.contains(new)).take(1).map(|&new| (cut.key, new)),
                );
            }
            pairs.extend(cut.after.iter().map(|&new| (cut.key, new)));
        }
        pairs.retain(|&pair| !self.is_same_term(pair));
        pairs.into_iter().map(|pair| (pair, Role::Cut)).collect()
    }
}

/// Whether attributes say the same, but for what does not decide values and the names of computations.
fn is_same_in_words(opcode: Opcode, old: &ir::Attributes, new: &ir::Attributes) -> bool {
    let count = |attributes: &ir::Attributes| attributes.keys().filter(|key| matters(*key, opcode)).count();
    count(old) == count(new)
        && old.iter().filter(|(key, _)| matters(*key, opcode)).all(|(key, value)| new.get(key) == Some(value))
        && old.unknown() == new.unknown()
}
