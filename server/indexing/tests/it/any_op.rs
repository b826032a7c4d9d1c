//! Any opcode with any operands and attributes returns a result and never panics.

use indexing::{Rules, input_to_output_by, no_callees, output_to_input_by};
use ir::Opcode;
use proptest::prelude::*;
use random::Rng;

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn random_ints(r: &mut Rng) -> Vec<i64> {
    (0..r.range(0, 3)).map(|_| if r.one_in(8) { random_size(r) } else { r.range(-1, 3) }).collect()
}

fn random_size(r: &mut Rng) -> i64 {
    match r.range(0, 12) {
        0 => 0,
        1 => i64::MAX,
        2 => i64::MAX / 3,
        3 => 1 << 40,
        _ => r.range(1, 6),
    }
}

fn random_shape(r: &mut Rng) -> String {
    if r.one_in(12) {
        let parts: Vec<String> = (0..r.range(0, 2)).map(|_| random_shape(r)).collect();
        return format!("({})", parts.join(", "));
    }
    let dims: Vec<String> = (0..r.range(0, 3))
        .map(|_| match r.range(0, 10) {
            0 => "?".to_owned(),
            1 => format!("<={}", r.range(0, 5)),
            _ => random_size(r).to_string(),
        })
        .collect();
    let element = ["f32", "s32", "s8", "c64", "token"][r.range(0, 4) as usize];
    format!("{element}[{}]", dims.join(","))
}

fn random_attributes(r: &mut Rng) -> String {
    let mut text = String::new();
    for key in [
        "dimensions",
        "dynamic_slice_sizes",
        "slice_sizes",
        "offset_dims",
        "collapsed_slice_dims",
        "start_index_map",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "lhs_contracting_dims",
        "rhs_contracting_dims",
        "lhs_batch_dims",
        "rhs_batch_dims",
        "lhs_ragged_dims",
        "rhs_group_dims",
        "update_window_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "fft_length",
    ] {
        if !r.one_in(4) {
            text += &format!(", {key}={{{}}}", list(&random_ints(r)));
        }
    }
    for key in [
        "index_vector_dim",
        "index",
        "iota_dimension",
        "num_carries",
        "feature_group_count",
        "batch_group_count",
        "feature_index",
        "k",
    ] {
        if !r.one_in(4) {
            text += &format!(", {key}={}", if r.one_in(8) { random_size(r) } else { r.range(-1, 3) });
        }
    }
    let parts: Vec<String> = (0..r.range(0, 3))
        .map(|_| format!("[{}:{}:{}]", r.range(-1, 4), random_size(r), r.range(0, 2)))
        .collect();
    text += &format!(", slice={{{}}}", list(&parts));
    let sides = |r: &mut Rng, n: i64| -> String {
        let one = |r: &mut Rng| if r.one_in(8) { random_size(r) } else { r.range(-2, 3) };
        let all: Vec<String> =
            (0..n).map(|_| (0..2).map(|_| one(r).to_string()).collect::<Vec<_>>().join("_")).collect();
        all.join("x")
    };
    let n = r.range(1, 3);
    text += &format!(", padding={}", sides(r, n));
    let x = |r: &mut Rng| (0..n).map(|_| random_size(r).to_string()).collect::<Vec<_>>().join("x");
    text += &format!(
        ", window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}",
        x(r),
        x(r),
        sides(r, n),
        x(r),
        x(r)
    );
    let labels = ["b01f_01io->b01f", "bf_io->bf", "b0f_0io->b0f", "bb_ii->00", "b0f_01io->bf"];
    text += &format!(", dim_labels={}", labels[r.range(0, 4) as usize]);
    let groups = [
        "{{0,1}}",
        "{{0,1},{2,3}}",
        "{}",
        "{{0},{1,2}}",
        "[2,4]<=[8]",
        "[1,9223372036854775807]<=[9223372036854775807]",
    ];
    text += &format!(", replica_groups={}", groups[r.range(0, 5) as usize]);
    let pairs = ["{{0,1},{1,0}}", "{}", "{{0,5}}", "{{9223372036854775807,0}}"];
    text += &format!(", source_target_pairs={}", pairs[r.range(0, 3) as usize]);
    for key in ["lower", "left_side", "unit_diagonal", "is_reverse"] {
        text += &format!(", {key}={}", r.one_in(2));
    }
    let targets = ["Sharding", "TopK", "mine"];
    text += &format!(", transpose_a=TRANSPOSE, custom_call_target=\"{}\"", targets[r.range(0, 2) as usize]);
    text + ", to_apply=add, calls=f, body=f, condition=f, branch_computations={f, f}"
}

proptest! {
    #![proptest_config(crate::cases(300))]

    #[test]
    fn every_opcode_has_an_answer(seed in any::<u64>()) {
        let mut r = Rng::new(seed);
        for &opcode in Opcode::ALL {
            let operands: Vec<String> = (0..r.range(0, 4)).map(|_| random_shape(&mut r)).collect();
            // Often all shapes are equal, so that more checks pass.
            let same = random_shape(&mut r);
            let is_same = r.one_in(2);
            let operands: Vec<String> =
                operands.into_iter().map(|shape| if is_same { same.clone() } else { shape }).collect();
            let mut text = "HloModule m\nENTRY e {\n".to_owned();
            for (i, shape) in operands.iter().enumerate() {
                text += &format!("  p{i} = {shape} parameter({i})\n");
            }
            let names: Vec<String> = (0..operands.len()).map(|i| format!("p{i}")).collect();
            let output = if is_same { same } else { random_shape(&mut r) };
            let attributes = random_attributes(&mut r);
            text += &format!("  ROOT x = {output} {opcode}({}){attributes}\n}}\n", names.join(", "));
            let graph = crate::entry(&text);
            let Some(id) = graph.find("x") else { continue };
            let op = &graph.ops[id as usize];
            for rules in [Rules::Xla, Rules::Exact] {
                for index in 0..4 {
                    let answer = output_to_input_by(op, index, rules).simplified();
                    let back = input_to_output_by(op, index, rules).simplified();
                    for access in answer.operands.iter().chain(&back.operands).flatten() {
                        assert!(!access.map.is_undefined() || access.note.is_some(), "no reason: {text}");
                        assert_eq!(access.map.num_runtime(), access.runtime_variables.len(), "{text}");
                    }
                    if answer.operands.len() == op.operand_shapes.len() {
                        _ = indexing::physical(op, index, &answer);
                    }
                    _ = indexing::physical_input_to_output(op, index, &back);
                }
                _ = indexing::in_graph(&graph, id, 0, rules, &no_callees);
                _ = indexing::fusion(&graph, 0, operands.len(), rules, &no_callees);
                for (i, shape) in op.operand_shapes.iter().enumerate() {
                    let answer = output_to_input_by(op, 0, rules);
                    _ = indexing::utilisation(answer.operands.get(i).map_or(&[], Vec::as_slice), shape);
                    _ = indexing::fusion_input_to_output(&graph, i, rules, &no_callees);
                }
                // The computation calls itself.
                let itself = |_: &str| Some(graph.clone());
                _ = indexing::in_graph(&graph, id, 0, rules, &itself);
                _ = indexing::in_graph_input_to_output_with(&graph, id, 0, rules, &itself);
                if !operands.is_empty() {
                    _ = indexing::epilogue(&graph, graph.find("p0").unwrap_or(id), id, rules, &no_callees);
                }
            }
        }
    }
}
