//! The kernel of a StableHLO function or op, selected by name.

use crate::file_context::FileContext;
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::mlir::context::OpRef;
use crate::mlir::kernels::find;
use crate::mlir::kernels::functions::{Converted, FunctionRef, all_functions, body, kernels, symbol};

pub(in crate::mlir) fn not_found(query: &FusionQuery) -> FusionError {
    FusionError::NotFound(format!("{} is not in the module", query.instruction))
}

/// The function selected by a query, and the name of its HLO instruction.
///
/// A query selects a function (`@f` or `f`), an op by the name of its result (`%3`, in the function
/// `computation`, else in the first that has a kernel of it), or an instruction by its name in the function's
/// HLO.
pub(in crate::mlir) fn named<'a>(
    context: &FileContext<'a>,
    query: &FusionQuery,
) -> Option<(FunctionRef, Converted<'a>, String)> {
    let bare = |name: &str| db::symbol_name(name).trim_start_matches(['@', '%']).to_owned();
    let query = FusionQuery {
        instruction: bare(&query.instruction),
        computation: query.computation.as_deref().map(bare),
    };
    let within = |function: FunctionRef, converted: Converted<'a>| {
        let name = match op_called(context, function, &query.instruction) {
            Some(op) => converted.instruction_of(context, function, op)?,
            None => query.instruction.clone(),
        };
        let is_there = name == converted.name || context.kernel(converted.kernel_id(&name)).is_some();
        is_there.then_some((function, converted, name))
    };
    if let Some((function, converted)) = find(context, &query) {
        return within(function, converted);
    }
    if query.computation.is_some() {
        return None;
    }
    let called = |f: &FunctionRef| op_called(context, *f, &query.instruction).is_some();
    let mut found = all_functions(context).into_iter().filter(called);
    found.find_map(|f| within(f, Converted::of(context, f)?))
}

/// The op of a function that defines the value `%name`.
pub(in crate::mlir) fn op_called(
    context: &FileContext<'_>,
    function: FunctionRef,
    name: &str,
) -> Option<OpRef> {
    let is_it = |at: &OpRef| {
        let read = context.mlir_piece(at.piece);
        let mut results = read.parse.op(at.id).results.clone();
        let name_of = |value: u32| read.parse.values[value as usize].name.of(&read.text);
        results.any(|value| name_of(value).strip_prefix('%') == Some(name))
    };
    body(context, function).map(|(piece, id)| OpRef { piece, id }).find(is_it)
}

/// The function whose kernel is used where none is named: the only one that may be a kernel; or the reason
/// why there is none.
pub(crate) fn default_kernel(context: &FileContext<'_>) -> Result<String, &'static str> {
    let mut all = kernels(context);
    match (all.next().and_then(|f| symbol(context, f)), all.next()) {
        (Some(name), None) => Ok(name.to_owned()),
        (Some(_), Some(_)) => Err("which kernel? name a function or an op"),
        (None, _) => Err("no function is one kernel; name an op"),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::{FusionQuery, KernelLanguage};

    const MODULE: &str = "module {
  func.func public @main(%arg0: tensor<64x66xf32>) -> tensor<64x66xf32> {
    %0 = call @twice(%arg0) : (tensor<64x66xf32>) -> tensor<64x66xf32>
    %1 = stablehlo.negate %0 : tensor<64x66xf32>
    %2 = stablehlo.custom_call @other(%1) : (tensor<64x66xf32>) -> tensor<64x66xf32>
    return %2 : tensor<64x66xf32>
  }
  func.func private @twice(%x: tensor<64x66xf32>) -> tensor<64x66xf32> {
    %0 = stablehlo.add %x, %x : tensor<64x66xf32>
    %1 = stablehlo.tanh %0 : tensor<64x66xf32>
    return %1 : tensor<64x66xf32>
  }
}
";

    /// The arithmetic ops of the kernel of this name, in text order, or the reason why there is none.
    fn ops(computation: Option<&str>, instruction: &str) -> String {
        let (analysis, file, _) = open_mlir(MODULE);
        let query = FusionQuery {
            instruction: instruction.to_owned(),
            computation: computation.map(ToOwned::to_owned),
        };
        let found = analysis.kernel_document(file, &query, KernelLanguage::Mlir).expect("nobody cancels");
        match found {
            Ok(document) => {
                let known = ["arith.addf", "math.tanh", "arith.negf"];
                let found = document.body.lines().filter_map(|l| known.iter().find(|op| l.contains(**op)));
                found.copied().collect::<Vec<_>>().join(" ")
            }
            Err(why) => format!("{why:?}"),
        }
    }

    #[test]
    fn functions_and_ops_have_kernels_by_name() {
        assert_eq!(ops(None, "twice"), "arith.addf math.tanh");
        assert_eq!(ops(None, "@twice"), "arith.addf math.tanh");
        assert_eq!(ops(Some("twice"), "%1"), "math.tanh");
        assert_eq!(ops(Some("@main"), "1"), "arith.negf");
        assert_eq!(ops(None, "%1"), "arith.negf");
        assert_eq!(ops(None, "%7"), "NotFound(\"%7 is not in the module\")");
        assert_eq!(ops(Some("none"), "%1"), "NotFound(\"%1 is not in the module\")");
    }

    #[test]
    fn the_only_kernel_needs_no_name() {
        let (analysis, file, _) = open_mlir(MODULE);
        assert_eq!(analysis.default_kernel(file).expect("nobody cancels"), Ok("twice".to_owned()));
    }
}
