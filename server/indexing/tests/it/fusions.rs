//! Examples of maps through fusions.

use std::sync::Arc;

use indexing::{Rules, grouped, no_callees};

fn maps(text: &str, target: &str, set: &[&str]) -> Vec<(String, Vec<String>)> {
    let (graphs, entry) = crate::graphs(text);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| Arc::clone(graph));
    let graph = callee(&entry).unwrap();
    let set: Vec<_> = set.iter().map(|name| graph.find(name).unwrap()).collect();
    let answer = grouped(&graph, graph.find(target).unwrap(), 0, &set, Rules::Xla, &callee);
    for op in answer.ops.iter().filter(|op| op.place.computation.is_none()) {
        let found = answer.of(op.place.op).expect("it is listed");
        assert!(std::ptr::eq(found, op.indexing.as_slice()), "{}", op.name);
    }
    assert!(answer.of(ir::OpId::MAX).is_none());
    let printed = |op: &indexing::GroupedOp| op.indexing.iter().map(|a| a.map.to_string()).collect();
    answer.ops.iter().map(|op| (op.name.clone(), printed(op))).collect()
}

#[test]
fn a_pair_that_is_not_fused() {
    let text = "HloModule m
ENTRY e {
  p0 = f32[4,8] parameter(0)
  t = f32[8,4] transpose(p0), dimensions={1,0}
  n = f32[8,4] negate(t)
  ROOT s = f32[2,4] slice(n), slice={[0:8:4], [0:4]}
}";
    let got = maps(text, "s", &["n", "s"]);
    let names: Vec<_> = got.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["t", "n", "s"]);
    assert_eq!(got[0].1, ["(d0, d1) -> (d0 * 4, d1), domain: d0 in [0, 1], d1 in [0, 3]"]);
}

#[test]
fn nested_fusions_and_tuples_are_looked_through() {
    let text = "HloModule m
inner {
  a = f32[8] parameter(0)
  r = f32[8] reverse(a), dimensions={0}
  ROOT t = (f32[8], f32[8]) tuple(r, a)
}
outer {
  b = f32[8] parameter(0)
  f = (f32[8], f32[8]) fusion(b), kind=kLoop, calls=inner
  g = f32[8] get-tuple-element(f), index=0
  h = f32[8] get-tuple-element(f), index=1
  ROOT s = f32[8] add(g, h)
}
ENTRY e {
  p = f32[8] parameter(0)
  ROOT x = f32[8] fusion(p), kind=kLoop, calls=outer
}";
    let got = maps(text, "x", &["x"]);
    let p = got.iter().find(|(name, _)| name == "p").unwrap();
    let mut maps = p.1.clone();
    maps.sort();
    assert_eq!(maps, ["(d0) -> (-d0 + 7), domain: d0 in [0, 7]", "(d0) -> (d0), domain: d0 in [0, 7]"]);
}

#[test]
fn undefined_maps_carry_their_reason() {
    let text = "HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  c = f32[8] custom-call(p), custom_call_target=\"x\"
  ROOT n = f32[8] negate(c)
}";
    let graph = crate::entry(text);
    let answer = indexing::fusion(&graph, 0, 1, Rules::Xla, &no_callees);
    let [access] = answer.operands[0].as_slice() else { panic!() };
    assert!(access.map.is_undefined());
    assert_eq!(access.note.as_deref(), Some("what a custom call reads is not known"));
}

/// Each step doubles the accesses, which gives 2^40 without a limit.
#[test]
fn diamonds_stay_bounded() {
    let mut text = "HloModule m\nENTRY e {\n  v0 = f32[64] parameter(0)\n".to_owned();
    for i in 0..40 {
        let (a, b) = (i + 1, 63 - i);
        text += &format!(
            "  r{i} = f32[64] reverse(v{i}), dimensions={{0}}
  x{i} = f32[{a}] slice(r{i}), slice={{[0:{a}]}}
  y{i} = f32[{b}] slice(v{i}), slice={{[{a}:64]}}
  s{i} = f32[64] concatenate(x{i}, y{i}), dimensions={{0}}
  v{next} = f32[64] add(s{i}, r{i})\n",
            next = i + 1
        );
    }
    text += "  ROOT q = f32[64] negate(v40)\n}\n";
    let graph = crate::entry(&text);
    assert!(graph.is_complete);
    let answer = indexing::fusion(&graph, 0, 1, Rules::Xla, &no_callees);
    let [access] = answer.operands[0].as_slice() else { panic!("{:?}", answer.operands[0].len()) };
    assert_eq!(access.note.as_deref(), Some("more than 64 different accesses"));
}

#[test]
fn a_computation_that_calls_itself_is_opaque() {
    let text = "HloModule m
f {
  a = f32[8] parameter(0)
  ROOT t = f32[8] fusion(a), kind=kLoop, calls=f
}
ENTRY e {
  p = f32[8] parameter(0)
  ROOT x = f32[8] fusion(p), kind=kLoop, calls=f
}";
    assert_eq!(maps(text, "x", &["x"])[0].1, ["unknown indexing"]);
}

/// XLA lists the consumer's runtime variables first, but numbers the producer's first in the map: it reports
/// that rt0, in [0, 100], is the second slice's offset, which is at most 25. Each of ours has the bounds of
/// its source.
#[test]
fn runtime_variables_are_listed_as_the_map_numbers_them() {
    let text = "HloModule m
f {
  src = s32[150, 64] parameter(0)
  of11 = s32[] parameter(1)
  of12 = s32[] parameter(2)
  of21 = s32[] parameter(3)
  of22 = s32[] parameter(4)
  ds1 = s32[50, 32] dynamic-slice(src, of11, of12), dynamic_slice_sizes={50, 32}
  ROOT ds2 = s32[25, 16] dynamic-slice(ds1, of21, of22), dynamic_slice_sizes={25, 16}
}";
    let graph = crate::entry(text);
    let answer = indexing::fusion(&graph, 0, 5, Rules::Xla, &no_callees);
    let access = &answer.operands[0][0];
    let sources: Vec<_> = access
        .runtime_variables
        .iter()
        .map(|v| match &v.source {
            indexing::RuntimeSource::Op { name, .. } => (name.as_ref(), v.feasible.upper),
            indexing::RuntimeSource::Operand(_) | indexing::RuntimeSource::Extent { .. } => {
                panic!("a source without a name")
            }
        })
        .collect();
    assert_eq!(sources, [("of11", 100), ("of12", 32), ("of21", 25), ("of22", 16)]);
    let bounds: Vec<i64> = access.map.runtime().iter().map(|v| v.bounds.upper).collect();
    assert_eq!(bounds, [100, 32, 25, 16]);
}
