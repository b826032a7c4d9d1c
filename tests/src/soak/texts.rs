//! The base texts of random clients, and the words that they insert.

use std::sync::OnceLock;

use random::Rng;
use test_files::gzip_text;
use test_files::needs::find_shared;

use crate::corpus;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Hlo,
    Mlir,
}

impl Language {
    pub const BOTH: [Language; 2] = [Language::Hlo, Language::Mlir];

    pub fn id(self) -> &'static str {
        match self {
            Language::Hlo => "hlo",
            Language::Mlir => "mlir",
        }
    }
}

/// The longest text used: a small one is edited more often in the same time.
const MAX_BYTES: usize = 12_000;

/// The texts of a language: this project's, and those of XLA's tests if available beside the checkout.
pub fn texts(language: Language) -> &'static [String] {
    static HLO: OnceLock<Vec<String>> = OnceLock::new();
    static MLIR: OnceLock<Vec<String>> = OnceLock::new();
    match language {
        Language::Hlo => HLO.get_or_init(|| collect(language)),
        Language::Mlir => MLIR.get_or_init(|| collect(language)),
    }
}

/// Indexing maps, for requests about maps alone.
pub const MAPS: &[&str] = &[
    "(d0, d1)[s0] -> (d0 * 8 + s0, d1 mod 4), domain: d0 in [0, 7], d1 in [0, 99], s0 in [0, 7]",
    "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 127]",
    "(d0)[s0, s1]{rt0} -> (d0 + rt0, s0 * 2, s1), domain: d0 in [0, 9], s0 in [0, 1], s1 in [0, 1], rt0 in [0, 5], d0 + s0 in [1, 8]",
    "(d0) -> (), domain: d0 in [3, 2]",
    "() -> (0)",
    "KNOWN EMPTY",
];

/// Expressions, for requests about expressions alone.
pub const EXPRESSIONS: &[&str] = &[
    "d0 * 8 + s0",
    "(d0 floordiv 3) mod 5",
    "-(d0 - 1)",
    "(d0 * 9223372036854775807) mod 2",
    "((d0 * 4 + d1) floordiv 4 * 4 + d1) mod 128",
];

fn collect(language: Language) -> Vec<String> {
    let mut texts: Vec<String> = match language {
        Language::Hlo => corpus::own().into_iter().map(|module| module.text).collect(),
        Language::Mlir => vec![include_str!("../../editors/fixtures/tiled_slice.mlir").to_owned()],
    };
    let own = match language {
        Language::Hlo => OWN_HLO,
        Language::Mlir => OWN_MLIR,
    };
    texts.extend(own.iter().map(|text| (*text).to_owned()));
    if let Some(data) = find_shared("conformance/data") {
        let (files, key) = match language {
            Language::Hlo => (
                &["elemental_hlo_to_mlir.jsonl", "hlo_parser.jsonl", "emitters.jsonl.gz"][..],
                ["hlo", "text"],
            ),
            Language::Mlir => (&["mlir_tests.jsonl"][..], ["mlir", "text"]),
        };
        for file in files {
            let path = data.join(file);
            let text =
                if file.ends_with(".gz") { gzip_text(&path) } else { std::fs::read_to_string(&path).ok() };
            let Some(text) = text else { continue };
            for line in text.lines() {
                let Ok(row) = serde_json::from_str::<serde_json::Value>(line) else { continue };
                texts.extend(key.iter().filter_map(|&key| row[key].as_str()).map(str::to_owned));
            }
        }
    }
    texts.retain(|text| text.len() <= MAX_BYTES);
    texts.sort();
    texts.dedup();
    texts
}

/// A base text: one of the corpus, two concatenated, or an empty one.
pub fn base(random: &mut Rng, language: Language) -> String {
    let all = texts(language);
    match random.index(20) {
        0 => String::new(),
        1..4 => format!("{}\n{}", random.pick(all), random.pick(all)),
        4 => format!("{}\n// -----\n{}", random.pick(all), random.pick(all)),
        _ => random.pick(all).clone(),
    }
}

/// Keywords that change the meaning of a text.
pub fn words(language: Language) -> &'static [&'static str] {
    match language {
        Language::Hlo => HLO_WORDS,
        Language::Mlir => MLIR_WORDS,
    }
}

pub const ANY_WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    ",",
    ":",
    "=",
    "->",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "/",
    "//",
    "/*",
    "*/",
    "// -----\n",
    "é",
    "😀",
    "\u{2028}",
    "\0",
    "\\",
    "%",
    "#",
    "@",
    "!",
    "^",
    "0",
    "-1",
    "9223372036854775807",
    "x",
    "}\n",
    "{\n",
    "\n\n",
];

const HLO_WORDS: &[&str] = &[
    "HloModule m\n",
    "ENTRY ",
    "ENTRY %e {\n",
    "ROOT ",
    "%fused {\n",
    "f32[4]{0}",
    "f32[]",
    "bf16[8,128]{1,0}",
    "(f32[4], s32[])",
    "parameter(0)",
    "parameter(1)",
    "negate(%p)",
    "add(%a, %b)",
    "constant({1, 2})",
    "tuple(",
    "get-tuple-element(%t), index=0",
    "fusion(%p), kind=kLoop, calls=%fused",
    "kind=kInput",
    "to_apply=%add",
    "calls=",
    "condition=",
    "body=",
    "dimensions={0}",
    "dimensions={1,0}",
    "slice={[0:4:2]}",
    "metadata={op_name=\"a\" source_file=\"b.py\" source_line=3}",
    "backend_config={\"k\":1}",
    "sharding={devices=[2,1]<=[2]}",
    "sharding={replicated}",
    "copy(",
    "transpose(",
    "reduce(",
    "dot(",
    "while(",
    "conditional(",
    "call(",
    "custom-call(",
    "async-start(",
    "reduce-window(",
    "window={size=3x3 pad=1_1x1_1}",
    "dynamic-slice(",
    "gather(",
    "scatter(",
    "sort(",
    "bitcast(",
    "  %new.1 = f32[8,128]{1,0} negate(%x)\n",
    "%f.1",
    "%p.0",
    "pred[]",
    "is_scheduled=true",
    "literal=",
    "#0",
    "{1,0:T(8,128)}",
    "control-predecessors={%a}",
];

const MLIR_WORDS: &[&str] = &[
    "module {\n",
    "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n",
    "func.func private @g()",
    "return",
    "%0",
    "%c",
    "%0:2",
    "%0#1",
    "tensor<4xf32>",
    "tensor<?xf32>",
    "memref<4x?xf32, strided<[?, 1], offset: ?>>",
    "vector<8xf32>",
    "index",
    "f32",
    "stablehlo.constant dense<1.0> : tensor<4xf32>",
    "stablehlo.constant %c : tensor<f32>",
    "stablehlo.add %a, %a : tensor<4xf32>",
    "\"stablehlo.reduce\"(%a, %c) ({\n",
    "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n",
    "stablehlo.return %x : tensor<f32>\n",
    "})",
    "stablehlo.while(%i = %a) : tensor<4xf32>",
    "stablehlo.iota dim = 0",
    "arith.constant 1 : index",
    "arith.addi %i, %j : index",
    "affine.for %i = 0 to 4 {\n",
    "affine.load %m[%i] : memref<4xf32>",
    "affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>",
    "#map = ",
    "#map",
    "!t = ",
    "!t",
    "linalg.generic {",
    "indexing_maps = [#map]",
    "iterator_types = [\"parallel\"]",
    "tensor.extract_slice %a[0] [4] [1]",
    "scf.for %i = %c0 to %c4 step %c1 {\n",
    "scf.if %p {\n",
    "call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n",
    "loc(\"a\"(\"b.py\":3:1))",
    "#loc1 = loc(",
    "#loc1",
    "attributes {a = 1}",
    "<{a = 1 : i64}>",
    "dense<[1, 2]>",
    "  %1 = stablehlo.negate %0 : tensor<4xf32>\n",
    "#xla.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 3]\">",
    "gpu.launch",
    "{-#",
    "#-}",
];

const OWN_HLO: &[&str] = &[
    "\
HloModule t

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

fused {
  p = f32[64,96]{1,0} parameter(0)
  z = f32[] constant(0)
  t = f32[96,64]{1,0} transpose(p), dimensions={1,0}
  ROOT r = f32[96]{0} reduce(t, z), dimensions={1}, to_apply=add
}

ENTRY e {
  x = f32[64,96]{1,0} parameter(0)
  ROOT f = f32[96]{0} fusion(x), kind=kInput, calls=fused
}
",
    "\
HloModule w

cond {
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}

body {
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  o = s32[] constant(1)
  j = s32[] add(i, o)
  v = f32[8] get-tuple-element(t), index=1
  m = f32[8] multiply(v, v)
  ROOT r = (s32[], f32[8]) tuple(j, m)
}

ENTRY e {
  i = s32[] constant(0)
  v = f32[8] parameter(0)
  t = (s32[], f32[8]) tuple(i, v)
  ROOT w = (s32[], f32[8]) while(t), condition=cond, body=body
}
",
    "\
HloModule d

ENTRY e {
  a = f32[8,16]{1,0} parameter(0)
  b = f32[16,4]{1,0} parameter(1)
  d = f32[8,4]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[2,4]{1,0} slice(d), slice={[0:8:4], [0:4]}
  c = f32[4,4]{1,0} concatenate(s, s), dimensions={0}
  i = s32[] constant(1)
  u = f32[4,4]{1,0} dynamic-update-slice(c, s, i, i)
  ROOT p = f32[6,4]{1,0} pad(u, f32[] constant(0)), padding=1_1x0_0
}
",
];

const OWN_MLIR: &[&str] = &[
    "\
module @m {
  func.func public @main(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = call @g(%1) : (tensor<4xf32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.exponential %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
",
    r#"#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
func.func @t(%a: tensor<8x16xf32>, %o: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x16xf32>) outs(%o : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %in : f32
    linalg.yield %1 : f32
  } -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
"#,
    "\
func.func @l(%m: memref<64x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    affine.for %j = 0 to 4 {
      %v = affine.load %m[%j * 16, %j] : memref<64x4xf32>
      memref.store %v, %m[%i, %c1] : memref<64x4xf32>
    }
  }
  return
}
",
];
