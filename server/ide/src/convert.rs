//! The module in the other language: StableHLO and MHLO as HLO, HLO as StableHLO.

use mlir_hlo::{HloModule, Slice};

use crate::code_actions::convert;
use crate::code_actions::convert::Target;
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::mlir::Mlir;
use crate::{Language, TextRange};

/// The number of missing items listed at the start of the text.
const HEAD_LIMIT: usize = 20;

/// A converted text and the parts of the source that it lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    pub language: Language,
    pub text: String,
    /// The parts of the source that the text lacks, each with its range in the source where known.
    pub incomplete: Vec<NotConverted>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotConverted {
    pub range: Option<TextRange>,
    pub what: String,
}

impl Conversion {
    /// The text, preceded by comments about missing parts if it is incomplete.
    pub fn document(&self) -> String {
        if self.incomplete.is_empty() {
            return self.text.clone();
        }
        let count = self.incomplete.len();
        let mut head = format!(
            "// Incomplete: {count} {} not said.\n",
            if count == 1 { "thing is" } else { "things are" }
        );
        for missing in self.incomplete.iter().take(HEAD_LIMIT) {
            head += &format!("//   {}\n", missing.what.replace('\n', " "));
        }
        if count > HEAD_LIMIT {
            head += &format!("//   and {} more\n", count - HEAD_LIMIT);
        }
        head + "\n" + &self.text
    }
}

/// A text in the other language.
pub(crate) trait Conversions {
    /// The file in the other language.
    fn convert(&self, context: &FileContext<'_>) -> Conversion;

    /// What [`Self::convert`] gives; `None` if there is nothing to convert.
    fn converts_to(&self, _: &FileContext<'_>) -> Option<Target> {
        None
    }
}

impl Conversions for Hlo {
    fn convert(&self, context: &FileContext<'_>) -> Conversion {
        to_stablehlo(context)
    }

    fn converts_to(&self, _: &FileContext<'_>) -> Option<Target> {
        Some(convert::STABLEHLO)
    }
}

impl Conversions for Mlir {
    fn convert(&self, context: &FileContext<'_>) -> Conversion {
        to_hlo(context)
    }

    fn converts_to(&self, context: &FileContext<'_>) -> Option<Target> {
        convert::holds_hlo_ops(context).then_some(convert::HLO)
    }
}

/// An MLIR file as HLO, with what it lacks.
pub(crate) fn to_hlo(context: &FileContext<'_>) -> Conversion {
    let module = hlo_of(context);
    let of = |(piece, missing): &(usize, mlir_hlo::Incomplete)| NotConverted {
        range: Some(context.range(*piece, missing.span)),
        what: missing.what.clone(),
    };
    let incomplete = module.incomplete.iter().map(of).collect();
    Conversion { language: Language::Hlo, text: module.text, incomplete }
}

/// An MLIR file as HLO.
pub(crate) fn hlo_of(context: &FileContext<'_>) -> HloModule {
    let mut parts: Vec<Vec<(usize, Slice<'_>)>> = vec![Vec::new()];
    if (0..context.pieces()).any(|piece| !context.mlir_piece(piece).parts.is_empty()) {
        // Cut functions are parsed as a whole. Offsets are those of the file, where
        // its first piece starts.
        let text = context.view.text.to_string();
        let parse = mlir::parse(&text, mlir::PieceState::default());
        let slices = Slice::parts(&parse, &text).into_iter();
        return mlir_hlo::to_hlo(&slices.map(|slice| vec![(0, slice)]).collect::<Vec<_>>());
    }
    for piece in 0..context.pieces() {
        let read = context.mlir_piece(piece);
        for (nth, slice) in Slice::parts(&read.parse, &read.text).into_iter().enumerate() {
            if nth > 0 {
                parts.push(Vec::new());
            }
            parts.last_mut().expect("there is one").push((piece, slice));
        }
    }
    mlir_hlo::to_hlo(&parts)
}

/// An HLO file as StableHLO.
pub(crate) fn to_stablehlo(context: &FileContext<'_>) -> Conversion {
    let blocks: Vec<&ir::Block> = (0..context.pieces()).map(|piece| &**context.block(piece)).collect();
    let module = mlir_hlo::to_stablehlo(&blocks, context.module());
    let of = |missing: mlir_hlo::MissingInstruction| {
        // Missing parts of a computation or of the header have no instruction.
        let within = Some(missing.computation.as_str()).filter(|name| !name.is_empty());
        let is_named = !missing.instruction.is_empty();
        let at = is_named.then(|| context.find_instruction(within, &missing.instruction)).flatten();
        let name = if missing.instruction.is_empty() { missing.computation } else { missing.instruction };
        NotConverted {
            range: at.map(|at| context.range(at.piece, context.block(at.piece).instruction(at.id).name)),
            // Header items belong to no instruction.
            what: match name.is_empty() {
                true => missing.what,
                false => format!("%{name}: {}", missing.what),
            },
        }
    };
    let incomplete = module.incomplete.into_iter().map(of).collect();
    Conversion { language: Language::Mlir, text: module.text, incomplete }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::{open, open_mlir};

    fn check_mlir(text: &str, expect: Expect) {
        let (analysis, file, _) = open_mlir(text);
        expect.assert_eq(&analysis.convert(file).expect("nobody cancels").document());
    }

    fn check_hlo(text: &str, expect: Expect) {
        let (analysis, file, _) = open(text);
        expect.assert_eq(&analysis.convert(file).expect("nobody cancels").document());
    }

    #[test]
    fn stablehlo_becomes_hlo() {
        check_mlir(
            "module @jit_f {
  func.func public @main(%arg0: tensor<4x8xf32> {jax.buffer_donor = true}) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.exponential %arg0 : tensor<4x8xf32> loc(#loc1)
    %1 = call @g(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func private @g(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = chlo.erf_inv %x : tensor<4x8xf32> -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
#loc1 = loc(\"jit(f)/exp\"(\"a.py\":3:4))
$0",
            expect![[r##"
                // Incomplete: 1 thing is not said.
                //   chlo.erf_inv: HLO has no such instruction: XLA expands it into many

                HloModule jit_f, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[4,8]{1,0})->f32[4]{0}}

                g {
                  x = f32[4,8] parameter(0)
                  ROOT custom-call.0 = f32[4,8] custom-call(x), custom_call_target="chlo.erf_inv" /* not said in HLO: HLO has no such instruction: XLA expands it into many */
                }

                region_1.main {
                  lhs = f32[] parameter(0)
                  rhs = f32[] parameter(1)
                  ROOT add = f32[] add(lhs, rhs)
                }

                ENTRY main {
                  arg0 = f32[4,8] parameter(0)
                  cst = f32[] constant(0)
                  exponential.0 = f32[4,8] exponential(arg0), metadata={op_name="jit(f)/exp" source_file="a.py" source_line=3}
                  call.1 = f32[4,8] call(exponential.0), to_apply=g
                  ROOT reduce.2 = f32[4] reduce(call.1, cst), dimensions={1}, to_apply=region_1.main
                }
            "##]],
        );
    }

    #[test]
    fn hlo_becomes_stablehlo() {
        check_hlo(
            "HloModule m

cond {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(i, n), direction=LT
}

body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4]{0} get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4]{0} multiply(x, x)
  ROOT r = (s32[], f32[4]) tuple(j, y)
}

ENTRY e {
  i = s32[] constant(0)
  x = f32[4]{0} parameter(0)
  t = (s32[], f32[4]) tuple(i, x)
  w = (s32[], f32[4]) while(t), condition=cond, body=body
  $0ROOT y = f32[4]{0} get-tuple-element(w), index=1
}
",
            expect![[r##"
                module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
                  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
                    %i = stablehlo.constant dense<0> : tensor<i32>
                    %w:2 = stablehlo.while(%carried = %i, %carried.1 = %x) : tensor<i32>, tensor<4xf32>
                    cond {
                      %n = stablehlo.constant dense<10> : tensor<i32>
                      %lt = stablehlo.compare LT, %carried, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
                      stablehlo.return %lt : tensor<i1>
                    } do {
                      %one = stablehlo.constant dense<1> : tensor<i32>
                      %j = stablehlo.add %carried, %one : tensor<i32>
                      %y = stablehlo.multiply %carried.1, %carried.1 : tensor<4xf32>
                      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
                    }
                    return %w#1 : tensor<4xf32>
                  }
                }
            "##]],
        );
    }
}
