//! Devices as XLA describes them: `GpuTargetConfigProto` in text form, which XLA dumps as `gpu_target_config.pbtxt`.

use std::sync::{Mutex, PoisonError};

use crate::device::{Device, Platform};

/// Devices that differ from all in the table and are kept; further ones are as unknown. They are never freed, since results refer
/// to devices for as long as the process lives.
const MAX_DEVICES: usize = 64;

/// Below this depth nothing describes the device.
const MAX_DEPTH: usize = 8;

impl Device {
    /// The device that a text describes: that of the table if it has the same figures, otherwise one with the figures of the text and,
    /// where it lacks some, those of the most similar device of the table. `None` for other texts.
    pub fn described(text: &str) -> Option<&'static Device> {
        let fields = Fields::read(text);
        let description = fields.text("device_description_str")?;
        let cores = fields.int("gpu_device_info.core_count")?;
        let platform = platform(&fields);
        let distance = |device: &&Device| {
            let unlike = [
                std::mem::discriminant(&device.platform) != std::mem::discriminant(&platform),
                device.platform != platform,
                device.description != description,
            ];
            (unlike, (device.cores - cores).abs())
        };
        let like = Device::all().iter().min_by_key(distance)?;
        let mut device = Device { description: like.description, ..fields.applied(like, platform)? };
        if device == *like && like.description == description {
            return Some(like);
        }
        device.name = like.name;
        interned(device, description)
    }
}

impl Device {
    /// The text that describes the device to XLA, without fields that XLA lacked until recently. `None` for GPUs other than NVIDIA's.
    pub fn target_config(&self) -> Option<String> {
        let Platform::Cuda { major, minor, accelerated } = self.platform else { return None };
        let mut fields = vec![
            ("threads_per_block_limit", self.threads_per_block_limit),
            ("threads_per_warp", self.threads_per_warp),
            ("shared_memory_per_block", self.shared_memory_per_block),
            ("shared_memory_per_core", self.shared_memory_per_core),
            ("threads_per_core_limit", self.threads_per_core_limit),
            ("core_count", self.cores),
            ("fpus_per_core", self.fpus_per_core),
            ("block_dim_limit_x", self.block_dim_limit[0]),
            ("block_dim_limit_y", self.block_dim_limit[1]),
            ("block_dim_limit_z", self.block_dim_limit[2]),
            ("memory_bandwidth", self.memory_bandwidth),
            ("l2_cache_size", self.l2_cache_size),
            ("device_memory_size", self.memory_size),
            ("shared_memory_per_block_optin", self.shared_memory_per_block_optin),
        ];
        fields.extend(self.registers_per_core.map(|count| ("registers_per_core_limit", count)));
        fields.extend(self.registers_per_block.map(|count| ("registers_per_block_limit", count)));
        fields.extend(self.pcie_bandwidth.map(|bytes| ("pcie_bandwidth", bytes)));
        if let Some([x, y, z]) = self.thread_dim_limit {
            fields.extend([("thread_dim_limit_x", x), ("thread_dim_limit_y", y), ("thread_dim_limit_z", z)]);
        }
        let fields: String = fields.iter().map(|(name, value)| format!("  {name}: {value}\n")).collect();
        let (toolkit_major, toolkit_minor) = self.toolkit.unwrap_or((12, 8));
        let toolkit = format!("{toolkit_major}.{toolkit_minor}.0");
        let features = if accelerated { "\n    feature_extension: ACCELERATED_FEATURES" } else { "" };
        Some(format!(
            "gpu_device_info {{
{fields}  clock_rate_ghz: {}
  ecc_enabled: {}
  name: {:?}
  device_vendor: \"NVIDIA Corporation\"
  runtime_version: {toolkit:?}
  compile_time_toolkit_version: {toolkit:?}
  cuda_compute_capability {{
    major: {major}
    minor: {minor}{features}
  }}
}}
platform_name: \"CUDA\"
device_description_str: {:?}
",
            self.clock_ghz, self.has_ecc, self.description, self.description
        ))
    }
}

/// Returns the same reference for the same device.
fn interned(device: Device, description: &str) -> Option<&'static Device> {
    static KNOWN: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |other: &Device| {
        other.description == description
            && Device { name: device.name, description: device.description, ..*other } == device
    };
    if let Some(found) = known.iter().find(|other| is_same(other)) {
        return Some(found);
    }
    if known.len() >= MAX_DEVICES || description.len() > 256 {
        return None;
    }
    let description: &'static str = String::leak(description.to_owned());
    let device: &'static Device = Box::leak(Box::new(Device { name: description, description, ..device }));
    known.push(device);
    Some(device)
}

fn platform(fields: &Fields<'_>) -> Platform {
    let arch = |path: &str| fields.text(path);
    let known = |arch: &str| {
        let found = Device::all().iter().find(|device| match device.platform {
            Platform::Rocm { arch: known } | Platform::Sycl { arch: known } => known == arch,
            Platform::Cuda { .. } => false,
        });
        found.map(|device| device.platform)
    };
    let named = arch("gpu_device_info.rocm_compute_capability.gcn_arch_name")
        .or_else(|| arch("gpu_device_info.oneapi_compute_capability.architecture"));
    if let Some(platform) = named.and_then(known) {
        return platform;
    }
    let number = |name: &str| {
        let value = fields.int(&format!("gpu_device_info.cuda_compute_capability.{name}"));
        value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    };
    let extension = fields.text("gpu_device_info.cuda_compute_capability.feature_extension");
    Platform::Cuda {
        major: number("major"),
        minor: number("minor"),
        accelerated: extension == Some("ACCELERATED_FEATURES"),
    }
}

/// The scalar fields of a text, by path: `gpu_device_info.core_count`. Of repeated fields the first counts.
struct Fields<'t> {
    fields: Vec<(String, &'t str)>,
}

impl<'t> Fields<'t> {
    fn read(text: &'t str) -> Fields<'t> {
        let mut fields = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        let mut too_deep = 0usize;
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix('{') {
                match open.len() < MAX_DEPTH {
                    true => open.push(name.trim_end_matches([' ', ':'])),
                    false => too_deep += 1,
                }
            } else if line == "}" {
                match too_deep {
                    0 => _ = open.pop(),
                    _ => too_deep -= 1,
                }
            } else if let Some((name, value)) = line.split_once(':')
                && open.len() < 3
            {
                let path = open.iter().copied().chain([name.trim()]).collect::<Vec<_>>().join(".");
                fields.push((path, value.trim().trim_matches('"')));
            }
        }
        Fields { fields }
    }

    fn text(&self, path: &str) -> Option<&'t str> {
        self.fields.iter().find(|(known, _)| known == path).map(|(_, value)| *value)
    }

    /// A number; -1 means unknown.
    fn int(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok().filter(|value| *value >= 0)
    }

    /// `like` with the figures of the text; `None` if one of them cannot be.
    fn applied(&self, like: &Device, platform: Platform) -> Option<Device> {
        let of = |name: &str| self.int(&format!("gpu_device_info.{name}"));
        let int = |name: &str, otherwise: i64| of(name).unwrap_or(otherwise);
        let ghz = |name: &str| {
            let value = self.text(&format!("gpu_device_info.{name}"))?.parse::<f64>().ok()?;
            (value.is_finite() && value > 0.0).then_some(value)
        };
        let three = |name: &str| {
            Some([of(&format!("{name}_x"))?, of(&format!("{name}_y"))?, of(&format!("{name}_z"))?])
        };
        let device = Device {
            platform,
            threads_per_warp: int("threads_per_warp", like.threads_per_warp),
            threads_per_block_limit: int("threads_per_block_limit", like.threads_per_block_limit),
            threads_per_core_limit: int("threads_per_core_limit", like.threads_per_core_limit),
            cores: int("core_count", like.cores),
            fpus_per_core: int("fpus_per_core", like.fpus_per_core),
            clock_ghz: ghz("clock_rate_ghz").unwrap_or(like.clock_ghz),
            block_dim_limit: three("block_dim_limit").unwrap_or(like.block_dim_limit),
            thread_dim_limit: three("thread_dim_limit").or(like.thread_dim_limit),
            shared_memory_per_block: int("shared_memory_per_block", like.shared_memory_per_block),
            shared_memory_per_block_optin: int(
                "shared_memory_per_block_optin",
                like.shared_memory_per_block_optin,
            ),
            shared_memory_per_core: int("shared_memory_per_core", like.shared_memory_per_core),
            registers_per_core: of("registers_per_core_limit").or(like.registers_per_core),
            registers_per_block: of("registers_per_block_limit").or(like.registers_per_block),
            blocks_per_core_limit: of("max_blocks_per_multiprocessor").or(like.blocks_per_core_limit),
            memory_bandwidth: int("memory_bandwidth", like.memory_bandwidth),
            memory_size: int("device_memory_size", like.memory_size),
            l2_cache_size: int("l2_cache_size", like.l2_cache_size),
            memory_clock_ghz: ghz("mem_clock_ghz").or(like.memory_clock_ghz),
            ..*like
        };
        // The analyses divide by these.
        let positive = [
            device.threads_per_warp,
            device.threads_per_block_limit,
            device.threads_per_core_limit,
            device.cores,
            device.fpus_per_core,
            device.memory_bandwidth,
        ];
        (positive.iter().all(|figure| (1..1 << 50).contains(figure))
            && device.threads_per_warp.count_ones() == 1
            && device.threads_per_warp <= 64)
            .then_some(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped() -> String {
        let path = test_files::dump_folder().join("module_0001.jit_step.gpu_target_config.pbtxt");
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_device_of_the_table_is_found() {
        let found = Device::described(&dumped()).unwrap();
        assert!(std::ptr::eq(found, Device::find("h100-sxm").unwrap()));
    }

    #[test]
    fn the_text_of_a_device_describes_it() {
        for device in Device::all() {
            match device.target_config() {
                Some(text) => assert_eq!(Device::described(&text), Some(device), "{text}"),
                None => assert!(!matches!(device.platform, Platform::Cuda { .. })),
            }
        }
    }

    #[test]
    fn an_unknown_device_has_its_own_figures() {
        let other = dumped().replace("NVIDIA H100 80GB HBM3", "NVIDIA H100 of tomorrow");
        let other = other.replace("core_count: 132", "core_count: 150");
        let found = Device::described(&other).unwrap();
        assert_eq!((found.name, found.cores), ("NVIDIA H100 of tomorrow", 150));
        let known = Device::find("h100-sxm").unwrap();
        assert_eq!((found.clock_ghz, found.units), (known.clock_ghz, known.units));
        assert!(std::ptr::eq(found, Device::described(&other).unwrap()));
    }

    #[test]
    fn texts_that_describe_no_device_are_refused() {
        let text = dumped();
        for bad in ["", "}}}{{{", &text[..200], &text.replace("core_count: 132", "core_count: 0")] {
            assert_eq!(Device::described(bad), None);
        }
        let huge = text.replace("core_count: 132", "core_count: 9223372036854775807");
        assert_eq!(Device::described(&huge), None);
        assert_eq!(Device::described(&"a {\n".repeat(100_000)), None);
    }
}
