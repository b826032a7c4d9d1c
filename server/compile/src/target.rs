//! The device that a compile targets, from `gpu_target_config.pbtxt`.

use gpu::Device;

/// The device that a `GpuTargetConfigProto` in text form describes; `None` for other texts, and for devices that are not in the table.
pub fn target_device(text: &str) -> Option<&'static Device> {
    let description = field(text, "device_description_str")?;
    let cores: i64 = field(text, "core_count")?.parse().ok()?;
    Device::all().iter().find(|device| device.description == description && device.cores == cores)
}

/// The value of a field that occurs once.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "))?;
    Some(value.trim().trim_matches('"'))
}
