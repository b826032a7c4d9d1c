//! The tiles of a block-level fusion: the output tile of one block of a Triton kernel, and the operand tiles
//! it reads.

use db::KernelId;
use gpu::{FusionAnalysis, tiled_efficiency};
use indexing::{Rules, SymbolicTile};
use indexing_map::PrintStyle;
use ir::{ElementTypeExt, Shape};

use crate::file_context::FileContext;
use crate::rich_text::{Inline, Line, RichText, code, parts, strong};

/// The number of operands shown.
const LIMIT: usize = 16;

/// Empty for a fusion without tiling.
pub(crate) fn block_level_tiles<'a>(
    context: &FileContext<'a>,
    id: KernelId<'a>,
    analysis: &FusionAnalysis,
) -> RichText {
    tiles(context, id, analysis).unwrap_or_default()
}

fn tiles<'a>(context: &FileContext<'a>, id: KernelId<'a>, analysis: &FusionAnalysis) -> Option<RichText> {
    let level = analysis.fused.block_level.as_ref()?;
    let source = context.fusion_source(id)?;
    let (_, graph) = source.computation()?;
    let callees = |name: &str| source.callee(name);
    let operands = source.op.operand_shapes.len();
    let mut text = RichText::default();
    text.line(parts![strong("tiles"), format!(" · {} warps a block", level.warps)]);
    'outputs: for (output, sizes) in level.output_tiles.iter().enumerate() {
        text.item(parts![format!("output {output}: "), list(sizes)]);
        let accesses = indexing::fusion(graph, output, operands, Rules::Xla, &callees).operands;
        for (number, access) in
            accesses.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |a| (n, a)))
        {
            if number >= LIMIT {
                text.item(format!("and {} operands more", operands - LIMIT));
                break 'outputs;
            }
            let name = graph.parameter(number as u32).map(|op| graph.names[op as usize].as_str());
            let name = code(format!("%{}", name.unwrap_or("?")));
            let told = match SymbolicTile::from_map(&access.map) {
                Some(tile) => told(&tile, sizes, source.op.operand_shapes.get(number), analysis),
                None => "is read in no tile that XLA's rules describe".into(),
            };
            text.inner_item(parts![name, " ", told]);
        }
    }
    text.space();
    Some(text)
}

/// Sizes and strides at the sizes of the output's tile, the symbolic tile, and the share of the transferred
/// bytes that is used.
fn told(tile: &SymbolicTile, sizes: &[i64], shape: Option<&Shape>, analysis: &FusionAnalysis) -> Line {
    let Some(values) = tile.at(sizes) else { return "is tiled by another number of sizes".into() };
    let all = |values: &[Option<i64>]| -> Option<Vec<i64>> { values.iter().copied().collect() };
    let (Some(own), Some(strides)) = (all(&values.sizes), all(&values.strides)) else {
        return "has a tile beyond 64 bits".into();
    };
    let mut facts = vec![parts![list(&own), " by strides ", list(&strides)]];
    if let Some(array) = shape.and_then(Shape::as_array) {
        let bytes = array.element.bits().map_or(1, |bits| i64::from(bits.div_ceil(8)));
        let transaction = analysis.device.dram_transaction_bytes();
        let used = tiled_efficiency(&array.dims, &array.minor_to_major(), &own, &strides, bytes, transaction);
        facts.push(format!("{:.0} % of the bytes moved are used", used * 100.0).into());
    }
    if !values.is_tile {
        facts.push("no tile: its constraint does not hold at these sizes".into());
    }
    let style = PrintStyle::Floordiv;
    let [offsets, sizes, strides] =
        [tile.offset_text(style), tile.size_text(style), tile.stride_text(style)].map(code);
    facts.push(parts!["offsets ", offsets, ", sizes ", sizes, ", strides ", strides]);
    Line::facts(facts)
}

fn list(numbers: &[i64]) -> Inline {
    let text: Vec<String> = numbers.iter().map(i64::to_string).collect();
    code(format!("[{}]", text.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::fixture;

    #[test]
    fn a_softmax_reads_rows() {
        let module = r#"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%softmax {
  p = f32[512,1024] parameter(0)
  z = f32[] constant(0)
  r = f32[512] reduce(p, z), dimensions={1}, to_apply=add
  b = f32[512,1024] broadcast(r), dimensions={0}
  ROOT d = f32[512,1024] divide(p, b)
}

ENTRY %e {
  p = f32[512,1024] parameter(0)
  ROOT $0f = f32[512,1024] fusion(p), kind=kCustom, calls=%softmax, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","1024"]}]}}}
}
"#;
        let (analysis, file, offset) = fixture::open(module);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        assert!(hover.contains("**tiles** · 4 warps a block"), "{hover}");
        assert!(hover.contains("- output 0: `[1, 1024]`"), "{hover}");
        let rows = "`%p` `[1, 1024]` by strides `[1, 1]` · 100 % of the bytes moved are used";
        assert!(hover.contains(rows), "{hover}");
    }
}
