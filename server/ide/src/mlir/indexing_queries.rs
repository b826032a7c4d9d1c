//! Maps of ops by name, for the machine interface: those that the op's hover shows.

use db::MlirMaps;
use indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};
use indexing_map::Interval;
use mlir::Definition;
use mlir_indexing::Access;
use mlir_ops::Source;

use crate::file_context::FileContext;
use crate::indexing_queries::{
    Direction, IndexingKind, IndexingQueries, IndexingQuery, IndexingReply, QueryError,
};
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::kernels::functions::{FunctionRef, all_functions, body, symbol};

impl IndexingQueries for Mlir {
    /// The maps from a result of the op, as a list per operand in text order; for structured ops, the maps from
    /// their loops.
    fn indexing(
        &self,
        context: &FileContext<'_>,
        query: &IndexingQuery,
    ) -> Result<IndexingReply, QueryError> {
        let error = |why: &str| Err(QueryError(why.to_owned()));
        let IndexingKind::One { direction: Direction::OutputToInput, index, physical_layout: false } =
            query.kind
        else {
            return error(
                "of MLIR there are maps from outputs to inputs, of one op and of logical dimensions",
            );
        };
        let (name, of_pack) = match query.instruction.split_once('#') {
            Some((name, nth)) => (name, nth.parse().ok()),
            None => (query.instruction.as_str(), None),
        };
        let (at, first) = find(context, query.computation.as_deref(), name)?;
        let result = first + of_pack.unwrap_or(index);
        let maps = db::with_mlir_operands(context.db, context.view.file, at.piece, at.id, |source| {
            of_op(source, at, result, query)
        });
        maps.unwrap_or_else(|| error("the op is in no file"))
    }
}

fn of_op(
    source: &Source<'_>,
    at: OpRef,
    result: usize,
    query: &IndexingQuery,
) -> Result<IndexingReply, QueryError> {
    let op = source.parse.name(at.id, source.text);
    let results = source.result_count(at.id);
    if result >= results {
        return Err(QueryError(format!("{op} has no result {result} here: it has {results}")));
    }
    let operands: Vec<&str> = source.parse.operands_of(at.id).map(|u| u.span.of(source.text)).collect();
    let operands = match db::mlir_maps(source, at.id, result) {
        None => return Err(QueryError(format!("of {op} no map is known"))),
        Some(Err(why)) => return Err(QueryError(format!("{op} has no map: {why}"))),
        Some(Ok(MlirMaps::Own(maps))) => {
            let of = |name: &&str| {
                let own = maps.accesses.iter().filter(|access| access.operand == **name);
                own.map(of_access).collect::<Vec<_>>()
            };
            operands.iter().map(of).collect()
        }
        Some(Ok(MlirMaps::Hlo(op))) => {
            let mut maps = db::written_hlo_op_maps(&op, result, query.rules);
            if query.simplify {
                maps.simplify_by(query.rules);
            }
            of_hlo_op(&operands, &op.operands, maps)
        }
    };
    Ok(IndexingReply::Operands(OpIndexing { operands }))
}

/// The lists of an HLO op, whose operands may be in another order. Repeated operands are matched in order.
fn of_hlo_op(operands: &[&str], own: &[String], maps: OpIndexing) -> Vec<Vec<OperandIndexing>> {
    let place = |nth: usize| {
        let name = operands[nth];
        let before = operands[..nth].iter().filter(|other| **other == name).count();
        let places: Vec<usize> = (0..own.len()).filter(|&at| own[at] == name).collect();
        places.get(before).or(places.last()).copied()
    };
    let numbers: Vec<Option<usize>> = (0..operands.len()).map(place).collect();
    let in_text = |at: usize| numbers.iter().position(|&number| number == Some(at)).unwrap_or(at);
    let list = |number: &Option<usize>| {
        let mut list = number.and_then(|at| maps.operands.get(at)).cloned().unwrap_or_default();
        for variable in list.iter_mut().flat_map(|access| &mut access.runtime_variables) {
            if let RuntimeSource::Operand(at) = &mut variable.source {
                *at = in_text(*at);
            }
        }
        list
    };
    numbers.iter().map(list).collect()
}

fn of_access(access: &Access) -> OperandIndexing {
    let mut indexing = OperandIndexing::from(access.map.clone());
    let variables = access.symbols.iter().map(|symbol| RuntimeVariable {
        source: RuntimeSource::Op { op: 0, name: symbol.describe(&access.map).into() },
        map: access.map.with_results(symbol.index.clone()),
        feasible: Interval::ALL,
    });
    indexing.runtime_variables = variables.collect();
    indexing.note = access.note.clone().map(Into::into);
    indexing
}

/// The op that defines `%name`, and the index of that result, in the function `computation`; if not given,
/// `@main` is searched first.
fn find(
    context: &FileContext<'_>,
    computation: Option<&str>,
    name: &str,
) -> Result<(OpRef, usize), QueryError> {
    let mut functions = all_functions(context);
    match computation.map(|name| name.trim_start_matches('@')) {
        Some(wanted) => functions.retain(|function| symbol(context, *function) == Some(wanted)),
        None => functions.sort_by_key(|function| symbol(context, *function) != Some("main")),
    }
    let found = functions.iter().find_map(|&function| in_function(context, function, name));
    found.ok_or_else(|| {
        QueryError(match computation {
            Some(computation) => format!("no op defines %{name} in {computation}"),
            None => format!("no op defines %{name}"),
        })
    })
}

fn in_function(context: &FileContext<'_>, function: FunctionRef, name: &str) -> Option<(OpRef, usize)> {
    // Ops in the regions of an op follow it in the list.
    let own = body(context, function).map(|(piece, id)| OpRef { piece, id });
    let inner = |at: OpRef| at.id..context.mlir_piece(at.piece).parse.op(at.id).behind.max(at.id + 1);
    own.flat_map(|at| inner(at).map(move |id| OpRef { id, ..at })).find_map(|at| {
        let read = context.mlir_piece(at.piece);
        let mut first = 0;
        for value in read.parse.op(at.id).results.clone() {
            let value = &read.parse.values[value as usize];
            debug_assert!(matches!(value.definition, Definition::Result(op) if op == at.id));
            if value.name.of(&read.text).strip_prefix('%') == Some(name) {
                return Some((at, first));
            }
            first += value.count as usize;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use indexing_map::{PrintStyle, print_map};

    use crate::fixture::open_mlir;
    use crate::{Direction, IndexingKind, IndexingQuery, IndexingReply, Rules};

    const MODULE: &str = "func.func @f(%a: tensor<4x6xf32>, %i: tensor<i32>) -> tensor<6x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %i, sizes = [2, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  %2 = tensor.extract_slice %a[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  return %0 : tensor<6x4xf32>
}
";

    fn ask(computation: Option<&str>, instruction: &str, index: usize) -> String {
        let (analysis, file, _) = open_mlir(MODULE);
        let query = IndexingQuery {
            instruction: instruction.to_owned(),
            computation: computation.map(ToOwned::to_owned),
            kind: IndexingKind::One { direction: Direction::OutputToInput, index, physical_layout: false },
            simplify: true,
            rules: Rules::Xla,
        };
        match analysis.indexing(file, &query).expect("nobody cancels") {
            Ok(IndexingReply::Operands(maps)) => {
                let maps = maps.operands.iter().map(|list| {
                    let shown = list.iter().map(|access| {
                        let map = print_map(&access.map, PrintStyle::Floordiv);
                        format!("{map} {}", access.runtime_variables.len())
                    });
                    shown.collect::<Vec<_>>().join("; ")
                });
                maps.collect::<Vec<_>>().join("\n")
            }
            Ok(_) => "another answer".to_owned(),
            Err(why) => why.0,
        }
    }

    #[test]
    fn maps_by_name() {
        assert_eq!(ask(None, "0", 0), "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3] 0");
        let slice = ask(Some("@f"), "1", 0);
        assert!(slice.starts_with("(d0, d1){rt0} -> (d0 + rt0, d1), domain: "), "{slice}");
        assert_eq!(slice.lines().count(), 3);
        assert_eq!(ask(None, "2", 0), "(d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 1], d1 in [0, 5] 0");
        assert_eq!(ask(None, "7", 0), "no op defines %7");
        assert_eq!(ask(Some("g"), "0", 0), "no op defines %0 in g");
        assert_eq!(ask(None, "0", 3), "stablehlo.transpose has no result 3 here: it has 1");
    }
}
