//! Named ops of linalg as loops: products, convolutions, poolings.
//!
//! Source: `mlir/include/mlir/Dialect/Linalg/IR/LinalgNamedStructuredOps.yaml`, by the letters in the ops'
//! names: n batch, c input channels, f output channels, g groups, d h w space.

use indexing_map::Expr;

use crate::affine_expr::AffineReader;
use crate::affine_map::AffineMap;
use crate::no_map::NoMap;

/// The loops of an op, and the index into each operand per iteration: inputs, then the output. `S0` and `D0`
/// are strides and dilations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedOp {
    loops: &'static str,
    maps: &'static [&'static str],
    /// The number of scalars after the first two inputs: zero points.
    zero_points: usize,
}

pub(crate) fn named_op(name: &str) -> Option<NamedOp> {
    let (name, zero_points) = match name {
        "quantized_matmul" => ("matmul", 2),
        "quantized_batch_matmul" => ("batch_matmul", 2),
        _ => match name.strip_suffix("_q") {
            Some(name) if name.starts_with("conv") || name.starts_with("depthwise") => (name, 2),
            _ => (name, 0),
        },
    };
    let of = |loops, maps| Some(NamedOp { loops, maps, zero_points });
    match name {
        "matmul" | "matmul_unsigned" => of("m n k", &["m, k", "k, n", "m, n"]),
        "matmul_transpose_a" => of("m n k", &["k, m", "k, n", "m, n"]),
        "matmul_transpose_b" => of("m n k", &["m, k", "n, k", "m, n"]),
        "batch_matmul" => of("b m n k", &["b, m, k", "b, k, n", "b, m, n"]),
        "batch_matmul_transpose_a" => of("b m n k", &["b, k, m", "b, k, n", "b, m, n"]),
        "batch_matmul_transpose_b" => of("b m n k", &["b, m, k", "b, n, k", "b, m, n"]),
        "batch_reduce_matmul" => of("b m n k", &["b, m, k", "b, k, n", "m, n"]),
        "mmt4d" => of("m n k m0 n0 k0", &["m, k, m0, k0", "n, k, n0, k0", "m, n, m0, n0"]),
        "batch_mmt4d" => of("b m n k m0 n0 k0", &["b, m, k, m0, k0", "b, n, k, n0, k0", "b, m, n, m0, n0"]),
        "matvec" => of("m k", &["m, k", "k", "m"]),
        "vecmat" => of("n k", &["k", "k, n", "n"]),
        "batch_matvec" => of("b m k", &["b, m, k", "b, k", "b, m"]),
        "batch_vecmat" => of("b n k", &["b, k", "b, k, n", "b, n"]),
        "dot" => of("k", &["k", "k", ""]),
        "conv_1d" => of("ow kw", &["ow + kw", "kw", "ow"]),
        "conv_2d" => of("oh ow kh kw", &["oh + kh, ow + kw", "kh, kw", "oh, ow"]),
        "conv_3d" => of("od oh ow kd kh kw", &["od + kd, oh + kh, ow + kw", "kd, kh, kw", "od, oh, ow"]),
        "conv_1d_nwc_wcf" => of("n ow f kw c", &["n, ow * S0 + kw * D0, c", "kw, c, f", "n, ow, f"]),
        "conv_1d_ncw_fcw" => of("n f ow c kw", &["n, c, ow * S0 + kw * D0", "f, c, kw", "n, f, ow"]),
        "conv_2d_nhwc_hwcf" => of(
            "n oh ow f kh kw c",
            &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, c", "kh, kw, c, f", "n, oh, ow, f"],
        ),
        "conv_2d_nhwc_fhwc" => of(
            "n oh ow f kh kw c",
            &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, c", "f, kh, kw, c", "n, oh, ow, f"],
        ),
        "conv_2d_nchw_fchw" => of(
            "n f oh ow c kh kw",
            &["n, c, oh * S0 + kh * D0, ow * S1 + kw * D1", "f, c, kh, kw", "n, f, oh, ow"],
        ),
        "conv_2d_ngchw_fgchw" => of(
            "n g f oh ow c kh kw",
            &["n, g, c, oh * S0 + kh * D0, ow * S1 + kw * D1", "f, g, c, kh, kw", "n, g, f, oh, ow"],
        ),
        "conv_2d_ngchw_gfchw" => of(
            "n g f oh ow c kh kw",
            &["n, g, c, oh * S0 + kh * D0, ow * S1 + kw * D1", "g, f, c, kh, kw", "n, g, f, oh, ow"],
        ),
        "conv_2d_nhwgc_gfhwc" => of(
            "n oh ow g f kh kw c",
            &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, g, c", "g, f, kh, kw, c", "n, oh, ow, g, f"],
        ),
        "conv_3d_ndhwc_dhwcf" => of(
            "n od oh ow f kd kh kw c",
            &[
                "n, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2, c",
                "kd, kh, kw, c, f",
                "n, od, oh, ow, f",
            ],
        ),
        "conv_3d_ncdhw_fcdhw" => of(
            "n f od oh ow c kd kh kw",
            &[
                "n, c, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2",
                "f, c, kd, kh, kw",
                "n, f, od, oh, ow",
            ],
        ),
        "depthwise_conv_1d_nwc_wc" => of("n ow c kw", &["n, ow * S0 + kw * D0, c", "kw, c", "n, ow, c"]),
        "depthwise_conv_1d_ncw_cw" => of("n c ow kw", &["n, c, ow * S0 + kw * D0", "c, kw", "n, c, ow"]),
        "depthwise_conv_1d_nwc_wcm" => {
            of("n ow c m kw", &["n, ow * S0 + kw * D0, c", "kw, c, m", "n, ow, c, m"])
        }
        "depthwise_conv_2d_nhwc_hwc" => of(
            "n oh ow c kh kw",
            &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, c", "kh, kw, c", "n, oh, ow, c"],
        ),
        "depthwise_conv_2d_nchw_chw" => of(
            "n c oh ow kh kw",
            &["n, c, oh * S0 + kh * D0, ow * S1 + kw * D1", "c, kh, kw", "n, c, oh, ow"],
        ),
        "depthwise_conv_2d_nhwc_hwcm" => of(
            "n oh ow c m kh kw",
            &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, c", "kh, kw, c, m", "n, oh, ow, c, m"],
        ),
        "depthwise_conv_3d_ndhwc_dhwc" => of(
            "n od oh ow c kd kh kw",
            &[
                "n, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2, c",
                "kd, kh, kw, c",
                "n, od, oh, ow, c",
            ],
        ),
        "depthwise_conv_3d_ncdhw_cdhw" => of(
            "n c od oh ow kd kh kw",
            &[
                "n, c, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2",
                "c, kd, kh, kw",
                "n, c, od, oh, ow",
            ],
        ),
        "depthwise_conv_3d_ndhwc_dhwcm" => of(
            "n od oh ow c m kd kh kw",
            &[
                "n, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2, c",
                "kd, kh, kw, c, m",
                "n, od, oh, ow, c, m",
            ],
        ),
        _ => match name.strip_prefix("pooling_")?.split_once('_')? {
            ("nhwc", "sum" | "max" | "max_unsigned" | "min" | "min_unsigned") => of(
                "n oh ow c kh kw",
                &["n, oh * S0 + kh * D0, ow * S1 + kw * D1, c", "kh, kw", "n, oh, ow, c"],
            ),
            ("nchw", "sum" | "max") => of(
                "n c oh ow kh kw",
                &["n, c, oh * S0 + kh * D0, ow * S1 + kw * D1", "kh, kw", "n, c, oh, ow"],
            ),
            ("nwc", "sum" | "max" | "max_unsigned" | "min" | "min_unsigned") => {
                of("n ow c kw", &["n, ow * S0 + kw * D0, c", "kw", "n, ow, c"])
            }
            ("ncw", "sum" | "max") => of("n c ow kw", &["n, c, ow * S0 + kw * D0", "kw", "n, c, ow"]),
            ("ndhwc", "sum" | "max" | "min") => of(
                "n od oh ow c kd kh kw",
                &[
                    "n, od * S0 + kd * D0, oh * S1 + kh * D1, ow * S2 + kw * D2, c",
                    "kd, kh, kw",
                    "n, od, oh, ow, c",
                ],
            ),
            _ => None,
        },
    }
}

impl NamedOp {
    /// The maps with the given strides and dilations, which default to 1.
    ///
    /// # Errors
    ///
    /// If the op takes another number of inputs or outputs.
    pub fn maps(
        &self,
        strides: &[i64],
        dilations: &[i64],
        ins: usize,
        outs: usize,
    ) -> Result<Vec<AffineMap>, NoMap> {
        let dims: Vec<String> = self.loops.split(' ').map(str::to_owned).collect();
        let (inputs, output) = (self.maps.len() - 1, self.maps.len() - 1);
        if ins != inputs + self.zero_points || outs != 1 {
            return Err(NoMap::Inputs(inputs + self.zero_points));
        }
        let read = |text: &str| -> Result<AffineMap, NoMap> {
            let mut reader = AffineReader::new(text);
            let mut results = Vec::new();
            let number = |list: &[i64], at: &str| {
                Some(Expr::Const(list.get(at.parse::<usize>().ok()?).copied().unwrap_or(1)))
            };
            while reader.end().is_err() {
                if !results.is_empty() {
                    reader.expect(",")?;
                }
                results.push(reader.sum(&mut |name| {
                    if let Some(at) = name.strip_prefix('S') {
                        return number(strides, at);
                    }
                    if let Some(at) = name.strip_prefix('D') {
                        return number(dilations, at);
                    }
                    dims.iter().position(|d| d == name).map(Expr::var)
                })?);
            }
            Ok(AffineMap { dims: dims.clone(), symbols: Vec::new(), results })
        };
        let mut maps = self.maps[..inputs].iter().map(|m| read(m)).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..self.zero_points {
            maps.push(read("")?);
        }
        maps.push(read(self.maps[output])?);
        Ok(maps)
    }
}
