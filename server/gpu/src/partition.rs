//! Splits a computation into functions: a value that is needed at several different indices gets its own
//! function, so that its code is not duplicated. Source: XLA `codegen/emitters/computation_partitioner.cc`.

use indexing::{Callees, OperandIndexing, Rules};
use indexing_map::IndexingMap;
use ir::{Graph, OpId, Opcode};

use crate::post_order::post_order;

/// The maximum number of instructions that are added to a function while they are counted into it; after
/// that, the next instruction with one use opens its own function. Source: XLA `computation_partitioner.cc`.
const MAX_INSTRUCTIONS: usize = 2000;

/// The arguments of all functions of a kernel: each function takes every operand, so a text grows as their product.
const MAX_ARGUMENTS: usize = 1 << 18;

/// The functions of one computation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The functions, that of the computation's root first; a function comes before those that it calls.
    pub functions: Vec<Function>,
    /// Per op of the graph, the number of its function.
    pub function_of: Vec<u32>,
}

impl Partition {
    /// # Errors
    /// The functions, each with this many operands, have too many arguments to be written.
    pub fn check_arguments(&self, operands: usize) -> Result<(), crate::Reason> {
        let functions = self.functions.len();
        if functions.saturating_mul(operands) <= MAX_ARGUMENTS {
            return Ok(());
        }
        let message = format!(
            "the kernel has {functions} functions of {operands} operands each, more than {MAX_ARGUMENTS} arguments in all"
        );
        Err(message.into())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// The names of the computation and of the root, with `_` for every character that is not a letter or
    /// digit.
    pub name: String,
    pub root: OpId,
    /// Operands before their users, the root last.
    pub ops: Vec<OpId>,
    /// Whether it only moves data, and so is always inlined.
    pub has_no_compute: bool,
    /// Whether the kernel's entry computes it itself, so that the code has no function for it.
    pub is_entry: bool,
    pub reason: Reason,
}

/// Why an instruction starts a function of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Nothing uses it: the computation's root, or dead code.
    NoUser,
    /// Requested by the caller.
    Forced,
    /// A hero, whose elements are distributed over the threads before an epilogue follows.
    Hero,
    /// Read by a hero.
    ReadByHero,
    /// A result of the kernel, which the entry writes.
    Result,
    /// Used by the functions with these numbers.
    SeveralFunctions(Vec<u32>),
    /// Needed by function `user` at two different indices: the first two maps, from the index of that
    /// function's root, that differ.
    SeveralMaps { user: u32, first: IndexingMap, second: IndexingMap },
    /// With it, function `user` would have more than 2000 instructions.
    TooLarge { user: u32 },
}

/// The uses of an op, collected before the op is assigned to a function.
#[derive(Default)]
struct Demand {
    users: Vec<u32>,
    /// From the index of the root of the user's function, each once. Two already make a function: no more are kept.
    accesses: Vec<OperandIndexing>,
    edges: usize,
}

/// Splits `graph` into functions, named after `computation`. Ops for which `is_forced` holds open a function
/// even where XLA's criteria require none. Dead code has functions too. Empty for an empty graph.
pub fn partition(
    graph: &Graph,
    computation: &str,
    is_forced: &dyn Fn(OpId) -> bool,
    callees: &Callees<'_>,
) -> Partition {
    let order = post_order(graph);
    let mut demands: Vec<Demand> = graph.ops.iter().map(|_| Demand::default()).collect();
    let mut functions: Vec<Function> = Vec::new();
    let mut sizes: Vec<usize> = Vec::new();
    let mut function_of = vec![0; graph.ops.len()];
    for &op in order.iter().rev() {
        cancel::check();
        let demand = std::mem::take(&mut demands[op as usize]);
        let (function, way) = match reason(&demand, is_forced(op), &sizes) {
            Some(reason) => {
                let name = function_name(computation, &graph.names[op as usize]);
                functions.push(Function {
                    name,
                    root: op,
                    ops: Vec::new(),
                    has_no_compute: true,
                    is_entry: false,
                    reason,
                });
                sizes.push(0);
                (functions.len() as u32 - 1, None)
            }
            None => (demand.users[0], demand.accesses.into_iter().next()),
        };
        function_of[op as usize] = function;
        sizes[function as usize] += 1;
        demand_operands(graph, op, function, way.as_ref(), callees, &mut demands);
    }
    for &op in &order {
        let function = &mut functions[function_of[op as usize] as usize];
        function.ops.push(op);
        function.has_no_compute &= moves_data_only(graph.ops[op as usize].opcode);
    }
    Partition { functions, function_of }
}

fn reason(demand: &Demand, is_forced: bool, sizes: &[usize]) -> Option<Reason> {
    if demand.users.is_empty() {
        return Some(Reason::NoUser);
    }
    if is_forced {
        return Some(Reason::Forced);
    }
    let [user] = demand.users.as_slice() else {
        return Some(Reason::SeveralFunctions(demand.users.clone()));
    };
    if let [first, second, ..] = demand.accesses.as_slice() {
        return Some(Reason::SeveralMaps {
            user: *user,
            first: first.map.clone(),
            second: second.map.clone(),
        });
    }
    let is_full = sizes[*user as usize] >= MAX_INSTRUCTIONS && demand.edges == 1;
    is_full.then_some(Reason::TooLarge { user: *user })
}

/// Records for the operands of `op` that `function` needs them, and at which indices: those at which `op`
/// reads them, composed with `way`, the map from the root of the function to `op` (`None` for the root
/// itself).
fn demand_operands(
    graph: &Graph,
    op: OpId,
    function: u32,
    way: Option<&OperandIndexing>,
    callees: &Callees<'_>,
    demands: &mut [Demand],
) {
    let operands = &graph.operands[op as usize];
    if operands.is_empty() {
        return;
    }
    // XLA computes no maps for these.
    let passes_through = matches!(graph.ops[op as usize].opcode, Opcode::Tuple | Opcode::Scatter);
    let indexing = match passes_through {
        true => Default::default(),
        false => indexing::in_graph(graph, op, 0, Rules::Xla, callees),
    };
    for (i, &operand) in operands.iter().enumerate() {
        cancel::tick();
        let demand = &mut demands[operand as usize];
        demand.edges += 1;
        if !demand.users.contains(&function) {
            demand.users.push(function);
        }
        if passes_through {
            let identity = || IndexingMap::identity(graph.ops[operand as usize].shape.dims()).into();
            insert(&mut demand.accesses, way.cloned().unwrap_or_else(identity));
            continue;
        }
        for access in indexing.operands.get(i).into_iter().flatten() {
            let composed = match way {
                None => {
                    let mut access = access.clone();
                    access.simplify();
                    access
                }
                Some(way) => way.compose(access),
            };
            if composed.map.is_mapped() {
                insert(&mut demand.accesses, composed);
            }
        }
    }
}

/// Adds an access unless one with the same results is known: the partitioner ignores domains when it compares
/// maps.
fn insert(accesses: &mut Vec<OperandIndexing>, access: OperandIndexing) {
    if accesses.len() < 2 && accesses.iter().all(|known| known.map.results() != access.map.results()) {
        accesses.push(access);
    }
}

fn function_name(computation: &str, root: &str) -> String {
    let name = format!("{computation}_{root}");
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn moves_data_only(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Bitcast | Constant | Iota | Parameter | Reshape | Reverse | Transpose | Broadcast | Slice | Copy
    )
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use indexing::no_callees;
    use ir::Graph;

    use super::*;

    fn graph(text: &str) -> Graph {
        let text: Arc<str> = Arc::from(format!("HloModule m\n{text}"));
        let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
        let block = ir::lower(text, parse);
        Graph::build(&[(&block, 0)]).expect("a computation")
    }

    fn check(text: &str, expect: Expect) {
        let graph = graph(text);
        let partition = partition(&graph, "f", &|_| false, &no_callees);
        let name = |op: &OpId| graph.names[*op as usize].as_str();
        let mut out = String::new();
        for function in &partition.functions {
            let ops: Vec<_> = function.ops.iter().map(name).collect();
            let why = match &function.reason {
                Reason::SeveralMaps { user, first, second } => {
                    format!("fn {user} needs {first} and {second}")
                }
                other => format!("{other:?}"),
            };
            writeln!(out, "{}: {} - {why}", function.name, ops.join(" ")).unwrap();
        }
        expect.assert_eq(&out);
        let mut all: Vec<OpId> = partition.functions.iter().flat_map(|f| f.ops.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..graph.ops.len() as OpId).collect::<Vec<_>>(), "each op is in one function");
    }

    #[test]
    fn a_value_read_at_two_indices() {
        check(
            "f {
               p = f32[6] parameter(0)
               e = f32[6] exponential(p)
               a = f32[5] slice(e), slice={[0:5]}
               b = f32[5] slice(e), slice={[1:6]}
               ROOT r = f32[5] add(a, b)
             }",
            expect![[r#"
                f_r: a b r - NoUser
                f_e: p e - fn 0 needs (d0) -> (d0 + 1), domain: d0 in [0, 4] and (d0) -> (d0), domain: d0 in [0, 4]
            "#]],
        );
    }

    #[test]
    fn a_value_read_twice_at_one_index() {
        check(
            "f {
               p = f32[6] parameter(0)
               q = f32[6] parameter(1)
               a = f32[6] add(p, q)
               s = f32[6] subtract(p, q)
               ROOT r = f32[6] atan2(a, s)
             }",
            expect![[r#"
                f_r: p q a s r - NoUser
            "#]],
        );
    }

    #[test]
    fn a_transpose_beside_what_it_transposes() {
        check(
            "f {
               p = f32[4,4] parameter(0)
               e = f32[4,4] exponential(p)
               t = f32[4,4] transpose(e), dimensions={1,0}
               ROOT r = f32[4,4] add(e, t)
             }",
            expect![[r#"
                f_r: t r - NoUser
                f_e: p e - fn 0 needs (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 3] and (d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 3]
            "#]],
        );
    }

    #[test]
    fn operands_that_both_branches_of_a_split_use() {
        check(
            "f {
               p = f32[6] parameter(0)
               l = f32[6] log(p)
               n = f32[6] negate(l)
               ROOT c = f32[12] concatenate(n, l), dimensions={0}
             }",
            expect![[r#"
                f_c: n c - NoUser
                f_l: p l - fn 0 needs (d0) -> (d0 - 6), domain: d0 in [6, 11] and (d0) -> (d0), domain: d0 in [0, 5]
            "#]],
        );
    }

    /// A long chain of ops with one use each is split where it exceeds the maximum size of a function.
    #[test]
    fn functions_have_a_size() {
        let mut text = "f {\n p = f32[6] parameter(0)\n x0 = f32[6] negate(p)\n".to_owned();
        for i in 1..2500 {
            writeln!(text, " x{i} = f32[6] negate(x{})", i - 1).unwrap();
        }
        text.push_str(" ROOT r = f32[6] negate(x2499)\n}");
        let graph = graph(&text);
        let partition = partition(&graph, "f", &|_| false, &no_callees);
        let sizes: Vec<_> = partition.functions.iter().map(|f| f.ops.len()).collect();
        assert_eq!(sizes, [MAX_INSTRUCTIONS, 2502 - MAX_INSTRUCTIONS]);
        assert_eq!(partition.functions[1].reason, Reason::TooLarge { user: 0 });
    }
}
