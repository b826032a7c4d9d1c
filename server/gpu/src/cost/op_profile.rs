//! Arithmetic of one element of an op, as XLA counts it.

use ElementType::*;
use Opcode::*;
use ir::{ElementType, Op, Opcode};

use crate::device::{Device, Platform};

/// The cost of ops that are in no table. Source: `kDefaultFlopsPerElement`,
/// `service/gpu/model/gpu_hlo_cost_analysis.cc`.
const DEFAULT: f64 = 3.0;

/// Twice the clock cycles that a fused multiply-add unit of the device needs for one element of the op's
/// result: the unit in which XLA counts arithmetic. The figures are XLA's measurements for six generations of
/// NVIDIA devices; other devices use those for compute capability 8.6. Ops without a measurement there count
/// 3.
/// Source: `service/gpu/model/hlo_op_profiles.cc`.
pub fn flops_per_element(op: &Op, device: &Device) -> f64 {
    let element = match op.shape.tuple_elements() {
        Some(all) => all.first().and_then(|first| first.element()),
        None => op.shape.element(),
    };
    let Some(element) = element else { return DEFAULT };
    let row = TABLE.iter().find(|(opcode, of, _)| *opcode == op.opcode && *of == element);
    row.map_or(DEFAULT, |(.., figures)| f64::from(figures[column(device)]))
}

fn column(device: &Device) -> usize {
    match device.platform {
        Platform::Cuda { major: 6, minor: 0, .. } => 0,
        Platform::Cuda { major: 7, minor: 0, .. } => 1,
        Platform::Cuda { major: 8, minor: 0, .. } => 2,
        Platform::Cuda { major: 9, minor: 0, .. } => 4,
        Platform::Cuda { major: 10, minor: 0, .. } => 5,
        _ => 3,
    }
}

/// Cost by result type, for compute capability 6.0, 7.0, 8.0, 8.6, 9.0, 10.0. Rows that would be all
/// [`DEFAULT`] are omitted.
#[rustfmt::skip]
const TABLE: &[(Opcode, ElementType, [u16; 6])] = &[
    (Add, S8, [2, 3, 3, 3, 3, 3]),
    (Add, U8, [2, 3, 3, 3, 3, 3]),
    (Add, S16, [2, 3, 3, 3, 3, 3]),
    (Add, U16, [2, 3, 3, 3, 3, 3]),
    (Add, F16, [11, 9, 3, 3, 7, 7]),
    (Add, S32, [2, 3, 3, 3, 3, 3]),
    (Add, U32, [2, 3, 3, 3, 3, 3]),
    (Add, F32, [11, 6, 3, 3, 7, 7]),
    (Add, C64, [20, 12, 3, 3, 7, 11]),
    (Add, S64, [2, 3, 3, 3, 3, 3]),
    (Add, U64, [2, 3, 3, 3, 3, 3]),
    (Add, F64, [14, 15, 3, 97, 15, 15]),
    (Add, C128, [20, 15, 3, 97, 15, 15]),
    (Atan2, F16, [675, 449, 3, 482, 451, 400]),
    (Atan2, F32, [663, 406, 3, 486, 431, 373]),
    (Atan2, F64, [1169, 973, 1080, 3747, 930, 829]),
    (Cbrt, F16, [233, 226, 1195, 925, 201, 200]),
    (Cbrt, F32, [213, 189, 3, 867, 178, 180]),
    (Cbrt, F64, [645, 599, 1638, 6339, 586, 569]),
    (Cosine, F16, [532, 425, 3, 691, 997, 1017]),
    (Cosine, F32, [494, 373, 3, 662, 978, 1002]),
    (Cosine, C64, [1128, 780, 3, 3, 2415, 2511]),
    (Cosine, F64, [1427, 624, 3, 1717, 558, 538]),
    (Cosine, C128, [4302, 1808, 2309, 6613, 1750, 1862]),
    (Divide, S8, [426, 336, 417, 370, 356, 373]),
    (Divide, U8, [299, 293, 420, 306, 300, 302]),
    (Divide, S16, [420, 345, 468, 367, 364, 369]),
    (Divide, U16, [307, 293, 391, 302, 304, 302]),
    (Divide, F16, [68, 73, 3, 3, 43, 43]),
    (Divide, S32, [444, 287, 3, 306, 297, 306]),
    (Divide, U32, [189, 113, 3, 115, 122, 125]),
    (Divide, F32, [35, 21, 3, 3, 19, 23]),
    (Divide, C64, [760, 480, 3, 687, 498, 330]),
    (Divide, S64, [1018, 685, 1094, 918, 685, 730]),
    (Divide, U64, [888, 599, 908, 838, 629, 628]),
    (Divide, F64, [565, 501, 831, 2016, 526, 483]),
    (Divide, C128, [3194, 2423, 3037, 7941, 2280, 2338]),
    (Exponential, F16, [142, 128, 3, 108, 102, 106]),
    (Exponential, F32, [109, 79, 3, 86, 79, 82]),
    (Exponential, C64, [1021, 722, 3, 1360, 641, 695]),
    (Exponential, F64, [405, 358, 3, 1652, 376, 314]),
    (Exponential, C128, [3665, 1487, 3, 4028, 1342, 1375]),
    (ExponentialMinusOne, F16, [364, 241, 3, 396, 217, 216]),
    (ExponentialMinusOne, F32, [337, 205, 3, 381, 190, 196]),
    (ExponentialMinusOne, C64, [991, 703, 3, 1400, 2055, 864]),
    (ExponentialMinusOne, F64, [544, 410, 572, 1900, 712, 385]),
    (ExponentialMinusOne, C128, [3656, 1334, 3, 4161, 1275, 1513]),
    (Log, F16, [325, 232, 321, 266, 182, 102]),
    (Log, F32, [284, 180, 259, 244, 166, 165]),
    (Log, C64, [1107, 758, 1037, 950, 756, 703]),
    (Log, F64, [441, 318, 699, 608, 815, 844]),
    (Log, C128, [2057, 1805, 2371, 7599, 2455, 3859]),
    (LogPlusOne, F16, [373, 266, 346, 284, 245, 216]),
    (LogPlusOne, F32, [328, 217, 3, 262, 229, 200]),
    (LogPlusOne, C64, [994, 654, 1029, 842, 633, 664]),
    (LogPlusOne, F64, [784, 633, 1223, 2073, 1259, 793]),
    (LogPlusOne, C128, [1806, 1618, 2405, 6962, 2403, 5985]),
    (Logistic, F16, [3, 3, 3, 226, 3, 220]),
    (Logistic, F32, [3, 3, 3, 176, 3, 176]),
    (Logistic, C64, [3, 3, 3, 3, 3, 2314]),
    (Logistic, F64, [3, 3, 3, 2412, 3, 428]),
    (Logistic, C128, [3, 3, 3, 3, 3, 5973]),
    (Multiply, S8, [5, 9, 3, 3, 7, 7]),
    (Multiply, U8, [5, 9, 3, 3, 7, 7]),
    (Multiply, S16, [5, 9, 3, 3, 7, 7]),
    (Multiply, U16, [5, 9, 3, 3, 7, 7]),
    (Multiply, F16, [11, 9, 3, 3, 7, 7]),
    (Multiply, S32, [14, 3, 3, 3, 3, 3]),
    (Multiply, U32, [14, 3, 3, 3, 3, 3]),
    (Multiply, F32, [11, 6, 3, 3, 3, 7]),
    (Multiply, C64, [65, 42, 3, 3, 79, 31]),
    (Multiply, S64, [82, 12, 3, 3, 11, 11]),
    (Multiply, U64, [79, 12, 3, 3, 11, 11]),
    (Multiply, F64, [14, 15, 3, 97, 15, 15]),
    (Multiply, C128, [65, 45, 3, 270, 39, 39]),
    (Power, S8, [216, 189, 3, 392, 122, 153]),
    (Power, U8, [213, 189, 417, 388, 122, 153]),
    (Power, S16, [216, 183, 3, 396, 122, 145]),
    (Power, U16, [216, 183, 454, 399, 126, 149]),
    (Power, F16, [1012, 709, 3, 975, 526, 451]),
    (Power, S32, [417, 104, 3, 3, 71, 172]),
    (Power, U32, [420, 104, 3, 3, 71, 172]),
    (Power, F32, [988, 673, 1221, 925, 510, 463]),
    (Power, C64, [8335, 8105, 4131, 3351, 5532, 5285]),
    (Power, S64, [1569, 376, 3, 601, 253, 298]),
    (Power, U64, [1548, 376, 744, 604, 253, 298]),
    (Power, F64, [2682, 2099, 1861, 5511, 2205, 1796]),
    (Power, C128, [17893, 9810, 6054, 18205, 8363, 8685]),
    (Rsqrt, F16, [100, 122, 3, 97, 95, 98]),
    (Rsqrt, F32, [71, 76, 3, 75, 75, 74]),
    (Rsqrt, C64, [2158, 3261, 3, 2383, 3148, 2507]),
    (Rsqrt, F64, [355, 263, 329, 698, 277, 231]),
    (Rsqrt, C128, [6135, 7261, 3945, 11318, 5500, 5792]),
    (Sine, F16, [497, 425, 3, 3, 993, 1006]),
    (Sine, F32, [473, 373, 3, 662, 958, 990]),
    (Sine, C64, [1139, 789, 3, 3, 2324, 2440]),
    (Sine, F64, [1640, 618, 597, 1789, 554, 534]),
    (Sine, C128, [4169, 2013, 2284, 5878, 1999, 1878]),
    (Sqrt, F16, [100, 122, 124, 97, 95, 98]),
    (Sqrt, F32, [71, 76, 3, 75, 75, 74]),
    (Sqrt, C64, [2934, 6282, 3, 3193, 4344, 4271]),
    (Sqrt, F64, [417, 324, 397, 986, 332, 294]),
    (Sqrt, C128, [8595, 8237, 5304, 15606, 6636, 6602]),
    (Subtract, F16, [11, 9, 3, 3, 7, 7]),
    (Subtract, F32, [11, 6, 3, 3, 7, 7]),
    (Subtract, C64, [20, 12, 3, 3, 7, 11]),
    (Subtract, F64, [14, 15, 3, 97, 15, 15]),
    (Subtract, C128, [20, 15, 3, 97, 15, 15]),
    (Tanh, F16, [458, 284, 499, 212, 502, 141]),
    (Tanh, F32, [426, 269, 504, 190, 467, 137]),
    (Tanh, C64, [1883, 1924, 3, 3, 2379, 2444]),
    (Tanh, F64, [473, 406, 733, 1609, 431, 459]),
    (Tanh, C128, [5294, 6343, 3618, 9939, 4613, 4519]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Shape;

    #[track_caller]
    fn check(opcode: Opcode, element: ElementType, device: &str, expect: f64) {
        let op = Op { opcode, ..Op::leaf(Shape::array(element, &[8])) };
        assert_eq!(flops_per_element(&op, Device::find(device).unwrap()), expect);
    }

    #[test]
    fn generations_differ() {
        check(Exponential, F32, "h100-sxm", 79.0);
        check(Exponential, F32, "a100-sxm-80", 3.0);
        check(Exponential, F32, "b200", 82.0);
        check(Exponential, F32, "rtx6000pro", 86.0);
        check(Exponential, F32, "mi350", 86.0);
        check(Exponential, Bf16, "h100-sxm", 3.0);
        check(Maximum, F32, "h100-sxm", 3.0);
    }
}
