//! Windows, the dimensions of convolutions, and sparse operands.

use ir::{AttributeValue, ConvolutionDims, WindowDim};

use super::{Context, Proto};
use crate::messages::{
    BlockScalingConfig, ConvolutionDimensionNumbers, SparsityConfig, TensorBlockScalingConfig,
    TensorSparsityConfig, Window, WindowDimension,
};
use crate::scan::{OtherForm, Scanned, Scanner};

pub(super) fn take_window(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let window = proto.window.take()?;
    let dim = |dim: &WindowDimension| WindowDim {
        size: dim.size,
        stride: dim.stride,
        pad_low: dim.padding_low,
        pad_high: dim.padding_high,
        base_dilation: dim.base_dilation,
        window_dilation: dim.window_dilation,
        is_reversed: dim.window_reversal,
    };
    (!window.dimensions.is_empty())
        .then(|| AttributeValue::Window(window.dimensions.iter().map(dim).collect()))
}

pub(super) fn put_window(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Window(dims) = value else { return Err(String::new()) };
    let dim = |dim: &WindowDim| WindowDimension {
        size: dim.size,
        stride: dim.stride,
        padding_low: dim.pad_low,
        padding_high: dim.pad_high,
        window_dilation: dim.window_dilation,
        base_dilation: dim.base_dilation,
        window_reversal: dim.is_reversed,
    };
    proto.window = Some(Window { dimensions: dims.iter().map(dim).collect() });
    Ok(())
}

/// `b01f_01io->b01f`
pub(super) fn take_labels(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let dims = proto.convolution_dimension_numbers.as_ref()?;
    let input = labels(
        [(dims.input_batch_dimension, 'b'), (dims.input_feature_dimension, 'f')],
        &dims.input_spatial_dimensions,
    )?;
    let kernel = labels(
        [(dims.kernel_input_feature_dimension, 'i'), (dims.kernel_output_feature_dimension, 'o')],
        &dims.kernel_spatial_dimensions,
    )?;
    let output = labels(
        [(dims.output_batch_dimension, 'b'), (dims.output_feature_dimension, 'f')],
        &dims.output_spatial_dimensions,
    )?;
    proto.convolution_dimension_numbers = None;
    Some(AttributeValue::Word(format!("{input}_{kernel}->{output}")))
}

/// `?` for dimensions without a label. `None` where a dimension has two labels, or is out of range.
fn labels(named: [(i64, char); 2], spatial: &[i64]) -> Option<String> {
    if spatial.len() > 10 {
        return None;
    }
    let mut labels = Vec::new();
    let spatial = spatial.iter().zip('0'..).map(|(&dim, label)| (dim, label));
    for (dim, label) in named.into_iter().chain(spatial) {
        let dim = usize::try_from(dim).ok().filter(|&dim| dim < syntax::MAX_DEPTH as usize)?;
        if labels.len() <= dim {
            labels.resize(dim + 1, '?');
        }
        if std::mem::replace(&mut labels[dim], label) != '?' {
            return None;
        }
    }
    Some(labels.into_iter().collect())
}

pub(super) fn put_labels(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let attributes = ir::Attributes::default().with(ir::AttributeKey::DimLabels, value.clone());
    let dims: ConvolutionDims = attributes.convolution_dims().ok_or_else(String::new)?;
    let numbers = |dims: Vec<usize>| dims.into_iter().map(|dim| dim as i64).collect();
    proto.convolution_dimension_numbers = Some(ConvolutionDimensionNumbers {
        input_batch_dimension: dims.input_batch as i64,
        input_feature_dimension: dims.input_feature as i64,
        input_spatial_dimensions: numbers(dims.input_spatial),
        kernel_input_feature_dimension: dims.kernel_input_feature as i64,
        kernel_output_feature_dimension: dims.kernel_output_feature as i64,
        kernel_spatial_dimensions: numbers(dims.kernel_spatial),
        output_batch_dimension: dims.output_batch as i64,
        output_feature_dimension: dims.output_feature as i64,
        output_spatial_dimensions: numbers(dims.output_spatial),
    });
    Ok(())
}

/// `{lhs={sparsity=1x4 dimension=1 stride=1 idx=2} rhs={…}}`. Source: XLA `SparsityConfigToString`.
pub(super) fn take_sparsity(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let config = proto.sparsity_config.take()?;
    let side = |name: &str, side: Option<&TensorSparsityConfig>| {
        side.map(|side| {
            format!(
                "{name}={{sparsity={}x{} dimension={} stride={} idx={}}}",
                side.num_non_zero, side.block_size, side.dimension, side.stride, side.idx
            )
        })
    };
    let sides: Vec<String> =
        [side("lhs", config.lhs.as_ref()), side("rhs", config.rhs.as_ref())].into_iter().flatten().collect();
    (!sides.is_empty()).then(|| AttributeValue::Text(format!("{{{}}}", sides.join(" "))))
}

pub(super) fn put_sparsity(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut config = SparsityConfig::default();
    let mut read = || -> Scanned<()> {
        sides(&mut Scanner::new(text), |side, scanner| {
            let tensor = match side {
                "lhs" => config.lhs.get_or_insert_default(),
                "rhs" => config.rhs.get_or_insert_default(),
                _ => return Err(OtherForm),
            };
            fields(scanner, |field, scanner| {
                match field {
                    "sparsity" => {
                        let &[kept, block] = &numbers(scanner)?[..] else { return Err(OtherForm) };
                        (tensor.num_non_zero, tensor.block_size) = (kept, block);
                    }
                    "dimension" => tensor.dimension = scanner.int()?,
                    "stride" => tensor.stride = scanner.int()?,
                    "idx" => tensor.idx = scanner.small_int()?,
                    _ => return Err(OtherForm),
                }
                Ok(())
            })
        })
    };
    read().map_err(|OtherForm| String::new())?;
    proto.sparsity_config = Some(config);
    Ok(())
}

/// `{lhs={scale_idx=2 zero_idx=3 strides=1x2 steps=4x5} rhs={…}}`: numbers that are 0 and lists that are empty are left out, except
/// for the first.
pub(super) fn take_block_scaling(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let config = proto.block_scaling_config.take()?;
    let side = |name: &str, side: Option<TensorBlockScalingConfig>| {
        let side = side?;
        let mut out = format!("{name}={{scale_idx={}", side.scale_idx);
        if side.zero_idx != 0 {
            out.push_str(&format!(" zero_idx={}", side.zero_idx));
        }
        for (name, list) in [("strides", side.strides), ("steps", side.steps)] {
            if !list.is_empty() {
                let numbers: Vec<String> = list.iter().map(i64::to_string).collect();
                out.push_str(&format!(" {name}={}", numbers.join("x")));
            }
        }
        out.push('}');
        Some(out)
    };
    let sides: Vec<String> =
        [side("lhs", config.lhs), side("rhs", config.rhs)].into_iter().flatten().collect();
    (!sides.is_empty()).then(|| AttributeValue::Text(format!("{{{}}}", sides.join(" "))))
}

pub(super) fn put_block_scaling(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut config = BlockScalingConfig::default();
    let mut read = || -> Scanned<()> {
        let mut scanner = Scanner::new(text);
        sides(&mut scanner, |side, scanner| {
            let tensor = match side {
                "lhs" => config.lhs.get_or_insert_default(),
                "rhs" => config.rhs.get_or_insert_default(),
                _ => return Err(OtherForm),
            };
            fields(scanner, |field, scanner| {
                match field {
                    "scale_idx" => tensor.scale_idx = scanner.small_int()?,
                    "zero_idx" => tensor.zero_idx = scanner.small_int()?,
                    "strides" => tensor.strides = numbers(scanner)?,
                    "steps" => tensor.steps = numbers(scanner)?,
                    _ => return Err(OtherForm),
                }
                Ok(())
            })
        })
    };
    read().map_err(|OtherForm| String::new())?;
    proto.block_scaling_config = Some(config);
    Ok(())
}

/// `1x2`
fn numbers(scanner: &mut Scanner<'_>) -> Scanned<Vec<i64>> {
    scanner.word()?.split('x').map(|number| number.parse().map_err(|_| OtherForm)).collect()
}

/// `{lhs={…} rhs={…}}` and nothing else.
fn sides<'t>(
    scanner: &mut Scanner<'t>,
    side: impl FnMut(&'t str, &mut Scanner<'t>) -> Scanned<()>,
) -> Scanned<()> {
    fields(scanner, side)?;
    scanner.end()
}

/// `{name=… name=…}`
fn fields<'t>(
    scanner: &mut Scanner<'t>,
    mut field: impl FnMut(&'t str, &mut Scanner<'t>) -> Scanned<()>,
) -> Scanned<()> {
    scanner.expect('{')?;
    while !scanner.eat('}') {
        let name = scanner.word()?;
        scanner.expect('=')?;
        field(name, scanner)?;
        scanner.eat(',');
    }
    Ok(())
}
