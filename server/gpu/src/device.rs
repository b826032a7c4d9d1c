//! The properties of a GPU.

use std::fmt;

use ir::ElementType;

use crate::devices::DEVICES;

/// The vendor of the device and its target architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// NVIDIA: the compute capability, and whether features specific to it (`sm_90a`) may be used.
    Cuda { major: u32, minor: u32, accelerated: bool },
    /// AMD: the name of the instruction set.
    Rocm { arch: &'static str },
    /// Intel.
    Sycl { arch: &'static str },
}

/// One GPU as XLA describes it. Sizes are in bytes; the unit of a limit is in its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Device {
    /// The name in settings and options: `h100-sxm`.
    pub name: &'static str,
    /// The name that the driver reports.
    pub description: &'static str,
    pub platform: Platform,
    pub threads_per_warp: i64,
    pub threads_per_block_limit: i64,
    pub threads_per_core_limit: i64,
    /// The number of streaming multiprocessors or compute units.
    pub cores: i64,
    pub fpus_per_core: i64,
    pub clock_ghz: f64,
    /// The maximum number of blocks of a grid in x, y, z.
    pub block_dim_limit: [i64; 3],
    /// The maximum number of threads of a block in x, y, z, if stated.
    pub thread_dim_limit: Option<[i64; 3]>,
    /// The static shared memory that a block may have.
    pub shared_memory_per_block: i64,
    /// The shared memory that a block may have if it opts in.
    pub shared_memory_per_block_optin: i64,
    pub reserved_shared_memory_per_block: i64,
    pub shared_memory_per_core: i64,
    pub registers_per_core: Option<i64>,
    pub registers_per_block: Option<i64>,
    pub blocks_per_core_limit: Option<i64>,
    /// Bytes per second between the cores and memory.
    pub memory_bandwidth: i64,
    pub memory_size: i64,
    pub memory_clock_ghz: Option<f64>,
    pub l2_cache_size: i64,
    /// Bytes per second.
    pub pcie_bandwidth: Option<i64>,
    pub nvlinks: u32,
    pub has_ecc: bool,
    /// The version of the CUDA toolkit that XLA is assumed to be built with.
    pub toolkit: Option<(u32, u32)>,
    pub units: Option<Units>,
}

/// The throughput of a core's arithmetic units per clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// The clock of the matrix units. Those for `f64` and all scalar units run at the device's clock.
    pub matrix_clock_ghz: f64,
    pub scalar: &'static [Rate],
    pub matrix: &'static [Rate],
}

/// The number of units of one kind in a core, and the operations of each per clock (a fused multiply-add
/// counts once).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub elements: &'static [ElementType],
    pub units: i64,
    pub operations: i64,
}

/// The error for an unknown device name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDevice {
    pub name: String,
}

/// The device used if none is named.
pub const DEFAULT_DEVICE: &str = "h100-sxm";

impl Device {
    /// Returns the device of that name. `_` may replace `-`, and case does not matter.
    pub fn find(name: &str) -> Result<&'static Device, UnknownDevice> {
        let plain = name.trim().to_ascii_lowercase().replace('_', "-");
        let found = DEVICES.iter().find(|device| device.name == plain);
        found.ok_or_else(|| UnknownDevice { name: name.to_owned() })
    }

    /// All devices, oldest first.
    pub fn all() -> &'static [Device] {
        &DEVICES
    }

    /// The number of threads that the whole device runs at once.
    pub fn threads(&self) -> i64 {
        self.threads_per_core_limit * self.cores
    }

    /// Whether the compute capability is `sm_90`.
    pub fn is_hopper(&self) -> bool {
        matches!(self.platform, Platform::Cuda { major: 9, .. })
    }

    /// Whether the compute capability is `sm_100` or later.
    pub fn is_blackwell_or_later(&self) -> bool {
        matches!(self.platform, Platform::Cuda { major, .. } if major >= 10)
    }

    pub fn is_rocm(&self) -> bool {
        matches!(self.platform, Platform::Rocm { .. })
    }

    /// Bytes of a core's L1 cache in XLA's cost model, which differs from the hardware's.
    /// Source: `stream_executor/device_description.h` (`l1_cache_size_per_SM`).
    pub fn l1_cache_per_core(&self) -> i64 {
        match self.platform {
            Platform::Rocm { arch } if is_mi100_or_mi200(arch) => 16 << 10,
            Platform::Rocm { arch } if is_mi300(arch) => 32 << 10,
            _ => 2 << 10,
        }
    }

    /// Bytes of one transfer between memory and the L2 cache.
    /// Source: as above (`dram_to_l2_transaction_size_bytes`).
    pub fn dram_transaction_bytes(&self) -> i64 {
        match self.platform {
            Platform::Rocm { arch } if is_mi300(arch) => 128,
            _ => 64,
        }
    }

    /// Bytes that a block can request per clock.
    /// Source: as above (`memory_transactions_per_clock`).
    pub fn memory_transactions_per_clock(&self) -> i64 {
        match self.platform {
            Platform::Rocm { arch } if is_mi300(arch) => 16,
            _ => 32,
        }
    }
}

fn is_mi100_or_mi200(arch: &str) -> bool {
    arch.starts_with("gfx908") || arch.starts_with("gfx90a")
}

/// Whether this is an MI300 or MI350.
fn is_mi300(arch: &str) -> bool {
    arch.starts_with("gfx94") || arch.starts_with("gfx950")
}

impl fmt::Display for UnknownDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = DEVICES.iter().map(|device| device.name).collect();
        write!(f, "unknown device `{}`; known are {}", self.name, known.join(", "))
    }
}

impl std::error::Error for UnknownDevice {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Device::find("H100_SXM").unwrap().cores, 132);
        assert_eq!(Device::find(DEFAULT_DEVICE).unwrap().threads(), 270_336);
        let message = Device::find("h1000").unwrap_err().to_string();
        assert!(message.starts_with("unknown device `h1000`; known are p100, v100, "), "{message}");
    }

    #[test]
    fn names_differ_and_facts_are_plausible() {
        for (i, device) in DEVICES.iter().enumerate() {
            assert!(DEVICES[..i].iter().all(|other| other.name != device.name), "{}", device.name);
            assert!(device.threads_per_warp == 32 || device.threads_per_warp == 64);
            assert!(device.shared_memory_per_block <= device.shared_memory_per_block_optin);
            assert!(device.shared_memory_per_block_optin <= device.shared_memory_per_core);
            assert!(device.clock_ghz > 1.0 && device.clock_ghz < 3.0);
        }
    }

    /// The value of a field that occurs once; `-1` means unknown.
    fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        let value = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(": "))?;
        Some(value.trim().trim_matches('"')).filter(|value| *value != "-1")
    }

    fn compare(device: &Device, text: &str) {
        let expect = |name: &str, value: Option<f64>| {
            let stated = field(text, name).map(|v| v.parse::<f64>().unwrap());
            assert_eq!(stated, value, "{} {name}", device.name);
        };
        let int = |name: &str, value: i64| expect(name, Some(value as f64));
        let optional = |name: &str, value: Option<i64>| expect(name, value.map(|v| v as f64));
        let positive = |value: i64| Some(value).filter(|v| *v > 0);
        int("threads_per_block_limit", device.threads_per_block_limit);
        int("threads_per_warp", device.threads_per_warp);
        int("threads_per_core_limit", device.threads_per_core_limit);
        int("core_count", device.cores);
        int("fpus_per_core", device.fpus_per_core);
        int("shared_memory_per_block", device.shared_memory_per_block);
        int("shared_memory_per_block_optin", device.shared_memory_per_block_optin);
        int("shared_memory_per_core", device.shared_memory_per_core);
        int("memory_bandwidth", device.memory_bandwidth);
        int("device_memory_size", device.memory_size);
        int("l2_cache_size", device.l2_cache_size);
        optional("registers_per_core_limit", device.registers_per_core);
        optional("registers_per_block_limit", device.registers_per_block);
        optional("max_blocks_per_multiprocessor", device.blocks_per_core_limit);
        optional("pcie_bandwidth", device.pcie_bandwidth);
        optional("active_links", positive(device.nvlinks.into()));
        optional("reserved_shared_memory_per_block", positive(device.reserved_shared_memory_per_block));
        expect("mem_clock_ghz", device.memory_clock_ghz);
        // The device's clock comes before those of the units.
        expect("clock_rate_ghz", Some(device.clock_ghz));
        for (i, axis) in ["x", "y", "z"].into_iter().enumerate() {
            int(&format!("block_dim_limit_{axis}"), device.block_dim_limit[i]);
            optional(&format!("thread_dim_limit_{axis}"), device.thread_dim_limit.map(|limit| limit[i]));
        }
        assert_eq!(field(text, "ecc_enabled") == Some("true"), device.has_ecc);
        assert_eq!(field(text, "device_description_str"), Some(device.description));
        let toolkit = device.toolkit.map(|(major, minor)| format!("{major}.{minor}.0"));
        assert_eq!(field(text, "compile_time_toolkit_version"), toolkit.as_deref());
        match device.platform {
            Platform::Cuda { major, minor, accelerated } => {
                int("major", major.into());
                assert_eq!(field(text, "minor").map_or(0, |v| v.parse().unwrap()), minor);
                assert_eq!(field(text, "feature_extension") == Some("ACCELERATED_FEATURES"), accelerated);
            }
            Platform::Rocm { arch } => assert_eq!(field(text, "gcn_arch_name"), Some(arch)),
            Platform::Sycl { arch } => assert_eq!(field(text, "architecture"), Some(arch)),
        }
        let stated = |name: &str| rates(text, name);
        let Some(units) = device.units else {
            return assert!(stated("scalar_unit_description").is_empty(), "{}", device.name);
        };
        let flat = |rates: &[Rate], matrix: bool| {
            let mut all: Vec<_> = rates
                .iter()
                .flat_map(|rate| rate.elements.iter().map(move |e| (*e, rate)))
                .map(|(e, rate)| {
                    let slow = matrix && e != ElementType::F64;
                    let clock = if slow { units.matrix_clock_ghz } else { device.clock_ghz };
                    (primitive_type(e), clock, rate.units, rate.operations)
                })
                .collect();
            all.sort_by_key(|(key, ..)| *key);
            all
        };
        assert_eq!(stated("scalar_unit_description"), flat(units.scalar, false), "{}", device.name);
        assert_eq!(stated("matrix_unit_description"), flat(units.matrix, true), "{}", device.name);
    }

    /// Key, clock, units, operations.
    fn rates(text: &str, name: &str) -> Vec<(i64, f64, i64, i64)> {
        let Some((_, rest)) = text.split_once(&format!("{name} {{")) else { return Vec::new() };
        let body = rest.split("\n  }").next().unwrap();
        let parts = body.split("rate_infos").skip(1);
        let number = |part: &str, name: &str| field(part, name).unwrap().parse::<f64>().unwrap();
        let one = |part: &str| {
            let int = |name: &str| number(part, name) as i64;
            (int("key"), number(part, "clock_rate_ghz"), int("units_per_core"), int("ops_per_clock"))
        };
        let mut all: Vec<_> = parts.map(one).collect();
        all.sort_by_key(|(key, ..)| *key);
        all
    }

    /// The number of an element type in `xla_data.proto`.
    fn primitive_type(element: ElementType) -> i64 {
        use ElementType::*;
        match element {
            S8 => 2,
            S32 => 4,
            U8 => 6,
            U32 => 8,
            F16 => 10,
            F32 => 11,
            F64 => 12,
            Bf16 => 16,
            F8e5m2 => 19,
            F8e4m3fn => 20,
            F8e4m3b11fnuz => 23,
            F8e5m2fnuz => 24,
            F8e4m3fnuz => 25,
            F8e4m3 => 28,
            F8e3m4 => 29,
            F4e2m1fn => 32,
            F8e8m0fnu => 33,
            F6e2m3fn => 35,
            F6e3m2fn => 36,
            other => panic!("{other:?}"),
        }
    }

    mod needs_shared {
        use super::*;

        /// Compares the table with the files it was made from, field by field.
        #[test]
        #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
        fn specs_agree() {
            let folder = test_files::needs::shared("data/gpu-specs");
            let mut seen = 0;
            for file in std::fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().replace('_', "-");
                let text = std::fs::read_to_string(&path).unwrap();
                compare(Device::find(&name).unwrap(), &text);
                seen += 1;
            }
            assert_eq!(seen, DEVICES.len());
        }
    }
}
