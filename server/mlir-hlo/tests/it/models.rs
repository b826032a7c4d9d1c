//! Real models: the ops of their StableHLO read as the instructions of the HLO that XLA makes of it.

use std::collections::{HashMap, HashSet};

use indexing::Rules;
use indexing_map::{IndexingMap, SimplifyMode};
use ir::{AttributeKey, Graph, OpId, Opcode};
use mlir::PieceState;

use crate::corpus::files;
use crate::graphs::{Graphs, is_bookkeeping, shown, twin_maps};
use crate::{faults, shared, to_hlo};

#[test]
fn ops_read_as_the_instructions_that_they_become() {
    let Some(folder) =
        std::env::var_os("JAX_MODELS").map(Into::into).or_else(|| shared("corpus/jax/modules"))
    else {
        return;
    };
    let (mut same, mut all, mut models) = (0, 0, 0);
    for path in files(&folder, ".stablehlo.mlir") {
        let hlo = path.to_string_lossy().replace(".stablehlo.mlir", ".before_opt.hlo");
        let Ok(hlo) = std::fs::read_to_string(hlo) else { continue };
        let text = std::fs::read_to_string(&path).expect("it is readable");
        models += 1;
        let (matched, here) = compare(&text, &hlo);
        println!("{matched:>5} of {here:>5} {}", path.file_name().unwrap_or_default().to_string_lossy());
        same += matched;
        all += here;
    }
    println!("{same} of {all} ops of {models} models read as their instructions");
    // The others XLA folds away before it prints the module: sums with zero, what is computed of constants.
    assert!(same * 100 >= all * 94, "{same} of {all}");
}

/// How many ops of a dump have an instruction, whose maps are the op's, and how many there are.
fn compare(text: &str, hlo: &str) -> (usize, usize) {
    let module = to_hlo(text);
    assert_eq!(faults(&module.text), [] as [&str; 0]);
    let (ours, theirs) = (Graphs::of(&module.text), Graphs::of(hlo));
    let mut pairs = Pairs {
        ours: &ours,
        theirs: &theirs,
        matched: HashSet::new(),
        differing: Vec::new(),
        seen: HashSet::new(),
    };
    pairs.computations(&ours.entry, &theirs.entry);
    assert_eq!(pairs.differing, [] as [&str; 0]);
    // What the twin of each op says is what its instruction in the module says.
    let parse = mlir::parse(text, PieceState::default());
    let block = crate::lowered(&module.text);
    let mut told = HashMap::new();
    for origin in &module.origins {
        let Some(id) = block.parse.instruction_at(origin.offset as usize + 2) else { continue };
        let computation = block.parse.computation_of(id).expect("it is in one");
        let computation = block.parse.computations[computation as usize].name.of(&block.text).to_owned();
        told.insert((computation, block.name(id).to_owned()), origin.op);
    }
    let mut all = 0;
    for (computation, graph) in &ours.all {
        for (id, op) in graph.ops.iter().enumerate() {
            let key = (computation.clone(), graph.names[id].clone());
            let Some(&mlir_op) = told.get(&key).filter(|_| !is_bookkeeping(op.opcode)) else { continue };
            all += 1;
            let own = maps_of(graph, id as OpId).map(|maps| shown(&maps));
            // Of an op that is several instructions the twin says what they do together.
            let is_alone = graph
                .names
                .iter()
                .filter(|n| told.get(&(computation.clone(), (*n).clone())) == Some(&mlir_op))
                .count()
                == 1;
            if let (Some(own), Some(Ok(twin)), true) = (own, twin_maps(&parse, text, mlir_op, 0), is_alone)
                && !has_runtime(graph, id as OpId)
            {
                assert_eq!(shown(&twin), own, "{} of {computation}", graph.names[id]);
            }
            if !pairs.matched.contains(&(computation.clone(), id as OpId))
                && std::env::var_os("TELL").is_some()
            {
                println!("not matched: {computation} {} {}", graph.names[id], op.opcode);
            }
        }
    }
    let is_counted = |(computation, id): &&(String, OpId)| {
        let graph = &ours.all[computation];
        told.contains_key(&(computation.clone(), graph.names[*id as usize].clone()))
            && !is_bookkeeping(graph.ops[*id as usize].opcode)
    };
    (pairs.matched.iter().filter(is_counted).count(), all)
}

/// Indices that are constants make maps exact, in a twin.
fn has_runtime(graph: &Graph, id: OpId) -> bool {
    matches!(
        graph.ops[id as usize].opcode,
        Opcode::DynamicSlice | Opcode::DynamicUpdateSlice | Opcode::Gather | Opcode::Scatter
    )
}

/// Nothing where an instruction has no maps of its own.
fn maps_of(graph: &Graph, id: OpId) -> Option<indexing::OpIndexing> {
    use Opcode::*;
    let has_none =
        [While, Conditional, Call, CustomCall, Constant, Iota, OptBarrier, Parameter, Tuple, GetTupleElement];
    if has_none.contains(&graph.ops[id as usize].opcode) {
        return None;
    }
    let mut maps = indexing::output_to_input_by(&graph.ops[id as usize], 0, Rules::Exact);
    maps.simplify_by(Rules::Exact);
    Some(maps)
}

/// Instructions of two modules that are the same, found from the roots.
struct Pairs<'g> {
    ours: &'g Graphs,
    theirs: &'g Graphs,
    /// Instructions of ours whose maps are those of theirs.
    matched: HashSet<(String, OpId)>,
    /// Instructions that are each other's, and read in another way.
    differing: Vec<String>,
    seen: HashSet<(String, String)>,
}

/// An instruction behind those that only move what it makes, and where its elements go.
struct Moved {
    base: OpId,
    through: Vec<OpId>,
    map: Option<IndexingMap>,
}

/// XLA writes a broadcast as several moves, and leaves out some: they are compared together.
fn moved(graph: &Graph, id: OpId) -> Moved {
    let mut moved = Moved { base: id, through: Vec::new(), map: None };
    while matches!(graph.ops[moved.base as usize].opcode, Opcode::Reshape | Opcode::Broadcast) {
        let Some(step) =
            maps_of(graph, moved.base).and_then(|maps| Some(maps.operands.first()?.first()?.map.clone()))
        else {
            break;
        };
        moved.map = Some(match moved.map.take() {
            Some(map) => map.compose(&step).simplified(SimplifyMode::Replace),
            None => step,
        });
        moved.through.push(moved.base);
        moved.base = graph.operands[moved.base as usize][0];
    }
    moved
}

impl Pairs<'_> {
    fn computations(&mut self, ours: &str, theirs: &str) {
        self.computations_by(ours, theirs, None);
    }

    /// Loops carry the same values in another order: which of theirs each of ours is.
    fn computations_by(&mut self, ours: &str, theirs: &str, order: Option<&[usize]>) {
        if !self.seen.insert((ours.to_owned(), theirs.to_owned())) {
            return;
        }
        let (Some(left), Some(right)) =
            (self.ours.all.get(ours).cloned(), self.theirs.all.get(theirs).cloned())
        else {
            return;
        };
        let hashes = (hashes(&left), hashes(&right));
        let mut open = match order {
            Some(order) => elements(&left, &right, left.root, right.root, order),
            None => vec![(left.root, right.root)],
        };
        let mut done = HashSet::new();
        while let Some((a, b)) = open.pop() {
            if !done.insert((a, b)) {
                continue;
            }
            let (a, b) = (moved(&left, a), moved(&right, b));
            let text = |map: &Option<IndexingMap>, graph: &Graph, id: OpId| match map {
                Some(map) => map.to_string(),
                None => IndexingMap::identity(graph.ops[id as usize].shape.dims()).to_string(),
            };
            let (op, other) = (&left.ops[a.base as usize], &right.ops[b.base as usize]);
            // XLA makes one array of a constant, or of an iota, that is moved; both read nothing.
            let is_constant = matches!(op.opcode, Opcode::Constant | Opcode::Iota);
            if op.opcode != other.opcode {
                continue;
            }
            let (own_moves, their_moves) = (text(&a.map, &left, a.base), text(&b.map, &right, b.base));
            if is_constant || own_moves == their_moves {
                self.matched.extend(a.through.iter().map(|&id| (ours.to_owned(), id)));
            } else {
                let name = &left.names[a.base as usize];
                self.differing.push(format!("{ours} {name}: {own_moves} is not {their_moves}"));
            }
            let own = maps_of(&left, a.base).map(|maps| shown(&maps));
            let mut their = maps_of(&right, b.base).map(|maps| shown(&maps));
            let mut operands = right.operands[b.base as usize].clone();
            if is_commutative(op.opcode)
                && let ([x, y], [u, v]) = (&left.operands[a.base as usize][..], &operands[..])
                && (hashes.0[*x as usize] == hashes.1[*v as usize]
                    && hashes.0[*x as usize] != hashes.1[*u as usize]
                    || hashes.0[*y as usize] == hashes.1[*u as usize]
                        && hashes.0[*y as usize] != hashes.1[*v as usize])
            {
                operands.reverse();
                their.iter_mut().for_each(|maps| maps.reverse());
            }
            if own == their {
                self.matched.insert((ours.to_owned(), a.base));
            } else {
                self.differing
                    .push(format!("{ours} {}: {own:?} is not {their:?}", left.names[a.base as usize]));
            }
            if op.opcode == Opcode::While {
                let order = same_order(
                    &left,
                    &right,
                    (&hashes.0, &hashes.1),
                    left.operands[a.base as usize][0],
                    operands[0],
                );
                open.extend(elements(&left, &right, left.operands[a.base as usize][0], operands[0], &order));
                let called = |op: &ir::Op, key| op.attributes.computation(key).unwrap_or_default().to_owned();
                self.computations(
                    &called(op, AttributeKey::Condition),
                    &called(other, AttributeKey::Condition),
                );
                self.computations_by(
                    &called(op, AttributeKey::Body),
                    &called(other, AttributeKey::Body),
                    Some(&order),
                );
                continue;
            }
            open.extend(left.operands[a.base as usize].iter().copied().zip(operands));
            for key in AttributeKey::ALL.iter().filter(|key| **key != AttributeKey::OperandPrecision) {
                let (own, their) = (op.attributes.computations(*key), other.attributes.computations(*key));
                for (own, their) in own.iter().zip(their) {
                    self.computations(own, their);
                }
            }
        }
    }
}

/// Elements of two tuples, by which of theirs each of ours is.
fn elements(left: &Graph, right: &Graph, a: OpId, b: OpId, order: &[usize]) -> Vec<(OpId, OpId)> {
    if [(left, a), (right, b)].iter().any(|(graph, id)| graph.ops[*id as usize].opcode != Opcode::Tuple) {
        return vec![(a, b)];
    }
    let (a, b) = (&left.operands[a as usize], &right.operands[b as usize]);
    order.iter().enumerate().filter_map(|(at, &other)| Some((*a.get(at)?, *b.get(other)?))).collect()
}

/// Which element of theirs is which of ours: of the same shape, and computed alike where that tells.
fn same_order(left: &Graph, right: &Graph, hashes: (&[u64], &[u64]), a: OpId, b: OpId) -> Vec<usize> {
    let (ours, theirs) = (&left.operands[a as usize], &right.operands[b as usize]);
    let mut free: Vec<usize> = (0..theirs.len()).collect();
    let mut order = vec![usize::MAX; ours.len()];
    for is_strict in [true, false] {
        for (at, &own) in ours.iter().enumerate().filter(|_| left.ops[a as usize].opcode == Opcode::Tuple) {
            if order[at] != usize::MAX {
                continue;
            }
            let fits = |&&other: &&usize| {
                let their = theirs[other];
                left.ops[own as usize].shape.is_compatible(&right.ops[their as usize].shape)
                    && (!is_strict || hashes.0[own as usize] == hashes.1[their as usize])
            };
            if let Some(&found) = free.iter().find(fits) {
                order[at] = found;
                free.retain(|&other| other != found);
            }
        }
    }
    order
}

fn is_commutative(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Add | Multiply | Maximum | Minimum | And | Or | Xor)
}

/// What an instruction computes, but for moves: equal where two compute the same.
fn hashes(graph: &Graph) -> Vec<u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut all: Vec<u64> = Vec::with_capacity(graph.ops.len());
    for (id, op) in graph.ops.iter().enumerate() {
        let mut operands: Vec<u64> = graph.operands[id].iter().map(|&of| all[of as usize]).collect();
        if matches!(op.opcode, Opcode::Reshape | Opcode::Broadcast) {
            all.push(operands[0]);
            continue;
        }
        if is_commutative(op.opcode) {
            operands.sort_unstable();
        }
        let mut hasher = DefaultHasher::new();
        // Not which element of a tuple it is: loops carry them in another order.
        let index = (op.opcode == Opcode::GetTupleElement).then(|| op.shape.dims().to_vec());
        let literal = op.literal.as_deref().unwrap_or_default();
        (op.opcode, op.parameter, index, literal, operands).hash(&mut hasher);
        all.push(hasher.finish());
    }
    all
}
