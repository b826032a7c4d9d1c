//! The registers on which addresses and branches depend, as expressions over the ids of the thread and over
//! loops.

use indexing_map::{BinaryOp, Constraint, Expr, IndexingMap, Interval, RangeContext, Variable};
use ptx::{Comparison, Modifier, Name, Opcode, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::machine::{Class, Inst, Kind, Label, Operand, Reg, Space};
use super::map_of;
use super::paths::{Path, Paths, indicator, negated};
use crate::kernel::Kernel;

/// The ids of thread and block.
const IDS: [&str; 6] = ["%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z"];
/// The bound of unknown 64-bit indices, far enough from the limits of 64 bits to avoid overflow.
const FAR: i64 = 1 << 40;

#[derive(Debug, Clone)]
pub(super) enum AccessValue {
    Index(Expr),
    Pointer(Vec<ArgumentOffset>),
    /// A predicate: the conjunction of the constraints.
    Test(Vec<Constraint>),
}

/// An offset in bytes from the start of an argument.
#[derive(Debug, Clone)]
pub(super) struct ArgumentOffset {
    pub param: usize,
    pub bytes: Expr,
    /// The conditions for this place, if data or the thread selects between several.
    pub when: Vec<Constraint>,
}

/// A variable of the expressions.
enum Role {
    Id,
    Loop,
    /// Read from memory, or computed from such values. Two lanes for which all of these are equal have the
    /// same value.
    Runtime(Vec<Expr>),
}

struct Loop {
    top: usize,
    end: usize,
    variable: u32,
}

pub(super) struct Values<'c> {
    insts: &'c [Inst],
    labels: FxHashMap<Label, usize>,
    needed: FxHashSet<Reg>,
    values: FxHashMap<Reg, AccessValue>,
    /// The instruction that computes each register.
    made: FxHashMap<Reg, &'c Inst>,
    /// Registers with several assignments: the conditions and the value of each.
    moves: FxHashMap<Reg, Vec<(Path, Option<AccessValue>)>>,
    counters: FxHashSet<Reg>,
    loops: Vec<Loop>,
    /// The variables of the loops around each instruction, by the instruction at which they change.
    around: Vec<(usize, Vec<u32>)>,
    variables: Vec<Variable>,
    roles: Vec<Role>,
}

impl<'c> Values<'c> {
    pub(super) fn new(kernel: &Kernel, insts: &'c [Inst], pointers: &[Option<Reg>]) -> Values<'c> {
        let variables: Vec<Variable> = kernel.launch.sizes().into_iter().map(Variable::from_size).collect();
        let mut values = Values {
            insts,
            labels: FxHashMap::default(),
            needed: FxHashSet::default(),
            values: FxHashMap::default(),
            made: FxHashMap::default(),
            moves: FxHashMap::default(),
            counters: FxHashSet::default(),
            loops: Vec::new(),
            around: Vec::new(),
            roles: variables.iter().map(|_| Role::Id).collect(),
            variables,
        };
        for (param, pointer) in pointers.iter().enumerate() {
            if let Some(reg) = *pointer {
                let place = ArgumentOffset { param, bytes: Expr::ZERO, when: Vec::new() };
                values.values.insert(reg, AccessValue::Pointer(vec![place]));
            }
        }
        for (at, inst) in insts.iter().enumerate() {
            if let Kind::Label(label) = inst.kind {
                values.labels.insert(label, at);
            }
            if let (Kind::Pure { .. }, [reg]) = (&inst.kind, inst.to.as_slice()) {
                values.made.insert(*reg, inst);
            }
        }
        values.find_loops();
        values.find_needed();
        values
    }

    /// Finds loops: a loop ends in a branch back that is taken while its counter is below the number of
    /// iterations.
    fn find_loops(&mut self) {
        for (end, inst) in self.insts.iter().enumerate() {
            let Kind::Branch { target, guard: Some((guard, true)) } = inst.kind else { continue };
            let Some(&top) = self.labels.get(&target).filter(|&&top| top < end) else { continue };
            let Some(Kind::Pure { opcode, from }) = self.made.get(&guard).map(|inst| &inst.kind) else {
                continue;
            };
            let [Operand::Reg(counter), Operand::Int(turns)] = from[..] else { continue };
            let is_below =
                opcode.comparison() == Some(Comparison::Lt) && opcode.ty().is_some_and(Type::is_unsigned);
            if !is_below || turns < 1 {
                continue;
            }
            let variable = self.variable(Interval::from_size(turns), Role::Loop);
            self.values.insert(counter, AccessValue::Index(Expr::var(variable as usize)));
            self.counters.insert(counter);
            self.loops.push(Loop { top, end, variable });
        }
        self.loops.sort_by_key(|l| (l.top, std::cmp::Reverse(l.end)));
        let mut changes: Vec<usize> = self.loops.iter().flat_map(|l| [l.top, l.end + 1]).collect();
        changes.sort_unstable();
        changes.dedup();
        for at in changes {
            let inside = self.loops.iter().filter(|l| (l.top..=l.end).contains(&at));
            self.around.push((at, inside.map(|l| l.variable).collect()));
        }
    }

    pub(super) fn loops_around(&self, at: usize) -> &[u32] {
        let number = self.around.partition_point(|(from, _)| *from <= at);
        number.checked_sub(1).map_or(&[], |n| &self.around[n].1)
    }

    pub(super) fn is_forward(&self, at: usize, target: Label) -> bool {
        self.labels.get(&target).is_some_and(|&label| label > at)
    }

    /// Finds the registers on which addresses and branches depend.
    fn find_needed(&mut self) {
        let mut writers: FxHashMap<Reg, Vec<&Inst>> = FxHashMap::default();
        let mut open: Vec<Operand> = Vec::new();
        for inst in self.insts {
            match &inst.kind {
                Kind::Load { address, .. }
                | Kind::Store { address, .. }
                | Kind::Atomic { address, .. }
                | Kind::Exchange { address, .. } => {
                    open.extend(matches!(address.space, Space::Global(_)).then_some(address.base));
                }
                Kind::Branch { guard: Some((reg, _)), .. } => open.push((*reg).into()),
                _ => {}
            }
            inst.to.iter().for_each(|&reg| writers.entry(reg).or_default().push(inst));
        }
        while let Some(operand) = open.pop() {
            let Operand::Reg(reg) = operand else { continue };
            if !self.needed.insert(reg) {
                continue;
            }
            for inst in writers.get(&reg).into_iter().flatten() {
                match &inst.kind {
                    // The result of a floating-point comparison depends on data.
                    Kind::Pure { opcode, .. } if is_float_comparison(opcode) => {}
                    Kind::Pure { from, .. } => open.extend(from),
                    Kind::Move { from } if !self.counters.contains(&reg) => open.push(*from),
                    _ => {}
                }
            }
        }
    }

    fn variable(&mut self, bounds: Interval, role: Role) -> u32 {
        self.variables.push(bounds.into());
        self.roles.push(role);
        self.variables.len() as u32 - 1
    }

    pub(super) fn range(&self, expr: &Expr) -> Interval {
        RangeContext::new(&self.variables, &[]).range(expr)
    }

    pub(super) fn value(&self, operand: Operand) -> Option<AccessValue> {
        match operand {
            Operand::Int(value) => Some(AccessValue::Index(Expr::Const(value))),
            Operand::Reg(reg) => match self.moves.get(&reg) {
                Some(moves) => self.chosen(moves),
                None => self.values.get(&reg).cloned(),
            },
            _ => None,
        }
    }

    /// The constraints of a predicate register. `None` if data decides.
    pub(super) fn test(&self, reg: Reg) -> Option<Vec<Constraint>> {
        match self.value(reg.into())? {
            AccessValue::Test(constraints) => Some(constraints),
            _ => None,
        }
    }

    fn index(&self, operand: Operand) -> Option<Expr> {
        match self.value(operand)? {
            AccessValue::Index(expr) => Some(expr),
            _ => None,
        }
    }

    /// Records a loaded value on which an address or a branch depends. It is equal for lanes that read at
    /// equal positions.
    pub(super) fn load(&mut self, inst: &Inst) {
        let address = match &inst.kind {
            Kind::Load { address, .. } => Some(*address),
            Kind::Pure { .. } | Kind::Move { .. } => return,
            _ => None,
        };
        for &reg in &inst.to {
            if !self.needed.contains(&reg) {
                continue;
            }
            let from = match address.map(|a| (a, self.value(a.base))) {
                Some((_, Some(AccessValue::Pointer(places)))) if places.len() == 1 => {
                    vec![places[0].bytes.clone()]
                }
                _ => self.own_thread(),
            };
            let value = self.unknown(reg.class, from);
            self.values.insert(reg, value);
        }
    }

    /// Sources that differ for every thread.
    fn own_thread(&self) -> Vec<Expr> {
        (0..3).map(Expr::var).collect()
    }

    fn unknown(&mut self, class: Class, from: Vec<Expr>) -> AccessValue {
        let bounds = match class {
            Class::Pred => return AccessValue::Index(Expr::TOO_LARGE),
            Class::B16 => Interval::new(i64::from(i16::MIN), i64::from(u16::MAX)),
            Class::B32 => Interval::new(i64::from(i32::MIN), i64::from(i32::MAX)),
            Class::B64 => Interval::new(-FAR, FAR),
        };
        let variable = self.variable(bounds, Role::Runtime(from));
        AccessValue::Index(Expr::var(variable as usize))
    }

    pub(super) fn assign(&mut self, inst: &Inst, paths: &Paths) {
        let (Kind::Move { from }, [reg]) = (&inst.kind, inst.to.as_slice()) else { return };
        if self.needed.contains(reg) && !self.counters.contains(reg) {
            let value = self.value(*from);
            self.moves.entry(*reg).or_default().push((paths.path(), value));
        }
    }

    /// The value of a register that the arms of branches assign.
    fn chosen(&self, moves: &[(Path, Option<AccessValue>)]) -> Option<AccessValue> {
        let (first, others) = moves.split_first()?;
        let common = others.iter().fold(first.0.len(), |length, (path, _)| {
            let is_same =
                |(a, b): &(&Option<Vec<Constraint>>, &Option<Vec<Constraint>>)| a.is_some() && a == b;
            first.0.iter().zip(path).take(length).take_while(is_same).count()
        });
        let common = if others.is_empty() { first.0.len() } else { common };
        let mut arms = Vec::new();
        for (path, value) in moves {
            let own: Option<Vec<Vec<Constraint>>> = path[common.min(path.len())..].iter().cloned().collect();
            arms.push((own?.concat(), value.clone()?));
        }
        // Unconditional assignments come first; the others override them.
        arms.sort_by_key(|(own, _)| !own.is_empty());
        match arms[0].1 {
            AccessValue::Pointer(_) => {
                let mut places: Vec<ArgumentOffset> = Vec::new();
                for (own, value) in arms {
                    let AccessValue::Pointer(new) = value else { return None };
                    for place in &mut places {
                        // The two arms of one branch exclude each other already.
                        if place.when.is_empty() {
                            place.when = negated(&own, self)?;
                        }
                    }
                    for place in new {
                        let mut when = own.clone();
                        when.extend(place.when);
                        self.add(&mut places, ArgumentOffset { when, ..place })?;
                    }
                }
                Some(AccessValue::Pointer(places))
            }
            AccessValue::Index(_) => {
                let mut all: Option<Expr> = None;
                for (own, value) in arms {
                    let AccessValue::Index(new) = value else { return None };
                    all = Some(match all {
                        None => new,
                        Some(before) => self.either(&own, new, before)?,
                    });
                }
                all.map(AccessValue::Index)
            }
            AccessValue::Test(_) => None,
        }
    }

    /// Adds a place. Two places in one array are merged to one with a conditional offset, because one
    /// instruction reads both.
    fn add(&self, places: &mut Vec<ArgumentOffset>, new: ArgumentOffset) -> Option<()> {
        match places.iter_mut().find(|place| place.param == new.param && !place.when.is_empty()) {
            Some(known) if !new.when.is_empty() => {
                let bytes = self.either(&new.when, new.bytes, known.bytes.clone())?;
                // The condition for either of both.
                let neither = [negated(&known.when, self)?, negated(&new.when, self)?].concat();
                *known = ArgumentOffset { bytes, when: negated(&neither, self)?, ..*known };
            }
            _ => places.push(new),
        }
        Some(())
    }

    /// `then` if all of these hold, else `otherwise`.
    fn either(&self, holds: &[Constraint], then: Expr, otherwise: Expr) -> Option<Expr> {
        let which = indicator(holds, self)?;
        let expr = otherwise.clone() + which * (then + otherwise * -1);
        (!expr.is_too_large()).then_some(expr)
    }

    /// Evaluates an instruction. Only the few instructions that compute indices are supported; results of
    /// others are unknown.
    pub(super) fn compute(&mut self, inst: &Inst) {
        let (Kind::Pure { opcode, from }, [reg]) = (&inst.kind, inst.to.as_slice()) else { return };
        if !self.needed.contains(reg) {
            return;
        }
        let known = self.computed(opcode, from);
        let value = known.or_else(|| {
            if reg.class == Class::Pred {
                return None;
            }
            let sources = from.iter().flat_map(|&operand| self.sources(operand)).collect();
            Some(self.unknown(reg.class, sources))
        });
        match value {
            Some(value) => drop(self.values.insert(*reg, value)),
            None => drop(self.values.remove(reg)),
        }
    }

    /// The expressions that determine a value: it is equal for lanes for which these are equal.
    fn sources(&self, operand: Operand) -> Vec<Expr> {
        match self.value(operand) {
            Some(AccessValue::Index(expr)) if expr.as_const().is_some() => Vec::new(),
            Some(AccessValue::Index(expr)) => vec![expr],
            Some(AccessValue::Test(constraints)) => constraints.into_iter().map(|c| c.expr).collect(),
            Some(AccessValue::Pointer(_)) => Vec::new(),
            None if matches!(operand, Operand::Reg(_)) => self.own_thread(),
            None => Vec::new(),
        }
    }

    fn computed(&mut self, opcode: &Opcode, from: &[Operand]) -> Option<AccessValue> {
        let (name, ty) = (opcode.name, opcode.ty()?);
        let is_unsigned = ty.is_unsigned();
        match *from {
            [Operand::Symbol(id)] => {
                let number = IDS.iter().position(|&known| known == id)?;
                return Some(AccessValue::Index(Expr::var(number)));
            }
            [a] if name == Name::Mov => return self.value(a),
            [a] if name == Name::Cvt => return self.index(a).map(AccessValue::Index),
            [a] if *opcode == Name::Not.of(Type::Pred) => {
                let AccessValue::Test(constraints) = self.value(a)? else { return None };
                return negated(&constraints, self).map(AccessValue::Test);
            }
            [a, b] if *opcode == Name::And.of(Type::Pred) => {
                let (AccessValue::Test(a), AccessValue::Test(b)) = (self.value(a)?, self.value(b)?) else {
                    return None;
                };
                return Some(AccessValue::Test([a, b].concat()));
            }
            [a, Operand::Int(c)] if name == Name::Setp => {
                return self.compared(opcode.comparison()?, is_unsigned, a, c);
            }
            // A division that rounds down.
            [_, Operand::Reg(quotient), _] if name == Name::Selp => {
                let Kind::Pure { opcode, from } = &self.made.get(&quotient)?.kind else { return None };
                let is_division = opcode.name == Name::Div && opcode.ty().is_some_and(Type::is_signed);
                let (&[a, Operand::Int(c)], true) = (from.as_slice(), is_division) else {
                    return None;
                };
                return Some(AccessValue::Index(self.index(a)?.floor_div(c)));
            }
            [a, b, c] if name == Name::Mad && opcode.has(Modifier::Lo) => {
                return Some(AccessValue::Index(self.index(a)? * self.index(b)? + self.index(c)?));
            }
            _ => {}
        }
        let (&[a, b], false) = (from, ty.is_float()) else { return None };
        if let AccessValue::Pointer(places) = self.value(a)? {
            let moved = |place: ArgumentOffset, bytes: Expr| ArgumentOffset { bytes, ..place };
            let moved: Vec<ArgumentOffset> = match (name, self.index(b)?) {
                (Name::Add, by) => places
                    .into_iter()
                    .map(|place| {
                        let bytes = place.bytes.clone() + by.clone();
                        moved(place, bytes)
                    })
                    .collect(),
                (Name::And, Expr::Const(mask)) if mask < 0 && (-mask & (-mask - 1)) == 0 => places
                    .into_iter()
                    .map(|place| {
                        let bytes = place.bytes.clone().floor_div(-mask) * -mask;
                        moved(place, bytes)
                    })
                    .collect(),
                _ => return None,
            };
            return Some(AccessValue::Pointer(moved));
        }
        let (x, y) = (self.index(a)?, self.index(b)?);
        let constant = y.as_const();
        let expr = match (name, constant) {
            (Name::Add, _) => x + y,
            (Name::Sub, _) => match self.modulus(&x, &y) {
                Some(c) => x.modulo(c),
                None => x + y * -1,
            },
            (Name::Mul, _) if !opcode.has(Modifier::Hi) => x * y,
            (Name::Shl, Some(k @ 0..=40)) => x * (1i64 << k),
            (Name::Shr, Some(k @ 0..=62)) if !is_unsigned || self.range(&x).lower >= 0 => {
                x.floor_div(1i64 << k)
            }
            (Name::And, Some(mask)) if mask > 0 && (mask & (mask + 1)) == 0 => x.modulo(mask + 1),
            (Name::Or, Some(1)) => x.floor_div(2) * 2 + 1,
            (Name::Div, Some(c)) if c > 0 && self.range(&x).lower >= 0 => x.floor_div(c),
            (Name::Rem, Some(c)) if c > 0 && self.range(&x).lower >= 0 => x.modulo(c),
            (Name::Max | Name::Min, Some(c)) => self.clamped(x, name == Name::Max, is_unsigned, c)?,
            (Name::Max, None) if !is_unsigned => x.max(y),
            (Name::Min, None) if !is_unsigned => x.min(y),
            _ => return None,
        };
        (!expr.is_too_large()).then_some(AccessValue::Index(expr))
    }

    /// The constant `c` if `y` is `x` rounded down to a multiple of `c`.
    fn modulus(&self, x: &Expr, y: &Expr) -> Option<i64> {
        let (quotient, c) = y.as_scaled()?;
        let (of, d) = quotient.as_op_const(BinaryOp::FloorDiv)?;
        (c == d && c > 0 && of == x).then_some(c)
    }

    /// Clamps an expression; a clamped runtime variable becomes a new variable with narrower bounds.
    fn clamped(&mut self, x: Expr, is_max: bool, is_unsigned: bool, c: i64) -> Option<Expr> {
        let Some(variable) = x.as_var().filter(|&v| self.is_runtime(v)) else {
            return match is_max {
                _ if is_unsigned && self.range(&x).lower < 0 => None,
                true => Some(x.max(c)),
                false => Some(x.min(c)),
            };
        };
        let own = self.variables[variable as usize].bounds;
        let bounds = match (is_max, is_unsigned) {
            (true, _) => Interval::new(own.lower.max(c), own.upper.max(c)),
            (false, false) => Interval::new(own.lower.min(c), own.upper.min(c)),
            // Negative numbers are large as unsigned ones.
            (false, true) => Interval::new(own.lower.max(0), c),
        };
        let Role::Runtime(from) = &self.roles[variable as usize] else { return None };
        let from = from.clone();
        Some(Expr::var(self.variable(bounds, Role::Runtime(from)) as usize))
    }

    fn is_runtime(&self, variable: u32) -> bool {
        matches!(self.roles.get(variable as usize), Some(Role::Runtime(_)))
    }

    /// A comparison with a constant. `None` if only loaded values are compared.
    fn compared(&self, comparison: Comparison, is_unsigned: bool, a: Operand, c: i64) -> Option<AccessValue> {
        let expr = self.index(a)?;
        let mut is_data = true;
        expr.for_each_var(&mut |v| is_data &= self.is_runtime(v));
        if is_data {
            return None;
        }
        let range = self.range(&expr);
        let interval = match comparison {
            Comparison::Eq => Interval::point(c),
            Comparison::Le if is_unsigned => Interval::new(0, c),
            Comparison::Lt if is_unsigned => Interval::new(0, c.checked_sub(1)?),
            Comparison::Le => Interval::new(range.lower.min(c), c),
            Comparison::Lt => Interval::new(range.lower.min(c - 1), c.checked_sub(1)?),
            Comparison::Ge => Interval::new(c, range.upper.max(c)),
            Comparison::Gt => Interval::new(c.checked_add(1)?, range.upper.max(c + 1)),
            _ => return None,
        };
        Some(AccessValue::Test(vec![Constraint { expr, interval }]))
    }

    /// The map to `result`, and the maps from ids to the sources of its runtime variables that may differ
    /// between lanes.
    pub(super) fn map(
        &self,
        result: Expr,
        conditions: &[Constraint],
        loops: &[u32],
    ) -> (IndexingMap, Vec<IndexingMap>) {
        let mut runtime: Vec<u32> = Vec::new();
        let mut note = |expr: &Expr| {
            expr.for_each_var(&mut |v| {
                if self.is_runtime(v) && !runtime.contains(&v) {
                    runtime.push(v);
                }
            });
        };
        note(&result);
        conditions.iter().for_each(|condition| note(&condition.expr));
        runtime.sort_unstable();
        let map = map_of(&self.variables, IDS.len(), loops, &runtime, &result, conditions);
        (map, self.keys(&runtime))
    }

    fn keys(&self, runtime: &[u32]) -> Vec<IndexingMap> {
        let mut open = runtime.to_vec();
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        let mut keys: Vec<Expr> = Vec::new();
        while let Some(variable) = open.pop() {
            let Some(Role::Runtime(from)) = self.roles.get(variable as usize) else { continue };
            for key in from {
                key.for_each_var(&mut |v| {
                    if self.is_runtime(v) && seen.insert(v) {
                        open.push(v);
                    }
                });
                // Loops are at their first iteration, and a loaded value is a source of its own.
                let plain = key.substitute(&mut |v| (v as usize >= IDS.len()).then_some(Expr::ZERO));
                if (0..3).any(|id| plain.uses_var(id)) && !keys.contains(&plain) {
                    keys.push(plain);
                }
            }
        }
        keys.iter().map(|key| map_of(&self.variables, IDS.len(), &[], &[], key, &[])).collect()
    }
}

fn is_float_comparison(opcode: &Opcode) -> bool {
    opcode.name == Name::Setp && opcode.ty().is_some_and(Type::is_float)
}
