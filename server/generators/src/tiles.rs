//! Random fusions for Triton, with the tile of a block: ragged ends, reductions, dots in steps, concatenations, slices.
//!
//! Arrays are small. A fusion is HLO text, so that a failing one can be pasted; XLA may refuse to tile it.

mod ops;

use random::Rng;

use crate::value::{Value, count, list};

/// A module whose entry's root is a fusion for Triton.
#[derive(Debug, Clone)]
pub struct TiledFusion {
    /// The state of the generator: `Rng::new(seed)` reproduces the fusion.
    pub seed: u64,
    pub text: String,
}

/// The most elements of an array.
const MAX_ELEMENTS: i64 = 1 << 13;

struct Builder<'r> {
    rng: &'r mut Rng,
    parameters: Vec<Value>,
    lines: Vec<String>,
    /// Values that later ops may use.
    earlier: Vec<Value>,
    /// Whether a dimension of the result must be in one tile with all of its elements.
    whole: bool,
}

/// Returns a random fusion of 1 to 6 ops and those that they need.
pub fn random_tiled_fusion(rng: &mut Rng) -> TiledFusion {
    let seed = rng.state();
    let mut builder =
        Builder { rng, parameters: Vec::new(), lines: Vec::new(), earlier: Vec::new(), whole: false };
    let rank = builder.rng.range(1, 3) as usize;
    let dims = builder.sizes(rank);
    let element = *builder.rng.pick(&["f32", "f32", "f32", "bf16", "f16", "s32"]);
    let mut last = builder.parameter(element, &dims);
    for _ in 0..builder.rng.range(1, 6) {
        if let Some(next) = builder.step(&last) {
            builder.earlier.push(last);
            last = next;
        }
    }
    if builder.lines.is_empty() || last.dims.is_empty() {
        last = builder.unary(&last);
    }
    builder.finish(&last, seed)
}

impl Builder<'_> {
    /// Extents that powers of two mostly do not divide.
    fn sizes(&mut self, rank: usize) -> Vec<i64> {
        let mut sizes = Vec::with_capacity(rank);
        for _ in 0..rank {
            let size = self.extent();
            sizes.push(if count(&sizes) * size > MAX_ELEMENTS { 3 } else { size });
        }
        sizes
    }

    fn extent(&mut self) -> i64 {
        match self.rng.range(0, 7) {
            0 => 1,
            1 => 1 << self.rng.range(1, 6),
            2 => self.rng.range(33, 100),
            _ => self.rng.range(2, 40),
        }
    }

    fn parameter(&mut self, element: &'static str, dims: &[i64]) -> Value {
        let name = format!("p{}", self.parameters.len());
        let value = Value { name, element, dims: dims.to_vec() };
        self.parameters.push(value.clone());
        value
    }

    /// Adds an instruction.
    fn push(&mut self, element: &'static str, dims: &[i64], right: String) -> Value {
        let value = Value { name: format!("v{}", self.lines.len()), element, dims: dims.to_vec() };
        self.lines.push(format!("{} = {} {right}", value.name, value.shape()));
        value
    }

    fn constant(&mut self, element: &'static str, text: &str) -> Value {
        self.push(element, &[], format!("constant({text})"))
    }

    /// A value of this type: an earlier one, a new parameter, or a smaller one that is repeated.
    fn beside(&mut self, element: &'static str, dims: &[i64]) -> Value {
        let fitting: Vec<Value> = self
            .earlier
            .iter()
            .filter(|value| value.element == element && value.dims == dims)
            .cloned()
            .collect();
        match self.rng.range(0, 3) {
            0 if !fitting.is_empty() => self.rng.pick(&fitting).clone(),
            0 | 1 => {
                let kept = self.rng.subset(dims.len());
                let small: Vec<i64> = kept.iter().map(|&dim| dims[dim]).collect();
                let small = self.parameter(element, &small);
                self.broadcast(&small, dims, &kept)
            }
            _ => self.parameter(element, dims),
        }
    }

    fn broadcast(&mut self, value: &Value, dims: &[i64], kept: &[usize]) -> Value {
        let right = format!("broadcast({}), dimensions={{{}}}", value.name, list(kept));
        self.push(value.element, dims, right)
    }

    /// The tile of the result: powers of two, sometimes larger than the result.
    fn tile(&mut self, dims: &[i64]) -> Vec<String> {
        let mut elements = 1i64;
        let mut tile = Vec::with_capacity(dims.len());
        for &size in dims {
            let whole = (size as u64).next_power_of_two() as i64;
            let size = match self.rng.range(0, 5) {
                _ if self.whole && self.rng.flag() => whole,
                0 => whole,
                1 => whole * 2,
                _ => 1 << self.rng.range(0, 5),
            };
            let size = if elements * size > 4 * MAX_ELEMENTS { 1 } else { size };
            elements *= size;
            tile.push(format!("\"{size}\""));
        }
        tile
    }

    fn finish(mut self, root: &Value, seed: u64) -> TiledFusion {
        let tile = self.tile(&root.dims).join(",");
        let mut text = format!("HloModule generated\n\n{}fused {{\n", combiners());
        for (number, parameter) in self.parameters.iter().enumerate() {
            text += &format!("  {} = {} parameter({number})\n", parameter.name, parameter.shape());
        }
        for line in &self.lines {
            let mark = if line.starts_with(&format!("{} ", root.name)) { "ROOT " } else { "" };
            text += &format!("  {mark}{line}\n");
        }
        text += "}\n\nENTRY entry {\n";
        for (number, parameter) in self.parameters.iter().enumerate() {
            text += &format!("  {} = {} parameter({number})\n", parameter.name, parameter.shape());
        }
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        text += &format!(
            "  ROOT tiles = {} fusion({}), kind=kCustom, calls=fused, backend_config={{\"fusion_backend_config\":\
             {{\"kind\":\"__triton\",\"block_level_fusion_config\":{{\"num_warps\":\"4\",\"output_tiles\":[{{\"sizes\":\
             [{tile}]}}]}}}}}}\n}}\n",
            root.shape(),
            names.join(", "),
        );
        TiledFusion { seed, text }
    }
}

/// A computation on two scalars per opcode and type: `add_f32`.
fn combiners() -> String {
    let mut text = String::new();
    for ty in ["f32", "s32"] {
        for opcode in ["add", "maximum"] {
            text += &format!(
                "{opcode}_{ty} {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  \
                 ROOT c = {ty}[] {opcode}(a, b)\n}}\n\n"
            );
        }
    }
    text
}
