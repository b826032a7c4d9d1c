//! Modules of one shape and any size, to measure how time grows with the text.

use std::fmt::Write as _;

use crate::soak::texts::Language;

/// A shape of modules: one part of the text grows.
pub struct Shape {
    pub name: &'static str,
    pub language: Language,
    /// The text with so many repetitions of its part.
    make: fn(usize) -> String,
    /// The name of an instruction in it, for requests about one.
    pub instruction: &'static str,
}

impl Shape {
    /// A text of about this length.
    pub fn text(&self, bytes: usize) -> String {
        let (few, many) = ((self.make)(64).len(), (self.make)(192).len());
        let each = ((many - few) / 128).max(1);
        (self.make)((bytes / each).max(8))
    }
}

pub const SHAPES: &[Shape] = &[
    Shape { name: "long entry", language: Language::Hlo, make: long_entry, instruction: "m" },
    Shape { name: "many computations", language: Language::Hlo, make: computations, instruction: "r" },
    Shape { name: "many fusions", language: Language::Hlo, make: fusions, instruction: "f3" },
    Shape { name: "wide fusion", language: Language::Hlo, make: wide_fusion, instruction: "r" },
    Shape { name: "call chain", language: Language::Hlo, make: call_chain, instruction: "r" },
    Shape { name: "long line", language: Language::Hlo, make: long_line, instruction: "t" },
    Shape { name: "long metadata", language: Language::Hlo, make: long_metadata, instruction: "r" },
    Shape { name: "huge constant", language: Language::Hlo, make: constant, instruction: "r" },
    Shape { name: "users of one value", language: Language::Hlo, make: users, instruction: "p" },
    Shape { name: "syntax errors", language: Language::Hlo, make: errors, instruction: "a" },
    Shape { name: "long function", language: Language::Mlir, make: long_function, instruction: "1" },
    Shape { name: "many functions", language: Language::Mlir, make: functions, instruction: "0" },
    Shape { name: "chain of calls", language: Language::Mlir, make: call_chain_mlir, instruction: "0" },
    Shape { name: "long line of MLIR", language: Language::Mlir, make: long_line_mlir, instruction: "0" },
    Shape { name: "huge dense constant", language: Language::Mlir, make: dense, instruction: "0" },
    Shape { name: "users of one result", language: Language::Mlir, make: users_mlir, instruction: "p" },
    Shape { name: "affine maps", language: Language::Mlir, make: affine, instruction: "0" },
    Shape { name: "loops", language: Language::Mlir, make: loops, instruction: "c0" },
    Shape { name: "syntax errors in MLIR", language: Language::Mlir, make: errors_mlir, instruction: "0" },
];

/// A text around repeated parts.
fn around(head: &str, count: usize, part: impl Fn(usize) -> String, tail: &str) -> String {
    let mut text = head.to_owned();
    (0..count).for_each(|n| text += &part(n));
    text + tail
}

fn long_entry(count: usize) -> String {
    let head = "HloModule m\n\nENTRY e {\n  p = f32[64,128]{1,0} parameter(0)\n  m = f32[64,128]{1,0} negate(p)\n  v0 = f32[64,128]{1,0} abs(m)\n";
    let part = |n| {
        let op = ["tanh", "negate", "abs", "exponential"][n % 4];
        format!("  v{} = f32[64,128]{{1,0}} {op}(v{n})\n", n + 1)
    };
    around(head, count, part, &format!("  ROOT r = f32[64,128]{{1,0}} negate(v{count})\n}}\n"))
}

fn computations(count: usize) -> String {
    let part = |n| {
        format!(
            "c{n} {{\n  p = f32[8,128]{{1,0}} parameter(0)\n  a = f32[8,128]{{1,0}} tanh(p)\n  ROOT b = f32[8,128]{{1,0}} add(a, p)\n}}\n\n"
        )
    };
    let entry =
        "ENTRY e {\n  p = f32[8,128]{1,0} parameter(0)\n  ROOT r = f32[8,128]{1,0} call(p), to_apply=c0\n}\n";
    around("HloModule m\n\n", count, part, entry)
}

fn fusions(count: usize) -> String {
    let part = |n: usize| {
        format!(
            "c{n} {{\n  p = f32[8,{w}]{{1,0}} parameter(0)\n  a = f32[8,{w}]{{1,0}} tanh(p)\n  ROOT b = f32[8,{w}]{{1,0}} add(a, p)\n}}\n\n",
            w = 128 + n % 8
        )
    };
    let mut text = around("HloModule m\n\n", count.max(4), part, "ENTRY e {\n");
    (0..8).for_each(|n| _ = writeln!(text, "  p{n} = f32[8,{}]{{1,0}} parameter({n})", 128 + n));
    for n in 0..count.max(4) {
        let of = if n < 8 { format!("p{n}") } else { format!("f{}", n - 8) };
        let width = 128 + n % 8;
        _ = writeln!(text, "  f{n} = f32[8,{width}]{{1,0}} fusion({of}), kind=kLoop, calls=c{n}");
    }
    text + &format!(
        "  ROOT r = f32[8,{0}]{{1,0}} negate(f{1})\n}}\n",
        128 + (count.max(4) - 1) % 8,
        count.max(4) - 1
    )
}

fn wide_fusion(count: usize) -> String {
    let head = "HloModule m\n\nfused {\n  p = f32[64,128]{1,0} parameter(0)\n  q = f32[64,128]{1,0} parameter(1)\n  v0 = f32[64,128]{1,0} add(p, q)\n";
    let part = |n| format!("  v{} = f32[64,128]{{1,0}} add(v{n}, p)\n", n + 1);
    let tail = format!(
        "  ROOT z = f32[64,128]{{1,0}} negate(v{count})\n}}\n\nENTRY e {{\n  a = f32[64,128]{{1,0}} parameter(0)\n  ROOT r = f32[64,128]{{1,0}} fusion(a, a), kind=kLoop, calls=fused\n}}\n"
    );
    around(head, count, part, &tail)
}

fn call_chain(count: usize) -> String {
    let head = "HloModule m\n\nc0 {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} negate(p)\n}\n\n";
    let part = |n| {
        format!(
            "c{} {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT r = f32[8]{{0}} call(p), to_apply=c{n}\n}}\n\n",
            n + 1
        )
    };
    let entry = format!(
        "ENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT r = f32[8]{{0}} call(p), to_apply=c{count}\n}}\n"
    );
    around(head, count, part, &entry)
}

fn long_line(count: usize) -> String {
    let shapes = vec!["f32[8]{0}"; count].join(", ");
    let operands = vec!["p"; count].join(", ");
    format!(
        "HloModule m\n\nENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT t = ({shapes}) tuple({operands})\n}}\n"
    )
}

fn long_metadata(count: usize) -> String {
    let part = |n| format!("/scope{n}");
    let tail = "\"}\n}\n";
    let head = "HloModule m\n\nENTRY e {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} negate(p), metadata={op_name=\"jit";
    around(head, count, part, tail)
}

fn constant(count: usize) -> String {
    let head = format!(
        "HloModule m\n\nENTRY e {{\n  p = f32[{n}]{{0}} parameter(0)\n  c = f32[{n}]{{0}} constant({{0",
        n = count + 1
    );
    let tail = format!("}})\n  ROOT r = f32[{}]{{0}} add(p, c)\n}}\n", count + 1);
    around(&head, count, |n| format!(", {}.5", n % 100), &tail)
}

fn users(count: usize) -> String {
    let head = "HloModule m\n\nENTRY e {\n  p = f32[64,128]{1,0} parameter(0)\n";
    let part = |n| format!("  x{n} = f32[64,128]{{1,0}} negate(p)\n");
    around(head, count, part, "  ROOT r = f32[64,128]{1,0} tanh(p)\n}\n")
}

fn errors(count: usize) -> String {
    let head = "HloModule m\n\nENTRY e {\n  a = f32[8]{0} parameter(0)\n";
    around(head, count, |n| format!("  x{n} = f32[8]{{0}} add(a, y{n}) }} {{ =\n"), "}\n")
}

fn long_function(count: usize) -> String {
    let head = "func.func @main(%p: tensor<8x16xf32>) -> tensor<8x16xf32> {\n  %0 = stablehlo.negate %p : tensor<8x16xf32>\n";
    let part = |n| format!("  %{} = stablehlo.add %{n}, %p : tensor<8x16xf32>\n", n + 1);
    around(head, count, part, &format!("  return %{count} : tensor<8x16xf32>\n}}\n"))
}

fn functions(count: usize) -> String {
    let part = |n| {
        let name = if n == 0 { "main".to_owned() } else { format!("f{n}") };
        format!(
            "func.func @{name}(%p: tensor<8xf32>) -> tensor<8xf32> {{\n  %0 = stablehlo.tanh %p : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}}\n"
        )
    };
    around("", count, part, "")
}

fn call_chain_mlir(count: usize) -> String {
    let head =
        "func.func private @f0(%p: tensor<8xf32>) -> tensor<8xf32> {\n  return %p : tensor<8xf32>\n}\n";
    let call = |name: &str, n: usize| {
        format!(
            "func.func @{name}(%p: tensor<8xf32>) -> tensor<8xf32> {{\n  %0 = call @f{n}(%p) : (tensor<8xf32>) -> tensor<8xf32>\n  return %0 : tensor<8xf32>\n}}\n"
        )
    };
    around(head, count, |n| call(&format!("f{}", n + 1), n), &call("main", count))
}

fn long_line_mlir(count: usize) -> String {
    let operands = vec!["%p"; count].join(", ");
    let types = vec!["tensor<8xf32>"; count].join(", ");
    format!(
        "func.func @main(%p: tensor<8xf32>) -> tensor<{n}xf32> {{\n  %0 = stablehlo.concatenate {operands}, dim = 0 : ({types}) -> tensor<{n}xf32>\n  return %0 : tensor<{n}xf32>\n}}\n",
        n = 8 * count
    )
}

fn dense(count: usize) -> String {
    let head = "func.func @main() -> tensor<XxF> {\n  %0 = stablehlo.constant dense<[0.5"
        .replace("XxF", &format!("{}xf32", count + 1));
    let tail = format!("]> : tensor<{n}xf32>\n  return %0 : tensor<{n}xf32>\n}}\n", n = count + 1);
    around(&head, count, |n| format!(", {}.25", n % 100), &tail)
}

fn users_mlir(count: usize) -> String {
    let head =
        "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %p = stablehlo.tanh %x : tensor<8xf32>\n";
    let part = |n| format!("  %u{n} = stablehlo.negate %p : tensor<8xf32>\n");
    around(head, count, part, "  return %p : tensor<8xf32>\n}\n")
}

fn affine(count: usize) -> String {
    let part = |n| format!("#map{n} = affine_map<(d0, d1) -> (d0 + {n}, d1)>\n");
    let uses = |n: usize| {
        format!(
            "func.func @f{n}(%m: memref<64x?xf32>, %i: index) -> f32 {{\n  %0 = affine.apply #map{n}(%i, %i)\n  %1 = memref.load %m[%0, %i] : memref<64x?xf32>\n  return %1 : f32\n}}\n"
        )
    };
    // `affine.apply` has one result.
    let part = |n| part(n).replace("-> (d0 + ", "-> (d0 * 2 + d1 + ").replace(", d1)>\n", ")>\n");
    around(&around("", count, part, ""), count, uses, "")
}

fn loops(count: usize) -> String {
    let head = "func.func @main(%m: memref<64xf32>) {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c64 = arith.constant 64 : index\n";
    let part = |n| {
        format!(
            "  scf.for %i{n} = %c0 to %c64 step %c1 {{\n    %v{n} = memref.load %m[%i{n}] : memref<64xf32>\n    memref.store %v{n}, %m[%i{n}] : memref<64xf32>\n  }}\n"
        )
    };
    around(head, count, part, "  return\n}\n")
}

fn errors_mlir(count: usize) -> String {
    let head = "func.func @main(%p: tensor<8xf32>) {\n  %0 = stablehlo.negate %p : tensor<8xf32>\n";
    around(head, count, |n| format!("  %a{n} = stablehlo.add %b{n}, : ) }}\n"), "}\n")
}
