//! The value of a StableHLO op or function, by the reference interpreter, after conversion to HLO.

use std::collections::HashMap;
use std::sync::Arc;

use db::MlirFunction;
use mlir::is_function_like;

use crate::evaluate::{EvaluationQuery, Value, Values, Wanted};
use crate::file_context::FileContext;
use crate::indexing_queries::QueryError;
use crate::kernel::fusion::FusionQuery;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::kernels::find;
use crate::mlir::kernels::functions::{
    Converted, FunctionRef, all_functions, function_at, is_of_hlo, symbol,
};
use crate::mlir::kernels::named::op_called;

impl Values for Mlir {
    /// Without a name, the value of `@main` or of the only function. An instruction is an op, given by the name
    /// of its result or of its HLO instruction.
    fn value_named<'a>(&self, context: &'a FileContext<'_>, query: &EvaluationQuery) -> Wanted<'a> {
        let computation = query.computation.as_deref().map(|name| name.trim_start_matches('@'));
        let instruction = query.instruction.as_deref();
        let function = match computation {
            Some(name) => {
                let query = FusionQuery { instruction: name.to_owned(), computation: None };
                find(context, &query).map(|(function, _)| function)
            }
            None => entry(context, instruction),
        };
        let own_name = || function.and_then(|function| symbol(context, function)).unwrap_or_default();
        let name = instruction.or(computation).unwrap_or_else(own_name).to_owned();
        let value = match (function, computation, instruction) {
            (Some(function), ..) => named(context, function, instruction),
            (None, Some(name), _) => Err(QueryError(format!("no function named {name}"))),
            (None, None, Some(name)) => Err(QueryError(format!("no op that defines %{name}"))),
            (None, None, None) => {
                Err(QueryError("no function that is the only one or is named main".to_owned()))
            }
        };
        Wanted { name, value }
    }

    /// Of the op, or of the function if the cursor is in its head or at its end.
    fn value_at<'a>(&self, context: &'a FileContext<'_>, offset: usize) -> Option<Wanted<'a>> {
        let function = function_at(context, offset)?;
        let converted = match whole(context, function) {
            Ok(converted) => converted,
            Err(why) => return Some(Wanted { name: symbol(context, function)?.to_owned(), value: Err(why) }),
        };
        let (within, name) = place(context, function, converted, offset)?;
        let value = value(context, function, converted, (within, name));
        Some(Wanted { name: name.unwrap_or(&converted.name).to_owned(), value: Ok(value) })
    }

    /// Whether the function around `offset` consists of StableHLO or MHLO ops.
    fn has_value(&self, context: &FileContext<'_>, offset: usize) -> bool {
        function_at(context, offset).is_some_and(|function| is_of_hlo(context, function))
    }
}

/// The value of an op of a function, or of the function.
fn named<'a>(
    context: &'a FileContext<'_>,
    function: FunctionRef,
    instruction: Option<&str>,
) -> Result<Value<'a>, QueryError> {
    let converted = whole(context, function)?;
    let op = instruction.and_then(|name| op_called(context, function, name));
    let place = op.and_then(|op| instruction_of(converted, function, op));
    let place = match place {
        Some((within, name)) => (within, Some(name)),
        None => (converted.name.as_ref(), instruction),
    };
    Ok(value(context, function, converted, place))
}

/// The value of an instruction, given with its computation, or of the computation's root.
fn value<'a>(
    context: &FileContext<'_>,
    function: FunctionRef,
    converted: &'a MlirFunction,
    (computation, instruction): (&str, Option<&str>),
) -> Value<'a> {
    let graphs = || {
        let computations = converted.computations.iter();
        computations.map(|c| (c.name.to_string(), c.graph.clone())).collect::<HashMap<_, _>>()
    };
    Value {
        computation: computation.to_owned(),
        instruction: instruction.map(str::to_owned),
        devices: devices(context, function),
        graph: graphs().remove(computation),
        graphs: Box::new(graphs),
    }
}

/// The number of devices that run a function's module, by its attributes.
fn devices(context: &FileContext<'_>, function: FunctionRef) -> i64 {
    let counts = ["mhlo.num_replicas", "mhlo.num_partitions"].map(|name| {
        let of = |(piece, op): (usize, mlir::OpId)| {
            let read = context.mlir_piece(piece);
            let text = read.parse.attribute(op, name, &read.text)?;
            text.split(':').next()?.trim().parse::<i64>().ok()
        };
        let own = context.mlir_piece(function.piece).parse.path_to(function.op);
        // A cut module starts in the first piece.
        let first = context.mlir_piece(0).parse.ops.first().map(|_| (0, 0));
        own.into_iter().map(|op| (function.piece, op)).chain(first).find_map(of).unwrap_or(1)
    });
    counts[0].saturating_mul(counts[1])
}

/// The function used where none is named.
fn entry(context: &FileContext<'_>, instruction: Option<&str>) -> Option<FunctionRef> {
    let all = all_functions(context);
    if let Some(name) = instruction {
        return all.into_iter().find(|f| op_called(context, *f, name).is_some());
    }
    let main = all.iter().find(|f| symbol(context, **f) == Some("main"));
    main.copied().or(if all.len() == 1 { all.first().copied() } else { None })
}

/// A function as HLO, or the reason why it is not convertible.
fn whole<'a>(context: &FileContext<'a>, function: FunctionRef) -> Result<&'a Arc<MlirFunction>, QueryError> {
    let error = |why: &str| {
        let name = symbol(context, function).unwrap_or_default();
        QueryError(format!("@{name} is not evaluated: {why}"))
    };
    let converted = Converted::of(context, function).ok_or_else(|| error("HLO has no such function"))?;
    let long = || match context.mlir_piece(function.piece).parse.is_cut_function(function.op) {
        true => db::mlir_function(context.db, converted.piece, db::LONG_FUNCTION).as_ref(),
        false => None,
    };
    converted.function.or_else(long).ok_or_else(|| error("it has more than 65,536 ops, or 32 MiB of text"))
}

/// The computation at `offset`, and the instruction unless it is the root.
fn place<'a>(
    context: &FileContext<'_>,
    function: FunctionRef,
    converted: &'a MlirFunction,
    offset: usize,
) -> Option<(&'a str, Option<&'a str>)> {
    let here = context.op_at(offset)?;
    let read = context.mlir_piece(here.piece);
    let mut path = read.parse.path_to(here.id);
    path.retain(|&id| !is_function_like(read.parse.name(id, &read.text)));
    // An op in a region belongs to the enclosing op, such as a reduction, unless it has its own instruction.
    let instruction = |&id: &mlir::OpId| instruction_of(converted, function, OpRef { id, ..here });
    match path.iter().rev().find_map(instruction) {
        Some((within, name)) => Some((within, Some(name))),
        None => Some((&converted.name, None)),
    }
}

/// The last instruction converted from an op, with its computation: those of its own function follow those of
/// callees.
fn instruction_of(converted: &MlirFunction, function: FunctionRef, op: OpRef) -> Option<(&str, &str)> {
    converted.last_instruction_of((op.piece.checked_sub(function.piece)?, op.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{literals, open_mlir, values_of};
    use crate::{AnalysisHost, Form, Language};

    const MODULE: &str = "func.func public @main(%arg0: tensor<3xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
  %0 = call @square(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %c = stablehlo.constant dense<10> : tensor<i32>
    %4 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %5 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %5 : tensor<i32>
  }
  return %1, %2 : tensor<f32>, tensor<i32>
}
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @other(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @mine(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
";

    fn query(function: Option<&str>, op: Option<&str>) -> EvaluationQuery {
        EvaluationQuery { computation: function.map(str::to_owned), instruction: op.map(str::to_owned) }
    }

    #[track_caller]
    fn check(function: Option<&str>, op: Option<&str>, inputs: &[&str], expect: &str) {
        let (analysis, file, _) = open_mlir(MODULE);
        let answer = analysis.evaluate(file, &query(function, op), &literals(inputs), Form::Literal);
        assert_eq!(values_of(answer.expect("nobody cancels")), expect);
    }

    #[test]
    fn functions_and_ops() {
        check(None, None, &["{1, 2, 3}", "3"], "15 12");
        check(Some("square"), None, &["{1, 2, 3}"], "{1, 4, 9}");
        check(Some("@square"), Some("0"), &["{1, 2, 3}"], "{1, 4, 9}");
        check(None, Some("1"), &["{1, 2, 3}"], "15");
        check(None, Some("2"), &["", "3"], "12");
        check(Some("none"), None, &[], "no function named none");
        check(None, Some("none"), &[], "no op that defines %none");
    }

    /// A cut function with more ops than a kernel; its callee is cut, too.
    #[test]
    fn long_functions() {
        let add = |n: usize| format!("  %{n} = stablehlo.add %{}, %x : tensor<2xi32>\n", n - 1);
        let body: String = (1..400).map(add).collect();
        let long = |head: &str, first: &str| {
            format!(
                "\
func.func {head}(%x: tensor<2xi32>) -> tensor<2xi32> {{
  %0 = {first}
{body}  return %399 : tensor<2xi32>
}}
"
            )
        };
        let text = long("@main", "call @other(%x) : (tensor<2xi32>) -> tensor<2xi32>")
            + &long("private @other", "stablehlo.negate %x : tensor<2xi32>");
        for min_bytes in [usize::MAX, 5000, 1] {
            let mut host = AnalysisHost::in_pieces_of(min_bytes);
            let file = host.open("a.mlir", Language::Mlir, &text);
            let analysis = host.analysis();
            let inputs = literals(&["{1, 10}"]);
            let evaluate = |op| {
                let answer = analysis.evaluate(file, &query(None, op), &inputs, Form::Literal);
                values_of(answer.expect("nobody cancels"))
            };
            assert_eq!(evaluate(None), "{797, 7970}", "{min_bytes}");
            assert_eq!(evaluate(Some("300")), "{698, 6980}", "{min_bytes}");
            let at = text.rfind("%300 = ").expect("it is there") + 10;
            let answer = analysis.evaluate_at(file, at, &inputs, Form::Literal);
            let evaluated = answer.expect("nobody cancels").expect("a function");
            assert_eq!(evaluated.name, "add.300");
            assert_eq!(values_of(evaluated), "{299, 2990}");
        }
    }

    /// Checks the op at `needle`: its name, the arguments that it needs, and its value for `inputs`.
    #[track_caller]
    fn check_at(needle: &str, inputs: &[&str], expect: &str) {
        let (analysis, file, _) = open_mlir(MODULE);
        let offset = MODULE.find(needle).expect("it is there");
        let parameters = analysis.evaluation_parameters(file, offset).expect("nobody cancels");
        let parameters: Vec<_> = parameters
            .iter()
            .map(|p| format!("{}: {}", p.name, p.sample.as_deref().unwrap_or("?")))
            .collect();
        let answer = analysis.evaluate_at(file, offset, &literals(inputs), Form::Literal);
        let evaluated = answer.expect("nobody cancels").expect("there is a function");
        let name = evaluated.name.clone();
        assert_eq!(format!("{name}({}) = {}", parameters.join(", "), values_of(evaluated)), expect);
    }

    #[test]
    fn at_the_cursor() {
        check_at("stablehlo.reduce", &["{1, 2, 3}"], "reduce.1(arg0: {0, 1, 2}) = 15");
        check_at("@square(%arg0)", &["{1, 2, 3}"], "call.0(arg0: {0, 1, 2}) = {1, 4, 9}");
        check_at("stablehlo.add %i", &["3"], "add.5(arg: 0) = 6");
        check_at("return %1", &["{1, 2, 3}", "3"], "main(arg0: {0, 1, 2}, n: 0) = 15 12");
        check_at("@main", &["{1, 2, 3}", "3"], "main(arg0: {0, 1, 2}, n: 0) = 15 12");
        check_at(
            "stablehlo.custom_call",
            &["{1, 2, 3}"],
            "custom-call.0(x: {0, 1, 2}) = custom-call is not evaluated [custom-call.0]",
        );
    }
}
