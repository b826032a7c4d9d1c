//! HLO texts for tests of the server.

use std::fmt::Write as _;

/// A small valid module with a fusion.
pub const MODULE: &str = "\
HloModule sample, entry_computation_layout={(f32[8,128]{1,0}, f32[8,128]{1,0})->f32[8,128]{1,0}}

%fused_computation (param_0: f32[8,128], param_1: f32[8,128]) -> f32[8,128] {
  %param_0 = f32[8,128]{1,0} parameter(0)
  %param_1 = f32[8,128]{1,0} parameter(1)
  ROOT %multiply.1 = f32[8,128]{1,0} multiply(%param_0, %param_1)
}

ENTRY %main (x: f32[8,128], y: f32[8,128]) -> f32[8,128] {
  %x = f32[8,128]{1,0} parameter(0)
  %y = f32[8,128]{1,0} parameter(1)
  %fusion.1 = f32[8,128]{1,0} fusion(%x, %y), kind=kLoop, calls=%fused_computation
  ROOT %add.1 = f32[8,128]{1,0} add(%fusion.1, %y)
}
";

/// A module whose fusion `k` has maps that take long: each of its slices reads at an index that is given, through those before it.
pub fn slow() -> String {
    let mut body = String::new();
    for n in 0..200 {
        let of = if n == 0 { "p".to_owned() } else { format!("v{}", n - 1) };
        let slice = format!("f32[63,64]{{1,0}} dynamic-slice({of}, i, i), dynamic_slice_sizes={{63,64}}");
        let pad = format!("f32[64,64]{{1,0}} pad(d{n}, z), padding=0_1x0_0");
        _ = writeln!(body, "  d{n} = {slice}\n  v{n} = {pad}");
    }
    let parameters = "  p = f32[64,64]{1,0} parameter(0)\n  i = s32[] parameter(1)\n";
    format!(
        "HloModule m\n\nf {{\n{parameters}  z = f32[] constant(0)\n{body}  ROOT r = f32[64,64]{{1,0}} tanh(v199)\n}}\n\n\
         ENTRY e {{\n{parameters}  ROOT k = f32[64,64]{{1,0}} fusion(p, i), kind=kLoop, calls=f\n}}\n"
    )
}

/// A module with an instruction that nothing uses.
pub const UNUSED: &str = "\
HloModule m, is_scheduled=true

ENTRY %e {
  %p = f32[8]{0} parameter(0)
  %a = f32[8]{0} negate(%p)
  ROOT %r = f32[8]{0} abs(%p)
}
";

/// A module of about `bytes` bytes: computations of 60 instructions, and three quarters of the text in ENTRY,
/// as in dumps of real training steps.
pub fn large_module(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 4096);
    text.push_str("HloModule large\n\n");
    let mut computation = 0;
    while text.len() < bytes / 4 {
        let _ = writeln!(text, "%computation.{computation} (p.{computation}: f32[8,128]) -> f32[8,128] {{");
        chain(&mut text, computation, 60);
        computation += 1;
    }
    let line = text.len() / (computation * 63 + 1);
    let rest = (bytes - text.len()) / line;
    let _ = writeln!(text, "ENTRY %main (p.{computation}: f32[8,128]) -> f32[8,128] {{");
    chain(&mut text, computation, rest);
    text
}

fn chain(text: &mut String, computation: usize, length: usize) {
    let _ = writeln!(text, "  %p.{computation} = f32[8,128]{{1,0}} parameter(0)");
    let mut previous = format!("p.{computation}");
    for n in 0..length {
        let name = format!("add.{computation}.{n}");
        let root = if n + 1 == length { "ROOT " } else { "" };
        let _ = writeln!(
            text,
            "  {root}%{name} = f32[8,128]{{1,0}} add(%{previous}, %p.{computation}), metadata={{op_name=\"jit(step)/layer_{n}/add\"}}"
        );
        previous = name;
    }
    text.push_str("}\n\n");
}

/// The training step of a 160-layer model, 18 MB, from the corpus beside the checkout, or else a generated
/// module of the same size. The second value says which it is.
pub fn training_step() -> (String, &'static str) {
    let path = test_files::needs::find_shared("corpus/scale/gpt_train_160.hlo.gz");
    match path.and_then(|path| test_files::gzip_text(&path)) {
        Some(text) => (text, "gpt_train_160"),
        None => (large_module(18 << 20), "a generated module, for want of the corpus"),
    }
}
