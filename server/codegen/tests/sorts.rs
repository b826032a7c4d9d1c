//! Runs the kernels of sorts in sequence and compares them with the interpreter.

mod agreeing;
mod written;

use agreeing::agrees_calling;

/// The comparison of two elements of the first of several operands.
fn compare(elements: &[&str], direction: &str) -> String {
    let parameters = elements.iter().enumerate().map(|(n, element)| {
        let (first, second) = (n * 2, n * 2 + 1);
        format!("  a{n} = {element}[] parameter({first})\n  b{n} = {element}[] parameter({second})\n")
    });
    let parameters: String = parameters.collect();
    format!("compare {{\n{parameters}  ROOT c = pred[] compare(a0, b0), direction={direction}\n}}")
}

#[track_caller]
fn sorted(element: &str, dims: &str, dim: usize) -> Vec<String> {
    let shape = format!("{element}[{dims}]");
    let instructions = format!("  ROOT r = {shape} sort(p0), dimensions={{{dim}}}, to_apply=compare");
    agrees_calling(&compare(&[element], "LT"), &[&shape], &instructions, &shape)
}

#[test]
fn every_size() {
    for size in ["3", "4", "5", "31", "64", "100", "1000", "1024"] {
        sorted("f32", size, 0);
    }
}

/// More than one tile, with the last one full or not.
#[test]
fn several_kernels() {
    sorted("s32", "8192", 0);
    sorted("f32", "2,4200", 1);
}

#[test]
fn every_type_and_dimension() {
    for element in ["bf16", "f16", "f64", "s64", "u8", "s8", "pred"] {
        sorted(element, "70", 0);
    }
    sorted("f32", "50,7", 0);
    sorted("f32", "50,7", 1);
    sorted("s32", "3,100,4", 1);
    sorted("f32", "100,2", 1);
}

/// Other operands move with the keys; iota operands are computed in the first kernel.
#[test]
fn several_operands() {
    for (dims, dim) in [("500", 0), ("40,30", 0), ("2,4100", 1), ("6,2", 1)] {
        let [key, value] = ["f32", "s32"].map(|element| format!("{element}[{dims}]"));
        let result = format!("({key}, {value})");
        let called = compare(&["f32", "s32"], "GT");
        let sort = format!("  ROOT r = {result} sort(p0, p1), dimensions={{{dim}}}, to_apply=compare");
        agrees_calling(&called, &[&key, &value], &sort, &result);
        let counted = format!(
            "  i = {value} iota(), iota_dimension={dim}\n  \
             ROOT r = {result} sort(p0, i), dimensions={{{dim}}}, to_apply=compare"
        );
        agrees_calling(&called, &[&key], &counted, &result);
    }
}

/// All keys are compared, in their own order.
#[test]
fn keys_of_several_operands() {
    let called = "\
compare {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = u8[] parameter(2)
  d = u8[] parameter(3)
  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(a, b), direction=LT
  m = pred[] compare(d, c), direction=LT
  ROOT r = pred[] select(e, m, l)
}";
    agrees_calling(
        called,
        &["s32[300]", "u8[300]"],
        "  ROOT r = (s32[300], u8[300]) sort(p0, p1), dimensions={0}, to_apply=compare",
        "(s32[300], u8[300])",
    );
}

/// The operands are copied to the results, and sorted there.
#[test]
fn arrays_of_several_layouts_are_refused() {
    let result = "(f32[3,5]{1,0}, f32[3,5]{1,0})";
    let sort = format!("  ROOT r = {result} sort(p0, p1), dimensions={{0}}, to_apply=compare");
    let params = ["f32[3,5]{0,1}", "f32[3,5]{1,0}"];
    let hlo = test_files::hlo::fusion_module(&compare(&["f32", "f32"], "LT"), &params, &sort, result);
    let refused = written::written(&hlo, "f", "h100-sxm").err().expect("it is no sort of XLA");
    assert_eq!(refused, "XLA sorts arrays of one layout, and these have several");
}
