//! Ops whose conversion is a matter of its own: lines of HLO as XLA's own conversion, of jaxlib 0.12.0.1, writes them.

use crate::{faults, to_hlo, to_stablehlo};

/// The lines of a module after the names of their instructions; what is not said.
fn lines(body: &str) -> (Vec<String>, Vec<String>) {
    let module = to_hlo(body);
    assert_eq!(faults(&module.text), [] as [&str; 0], "{}", module.text);
    let line = |line: &str| line.split_once(" = ").map(|(_, rest)| rest.to_owned());
    let lines = module.text.lines().skip(1).filter_map(line).filter(|l| !l.contains(" parameter("));
    let told = module.incomplete.iter().map(|(_, missing)| missing.what.clone());
    (lines.collect(), told.collect())
}

#[track_caller]
fn check(function: &str, expect: &[&str]) {
    assert_eq!(lines(function), (expect.iter().map(|&l| l.to_owned()).collect(), Vec::new()), "{function}");
}

#[test]
fn conjugates() {
    let of = |ty: &str| {
        format!(
            "\
func.func @main(%a: tensor<4x{ty}>) -> tensor<4x{ty}> {{
  %0 = chlo.conj %a : tensor<4x{ty}> -> tensor<4x{ty}>
  return %0 : tensor<4x{ty}>
}}"
        )
    };
    for (ty, whole, part) in [("complex<f32>", "c64", "f32"), ("complex<f64>", "c128", "f64")] {
        let expect = [
            format!("{part}[4] real(a)"),
            format!("{part}[4] imag(a)"),
            format!("{part}[4] negate(imag)"),
            format!("{whole}[4] complex(real, negate)"),
        ];
        check(&of(ty), &expect.each_ref().map(String::as_str));
    }
    // A real number is its own.
    check(&of("f32"), &[]);
}

#[test]
fn comparisons_selections_and_conversions_of_arith() {
    check(
        "func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xbf16>) -> tensor<4xf32> {
  %0 = arith.cmpi slt, %a, %b : tensor<4xi32>
  %1 = arith.select %0, %a, %b : tensor<4xi1>, tensor<4xi32>
  %2 = arith.sitofp %1 : tensor<4xi32> to tensor<4xf32>
  %3 = arith.extf %c : tensor<4xbf16> to tensor<4xf32>
  %4 = arith.cmpf une, %2, %3 : tensor<4xf32>
  %5 = arith.uitofp %4 : tensor<4xi1> to tensor<4xf32>
  %6 = math.cbrt %5 : tensor<4xf32>
  return %6 : tensor<4xf32>
}",
        &[
            "pred[4] compare(a, b), direction=LT",
            "s32[4] select(compare.0, a, b)",
            "f32[4] convert(select.1)",
            "f32[4] convert(c)",
            "pred[4] compare(convert.2, convert.3), direction=NE",
            "f32[4] convert(compare.4)",
            "f32[4] cbrt(convert.5)",
        ],
    );
    // Of i32, HLO knows signed numbers alone; of floats, no comparison that is true of NaN but `!=`.
    for (op, why) in [
        ("arith.cmpi ult, %a, %a : tensor<4xi32>", "HLO has no comparison ult of s32"),
        ("arith.cmpf ult, %c, %c : tensor<4xf32>", "HLO has no comparison ult of f32"),
    ] {
        let function = format!(
            "func.func @main(%a: tensor<4xi32>, %c: tensor<4xf32>) -> tensor<4xi1> {{\n  %0 = {op}\n  return %0 : tensor<4xi1>\n}}"
        );
        let (_, told) = lines(&function);
        assert!(told.iter().any(|told| told.contains(why)), "{told:?}");
    }
}

#[test]
fn scans_and_ragged_dots_of_chlo() {
    check(
        "func.func @main(%a: tensor<2x3xf32>, %i: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %o:2 = chlo.scan(%a) inits (%i) dimension=1 attributes {is_reverse = true} {
  ^bb0(%x: tensor<2xf32>, %k: tensor<2xf32>):
    %s = stablehlo.add %x, %k : tensor<2xf32>
    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %o#0, %o#1 : tensor<2x3xf32>, tensor<2xf32>
}",
        &[
            "f32[2] add(x, k)",
            "(f32[2], f32[2]) tuple(s, s)",
            "(f32[2,3], f32[2]) scan(a, i), dimensions={1}, is_reverse=true, num_carries=1, to_apply=region_1.main",
            "f32[2,3] get-tuple-element(scan), index=0",
            "f32[2] get-tuple-element(scan), index=1",
            "(f32[2,3], f32[2]) tuple(scan_0, scan_1)",
        ],
    );
    check(
        r#"func.func @main(%a: tensor<2x11x5xf32>, %b: tensor<3x2x5x7xf32>, %g: tensor<3xi64>) -> tensor<2x11x7xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}> : (tensor<2x11x5xf32>, tensor<3x2x5x7xf32>, tensor<3xi64>) -> tensor<2x11x7xf32>
  return %0 : tensor<2x11x7xf32>
}"#,
        &[
            "f32[2,11,7] ragged-dot(a, b, g), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}",
        ],
    );
}

#[test]
fn the_largest_of_each_row() {
    let results = "(tensor<4x3xf32>, tensor<4x3xi32>)";
    for op in ["chlo.top_k(%a, k = 3)", "chlo.top_k(%a, k=3)", "\"chlo.top_k\"(%a) <{k = 3 : i64}>"] {
        check(
            &format!(
                "\
func.func @main(%a: tensor<4x8xf32>) -> tensor<4x3xi32> {{
  %k:2 = {op} : (tensor<4x8xf32>) -> {results}
  return %k#1 : tensor<4x3xi32>
}}"
            ),
            &["(f32[4,3], s32[4,3]) topk(a), k=3, largest=true", "s32[4,3] get-tuple-element(k), index=1"],
        );
    }
}

#[test]
fn borders_of_shardings_both_ways() {
    let domain = r#"{kind="sharding", entry={devices=[2]<=[2]}, exit={}}"#;
    let text = r#"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mhlo.domain"(%a) <{kind = #mhlo<kind sharding>, entry_metadata = "{devices=[2]<=[2]}", exit_metadata = "\08\02"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"#;
    check(text, &[&format!("f32[4] domain(a), domain={domain}")]);
    let back = to_stablehlo(&to_hlo(text).text);
    let line = r##""mhlo.domain"(%a) <{kind = #mhlo<kind sharding>, entry_metadata = "{devices=[2]<=[2]}", exit_metadata = "{}"}>"##;
    assert!(back.text.contains(line) && back.incomplete.is_empty(), "{}", back.text);
    let message = r"\08\03\1A\03\02\01\020\01J\01\04R\01\00";
    let (found, told) = lines(&text.replace(r"\08\02", message));
    assert!(found[0].ends_with("exit={devices=[2,1,2]<=[4] last_tile_dim_replicate}}"), "{found:?}");
    assert_eq!(told, [] as [&str; 0]);
    let (_, told) = lines(&text.replace(r"\08\02", r"\08\03\1A\01"));
    assert_eq!(told, ["mhlo.domain: exit_metadata is a message that is not read"]);
}

#[test]
fn sums_on_one_device_both_ways() {
    let of = |properties: &str, operands: &str, types: &str| {
        format!(
            r#"func.func @main(%a: tensor<4xf32>, %b: tensor<2xf32>, %r: tensor<2xi32>) -> (tensor<4xf32>, tensor<2xf32>) {{
  %0:2 = "stablehlo.collective_reduce"({operands}) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>{properties}}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : ({types}) -> (tensor<4xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<2xf32>
}}"#
        )
    };
    let channel = ", channel_handle = #stablehlo.channel_handle<handle = 5, type = 0>, use_global_device_ids";
    let plain = of(channel, "%a, %b", "tensor<4xf32>, tensor<2xf32>");
    let by_root = of(", has_dynamic_root", "%a, %b, %r", "tensor<4xf32>, tensor<2xf32>, tensor<2xi32>");
    for (text, line, properties) in [
        (
            &plain,
            "(a, b), replica_groups={{0,1}}, channel_id=5, use_global_device_ids=true, to_apply=",
            "(%a, %b) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids}>",
        ),
        (
            &by_root,
            "(a, b, r), replica_groups={{0,1}}, has_dynamic_root=true, to_apply=",
            "(%a, %b, %r) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}>",
        ),
    ] {
        let (found, told) = lines(text);
        let line = format!("(f32[4], f32[2]) collective-reduce{line}");
        assert!(found.iter().any(|l| l.starts_with(&line)) && told.is_empty(), "{found:?} {told:?}");
        let back = to_stablehlo(&to_hlo(text).text);
        assert!(back.text.contains(&format!("collective_reduce\"{properties}")), "{}", back.text);
    }
    // Roots are one s32 per array.
    let hlo = to_hlo(&by_root).text;
    for (old, new) in [("s32[2]", "s32[3]"), ("s32[2]", "s32[]"), ("s32[2]", "s64[2]"), ("f32[2]", "f32[3]")]
    {
        let places = hlo.match_indices(old).count();
        assert!(places > 0, "{hlo}");
        let wrong = match new {
            "f32[3]" => hlo.replacen("(f32[4], f32[2]) collective", "(f32[4], f32[3]) collective", 1),
            _ => hlo.replace(old, new),
        };
        assert!(!faults(&wrong).is_empty(), "{wrong}");
    }
    assert!(!faults(&hlo.replace("has_dynamic_root=true, ", "")).is_empty());
}

#[test]
fn computations_of_parts() {
    let text = |axes: &str| {
        format!(
            r#"module @m {{
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {{
    %r:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{}}]>] out_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{"x"}}]>] manual_axes={{{axes}}} (%p: tensor<2x8xf32>, %q: tensor<8xf32>) {{
      %2 = stablehlo.add %p, %p : tensor<2x8xf32>
      %3 = stablehlo.slice %q [0:4] : (tensor<8xf32>) -> tensor<4xf32>
      sdy.return %2, %3 : tensor<2x8xf32>, tensor<4xf32>
    }} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
    return %r#0, %r#1 : tensor<4x8xf32>, tensor<8xf32>
  }}
}}"#
        )
    };
    check(
        &text("\"x\""),
        &[
            "f32[2,8] add(p, p)",
            "f32[4] slice(q), slice={[0:4]}",
            "(f32[2,8], f32[4]) tuple(add.2, slice.3)",
            r##"(f32[2,8], f32[8]) custom-call(a, b), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>, <@mesh, [{}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>"}"##,
            "f32[2,8] get-tuple-element(custom-call), index=0",
            "f32[8] get-tuple-element(custom-call), index=1",
            r#"(f32[2,8], f32[4]) call(custom-call_0, custom-call_1), to_apply=xla.sdy.manual_computation_body_1.main, frontend_attributes={inlineable="xla_late"}"#,
            "f32[2,8] get-tuple-element(call), index=0",
            "f32[4] get-tuple-element(call), index=1",
            r##"(f32[4,8], f32[8]) custom-call(call_0, call_1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>, <@mesh, [{\"x\"}]>]>"}"##,
            "f32[4,8] get-tuple-element(r), index=0",
            "f32[8] get-tuple-element(r), index=1",
            "(f32[4,8], f32[8]) tuple(r_0, r_1)",
        ],
    );
    // Over no axis what each device does is what all do.
    let whole =
        text("").replace("2x8", "4x8").replace("[0:4]", "[0:8]").replace("tensor<4xf32>", "tensor<8xf32>");
    check(
        &whole,
        &["f32[4,8] add(a, a)", "f32[8] slice(b), slice={[0:8]}", "(f32[4,8], f32[8]) tuple(add.2, slice.3)"],
    );
    check(
        r#"module @m {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "sdy.manual_computation"() <{in_shardings = #sdy.sharding_per_value<[]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}> ({
      %1 = stablehlo.iota dim = 0 : tensor<2xf32>
      "sdy.return"(%1) : (tensor<2xf32>) -> ()
    }) : () -> tensor<4xf32>
    sdy.sharding_group %0 group_id=3 : tensor<4xf32>
    %2 = sdy.propagation_barrier %0 allowed_direction=BACKWARD : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}"#,
        &[
            "f32[2] iota(), iota_dimension=0",
            r#"f32[2] call(), to_apply=xla.sdy.manual_computation_body_1.main, frontend_attributes={inlineable="xla_late"}"#,
            r##"f32[4] custom-call(call), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>"}"##,
            r#"() custom-call(custom-call.0), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="3 : i64"}"#,
            r#"f32[4] custom-call(custom-call.0), custom_call_target="xla.sdy.PropagationBarrier", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.allowed_direction="2 : i32"}"#,
        ],
    );
}

/// What XLA's own conversion refuses, or writes as dozens of instructions, is named.
#[test]
fn what_is_refused_is_named() {
    let told = |op: &str, from: &str, to: &str| {
        let text = format!("func.func @main(%a: {from}) -> {to} {{\n  %0 = {op}\n  return %0 : {to}\n}}");
        to_hlo(&text).incomplete.into_iter().map(|(_, missing)| missing.what).collect::<Vec<_>>()
    };
    let (plain, quantised) = ("tensor<4xf32>", "tensor<4x!quant.uniform<i8:f32, 0.5:3>>");
    let why = "HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math";
    let op = format!("stablehlo.uniform_dequantize %a : ({quantised}) -> {plain}");
    assert!(told(&op, quantised, plain).contains(&format!("stablehlo.uniform_dequantize: {why}")));
    let sum = told(&format!("stablehlo.add %a, %a : {quantised}"), quantised, quantised);
    assert!(!sum.is_empty() && sum.iter().all(|what| what.contains(why)), "{sum:?}");
    for op in ["erf_inv", "lgamma", "digamma", "bessel_i1e", "erfc"] {
        let found = told(&format!("chlo.{op} %a : {plain} -> {plain}"), plain, plain);
        assert_eq!(found, [format!("chlo.{op}: HLO has no such instruction: XLA expands it into many")]);
    }
    let op = format!("chlo.broadcast_zeta %a, %a : ({plain}, {plain}) -> {plain}");
    assert_eq!(
        told(&op, plain, plain),
        ["chlo.broadcast_zeta: HLO has no such instruction: XLA expands it into many"]
    );
}

#[test]
fn exchanges_of_several_operands_are_told() {
    let text = r#"func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x6xf32>) -> (tensor<4x8xf32>, tensor<4x6xf32>) {
  %0:2 = "stablehlo.all_to_all"(%a, %b) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<4x6xf32>) -> (tensor<4x8xf32>, tensor<4x6xf32>)
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x6xf32>
}"#;
    let (found, told) = lines(text);
    let exchange = ", replica_groups={{0,1}}, dimensions={0}";
    assert_eq!(
        found[..2],
        [format!("f32[4,8] all-to-all(a){exchange}"), format!("f32[4,6] all-to-all(b){exchange}")]
    );
    assert!(told.len() == 1 && told[0].starts_with("each operand is exchanged alone"), "{told:?}");
}
