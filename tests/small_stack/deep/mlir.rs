//! Deep inputs of MLIR.

use std::fmt::Write as _;

use hlo_analyzer_tests::soak::texts::Language;

use super::{CHAIN, Deep, NESTED, READ, STEPS};

pub fn mlir() -> Vec<Deep> {
    let mut all = Vec::new();
    let mut add = |name, text: String| {
        all.push(Deep { name, language: Language::Mlir, text, instruction: "r" });
    };
    let function = |body: &str| {
        format!(
            "\
func.func @f(%p: tensor<8xf32>, %i: index, %m: memref<64xf32>) -> tensor<8xf32> {{
{body}  return %r : tensor<8xf32>
}}
"
        )
    };
    let chain = |count: usize, first: &str, step: &dyn Fn(&str) -> String| {
        let mut text = String::new();
        let mut last = first.to_owned();
        for n in 0..count {
            let name = if n + 1 == count { "%r".to_owned() } else { format!("%v{n}") };
            let _ = writeln!(text, "  {name} = {}", step(&last));
            last = name;
        }
        text
    };
    add(
        "a constant that reads itself",
        r#"func.func @t(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.reduce"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.constant %c : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
"#
        .to_owned(),
    );
    for constant in ["stablehlo.constant", "arith.constant", "mhlo.constant"] {
        let constants =
            chain(CHAIN, "%p", &|last| format!("{constant} {last} : tensor<f32>")).replace("%r =", "%last =");
        add(
            "a chain of constants",
            format!(
                r#"func.func @t(%p: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {{
{constants}  %r = "stablehlo.reduce"(%p, %i) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %last : tensor<f32>
  }}) {{dimensions = array<i64: 0>}} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}}
"#
            ),
        );
    }
    add(
        "a chain of ops",
        function(&chain(CHAIN, "%p", &|last| format!("stablehlo.add {last}, %p : tensor<8xf32>"))),
    );
    add(
        "a chain of transposes",
        function(&chain(STEPS, "%p", &|last| {
            format!("stablehlo.transpose {last}, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>")
        })),
    );
    add(
        "a chain of casts",
        function(&chain(STEPS, "%p", &|last| format!("tensor.cast {last} : tensor<8xf32> to tensor<8xf32>"))),
    );
    add(
        "a chain of slices",
        function(&chain(STEPS, "%p", &|last| {
            format!("tensor.extract_slice {last}[0] [8] [1] : tensor<8xf32> to tensor<8xf32>")
        })),
    );
    let index = |op: &str| {
        chain(CHAIN / 10, "%i", &|last| format!("{op} {last}, %i : index")).replace("%r =", "%last =")
    };
    for op in ["arith.addi", "arith.muli", "arith.minsi", "index.add", "arith.remui"] {
        add(
            "a chain of subscripts",
            format!(
                "\
func.func @f(%p: tensor<8xf32>, %i: index, %m: memref<64xf32>) {{
{}  %r = memref.load %m[%last] : memref<64xf32>
  %s = tensor.extract_slice %p[%last] [%last] [1] : tensor<8xf32> to tensor<?xf32>
  return
}}
",
                index(op)
            ),
        );
    }
    add(
        "values that read each other",
        "\
func.func @f(%m: memref<64xf32>) {
  %a = arith.addi %b, %b : index
  %b = arith.addi %a, %r : index
  %r = memref.load %m[%a] : memref<64xf32>
  %s = tensor.dim %s, %a : tensor<?xf32>
  return
}
"
        .to_owned(),
    );
    add(
        "aliases that name each other",
        "\
#a = #b
#b = #a
!t = !u
!u = !t
#m = #m
#loc = loc(#loc)
func.func @f(%p: !t) -> !u {
  %r = linalg.generic {indexing_maps = [#a, #m], iterator_types = #b} ins(%p : !t) outs(%p : !u) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> !t loc(#loc)
  return %r : !t
}
"
        .to_owned(),
    );
    add("a chain of aliases", {
        let mut text = String::new();
        for n in (1..STEPS).rev() {
            let _ = writeln!(text, "#a{n} = #a{}\n!t{n} = !t{}\n#loc{n} = loc(#loc{})", n - 1, n - 1, n - 1);
        }
        format!(
            r#"{text}#a0 = affine_map<(d0) -> (d0)>
!t0 = tensor<8xf32>
#loc0 = loc("x")
func.func @f(%p: !t{0}) -> !t{0} {{
  %r = linalg.generic {{indexing_maps = [#a{0}, #a{0}], iterator_types = ["parallel"]}} ins(%p : !t{0}) outs(%p : !t{0}) {{
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }} -> !t{0} loc(#loc{0})
  return %r : !t{0}
}}
"#,
            STEPS - 1
        )
    });
    add("aliases that double", {
        let mut text = "#a0 = [1, 2]\n!t0 = tuple<f32>\n".to_owned();
        for n in 1..60 {
            let _ =
                writeln!(text, "#a{n} = [#a{}, #a{}]\n!t{n} = tuple<!t{}, !t{}>", n - 1, n - 1, n - 1, n - 1);
        }
        format!(
            r#"{text}func.func @f(%p: !t59) -> !t59 attributes {{a = #a59}} {{
  %r = "stablehlo.custom_call"(%p) {{call_target_name = "x", a = #a59}} : (!t59) -> !t59
  return %r : !t59
}}
"#
        )
    });
    add("deep calls", {
        let mut text = "\
func.func @f0(%p: tensor<8xf32>) -> tensor<8xf32> {
  return %p : tensor<8xf32>
}
"
        .to_owned();
        for n in 1..STEPS {
            let _ = writeln!(
                text,
                "\
func.func @f{n}(%p: tensor<8xf32>) -> tensor<8xf32> {{
  %r = call @f{}(%p) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}}",
                n - 1
            );
        }
        text
    });
    add(
        "functions that call themselves",
        "\
func.func @f(%p: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @g(%p) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @g(%p: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @f(%p) : (tensor<8xf32>) -> tensor<8xf32>
  %s = call @g(%r) : (tensor<8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
"
        .to_owned(),
    );
    for depth in READ.into_iter().chain([NESTED]) {
        let wrapped = |open: &str, inner: &str, close: &str| {
            format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
        };
        add("nested modules", wrapped("module {\n", "func.func @f() {\n  return\n}\n", "}\n"));
        add(
            "nested branches",
            format!(
                "func.func @f(%p: tensor<8xf32>, %c: i1) {{\n{}  return\n}}\n",
                wrapped("scf.if %c {\n", "%r = stablehlo.add %p, %p : tensor<8xf32>\n", "}\n")
            ),
        );
        add(
            "nested loops",
            format!(
                "func.func @f(%m: memref<64xf32>) {{\n{}  return\n}}\n",
                wrapped("affine.for %i = 0 to 2 {\n", "%r = affine.load %m[%i] : memref<64xf32>\n", "}\n")
            ),
        );
        add(
            "nested scf loops",
            format!(
                "func.func @f(%m: memref<64xf32>, %a: index, %b: index) {{\n{}  return\n}}\n",
                wrapped(
                    "scf.for %i = %a to %b step %a {\n",
                    "%r = memref.load %m[%i] : memref<64xf32>\n",
                    "}\n"
                )
            ),
        );
        let while_loop = "\
%w = stablehlo.while(%i = %p) : tensor<8xf32>
 cond {
  %c = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.return %c : tensor<i1>
} do {
";
        add(
            "nested whiles",
            function(&wrapped(
                while_loop,
                "%r = stablehlo.add %p, %p : tensor<8xf32>\n",
                "stablehlo.return %p : tensor<8xf32>\n}\n",
            )),
        );
        add(
            "nested reductions",
            function(&wrapped(
                "%r = \"stablehlo.reduce\"(%p, %p) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n",
                "stablehlo.return %a : tensor<f32>\n",
                "stablehlo.return %a : tensor<f32>\n}) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>\n",
            )),
        );
        add(
            "nested cases",
            function(&wrapped(
                "%r = \"stablehlo.case\"(%p) ({\n",
                "stablehlo.return %p : tensor<8xf32>\n",
                "stablehlo.return %p : tensor<8xf32>\n}) : (tensor<8xf32>) -> tensor<8xf32>\n",
            )),
        );
        let ty = wrapped("tuple<", "tensor<8xf32>", ">");
        add(
            "nested types",
            format!(
                r#"func.func @f(%p: {ty}) -> {ty} {{
  %r = "stablehlo.custom_call"(%p) {{call_target_name = "x"}} : ({ty}) -> {ty}
  %s = stablehlo.get_tuple_element %r[0] : ({ty}) -> {ty}
  return %r : {ty}
}}
"#
            ),
        );
        let ty = wrapped("vector<4x", "f32", ">");
        add(
            "nested array types",
            format!(
                "\
func.func @f(%p: {ty}) {{
  %r = vector.extract %p[0] : {ty} from {ty}
  return
}}
"
            ),
        );
        let ty = format!("tensor<4xf32, {}>", wrapped("#e<", "1", ">"));
        add(
            "nested encodings",
            format!("func.func @f(%p: {ty}) {{\n  %r = stablehlo.add %p, %p : {ty}\n  return\n}}\n"),
        );
        for (open, close) in
            [("[", "]"), ("{a = ", "}"), ("dense<[", "]>"), ("#x<", ">"), ("array<", ">"), ("(", ")")]
        {
            let attribute = wrapped(open, "1", close);
            add(
                "nested attributes",
                format!(
                    r#"#a = {attribute}
func.func @f(%p: tensor<8xf32>) attributes {{a = {attribute}}} {{
  %r = stablehlo.custom_call @x(%p) {{backend_config = {attribute}, mhlo.sharding = "{attribute}", a = #a}} : (tensor<8xf32>) -> tensor<8xf32>
  return
}}
"#
                ),
            );
        }
        let dense = wrapped("[", "1", "]");
        let ones = "1x".repeat(depth);
        add(
            "a nested literal",
            format!(
                "\
func.func @f() {{
  %r = stablehlo.constant dense<{dense}> : tensor<{ones}f32>
  return
}}
"
            ),
        );
        for (open, close) in
            [("(", ")"), ("-", ""), ("(1 + ", ")"), ("(2 * (", "))"), ("((", ") floordiv 2)"), ("1 + ", "")]
        {
            let expression = wrapped(open, "d0", close);
            add(
                "nested expressions",
                format!(
                    r#"#m = affine_map<(d0) -> ({expression})>
#x = #xla.indexing_map<"(d0) -> ({expression}), domain: d0 in [0, 7]">
func.func @f(%m: memref<64xf32>, %i: index) {{
  %r = affine.apply #m(%i)
  %s = affine.load %m[{}] : memref<64xf32>
  %t = xla.apply_indexing #x(%i)
  affine.if affine_set<(d0) : ({expression} >= 0)>(%i) {{
  }}
  return
}}
"#,
                    expression.replace("d0", "%i")
                ),
            );
        }
        for (open, close) in
            [("fused[", "]"), ("callsite(\"a\" at ", ")"), ("\"a\"(", ")"), ("fused<1>[\"b\", ", "]")]
        {
            let location = wrapped(open, "\"x.py\":1:2", close);
            add(
                "nested locations",
                format!(
                    "\
#loc1 = loc({location})
func.func @f(%p: tensor<8xf32>) {{
  %r = stablehlo.add %p, %p : tensor<8xf32> loc({location})
  %s = stablehlo.add %p, %p : tensor<8xf32> loc(#loc1)
  return
}}
"
                ),
            );
        }
        add(
            "nested shardings",
            format!(
                r#"sdy.mesh @m = <["a"=2]>
func.func @f(%p: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@m, {}>}}) {{
  return
}}
"#,
                wrapped("[{", "\"a\"", "}]")
            ),
        );
        add(
            "nested manual computations",
            function(&wrapped(
                "%r = sdy.manual_computation(%p) in_shardings=[<@m, [{}]>] out_shardings=[<@m, [{}]>] manual_axes={} (%x: tensor<8xf32>) {\n",
                "sdy.return %p : tensor<8xf32>\n",
                "sdy.return %p : tensor<8xf32>\n} : (tensor<8xf32>) -> tensor<8xf32>\n",
            )),
        );
        add(
            "nested linalg",
            function(&wrapped(
                r#"%r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%p : tensor<8xf32>) {
^bb0(%x: f32):
"#,
                "linalg.yield %x : f32\n",
                "linalg.yield %x : f32\n} -> tensor<8xf32>\n",
            )),
        );
    }
    add(
        "a chain of linalg",
        function(&chain(STEPS / 5, "%p", &|last| {
            format!(
                r#"linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}} ins({last} : tensor<8xf32>) outs(%p : tensor<8xf32>) {{
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }} -> tensor<8xf32>"#
            )
        })),
    );
    all
}
