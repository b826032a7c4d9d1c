//! Rules that no change of one number breaks, each with a module that satisfies it and modules that violate
//! it. The rejected modules are those that XLA 0.10.2 rejects; it accepts the others.

use crate::verified;

/// Checks `code «token»` of each finding, in text order.
fn check(text: &str, expected: &[&str]) {
    let (block, findings) = verified(text);
    let parser = block.findings.iter().map(|f| (f.span, f.code));
    let verifier = findings.iter().map(|f| (block.part(f.instruction, f.part), f.code));
    let mut told: Vec<_> = parser.chain(verifier).collect();
    told.sort_by_key(|(span, _)| span.start);
    let shown: Vec<String> =
        told.iter().map(|(span, code)| format!("{code} «{}»", span.of(&block.text))).collect();
    assert_eq!(block.parse.errors, [], "{text}");
    assert_eq!(shown, expected, "{text}");
}

/// Checks a fusion of one operand with this body.
fn check_fusion(body: &str, expected: &[&str]) {
    let head = "HloModule m\n\nf {\n  p = f32[2] parameter(0)\n";
    let entry = "\
ENTRY e {
  a = f32[2] parameter(0)
  ROOT b = f32[2] fusion(a), kind=kLoop, calls=f
}
";
    check(&format!("{head}{body}}}\n\n{entry}"), expected);
}

#[test]
fn everything_in_a_fusion_leads_to_its_root() {
    check_fusion("  x = f32[2] abs(p)\n  ROOT n = f32[2] negate(x)\n", &[]);
    check_fusion("  x = f32[2] abs(p)\n  ROOT n = f32[2] negate(p)\n", &["unused-in-fusion «x»"]);
    // For a chain only the end is reported; its producers follow from it.
    check_fusion(
        "  x = f32[2] abs(p)\n  y = f32[2] abs(x)\n  ROOT n = f32[2] negate(p)\n",
        &["unused-in-fusion «y»"],
    );
    check_fusion("  ROOT n = f32[2] negate(p)\n  x = f32[2] abs(n)\n", &["fusion-root «n»"]);
    check_fusion("  ROOT n = f32[2] constant({1, 2})\n", &["unused-in-fusion «p»"]);
    let effect = "custom_call_target=\"t\", custom_call_has_side_effect";
    let with =
        |is: bool| format!("  c = f32[2] custom-call(p), {effect}={is}\n  ROOT n = f32[2] negate(p)\n");
    check_fusion(&with(true), &[]);
    check_fusion(&with(false), &["unused-in-fusion «c»"]);
    // Elsewhere such code is only useless.
    check(
        "\
HloModule m

ENTRY e {
  p = f32[2] parameter(0)
  x = f32[2] abs(p)
  ROOT n = f32[2] negate(p)
}
",
        &[],
    );
}

#[test]
fn a_composite_has_a_name_and_a_version() {
    let check = |attributes: &str, expected: &[&str]| {
        let text = format!(
            "\
HloModule m

f {{
  ROOT p = f32[2] parameter(0)
}}

ENTRY e {{
  a = f32[2] parameter(0)
  ROOT b = f32[2] call(a), to_apply=f{attributes}
}}
"
        );
        check(&text, expected);
    };
    let of = |entries: &str| format!(", is_composite=true, frontend_attributes={{{entries}}}");
    check(&of("composite.name=\"a.b\",composite.attributes={n = 1 : i32},composite.version=\"1\""), &[]);
    check(&of("composite.name=\"a.b\",composite.attributes={}"), &[]);
    check(", frontend_attributes={composite.name=\"\"}", &[]);
    check(", is_composite=true", &["composite «is_composite=true»"]);
    for entries in [
        "composite.version=\"1\"",
        "composite.name=\"\"",
        "composite.name=\"a\",composite.version=\"x\"",
        "composite.name=\"a\",composite.version=\"-1\"",
        "composite.name=\"a\",composite.version=\"\"",
        "composite.name=\"a\",composite.attributes=\"\"",
    ] {
        check(&of(entries), &[&format!("composite «{{{entries}}}»")]);
    }
}

/// Checks a parameter with a sharding.
fn check_sharding(shape: &str, sharding: &str, is_told: bool) {
    let told = format!("sharding «{sharding}»");
    let told = [told.as_str()];
    check(
        &format!(
            "\
HloModule m, num_partitions=4

ENTRY e {{
  ROOT a = {shape} parameter(0), sharding={sharding}
}}
"
        ),
        if is_told { &told } else { &[] },
    );
}

#[test]
fn a_sharding_cuts_every_dimension_of_its_array() {
    for (shape, sharding) in [
        ("f32[4,4]", "{devices=[2,2]<=[4]}"),
        ("f32[4,4]", "{devices=[2,2]<=[2,2]T(1,0)}"),
        ("f32[4]", "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
        ("f32[4]", "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"),
        ("f32[]", "{devices=[4]<=[4] last_tile_dims={manual}}"),
        ("f32[4,4]", "{devices=[2,1]1,3}"),
        ("f32[4,4]", "{devices=[1,1]<=[1]}"),
        ("f32[3]", "{replicated metadata={op_name=\"devices=[2,2]0,0\"}}"),
        ("(f32[4,4], f32[4])", "{{devices=[2,2]<=[4]}, {devices=[4]<=[4]}}"),
        ("(f32[4,4], (f32[4,4], f32[]))", "{{replicated}, {replicated}, {maximal device=0}}"),
        ("(f32[4,4], f32[4,4])", "{devices=[2,2]<=[4]}"),
        ("()", "{{replicated}}"),
    ] {
        check_sharding(shape, sharding, false);
    }
    for (shape, sharding) in [
        ("f32[4]", "{devices=[2,2]<=[4]}"),
        ("f32[4,4,4]", "{devices=[2,2]<=[4]}"),
        ("f32[4,4]", "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
        ("f32[4,4]", "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}"),
        ("f32[]", "{devices=[4]<=[4]}"),
        ("f32[4,4]", "{devices=[2,2]0,1,2,2}"),
        ("f32[4,4]", "{devices=[2,1]-1,3}"),
        ("f32[4,4]", "{devices=[1,1]0}"),
        ("f32[4,4]", "{{replicated}}"),
        ("(f32[4], f32[4])", "{{replicated}}"),
        ("(f32[4], f32[4])", "{{replicated}, {replicated}, {replicated}}"),
        ("(f32[4], f32[4])", "{{replicated}, {devices=[2,2]<=[4]}}"),
        ("(f32[4,4], f32[4])", "{devices=[2,2]<=[4]}"),
    ] {
        check_sharding(shape, sharding, true);
    }
}

#[test]
fn a_loop_and_its_branches_keep_a_sharding() {
    let of =
        |sharding: &str| if sharding.is_empty() { String::new() } else { format!(", sharding={sharding}") };
    let check_loop = |parameter: &str, root: &str, own: &str, expected: &[&str]| {
        let (parameter, root, own) = (of(parameter), of(root), of(own));
        let condition = format!(
            "\
c {{
  p = f32[4] parameter(0){parameter}
  ROOT x = pred[] constant(false)
}}
"
        );
        let body = format!("b {{\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p){root}\n}}\n");
        let entry = format!(
            "\
ENTRY e {{
  a = f32[4] parameter(0)
  ROOT w = f32[4] while(a), condition=c, body=b{own}
}}
"
        );
        check(&format!("HloModule m, num_partitions=4\n\n{condition}\n{body}\n{entry}"), expected);
    };
    let (cut, list, all) = ("{devices=[4]<=[4]}", "{devices=[4]0,1,2,3}", "{replicated}");
    check_loop(cut, list, cut, &[]);
    check_loop(all, "{replicated metadata={op_name=\"x\"}}", "", &[]);
    check_loop("", "", all, &[]);
    check_loop(cut, "", all, &["sharding «c»"]);
    check_loop("", cut, all, &["sharding «b»"]);
    check_loop(all, cut, "", &["sharding «c»"]);
    let check_branches = |left: &str, right: &str, expected: &[&str]| {
        let branch = |name: &str, root: &str| {
            format!("{name} {{\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p){}\n}}\n\n", of(root))
        };
        let entry = "\
ENTRY e {
  q = pred[] parameter(0)
  a = f32[4] parameter(1)
  ROOT w = f32[4] conditional(q, a, a), true_computation=t, false_computation=f
}
";
        let branches = [branch("t", left), branch("f", right)].concat();
        check(&format!("HloModule m, num_partitions=4\n\n{branches}{entry}"), expected);
    };
    check_branches(cut, cut, &[]);
    check_branches(cut, all, &["sharding «f»"]);
}

#[test]
fn layout_constraints_are_for_the_operands() {
    let check = |constraint: &str, expected: &[&str]| {
        let text = format!(
            r#"HloModule m

ENTRY e {{
  a = f32[2,3]{{1,0}} parameter(0)
  ROOT b = f32[2]{{0}} custom-call(a), custom_call_target="t", operand_layout_constraints={constraint}
}}
"#
        );
        check(&text, expected);
    };
    check("{f32[2,3]{0,1}}", &[]);
    check("{f32[2,4]{0,1}}", &["attribute-value «{f32[2,4]{0,1}}»"]);
    check("{s32[2,3]{0,1}}", &["attribute-value «{s32[2,3]{0,1}}»"]);
    check("{}", &["attribute-value «{}»"]);
}

#[test]
fn called_computations_run_on_the_thread_of_their_caller() {
    let text = |thread: &str, call: &str| {
        format!(
            "\
HloModule m

f {{
  p = f32[2] parameter(0)
  ROOT n = f32[2] negate(p)
}}{thread}

ENTRY e {{
  a = f32[2] parameter(0)
  ROOT b = f32[2] {call}
}}
"
        )
    };
    let thread = ", execution_thread=\"side\"";
    check(&text("", "fusion(a), kind=kLoop, calls=f"), &[]);
    check(&text(thread, "fusion(a), kind=kLoop, calls=f"), &["execution-thread «f»"]);
    check(&text(thread, "call(a), to_apply=f"), &[]);
}

/// Checks an async op with these steps.
fn check_async(steps: &str, expected: &[&str]) {
    let wrapped = r#"w {
  p = f32[2] parameter(0)
  ROOT n = f32[2] custom-call(p), custom_call_target="t"
}, execution_thread="side"
"#;
    let start = "  s = ((f32[2]), f32[2], s32[]) async-start(a), async_execution_thread=\"side\", calls=w\n";
    check(
        &format!(
            "\
HloModule m

{wrapped}
ENTRY e {{
  a = f32[2] parameter(0)
{start}{steps}}}
"
        ),
        expected,
    );
}

#[test]
fn an_async_op_has_one_chain_of_steps() {
    let update = |name: &str| format!("  {name} = ((f32[2]), f32[2], s32[]) async-update(s)\n");
    check_async("  ROOT d = f32[2] async-done(s)\n", &[]);
    check_async(&format!("{}  ROOT d = f32[2] async-done(u)\n", update("u")), &[]);
    check_async("  ROOT d = f32[2] negate(a)\n", &["start-without-done «async-start»"]);
    check_async(
        "  c = f32[2] async-done(s)\n  d = f32[2] async-done(s)\n  ROOT r = f32[2] add(c, d)\n",
        &["start-without-done «async-start»"],
    );
    check_async(
        &format!("{}  ROOT d = f32[2] async-done(s)\n", update("u")),
        &["start-without-done «async-start»", "start-without-done «async-update»"],
    );
}

#[test]
fn a_done_of_a_wrong_start_says_nothing_more() {
    check(
        "\
HloModule m

ENTRY e {
  a = f32[2] parameter(0)
  s = f32[2] collective-permute-start(a), source_target_pairs={{0,1}}
  ROOT d = f32[2] collective-permute-done(s)
}
",
        &["shape-mismatch «f32[2]»"],
    );
}

#[test]
fn devices_that_send_in_a_ring_wait_for_each_other() {
    let text = |pairs: &str| {
        format!(
            "\
HloModule m

ENTRY e {{
  t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=1, frontend_attributes={{_xla_send_recv_source_target_pairs={pairs}}}
  d = (f32[2], token[]) recv-done(r), channel_id=1
  ROOT g = f32[2] get-tuple-element(d), index=0
}}
"
        )
    };
    check(&text("{{0,1},{1,2}}"), &[]);
    let ring = "{_xla_send_recv_source_target_pairs={{0,1},{1,0}}}";
    check(&text("{{0,1},{1,0}}"), &[&format!("deadlock «{ring}»")]);
}

#[test]
fn transfers_and_reductions_of_a_module_are_alike() {
    let back = |attributes: &str, done: &str| {
        let host = ", is_host_transfer=true";
        format!(
            "\
HloModule m

ENTRY e {{
  t = token[] after-all()
  a = f32[2] parameter(0)
  s = (f32[2], u32[], token[]) send(a, t), channel_id=1{host}
  v = token[] send-done(s){done}{host}
  r = (f32[2], u32[], token[]) recv(v), {attributes}{host}
  ROOT d = (f32[2], token[]) recv-done(r), {attributes}{host}
}}
"
        )
    };
    check(&back("channel_id=2", ", channel_id=1"), &[]);
    check(&back("channel_id=1", ", channel_id=1"), &["channel-id «1»"]);
    check(&back("channel_id=2", ", channel_id=3"), &["channel-id «3»"]);
    check(&back("channel_id=2", ""), &["channel-id «send-done»"]);
    let twice = |first: &str, second: &str| {
        let sum = "\
s {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
";
        format!(
            "\
HloModule m

{sum}
ENTRY e {{
  a = f32[4] parameter(0)
  b = f32[4] all-reduce(a), to_apply=s{first}
  ROOT c = f32[4] all-reduce(b), to_apply=s{second}
}}
"
        )
    };
    let constrained = ", constrain_layout=true";
    check(&twice("", ""), &[]);
    check(&twice(constrained, constrained), &[]);
    check(&twice(constrained, ""), &["constrain-layout «all-reduce»"]);
}

#[test]
fn custom_calls_that_xla_knows_by_name() {
    let entry = |line: &str| format!("HloModule m\n\nENTRY e {{\n  a = f32[2] parameter(0)\n  {line}\n}}\n");
    check(&entry("ROOT s = u64[] custom-call(), custom_call_target=\"GetRngSeed\""), &[]);
    check(&entry("ROOT s = u64[] custom-call(a), custom_call_target=\"GetRngSeed\""), &["operand-count «a»"]);
    check(
        &entry("ROOT s = u32[] custom-call(), custom_call_target=\"GetRngSeed\""),
        &["shape-mismatch «u32[]»"],
    );
}

const ALIAS: &str = "output_to_operand_aliasing={{}: (0, {})}";

/// `a` is pinned to the buffer `b`; the lines follow.
fn check_buffer(lines: &[&str], expected: &[&str]) {
    let pin = format!("  b = b(f32[2]) custom-call(a), custom_call_target=\"Pin\", {ALIAS}");
    let lines: Vec<String> =
        lines.iter().map(|line| format!("  {}\n", line.replace("ALIAS", ALIAS))).collect();
    check(
        &format!("HloModule m\n\nENTRY e {{\n  a = f32[2] parameter(0)\n{pin}\n{}}}\n", lines.concat()),
        expected,
    );
}

#[test]
fn a_buffer_is_passed_on_and_written_once() {
    let unpin = "ROOT c = f32[2] custom-call(n), custom_call_target=\"Unpin\", ALIAS";
    check_buffer(&[&unpin.replace("(n)", "(b)")], &[]);
    check_buffer(&["n = b(f32[2]) custom-call(b), custom_call_target=\"t\", ALIAS", unpin], &[]);
    check_buffer(&["t = (b(f32[2])) tuple(b)", "n = b(f32[2]) get-tuple-element(t), index=0", unpin], &[]);
    check_buffer(&["n = b(f32[2]) custom-call(b), custom_call_target=\"t\"", unpin], &["buffer «b»"]);
    check_buffer(&["n = b(f32[2]) custom-call(a), custom_call_target=\"t\"", unpin], &["buffer «b(f32[2])»"]);
    check_buffer(&["n = b(f32[2]) copy(b)", unpin], &["buffer «b»"]);
    check_buffer(&["n = b(f32[2]) opt-barrier(b)", unpin], &["buffer «b»"]);
    check_buffer(&["ROOT n = f32[2] add(b, a)"], &["buffer «b»"]);
    check_buffer(
        &[
            "n = b(f32[2]) custom-call(b), custom_call_target=\"t\", ALIAS",
            "m = b(f32[2]) custom-call(b), custom_call_target=\"t\", ALIAS",
            unpin,
        ],
        &["buffer «b»"],
    );
    check_buffer(&[&unpin.replace("(n)", "(b)").replace(", ALIAS", "")], &["buffer «custom-call»"]);
    check_buffer(&["ROOT c = f32[2] custom-call(a), custom_call_target=\"Unpin\", ALIAS"], &["buffer «a»"]);
    check(
        &format!(
            r#"HloModule m

ENTRY e {{
  b = b(f32[2]) parameter(0)
  ROOT c = f32[2] custom-call(b), custom_call_target="Unpin", {ALIAS}
}}
"#
        ),
        &["buffer «b(f32[2])»"],
    );
    check(
        r#"HloModule m

ENTRY e {
  ROOT c = f32[2] custom-call(), custom_call_target="CreateBuffer"
}
"#,
        &["buffer «f32[2]»"],
    );
}

/// Checks instructions after parameters `p` and `q`, `f32[4]` each.
fn check_entry(lines: &str, expected: &[&str]) {
    let text = format!(
        "\
HloModule m

sum {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}}

mixed {{
  x = f32[] parameter(0)
  y = f16[] parameter(1)
  ROOT s = f32[] add(x, x)
}}

ENTRY e {{
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  z = f32[] constant(0)
{lines}}}
"
    );
    check(&text, expected);
}

#[test]
fn combiners_take_the_types_of_what_they_combine() {
    for (op, attributes) in [("reduce", "dimensions={0}"), ("reduce-window", "window={size=4}")] {
        let shape = if op == "reduce" { "f32[]" } else { "f32[1]" };
        let line =
            |combiner: &str| format!("  ROOT r = {shape} {op}(p, z), {attributes}, to_apply={combiner}\n");
        check_entry(&line("sum"), &[]);
        check_entry(&line("mixed"), &["mixed-precision «z»"]);
    }
}

#[test]
fn an_opcode_is_skipped_where_the_others_are_operands_enough() {
    check_entry(
        "  ROOT r = f32[4] add(p, negate)\n  negate = f32[4] negate(p)\n",
        &["unknown-operand «negate»"],
    );
    check_entry("  ROOT r = f32[4] add(p, q)\n  negate = f32[4] negate(p)\n", &[]);
}

#[test]
fn loops_that_pipeline_their_transfers_may_send_in_a_ring() {
    let ring = "_xla_send_recv_source_target_pairs=\"{{0,1},{1,0}}\",_xla_send_recv_pipeline=\"0\"";
    let lines = format!(
        "  t = token[] after-all()\n  r = (f32[4], u32[], token[]) recv(t), channel_id=1, frontend_attributes={{{ring}}}\n  ROOT d = (f32[4], token[]) recv-done(r), channel_id=1\n"
    );
    check_entry(&lines, &[]);
}

#[test]
fn what_xla_prints_and_reads_is_no_error() {
    // A map is over all dimensions, whatever is written.
    check_entry("  ROOT r = f32[4] map(p, q), dimensions={}, to_apply=sum\n", &[]);
    // A constraint without a layout, and one of a buffer.
    let call = |constraint: &str| {
        format!(
            "  ROOT r = f32[4] custom-call(p), custom_call_target=\"t\", operand_layout_constraints={{{constraint}}}\n"
        )
    };
    check_entry(&call("f32[4]"), &[]);
    check_entry(&call("f32[5]"), &["attribute-value «{f32[5]}»"]);
    let buffer = r#"  b = b(f32[4]) custom-call(p), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  c = b(f32[4]) custom-call(b), custom_call_target="t", output_to_operand_aliasing={{}: (0, {})}, operand_layout_constraints={b(f32[4]{0})}
  ROOT r = f32[4] custom-call(c), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
"#;
    check_entry(buffer, &[]);
    // Layout assignment keeps the element size of a packed operand.
    check_entry("  ROOT r = bf16[4]{0:E(4)} convert(p)\n", &[]);
    // The verifier ignores the roots of a broadcast, and operands after the first.
    let by_root = |op: &str, root: &str| {
        let to_apply = if op == "collective-reduce" { ", to_apply=sum" } else { "" };
        format!(
            "  i = {root} constant({{0}})\n  ROOT r = f32[4] {op}(p, i), replica_groups={{{{0,1}}}}, has_dynamic_root=true{to_apply}\n"
        )
    };
    check_entry(&by_root("collective-broadcast", "f32[1]"), &[]);
    check_entry(
        "  ROOT r = (f32[4], f32[4]) collective-broadcast(p, q), replica_groups={{0,1}}\n",
        &["shape-mismatch «(f32[4], f32[4])»"],
    );
    check_entry(&by_root("collective-reduce", "s32[1]"), &[]);
    check_entry(&by_root("collective-reduce", "f32[1]"), &["operand-mismatch «i»"]);
    for order in ["order=TOTAL", "order=PARTIAL", "type=TOTALORDER"] {
        check_entry(&format!("  ROOT r = pred[4] compare(p, q), direction=LT, {order}\n"), &[]);
    }
    check_entry(
        "  ROOT r = pred[4] compare(p, q), direction=LT, type=FLOAT, order=TOTAL\n",
        &["attribute-value «FLOAT»"],
    );
    for sharding in ["{mesh['x'=2,'y'=2] [{'x'}]}", "{mesh[], replicated}", "{single_device[device_id=1]}"] {
        check_entry(&format!("  ROOT r = f32[4] negate(p), sharding={sharding}\n"), &[]);
    }
    check_entry("  ROOT r = f32[4] exp2(p)\n  s = f32[4] log2(p)\n", &[]);
    check_entry("  ROOT r = f32[4] shuffle(p), dimensions={0}, mode=rotate, shifts={1}\n", &[]);
    let inline = "  t = (f32[4], f32[4]) tuple(p, q)\n  ROOT c = call(t), to_apply={\n    a = (f32[4], f32[4]) parameter(0)\n    ROOT d = call(a), to_apply={\n      b = (f32[4], f32[4]) parameter(0)\n      g = get-tuple-element(b), index=0\n      h = get-tuple-element(b), index=1\n      ROOT s = add(g, h)\n    }\n  }\n";
    check_entry(inline, &[]);
}

#[test]
fn async_ops_bind_their_operands_late() {
    let module = |lines: &str| {
        format!(
            "\
HloModule m

f {{
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT s = f32[4] add(a, b)
}}

ENTRY e {{
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
{lines}}}
"
        )
    };
    let late = "  s = ((), f32[4], s32[]) async-start(), calls=f\n  u = ((f32[4]), f32[4], s32[]) async-update(s, p)\n  v = ((f32[4], f32[4]), f32[4], s32[]) async-update(u, q)\n  ROOT d = f32[4] async-done(v)\n";
    check(&module(late), &[]);
    // An operand that is bound later may already share memory with the result.
    check(&module(&late.replacen("calls=f", "calls=f, output_to_operand_aliasing={{1}: (0, {})}", 1)), &[]);
    check(
        "\
HloModule m

ENTRY e {
  l = f32[4,4] parameter(0)
  r = f32[4,4] parameter(1)
  s = ((), (), u32[]) dot-start()
  u = ((f32[4,4]), (), u32[]) dot-update(s, l)
  v = ((f32[4,4], f32[4,4]), f32[4,4], u32[]) dot-update(u, r)
  ROOT d = f32[4,4] dot-done(v)
}
",
        &[],
    );
}
