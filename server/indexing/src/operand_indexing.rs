//! The result types: maps with their runtime variables and replica ids.

use std::fmt;
use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, SimplifyMode};
use ir::OpId;

use crate::Rules;
use crate::checks::Reason;
use crate::runtime_maps;

/// The maximum number of boxes examined to prove that constraints can be met before they are dropped.
const EMPTINESS_BUDGET: usize = 4096;

/// The source of the value of a runtime variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuntimeSource {
    /// An operand of the op, by number, if the op was analysed without its graph.
    Operand(usize),
    /// An op of the graph. `name` is for printing; in an inlined fusion, `op` is an id of the called
    /// computation.
    Op { op: OpId, name: Arc<str> },
    /// The unknown extent of a dimension of an array.
    Extent { array: ArraySource, dimension: usize },
}

/// An array with unknown extents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArraySource {
    /// The output, if the op was analysed without its graph.
    Output,
    /// An operand of the op, by number, if the op was analysed without its graph.
    Operand(usize),
    /// The result of an op of the graph. `name` is for printing.
    Op { op: OpId, name: Arc<str> },
}

/// `%p`, `operand 0`, `the output`.
impl fmt::Display for ArraySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArraySource::Output => f.write_str("the output"),
            ArraySource::Operand(number) => write!(f, "operand {number}"),
            ArraySource::Op { name, .. } => write!(f, "%{}", name.trim_start_matches('%')),
        }
    }
}

/// A runtime variable of a map: the element of `source` that holds its value, or an extent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RuntimeVariable {
    pub source: RuntimeSource,
    /// Maps the output's iteration space to `source`'s index space. By XLA's rules, its range and runtime
    /// variables are those of the consumers' maps through which it was composed, and they are not removed
    /// with those of the access. By [`Rules::Exact`] its range variables are none or those of the access; the
    /// same holds for its runtime variables.
    pub map: IndexingMap,
    /// The interval to which the op clamps the value. The variable's bounds in an access may be tighter:
    /// other values read nothing.
    pub feasible: Interval,
}

/// One access to one operand.
#[derive(Debug, Clone)]
pub struct OperandIndexing {
    /// The map; undefined if nothing is known, and `note` then has the reason.
    pub map: IndexingMap,
    /// One per runtime variable of `map`, in order.
    pub runtime_variables: Vec<RuntimeVariable>,
    /// For a collective, the replica of the group that holds the element.
    pub replica_id_map: Option<IndexingMap>,
    /// For an operand that is a tuple, the leaf that is read (elements in order, at any depth). XLA's maps
    /// lack this.
    pub element: Option<usize>,
    /// Whether the map is only an upper bound because no exact one exists; `note` has the reason.
    pub is_upper_bound: bool,
    /// The reason of an undefined map, or a remark on a map ("reads at most the whole operand: …").
    pub note: Option<Reason>,
}

/// Notes are text about a map and do not count for equality.
impl PartialEq for OperandIndexing {
    fn eq(&self, other: &OperandIndexing) -> bool {
        self.map == other.map
            && self.element == other.element
            && self.runtime_variables == other.runtime_variables
            && self.replica_id_map == other.replica_id_map
    }
}

impl Eq for OperandIndexing {}

impl From<IndexingMap> for OperandIndexing {
    fn from(map: IndexingMap) -> Self {
        OperandIndexing {
            map,
            runtime_variables: Vec::new(),
            replica_id_map: None,
            element: None,
            is_upper_bound: false,
            note: None,
        }
    }
}

impl OperandIndexing {
    pub fn undefined(reason: impl Into<Reason>) -> OperandIndexing {
        OperandIndexing { note: Some(reason.into()), ..OperandIndexing::from(IndexingMap::undefined()) }
    }

    #[must_use]
    pub(crate) fn with_note(mut self, note: impl Into<Reason>) -> OperandIndexing {
        self.note = Some(note.into());
        self
    }

    /// Marks the map as an upper bound. The note starts with "reads at most", for readers.
    #[must_use]
    pub(crate) fn at_most(self, what: &str, reason: impl std::fmt::Display) -> OperandIndexing {
        OperandIndexing { is_upper_bound: true, ..self }.with_note(format!("reads at most {what}: {reason}"))
    }

    /// No reads: an empty map between arrays of these ranks.
    pub(crate) fn unread(from: usize, to: usize, note: impl Into<Reason>) -> OperandIndexing {
        OperandIndexing::from(IndexingMap::known_empty(from, 0, to)).with_note(note)
    }

    #[must_use]
    pub(crate) fn of_element(self, element: Option<usize>) -> OperandIndexing {
        OperandIndexing { element, ..self }
    }

    /// Whether output element i reads exactly element i.
    pub fn is_identity(&self) -> bool {
        self.map.is_identity() && self.replica_id_map.is_none()
    }

    /// Composes `self`, a consumer's access to an op, with `operand`, an access of that op. The runtime
    /// variables of `operand` come first, as its symbols do. Rule: XLA `ComposeIndexingMaps` and
    /// `ComputeGroupedOutputToInputIndexing`: the map is simplified, maps of runtime variables are only
    /// composed.
    #[must_use]
    pub fn compose(&self, operand: &OperandIndexing) -> OperandIndexing {
        self.compose_by(operand, Rules::Xla)
    }

    /// [`OperandIndexing::compose`] by the given rules, see [`OperandIndexing::simplify_by`].
    #[must_use]
    pub fn compose_by(&self, operand: &OperandIndexing, rules: Rules) -> OperandIndexing {
        for part in [self, operand] {
            if part.map.is_undefined() {
                return OperandIndexing {
                    note: part.note.clone(),
                    ..OperandIndexing::from(IndexingMap::undefined())
                };
            }
        }
        let replica_id_map = match (&self.replica_id_map, &operand.replica_id_map) {
            (Some(_), Some(_)) => return OperandIndexing::undefined("two collectives in one chain"),
            (Some(own), None) => Some(own.clone()),
            (None, Some(own)) => Some(simplified(self.map.compose(own))),
            (None, None) => None,
        };
        let composed = operand.runtime_variables.iter().map(|variable| RuntimeVariable {
            source: variable.source.clone(),
            map: self.map.compose(&variable.map),
            feasible: variable.feasible,
        });
        let mut indexing = OperandIndexing {
            map: self.map.compose(&operand.map),
            runtime_variables: match rules {
                Rules::Xla => composed.chain(self.runtime_variables.iter().cloned()).collect(),
                Rules::Exact => runtime_maps::composed(
                    (&self.map, &self.runtime_variables),
                    (&operand.map, &operand.runtime_variables),
                ),
            },
            replica_id_map,
            element: operand.element,
            is_upper_bound: self.is_upper_bound || operand.is_upper_bound,
            note: operand.note.clone().or_else(|| self.note.clone()),
        };
        indexing.simplify_by(rules);
        if indexing.map.is_undefined() {
            return OperandIndexing::undefined(indexing.note.unwrap_or("the map grows too large".into()));
        }
        indexing
    }

    /// Simplifies the map and drops the range and runtime variables that it does not need.
    pub fn simplify(&mut self) {
        self.simplify_by(Rules::Xla);
    }

    /// A range variable that the results do not use can be dropped, with its constraints, if some value of it
    /// meets them. A runtime variable has one value: if the domain depends on it, the map without it reads
    /// too much. XLA drops both without a check; by [`Rules::Exact`] the first is proved, and the second
    /// stays.
    pub fn simplify_by(&mut self, rules: Rules) {
        self.map.simplify(SimplifyMode::Replace);
        self.drop_unused_symbols(rules);
    }

    pub(crate) fn drop_unused_symbols(&mut self, rules: Rules) {
        let before = self.map.num_dims() + self.map.num_ranges();
        let count = self.map.results().len();
        let kept: Vec<Expr> = match rules {
            Rules::Xla => Vec::new(),
            Rules::Exact => {
                let used = runtime_maps::used_symbols(&self.map, &mut self.runtime_variables);
                self.deciding_runtime_variables().chain(used).collect()
            }
        };
        let whole = (rules == Rules::Exact && !self.runtime_variables.is_empty()).then(|| self.map.clone());
        if !kept.is_empty() {
            self.map = self.map.with_results(self.map.results().iter().cloned().chain(kept).collect());
        }
        let with_unused =
            (rules == Rules::Exact && !self.map.constraints().is_empty()).then(|| self.map.clone());
        let mut removed = self.map.remove_unused_symbols();
        if let Some(with_unused) =
            with_unused.filter(|m| m.constraints().len() > self.map.constraints().len())
        {
            match with_unused.prove_empty(EMPTINESS_BUDGET) {
                Some(true) => self.map.set_known_empty(),
                Some(false) => {}
                None => {
                    self.map = with_unused;
                    removed.fill(false);
                }
            }
        }
        if self.map.results().len() > count {
            self.map = self.map.select_results(&(0..count).collect::<Vec<_>>());
        }
        if let Some(whole) = whole {
            runtime_maps::remove(&whole, &removed, &mut self.runtime_variables);
        }
        let mut gone = IndexingMap::removed_runtime(&removed, before).iter();
        self.runtime_variables.retain(|_| !gone.next().copied().unwrap_or(false));
        if self.map.is_undefined() {
            self.runtime_variables.clear();
        }
    }

    /// The runtime variables on which the domain depends: by a constraint, or by bounds inside the feasible
    /// interval.
    fn deciding_runtime_variables(&self) -> impl Iterator<Item = Expr> + '_ {
        let map = &self.map;
        self.runtime_variables.iter().zip(map.runtime()).enumerate().filter_map(
            move |(i, (variable, now))| {
                let expr = map.runtime_var(i);
                let id = expr.as_var()?;
                let decides = map.is_mapped()
                    && (now.bounds != variable.feasible
                        || map.constraints().iter().any(|c| c.expr.uses_var(id)));
                decides.then_some(expr)
            },
        )
    }
}

fn simplified(map: IndexingMap) -> IndexingMap {
    let mut map = map.simplified(SimplifyMode::Replace);
    map.remove_unused_symbols();
    map
}

/// The accesses of one op, a list per operand (or per output, from input to output), without duplicates. The
/// list of an operand that is not read is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpIndexing {
    pub operands: Vec<Vec<OperandIndexing>>,
}

impl OpIndexing {
    /// One access per operand.
    pub(crate) fn of(accesses: impl IntoIterator<Item = OperandIndexing>) -> OpIndexing {
        OpIndexing { operands: accesses.into_iter().map(|access| vec![access]).collect() }
    }

    pub(crate) fn undefined(count: usize, reason: &Reason) -> OpIndexing {
        OpIndexing::of((0..count).map(|_| OperandIndexing::undefined(reason.clone())))
    }

    /// Simplifies every map. Undefined ones stay, with their reason.
    pub fn simplify(&mut self) {
        self.simplify_by(Rules::Xla);
    }

    /// [`OpIndexing::simplify`] by the given rules.
    pub fn simplify_by(&mut self, rules: Rules) {
        for list in &mut self.operands {
            let mut kept: Vec<OperandIndexing> = Vec::with_capacity(list.len());
            for mut access in list.drain(..) {
                access.simplify_by(rules);
                insert(&mut kept, access);
            }
            *list = kept;
        }
    }

    /// [`OpIndexing::simplify`] for chaining.
    #[must_use]
    pub fn simplified(mut self) -> OpIndexing {
        self.simplify();
        self
    }

    /// Whether every operand is read at the output's own index.
    pub fn is_identity(&self) -> bool {
        self.operands.iter().flatten().all(OperandIndexing::is_identity)
    }
}

/// Adds an access unless the list has it; returns whether it was added.
pub(crate) fn insert(list: &mut Vec<OperandIndexing>, access: OperandIndexing) -> bool {
    let Some(known) = list.iter_mut().find(|known| **known == access) else {
        list.push(access);
        return true;
    };
    if known.is_upper_bound && !access.is_upper_bound {
        *known = access;
    }
    false
}
