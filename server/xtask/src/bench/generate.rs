//! Generates a module to measure without a corpus: the forward and backward pass of a stack of transformer
//! layers, in the style in which XLA prints optimised modules. The text is always the same.

use std::fmt::Write;

/// Gives about 10 MB.
pub const LAYERS: usize = 500;

const REDUCER: &str = "\
%add_f32 (lhs: f32[], rhs: f32[]) -> f32[] {
  %lhs = f32[] parameter(0)
  %rhs = f32[] parameter(1)
  ROOT %sum = f32[] add(%lhs, %rhs)
}

";

/// Weights are parameters rather than constants: XLA's parser would allocate and fill constants, which is not
/// parsing.
const ENTRY: &str = "\
ENTRY %main (activations: f32[8,512,1024], scales: bf16[1024], projection: bf16[1024,16,64]) -> f32[8,512,1024] {
  %activations = f32[8,512,1024]{2,1,0} parameter(0), metadata={op_name=\"activations\"}
  %scales = bf16[1024]{0} parameter(1), metadata={op_name=\"scales\"}
  %projection = bf16[1024,16,64]{2,1,0} parameter(2), metadata={op_name=\"projection\"}
";

/// One instruction of a layer: name, shape with layout, operation. `{p}` is the result of the previous layer,
/// `{n}` the layer; the last instruction is the input of the next layer.
const LAYER: &[(&str, &str, &str)] = &[
    ("scale", "bf16[1024]{0}", "copy(%scales)"),
    ("square", "f32[8,512,1024]{2,1,0}", "multiply({p}, {p})"),
    ("zero", "f32[]", "constant(0)"),
    ("mean", "f32[8,512]{1,0}", "reduce(%square.{n}, %zero.{n}), dimensions={2}, to_apply=%add_f32"),
    ("rsqrt", "f32[8,512]{1,0}", "rsqrt(%mean.{n})"),
    ("spread", "f32[8,512,1024]{2,1,0}", "broadcast(%rsqrt.{n}), dimensions={0,1}"),
    ("normal", "f32[8,512,1024]{2,1,0}", "multiply({p}, %spread.{n})"),
    ("cast", "bf16[8,512,1024]{2,1,0}", "convert(%normal.{n})"),
    ("gain", "bf16[8,512,1024]{2,1,0}", "broadcast(%scale.{n}), dimensions={2}"),
    ("scaled", "bf16[8,512,1024]{2,1,0:T(8,128)(2,1)}", "multiply(%cast.{n}, %gain.{n})"),
    ("wq", "bf16[1024,16,64]{2,1,0}", "copy(%projection)"),
    (
        "query",
        "bf16[8,512,16,64]{3,2,1,0}",
        "dot(%scaled.{n}, %wq.{n}), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    ),
    (
        "key",
        "bf16[8,512,16,64]{3,2,1,0}",
        "dot(%scaled.{n}, %wq.{n}), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    ),
    ("heads", "bf16[8,16,512,64]{3,2,1,0}", "transpose(%query.{n}), dimensions={0,2,1,3}"),
    ("across", "bf16[8,16,64,512]{3,2,1,0}", "transpose(%key.{n}), dimensions={0,2,3,1}"),
    (
        "scores",
        "f32[8,16,512,512]{3,2,1,0}",
        "dot(%heads.{n}, %across.{n}), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, \
         rhs_contracting_dims={2}",
    ),
    ("row", "s32[512,512]{1,0}", "iota(), iota_dimension=0"),
    ("column", "s32[512,512]{1,0}", "iota(), iota_dimension=1"),
    ("causal", "pred[512,512]{1,0}", "compare(%row.{n}, %column.{n}), direction=GE"),
    ("mask", "pred[8,16,512,512]{3,2,1,0}", "broadcast(%causal.{n}), dimensions={2,3}"),
    ("low", "f32[8,16,512,512]{3,2,1,0}", "broadcast(%zero.{n}), dimensions={}"),
    ("masked", "f32[8,16,512,512]{3,2,1,0}", "select(%mask.{n}, %scores.{n}, %low.{n})"),
    ("exp", "f32[8,16,512,512]{3,2,1,0}", "exponential(%masked.{n})"),
    ("total", "f32[8,16,512]{2,1,0}", "reduce(%exp.{n}, %zero.{n}), dimensions={3}, to_apply=%add_f32"),
    ("totals", "f32[8,16,512,512]{3,2,1,0}", "broadcast(%total.{n}), dimensions={0,1,2}"),
    ("soft", "f32[8,16,512,512]{3,2,1,0}", "divide(%exp.{n}, %totals.{n})"),
    ("weights", "bf16[8,16,512,512]{3,2,1,0}", "convert(%soft.{n})"),
    (
        "mixed",
        "bf16[8,16,512,64]{3,2,1,0}",
        "dot(%weights.{n}, %heads.{n}), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, \
         rhs_contracting_dims={2}",
    ),
    ("back", "bf16[8,512,16,64]{3,2,1,0}", "transpose(%mixed.{n}), dimensions={0,2,1,3}"),
    ("flat", "bf16[8,512,1024]{2,1,0}", "reshape(%back.{n})"),
    ("first", "bf16[8,256,1024]{2,1,0}", "slice(%flat.{n}), slice={[0:8], [0:256], [0:1024]}"),
    ("second", "bf16[8,256,1024]{2,1,0}", "slice(%flat.{n}), slice={[0:8], [256:512], [0:1024]}"),
    ("turned", "bf16[8,512,1024]{2,1,0}", "concatenate(%second.{n}, %first.{n}), dimensions={1}"),
    (
        "gathered",
        "bf16[8,512,1024]{2,1,0}",
        "all-reduce(%turned.{n}), channel_id={n1}, replica_groups={{0,1,2,3},{4,5,6,7}}, \
         use_global_device_ids=true, to_apply=%add_bf16",
    ),
    ("wide", "f32[8,512,1024]{2,1,0}", "convert(%gathered.{n})"),
    ("next", "f32[8,512,1024]{2,1,0}", "add({p}, %wide.{n})"),
];

pub fn training_step(layers: usize) -> String {
    let mut text = String::from(
        "HloModule jit_training_step, is_scheduled=true, entry_computation_layout={(f32[8,512,1024]{2,1,0}, \
         bf16[1024]{0}, bf16[1024,16,64]{2,1,0})->f32[8,512,1024]{2,1,0}}, num_partitions=8\n\n",
    );
    text.push_str(REDUCER);
    text.push_str(&REDUCER.replace("f32", "bf16"));
    text.push_str(ENTRY);

    let mut carried = "%activations".to_string();
    // Forward and backward pass: the same shapes in both directions, with different framework names.
    for (pass, scope) in ["jvp(transformer)", "transpose(jvp(transformer))"].into_iter().enumerate() {
        for layer in 0..layers {
            let number = pass * layers + layer;
            let end = pass == 1 && layer + 1 == layers;
            for (index, (name, shape, operation)) in LAYER.iter().enumerate() {
                let operation = operation
                    .replace("{p}", &carried)
                    .replace("{n1}", &(number + 1).to_string())
                    .replace("{n}", &number.to_string());
                let root = if end && index + 1 == LAYER.len() { "ROOT " } else { "" };
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "  {root}%{name}.{number} = {shape} {operation}, metadata={{op_name=\"jit(training_step)/\
                     {scope}/layer_{layer}/{name}\" source_file=\"/home/user/model/transformer.py\" \
                     source_line={} source_end_line={} source_column=12 source_end_column=64}}",
                    40 + index * 3,
                    41 + index * 3,
                );
            }
            carried = format!("%next.{number}");
        }
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::{LAYER, training_step};

    #[test]
    fn the_text_is_the_same_each_time_and_has_one_root() {
        let text = training_step(2);
        assert_eq!(text, training_step(2));
        assert_eq!(text.lines().filter(|line| line.contains(" = ")).count(), 2 * 3 + 3 + 4 * LAYER.len());
        assert_eq!(text.matches("  ROOT %next.3 = ").count(), 1);
        assert!(!text.contains("{n}") && !text.contains("{p}"));
    }
}
