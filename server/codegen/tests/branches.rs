//! The last common instructions of a branch's arms are executed once, after the branch. Kernels are run and
//! compared with the interpreter, and their loads are counted.

mod agreeing;
mod written;

use agreeing::agrees_calling;

fn loads(text: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with("ld.global")).count()
}

/// A concatenation of arrays, each after one of `ops`; returns the number of loads per device.
#[track_caller]
fn concatenated(element: &str, dim: usize, ops: &[&str]) -> Vec<usize> {
    let count = ops.len();
    let shape = format!("{element}[6,10]");
    let result = match dim {
        0 => format!("{element}[{},10]", 6 * count),
        _ => format!("{element}[6,{}]", 10 * count),
    };
    let mut body = String::new();
    let mut names = Vec::new();
    for (n, op) in ops.iter().enumerate() {
        names.push(if op.is_empty() { format!("p{n}") } else { format!("o{n}") });
        if !op.is_empty() {
            body += &format!("  o{n} = {shape} {op}(p{n})\n");
        }
    }
    body += &format!("  ROOT r = {result} concatenate({}), dimensions={{{dim}}}", names.join(", "));
    let params = vec![shape.as_str(); count];
    agrees_calling("", &params, &body, &result).iter().map(|text| loads(text)).collect()
}

#[test]
fn one_load_of_many_operands() {
    for count in [5, 6, 9] {
        for dim in [0, 1] {
            assert_eq!(concatenated("f32", dim, &vec![""; count]), [1; 3], "{count} {dim}");
            assert_eq!(concatenated("pred", dim, &vec![""; count]), [1; 3], "{count} {dim}");
        }
    }
    // Both parts are at one address.
    assert_eq!(concatenated("c64", 1, &[""; 5]), [2; 3]);
}

#[test]
fn what_is_computed_of_each_is_computed_once() {
    assert_eq!(concatenated("f32", 1, &["negate"; 5]), [1; 3]);
    // No op is common.
    assert_eq!(concatenated("f32", 1, &["negate", "abs", "floor", "ceil", "sqrt"]), [5; 3]);
    // Some ops are, but all arms have one join, and no op is common to all of them.
    assert_eq!(concatenated("f32", 1, &["negate", "negate", "abs", "abs", "floor"]), [5; 3]);
}
