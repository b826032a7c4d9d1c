//! The devices that a module runs on, and what of a parameter each of them has.

use ir::Shape;

use crate::memory::Memory;
use crate::sizes::bytes;
use crate::usage::Category;

/// How a module is spread over devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices {
    /// Devices that each have a part of the module.
    pub partitions: u64,
    /// Times that these run the module.
    pub replicas: u64,
    /// Whether the shapes are those of one device: shardings were applied.
    pub is_partitioned: bool,
    /// By number, the parameters of the entry.
    pub parameters: Vec<ShardedParameter>,
    /// Shardings that no device can have, in words.
    pub problems: Vec<String>,
}

impl Default for Devices {
    fn default() -> Devices {
        let (partitions, replicas) = (1, 1);
        Devices { partitions, replicas, is_partitioned: true, parameters: Vec::new(), problems: Vec::new() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardedParameter {
    /// Whether each device is stated to have all of it.
    pub is_replicated: bool,
    /// Bytes of all of it, and of what a device has, where the module is not partitioned.
    pub bytes: u64,
    pub bytes_per_device: u64,
}

/// What a device of a module that is not partitioned needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerDevice {
    /// Bytes of the parameters on one device.
    pub parameters: u64,
    /// Bounds of the bytes in use at the peak: all but the parameters is cut over all devices, or not at all.
    pub in_use: [u64; 2],
}

impl ShardedParameter {
    /// Of a parameter with a sharding; what is wrong with it, in words.
    pub fn new(shape: &Shape, sharding: Option<&str>, partitions: u64) -> Result<ShardedParameter, String> {
        let whole = bytes(shape).unwrap_or(0);
        let parameter = ShardedParameter { is_replicated: false, bytes: whole, bytes_per_device: whole };
        let Some((parts, devices)) = sharding.and_then(ir::sharding_parts) else { return Ok(parameter) };
        if parts.is_empty() {
            return Ok(ShardedParameter { is_replicated: true, ..parameter });
        }
        let Some(array) = shape.as_array().filter(|array| array.rank() == parts.len()) else {
            return Err(format!("its sharding cuts {} dimensions of {shape}", parts.len()));
        };
        if u64::try_from(devices) != Ok(partitions) {
            return Err(format!(
                "its sharding is over {devices} devices, and the module has {partitions} partitions"
            ));
        }
        let mut cut = ir::ArrayShape::clone(array);
        for (size, part) in cut.dims.iter_mut().zip(&parts) {
            *size = size.max(&mut 0).div_euclid(*part) + i64::from(*size % part != 0);
        }
        let bytes_per_device = bytes(&Shape::Array(cut.into())).unwrap_or(whole);
        Ok(ShardedParameter {
            is_replicated: parts.iter().all(|&part| part == 1),
            bytes_per_device,
            ..parameter
        })
    }
}

impl Devices {
    /// What one device needs. `None` where the plan is that of one device.
    pub fn per_device(&self, memory: &Memory) -> Option<PerDevice> {
        if self.is_partitioned || self.partitions < 2 {
            return None;
        }
        let sum =
            |of: fn(&ShardedParameter) -> u64| self.parameters.iter().map(of).fold(0, u64::saturating_add);
        let parameters = sum(|parameter| parameter.bytes_per_device);
        let whole = memory.usage.at_peak()[Category::Parameter as usize];
        let rest = memory.in_use_at_peak().saturating_sub(whole);
        let in_use = [rest.div_ceil(self.partitions), rest].map(|rest| parameters.saturating_add(rest));
        Some(PerDevice { parameters, in_use })
    }
}
