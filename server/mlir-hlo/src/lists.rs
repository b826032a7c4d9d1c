//! Lists of numbers as HLO and MLIR write them.

/// `{1,0}`
pub(crate) fn braces(values: &[i64]) -> String {
    format!("{{{}}}", joined(values, ","))
}

/// `1x0`
pub(crate) fn joined(values: &[i64], separator: &str) -> String {
    values.iter().map(i64::to_string).collect::<Vec<_>>().join(separator)
}

/// `{{0,1},{2,3}}`
pub(crate) fn nested(rows: &[Vec<i64>]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| braces(row)).collect();
    format!("{{{}}}", rows.join(","))
}

/// `array<i64: 1, 2>`
pub(crate) fn array_attribute(values: &[i64]) -> String {
    match values.is_empty() {
        true => "array<i64>".to_owned(),
        false => format!("array<i64: {}>", joined(values, ", ")),
    }
}
