//! Deep inputs of HLO.

use std::fmt::Write as _;

use hlo_analyzer_tests::soak::texts::Language;

use super::{CHAIN, Deep, NESTED, READ, STEPS};

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
