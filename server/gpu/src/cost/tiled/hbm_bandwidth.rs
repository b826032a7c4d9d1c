//! The bandwidth that a dot reaches, as XLA measured it.
//!
//! Source: `service/gpu/model/gpu_dot_fusion_cost_model.cc` (`GetEffectiveHbmBandwidth`).

use crate::device::{Device, Platform};

/// The smallest number of bytes of the tables; each further entry is for twice as many.
const FIRST_BYTES: f64 = 8192.0;

/// The parts of the full bandwidth that transfers of 8 KiB, 16 KiB, …, 8 GiB reach.
type Parts = [f64; 21];

const AMPERE: Parts = [
    0.00043418, 0.00092645, 0.00184066, 0.00359877, 0.00724035, 0.01447766, 0.02830100, 0.05448203,
    0.10550455, 0.19454216, 0.32555948, 0.48194352, 0.60084187, 0.71295513, 0.79326842, 0.83355906,
    0.89447866, 0.93435348, 0.94308240, 0.94739100, 0.94989600,
];

const HOPPER: Parts = [
    0.00042359, 0.00090385, 0.00179577, 0.00351100, 0.00706376, 0.01412455, 0.02761073, 0.05341375,
    0.10343583, 0.19072761, 0.31917596, 0.47249365, 0.58906066, 0.69897562, 0.78541428, 0.82530600,
    0.88562244, 0.93248850, 0.94120000, 0.94550000, 0.94800000,
];

const BLACKWELL: Parts = [
    0.00041057, 0.00080983, 0.00159736, 0.00315074, 0.00621472, 0.01009557, 0.01892165, 0.03517364,
    0.06441370, 0.11489171, 0.19611710, 0.31310696, 0.45727190, 0.60433204, 0.72808478, 0.81644540,
    0.87240125, 0.90518887, 0.92353306, 0.93353170, 0.93890402,
];

/// Bytes per second between memory and the cores for a transfer of so many bytes.
pub(super) fn effective_bandwidth(bytes: f64, device: &Device) -> f64 {
    let parts = match device.platform {
        Platform::Cuda { major: 10.., .. } => &BLACKWELL,
        Platform::Cuda { major: 9, .. } => &HOPPER,
        _ => &AMPERE,
    };
    // The table is linear between its entries, whose sizes double.
    let at = (bytes / FIRST_BYTES).max(1.0).log2().floor().min((parts.len() - 1) as f64);
    let (entry, size) = (at as usize, FIRST_BYTES * at.exp2());
    let (this, next) = (parts[entry], parts.get(entry + 1).copied().unwrap_or(parts[entry]));
    let part = this + (bytes / size - 1.0).clamp(0.0, 1.0) * (next - this);
    part * device.memory_bandwidth as f64
}

/// Bytes per second of the L2 cache: measured on an H100, and scaled by the bandwidth of the memory.
pub(super) fn l2_bandwidth(device: &Device) -> f64 {
    const OF_L2: f64 = 6.65e12;
    const OF_MEMORY: f64 = 3352.32e9;
    device.memory_bandwidth as f64 / OF_MEMORY * OF_L2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_transfers_reach_more() {
        for name in ["h100-sxm", "a100-sxm-80", "b200", "mi350"] {
            let device = Device::find(name).unwrap();
            let part = |bytes: f64| effective_bandwidth(bytes, device) / device.memory_bandwidth as f64;
            assert_eq!(part(0.0), part(8192.0));
            assert_eq!(part(1e12), part(8.6e9));
            let sizes = (0..120).map(|power| 8000.0 * 1.15f64.powi(power));
            let parts: Vec<f64> = sizes.map(part).collect();
            assert!(parts.is_sorted(), "{name}: {parts:?}");
        }
    }

    #[test]
    fn entries_and_between() {
        let h100 = Device::find("h100-sxm").unwrap();
        let part = |bytes: f64| effective_bandwidth(bytes, h100) / h100.memory_bandwidth as f64;
        assert!((part(8_388_608.0) - 0.31917596).abs() < 1e-9);
        assert!((part(12_582_912.0) - (0.31917596 + 0.47249365) / 2.0).abs() < 1e-9);
    }
}
