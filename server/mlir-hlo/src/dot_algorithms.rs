//! The algorithms of dots: `#stablehlo.dot_algorithm<…>` and their names in HLO.
//!
//! Source: `xla/hlo/translate/attribute_importer.cc` ConvertDotAlgorithm, `xla_data.proto` PrecisionConfig.Algorithm.

use mlir::{field, integer};

/// Name in HLO, types of both sides and of the sum, operations, and whether sums may be imprecise.
type Algorithm = (&'static str, &'static str, &'static str, &'static str, i64, bool);

const ALGORITHMS: &[Algorithm] = &[
    ("dot_any_f8_any_f8_f32", "f8E5M2", "f8E5M2", "f32", 1, false),
    ("dot_any_f8_any_f8_f32_fast_accum", "f8E5M2", "f8E5M2", "f32", 1, true),
    ("dot_f16_f16_f16", "f16", "f16", "f16", 1, false),
    ("dot_f16_f16_f32", "f16", "f16", "f32", 1, false),
    ("dot_bf16_bf16_bf16", "bf16", "bf16", "bf16", 1, false),
    ("dot_bf16_bf16_f32", "bf16", "bf16", "f32", 1, false),
    ("dot_bf16_bf16_f32_x3", "bf16", "bf16", "f32", 3, false),
    ("dot_bf16_bf16_f32_x6", "bf16", "bf16", "f32", 6, false),
    ("dot_bf16_bf16_f32_x9", "bf16", "bf16", "f32", 9, false),
    ("dot_tf32_tf32_f32", "tf32", "tf32", "f32", 1, false),
    ("dot_tf32_tf32_f32_x3", "tf32", "tf32", "f32", 3, false),
    ("dot_f32_f32_f32", "f32", "f32", "f32", 1, false),
    ("dot_f64_f64_f64", "f64", "f64", "f64", 1, false),
];

/// The name in HLO.
pub(crate) fn name(attribute: &str) -> Option<&'static str> {
    let of = |name| field(attribute, name);
    let number = |name| of(name).and_then(integer);
    let is_small = |ty: &str| ty.starts_with("f8");
    let same = |own: &str, ty: Option<&str>| ty.is_some_and(|ty| ty == own || is_small(own) && is_small(ty));
    let imprecise = number("allow_imprecise_accumulation").unwrap_or(0) != 0;
    let found = ALGORITHMS.iter().find(|&&(_, lhs, rhs, sum, operations, fast)| {
        same(lhs, of("lhs_precision_type"))
            && same(rhs, of("rhs_precision_type"))
            && same(sum, of("accumulation_type"))
            && number("num_primitive_operations") == Some(operations)
            && fast == imprecise
    });
    found.map(|algorithm| algorithm.0)
}

/// The fields of `#stablehlo.dot_algorithm<…>` for an algorithm, by its name in HLO.
pub fn fields(name: &str) -> Option<String> {
    let &(_, lhs, rhs, sum, operations, fast) = ALGORITHMS.iter().find(|algorithm| algorithm.0 == name)?;
    Some(format!(
        "lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, accumulation_type = {sum}, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {operations}, allow_imprecise_accumulation = {fast}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for algorithm in ALGORITHMS {
            let text = format!("#stablehlo.dot_algorithm<{}>", fields(algorithm.0).expect("it is known"));
            assert_eq!(name(&text), Some(algorithm.0));
        }
    }
}
