//! Inputs that are deep in one way each: nesting, chains, recursive calls.

use std::fmt::Write as _;

use hlo_analyzer_tests::soak::texts::Language;

pub struct Deep {
    pub name: &'static str,
    pub language: Language,
    pub text: String,
    /// An instruction for requests.
    pub instruction: &'static str,
}

/// Longer than any stack: recursion per element overflows it.
const CHAIN: usize = 100_000;
/// The length of chains that an analysis composes, where each step costs more.
const STEPS: usize = 5_000;
/// Nesting far beyond the parser's limit.
const NESTED: usize = 20_000;
/// Nesting within the parser's limit, or just above it.
const READ: [usize; 3] = [60, 180, 205];

/// A module with a fusion of this body, on arrays of one shape.
fn in_fusion(shape: &str, body: &str) -> String {
    format!(
        "\
HloModule m

f {{
  q = {shape} parameter(0)
{body}}}

ENTRY e {{
  p = {shape} parameter(0)
  ROOT r = {shape} fusion(p), kind=kLoop, calls=f
}}
"
    )
}

pub fn hlo() -> Vec<Deep> {
    let mut all = Vec::new();
    let mut add = |name, text: String| {
        all.push(Deep { name, language: Language::Hlo, text, instruction: "r" });
    };
    let entry = |body: &str| format!("HloModule m\n\nENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n{body}}}\n");
    let chain = |count: usize, first: &str, step: &dyn Fn(&str) -> String| {
        let mut text = String::new();
        let mut last = first.to_owned();
        for n in 0..count {
            let name = if n + 1 == count { "r".to_owned() } else { format!("v.{n}") };
            let root = if n + 1 == count { "ROOT " } else { "" };
            let _ = writeln!(text, "  {root}{name} = {}", step(&last));
            last = name;
        }
        text
    };
    add("a chain of ops", entry(&chain(CHAIN, "p", &|last| format!("f32[8]{{0}} add({last}, p)"))));
    add("a chain of copies", entry(&chain(CHAIN, "p", &|last| format!("f32[8]{{0}} copy({last})"))));
    add("a chain of bitcasts", entry(&chain(STEPS, "p", &|last| format!("f32[8]{{0}} bitcast({last})"))));
    add(
        "a chain of constants",
        entry(&(0..CHAIN).fold(String::new(), |text, n| text + &format!("  c.{n} = f32[] constant({n})\n"))),
    );
    add(
        "an op that reads itself",
        entry("  a = f32[8]{0} add(b, b)\n  b = f32[8]{0} add(a, a)\n  ROOT r = f32[8]{0} add(r, r)\n"),
    );
    add("tuples in tuples, taken apart", {
        let mut text = String::new();
        let mut shape = "f32[8]{0}".to_owned();
        let mut last = "p".to_owned();
        for n in 0..150 {
            shape = format!("({shape})");
            let _ = writeln!(text, "  t.{n} = {shape} tuple({last})");
            last = format!("t.{n}");
        }
        for n in 0..150 {
            shape = shape[1..shape.len() - 1].to_owned();
            let name = if n == 149 { "ROOT r".to_owned() } else { format!("g.{n}") };
            let _ = writeln!(text, "  {name} = {shape} get-tuple-element({last}), index=0");
            last = format!("g.{n}");
        }
        entry(&text)
    });
    add("a chain of offsets", {
        let offsets =
            chain(STEPS, "i", &|last| format!("s32[] add({last}, i)")).replace("ROOT r =", "last =");
        entry(&format!(
            "  i = s32[] parameter(1)\n{offsets}  ROOT r = f32[2]{{0}} dynamic-slice(p, last), dynamic_slice_sizes={{2}}\n"
        ))
    });
    add("a chain in a fusion", {
        let body = chain(STEPS, "q", &|last| format!("f32[8]{{0}} multiply({last}, q)"));
        in_fusion("f32[8]{0}", &body)
    });
    add("a chain of transposes in a fusion", {
        let body = chain(600, "q", &|last| format!("f32[8,8]{{1,0}} transpose({last}), dimensions={{1,0}}"));
        in_fusion("f32[8,8]{1,0}", &body)
    });
    add("a chain of choices in a fusion", {
        let body = chain(300, "q", &|last| {
            format!("f32[8]{{0}} concatenate({last}_head, {last}_head), dimensions={{0}}")
        })
        .lines()
        .map(|line| {
            let last =
                line.split("concatenate(").nth(1).and_then(|rest| rest.split("_head").next()).unwrap_or("q");
            format!("  {last}_head = f32[4]{{0}} slice({last}), slice={{[0:4]}}\n{line}\n")
        })
        .collect::<String>();
        in_fusion("f32[8]{0}", &body)
    });
    add("a chain of functions in a fusion", {
        let mut body = String::new();
        let mut last = "q".to_owned();
        for n in 0..400 {
            let root = if n == 399 { "ROOT r" } else { "" };
            let name = if n == 399 { root.to_owned() } else { format!("v.{n}") };
            let _ = writeln!(
                body,
                "  t.{n} = f32[8,8]{{1,0}} transpose({last}), dimensions={{1,0}}\n  {name} = f32[8,8]{{1,0}} add({last}, t.{n})"
            );
            last = name;
        }
        in_fusion("f32[8,8]{1,0}", &body)
    });
    add("reductions that apply many maps, each with many of the next", {
        let mut text = "HloModule m\n\n".to_owned();
        for n in 0..10 {
            let _ = writeln!(text, "c.{n} {{\n  p.{n} = f32[] parameter(0)\n  q.{n} = f32[] parameter(1)");
            for k in 0..if n == 0 { 0 } else { 40 } {
                let _ = writeln!(
                    text,
                    "  m.{n}.{k} = f32[] map(p.{n}, q.{n}), dimensions={{}}, to_apply=c.{}",
                    n - 1
                );
            }
            let _ = writeln!(text, "  ROOT r.{n} = f32[] add(p.{n}, q.{n})\n}}\n");
        }
        text + "\
ENTRY e {
  p = f32[8]{0} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=c.9
}
"
    });
    // Each computation calls the one above.
    let calls = |count: usize, instruction: &dyn Fn(usize, &str) -> String| {
        let mut text = "\
HloModule m

c.0 {
  p.0 = f32[8]{0} parameter(0)
  ROOT r.0 = f32[8]{0} tanh(p.0)
}

"
        .to_owned();
        for n in 1..count {
            let _ = writeln!(
                text,
                "c.{n} {{\n  p.{n} = f32[8]{{0}} parameter(0)\n{}}}\n",
                instruction(n, &format!("c.{}", n - 1))
            );
        }
        let _ = write!(
            text,
            "\
ENTRY e {{
  p = f32[8]{{0}} parameter(0)
  ROOT r = f32[8]{{0}} fusion(p), kind=kLoop, calls=c.{}
}}
",
            count - 1
        );
        text
    };
    add(
        "deep calls",
        calls(STEPS, &|n, callee| format!("  ROOT r.{n} = f32[8]{{0}} call(p.{n}), to_apply={callee}\n")),
    );
    add(
        "nested fusions",
        calls(STEPS, &|n, callee| {
            format!("  ROOT r.{n} = f32[8]{{0}} fusion(p.{n}), kind=kLoop, calls={callee}\n")
        }),
    );
    for count in [12, 48] {
        add(
            "fusions that call the next one twice",
            calls(count, &|n, callee| {
                format!(
                    "  a.{n} = f32[8]{{0}} fusion(p.{n}), kind=kLoop, calls={callee}\n  b.{n} = f32[8]{{0}} fusion(p.{n}), kind=kLoop, calls={callee}\n  ROOT r.{n} = f32[8]{{0}} add(a.{n}, b.{n})\n"
                )
            }),
        );
    }
    add(
        "maps that apply the next one twice",
        calls(48, &|n, callee| {
            format!(
                "  a.{n} = f32[8]{{0}} map(p.{n}), dimensions={{0}}, to_apply={callee}\n  b.{n} = f32[8]{{0}} call(p.{n}), to_apply={callee}\n  ROOT r.{n} = f32[8]{{0}} add(a.{n}, b.{n})\n"
            )
        }),
    );
    add(
        "loops in loops",
        calls(STEPS, &|n, callee| {
            format!("  ROOT r.{n} = f32[8]{{0}} while(p.{n}), condition={callee}, body={callee}\n")
        }),
    );
    add(
        "branches in branches",
        calls(STEPS, &|n, callee| {
            format!(
                "  ROOT r.{n} = f32[8]{{0}} conditional(p.{n}, p.{n}), branch_computations={{{callee}}}\n"
            )
        }),
    );
    add(
        "computations that call themselves",
        "\
HloModule m

c {
  p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} call(p), to_apply=d
}

d {
  p = f32[8]{0} parameter(0)
  ROOT s = f32[8]{0} fusion(p), kind=kLoop, calls=c
}

ENTRY e {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} while(p), condition=c, body=e
  ROOT r = f32[8]{0} fusion(p), kind=kLoop, calls=d
}
"
        .to_owned(),
    );
    for depth in READ.into_iter().chain([NESTED]) {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        add(
            "nested tuple types",
            format!(
                "\
HloModule m, entry_computation_layout={{({open}f32[8]{{0}}{close})->{open}f32[8]{{0}}{close}}}

ENTRY e {{
  p = {open}f32[8]{{0}}{close} parameter(0)
  ROOT r = {open}f32[8]{{0}}{close} copy(p)
}}
"
            ),
        );
        add(
            "nested operands",
            entry(&format!(
                "  ROOT r = f32[8]{{0}} {}p{close}\n",
                "f32[8]{0} negate(".repeat(depth).trim_start_matches("f32[8]{0} ")
            )),
        );
        add(
            "nested inline computations",
            entry(&format!(
                "  ROOT r = f32[8]{{0}} {}p{}\n",
                "call(p), to_apply={ p = f32[8]{0} parameter(0) ROOT r = f32[8]{0} ".repeat(depth),
                "}".repeat(depth)
            )),
        );
        let (open, close) = ("{".repeat(depth), "}".repeat(depth));
        let ones = vec!["1"; depth].join(",");
        add("a nested literal", entry(&format!("  ROOT r = f32[{ones}] constant({open}1{close})\n")));
        for attribute in [
            "backend_config",
            "sharding",
            "frontend_attributes",
            "metadata",
            "origin",
            "literal",
            "slice",
            "window",
            "dimensions",
            "control-predecessors",
            "replica_groups",
            "statistics",
            "to_apply",
        ] {
            add(
                "nested attributes",
                entry(&format!(
                    "  ROOT r = f32[8]{{0}} custom-call(p), custom_call_target=\"x\", {attribute}={open}{close}\n"
                )),
            );
        }
        add(
            "a nested backend config",
            entry(&format!(
                "  ROOT r = f32[8]{{0}} custom-call(p), custom_call_target=\"x\", backend_config={{\"a\":{}{}}}\n",
                "[".repeat(depth),
                "]".repeat(depth)
            )),
        );
        add(
            "a nested header",
            format!(
                "HloModule m, input_output_alias={open}{close}, frontend_attributes={open}{close}, mesh={open}{close}\n"
            ),
        );
        add("nested layouts", entry(&format!("  ROOT r = f32[8]{{0:T{}}} copy(p)\n", "(".repeat(depth))));
    }
    all
}

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
