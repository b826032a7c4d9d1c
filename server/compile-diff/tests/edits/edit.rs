//! Random edits of one module, each of which changes one thing.

use std::ops::Range;

use compile_diff::What;
use random::Rng;
use syntax::hlo::{AttributeKey, Opcode, ValueNode};

use crate::scramble::Names;
use crate::split::split;
use crate::text::{Text, replaced};

/// An instruction by the names of its computation and its own; a computation if its own is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct At(pub String, pub String);

impl At {
    pub fn new(computation: &str, name: &str) -> At {
        At(computation.to_owned(), name.to_owned())
    }
}

/// What the comparison has to say about an edit.
#[derive(Debug, Clone)]
pub enum Expected {
    New(At),
    Gone(At),
    /// From one computation to another.
    Moved(At, At),
    Changed(At, At, What),
    /// Of a computation.
    Root(At, At),
}

impl Expected {
    /// With the names that the second module got afterwards.
    pub fn after(&self, names: &Names) -> Expected {
        let now = |at: &At| names.get(at).unwrap_or(at).clone();
        match self {
            Expected::New(at) => Expected::New(now(at)),
            Expected::Gone(at) => Expected::Gone(at.clone()),
            Expected::Moved(from, to) => Expected::Moved(from.clone(), now(to)),
            Expected::Changed(one, other, what) => Expected::Changed(one.clone(), now(other), what.clone()),
            Expected::Root(one, other) => Expected::Root(one.clone(), now(other)),
        }
    }

    /// With the two modules exchanged.
    pub fn reversed_if(self, is_reversed: bool) -> Expected {
        match self {
            expected if !is_reversed => expected,
            Expected::New(at) => Expected::Gone(at),
            Expected::Gone(at) => Expected::New(at),
            Expected::Moved(from, to) => Expected::Moved(to, from),
            Expected::Changed(one, other, what) => Expected::Changed(other, one, what),
            Expected::Root(one, other) => Expected::Root(other, one),
        }
    }
}

#[derive(Debug)]
pub struct Edit {
    pub expected: Expected,
    /// The instructions that the edit and what it means depend on. No second edit changes them.
    pub touched: Vec<At>,
}

pub type Replacements = Vec<(Range<usize>, String)>;

/// The state of a module while one edit of it is sought.
pub struct Site<'a, 't> {
    pub module: &'a Text<'t>,
    pub values: &'a [u64],
    pub id: usize,
}

impl<'t> Site<'_, 't> {
    pub fn home(&self) -> usize {
        self.module.computation[self.id]
    }

    pub fn at(&self, id: usize) -> At {
        self.module.place(id)
    }

    pub fn opcode(&self, id: usize) -> Option<Opcode> {
        self.module.parse.instructions[id].opcode
    }

    pub fn shape(&self, id: usize) -> &'t str {
        self.module.of(self.module.parse.instructions[id].shape_span)
    }

    pub fn is_array(&self, id: usize) -> bool {
        !self.shape(id).is_empty() && !self.shape(id).starts_with('(')
    }

    /// The instructions of named operands, with their number.
    pub fn operands(&self, id: usize) -> Vec<(usize, usize, Range<usize>)> {
        let operands = self.module.operands(id).into_iter().enumerate();
        let named = operands.filter_map(|(at, operand)| {
            let (name, range) = operand?;
            Some((at, self.module.definition(self.home(), name)?, range))
        });
        named.collect()
    }

    pub fn users(&self, id: usize) -> Vec<usize> {
        let ids = self.module.parse.computations[self.home()].instructions.clone();
        let is_user = |user: &usize| self.operands(*user).iter().any(|(_, operand, _)| *operand == id);
        ids.map(|id| id as usize).filter(is_user).collect()
    }

    fn changed(&self, what: What) -> Expected {
        Expected::Changed(self.at(self.id), self.at(self.id), what)
    }
}

/// Makes one random edit that touches nothing that earlier ones did; `None` if none was found.
pub fn random(text: &str, rng: &mut Rng, earlier: &[Edit]) -> Option<(String, Edit)> {
    let module = Text::new(text);
    let values = module.values();
    let called: Vec<bool> = called(&module);
    for _ in 0..200 {
        let id = rng.index(module.parse.instructions.len());
        let site = Site { module: &module, values: &values, id };
        if !called[site.home()] || !module.is_plain(site.home()) {
            continue;
        }
        type Kind = fn(&Site<'_, '_>, &mut Rng) -> Option<(Replacements, Expected)>;
        let kinds: [Kind; 12] = [
            operand,
            operand,
            extent,
            element,
            layout,
            attribute,
            configuration,
            literal,
            opcode,
            insertion,
            removal,
            split,
        ];
        let kind = if rng.one_in(14) { root } else { *rng.pick(&kinds) };
        let Some((replacements, expected)) = kind(&site, rng) else { continue };
        let is_whole = matches!(expected, Expected::Moved(..) | Expected::Root(..));
        let mut touched = vec![site.at(id)];
        touched.extend(site.operands(id).into_iter().map(|(_, operand, _)| site.at(operand)));
        touched.extend(site.users(id).into_iter().map(|user| site.at(user)));
        // What it calls is void where it is gone.
        let callees = callees(&module, id).into_iter();
        touched.extend(callees.flat_map(|at| module.places(at)));
        if is_whole {
            let own = module.places(site.home());
            if let Expected::Moved(_, to) = &expected {
                touched.extend(own.iter().map(|at| At::new(&to.0, &at.1)));
            }
            touched.extend(own);
            let callers = callers(&module, site.home());
            touched.extend(callers.into_iter().map(|id| module.place(id)));
        }
        if earlier.iter().any(|edit| edit.touched.iter().any(|at| touched.contains(at))) {
            continue;
        }
        return Some((replaced(text, replacements), Edit { expected, touched }));
    }
    None
}

/// Computations that the entry needs.
fn called(module: &Text<'_>) -> Vec<bool> {
    let count = module.parse.computations.len();
    let mut called = vec![false; count];
    let mut open: Vec<usize> = (0..count).filter(|&at| module.parse.computations[at].is_entry).collect();
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut called[at], true) {
            continue;
        }
        open.extend(
            module.parse.computations[at].instructions.clone().flat_map(|id| callees(module, id as usize)),
        );
    }
    called
}

/// The computations that an instruction calls.
pub fn callees(module: &Text<'_>, id: usize) -> Vec<usize> {
    let all = module.parse.attributes_of(&module.parse.instructions[id]).iter();
    let names = all.flat_map(|attribute| match &attribute.value {
        ValueNode::Computation(name) => std::slice::from_ref(name),
        ValueNode::Computations { start, len } => module.parse.spans(*start, *len),
        _ => &[],
    });
    let by_name = |name: &str| module.parse.computations.iter().position(|one| module.of(one.name) == name);
    names.filter_map(|span| by_name(module.of(*span).trim_start_matches('%'))).collect()
}

/// The instructions that call a computation.
pub fn callers(module: &Text<'_>, computation: usize) -> Vec<usize> {
    (0..module.parse.instructions.len()).filter(|&id| callees(module, id).contains(&computation)).collect()
}

/// Another operand of the same shape, with another value.
fn operand(site: &Site<'_, '_>, rng: &mut Rng) -> Option<(Replacements, Expected)> {
    let operands = site.operands(site.id);
    let (number, old, range) = operands.get(rng.index(operands.len().max(1)))?.clone();
    let ids = site.module.parse.computations[site.home()].instructions.clone();
    let is_parameter = |id: usize| site.opcode(id) == Some(Opcode::Parameter);
    let is_entry = site.module.parse.computations[site.home()].is_entry;
    let fits = |&new: &usize| {
        new < site.id
            && site.shape(new) == site.shape(old)
            && site.values[new] != site.values[old]
            // Two parameters of a fusion may be one value.
            && (is_entry || !is_parameter(new) || !is_parameter(old))
            && site.opcode(new) != Some(Opcode::GetTupleElement)
            && site.opcode(old) != Some(Opcode::GetTupleElement)
    };
    let fitting: Vec<usize> = ids.map(|id| id as usize).filter(fits).collect();
    let new = *fitting.get(rng.index(fitting.len().max(1)))?;
    let expected = site.changed(What::Operand(number as u32));
    Some((vec![(range, site.module.name(new).to_owned())], expected))
}

fn extent(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let span = site.module.parse.instructions[site.id].shape_span;
    let text = site.module.of(span);
    let (front, rest) = text.split_once('[').filter(|_| site.is_array(site.id))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let size: u64 = rest[..digits].parse().ok()?;
    let start = span.start as usize + front.len() + 1;
    Some((vec![(start..start + digits, (size + 1).to_string())], site.changed(What::Shape)))
}

fn element(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let span = site.module.parse.instructions[site.id].shape_span;
    let (front, _) = site.module.of(span).split_once('[').filter(|_| site.is_array(site.id))?;
    let new = if front == "bf16" { "f16" } else { "bf16" };
    let start = span.start as usize;
    Some((vec![(start..start + front.len(), new.to_owned())], site.changed(What::Shape)))
}

fn layout(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let span = site.module.parse.instructions[site.id].shape_span;
    let (front, rest) = site.module.of(span).split_once("]{").filter(|_| site.is_array(site.id))?;
    let end = rest.find([':', '}'])?;
    let order: Vec<&str> = rest[..end].split(',').collect();
    let [first, second, others @ ..] = order.as_slice() else { return None };
    let order = [&[*second, *first], others].concat().join(",");
    let start = span.start as usize + front.len() + 2;
    Some((vec![(start..start + end, order)], site.changed(What::Layout)))
}

/// The last number in a text, raised by one.
fn raised(text: &str) -> Option<(Range<usize>, String)> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = text[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let number: u64 = text[start..end].parse().ok()?;
    Some((start..end, number.checked_add(1)?.to_string()))
}

fn moved_by(range: Range<usize>, offset: u32) -> Range<usize> {
    range.start + offset as usize..range.end + offset as usize
}

fn attribute(site: &Site<'_, '_>, rng: &mut Rng) -> Option<(Replacements, Expected)> {
    let instruction = &site.module.parse.instructions[site.id];
    let has_numbers = |value: &ValueNode| {
        matches!(value, ValueNode::Int(_) | ValueNode::Ints { .. } | ValueNode::Triples { .. })
    };
    let all = site.module.parse.attributes_of(instruction).iter();
    let fitting: Vec<_> =
        all.filter(|one| has_numbers(&one.value) && one.key != Some(AttributeKey::Index)).collect();
    let chosen = fitting.get(rng.index(fitting.len().max(1)))?;
    let (range, new) = raised(site.module.of(chosen.value_span))?;
    Some((
        vec![(moved_by(range, chosen.value_span.start), new)],
        site.changed(What::Attribute(String::new())),
    ))
}

fn configuration(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let instruction = &site.module.parse.instructions[site.id];
    let all = site.module.parse.attributes_of(instruction);
    let config = all.iter().find(|one| one.key == Some(AttributeKey::BackendConfig))?;
    let text = site.module.of(config.value_span);
    let text = &text[..text.find("\"reification_cost\"").unwrap_or(text.len())];
    let (range, new) = raised(text)?;
    Some((
        vec![(moved_by(range, config.value_span.start), new)],
        site.changed(What::Configuration(String::new())),
    ))
}

fn literal(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let span = site.module.parse.instructions[site.id].argument;
    let (range, new) =
        raised(site.module.of(span)).filter(|_| site.opcode(site.id) == Some(Opcode::Constant))?;
    Some((vec![(moved_by(range, span.start), new)], site.changed(What::Literal)))
}

fn opcode(site: &Site<'_, '_>, rng: &mut Rng) -> Option<(Replacements, Expected)> {
    const FAMILIES: [&[&str]; 2] = [
        &["add", "multiply", "subtract", "maximum", "divide"],
        &["negate", "exponential", "tanh", "abs", "sqrt"],
    ];
    let span = site.module.parse.instructions[site.id].opcode_span;
    let old = site.module.of(span);
    let family = FAMILIES.iter().find(|family| family.contains(&old))?;
    let new = rng.pick(family);
    (*new != old).then(|| (vec![(span.range(), (*new).to_owned())], site.changed(What::Opcode)))
}

/// A new instruction between an operand and its user.
fn insertion(site: &Site<'_, '_>, rng: &mut Rng) -> Option<(Replacements, Expected)> {
    let operands = site.operands(site.id);
    let (_, old, range) = operands.get(rng.index(operands.len().max(1)))?.clone();
    if !site.is_array(old) {
        return None;
    }
    let opcode = rng.pick(&["negate", "copy", "tanh", "not"]);
    let name = format!("inserted.{}", rng.range(1, 1 << 30));
    let line = format!("{name} = {} {opcode}({})\n  ", site.shape(old), site.module.name(old));
    let start = site.module.parse.instructions[site.id].span.start as usize;
    let expected = Expected::New(At::new(&site.at(site.id).0, &name));
    Some((vec![(start..start, line), (range, name)], expected))
}

/// The users use the first operand instead.
fn removal(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let instruction = &site.module.parse.instructions[site.id];
    let (_, operand, _) = site.operands(site.id).into_iter().next()?;
    let name = site.module.name(site.id);
    let is_predecessor = site.module.text.contains("control-predecessors");
    if instruction.is_root
        || is_predecessor
        || site.shape(operand) != site.shape(site.id)
        || !site.is_array(operand)
    {
        return None;
    }
    let users = site.users(site.id);
    let uses = users.iter().flat_map(|&user| site.operands(user)).filter(|(_, used, _)| *used == site.id);
    let mut replacements: Replacements =
        uses.map(|(_, _, range)| (range, site.module.name(operand).to_owned())).collect();
    if replacements.is_empty() || name.is_empty() {
        return None;
    }
    let text = site.module.text;
    let mut end = instruction.span.end as usize;
    end += text[end..].find('\n').map_or(0, |at| at + 1);
    let start = text[..instruction.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
    replacements.push((start..end, String::new()));
    Some((replacements, Expected::Gone(site.at(site.id))))
}

/// Another root of the computation.
fn root(site: &Site<'_, '_>, _: &mut Rng) -> Option<(Replacements, Expected)> {
    let own = &site.module.parse.computations[site.home()];
    let root =
        own.instructions.clone().find(|&id| site.module.parse.instructions[id as usize].is_root)? as usize;
    let fits = root != site.id
        && site.shape(root) == site.shape(site.id)
        && site.values[root] != site.values[site.id]
        && site.opcode(site.id) != Some(Opcode::Parameter);
    if !fits {
        return None;
    }
    let marked = site.module.parse.instructions[root].span.start as usize;
    let new = site.module.parse.instructions[site.id].span.start as usize;
    let home = At::new(&site.at(root).0, "");
    let replacements = vec![(marked..marked + "ROOT ".len(), String::new()), (new..new, "ROOT ".to_owned())];
    Some((replacements, Expected::Root(home.clone(), home)))
}
