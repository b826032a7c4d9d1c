//! The table of devices.

use expect_test::expect;
use gpu::Device;
use test_files::Tally;

/// The sum of each number over all devices.
#[test]
fn every_device_states_its_numbers() {
    let mut tally = Tally::default();
    for device in Device::all() {
        assert_eq!(Device::find(device.name).map(|found| found.name), Ok(device.name));
        assert!(device.cores > 0 && device.clock_ghz > 0.0 && device.memory_bandwidth > 0, "{}", device.name);
        let mut add = |name: &str, number: i64| tally.add(name, number as usize);
        add("bytes of names", device.name.len() as i64);
        add("bytes of descriptions", device.description.len() as i64);
        add("warps", device.threads_per_warp);
        add("threads of a block", device.threads_per_block_limit);
        add("threads of a core", device.threads_per_core_limit);
        add("threads", device.threads());
        add("cores", device.cores);
        add("units of a core", device.fpus_per_core);
        add("MHz", (device.clock_ghz * 1e3) as i64);
        add("blocks of a grid", device.block_dim_limit.iter().sum());
        add("threads of a block by dimension", device.thread_dim_limit.iter().flatten().sum());
        add("shared memory", device.shared_memory_per_block);
        add("shared memory, opted in", device.shared_memory_per_block_optin);
        add("shared memory, reserved", device.reserved_shared_memory_per_block);
        add("shared memory of a core", device.shared_memory_per_core);
        add("registers of a core", device.registers_per_core.unwrap_or(0));
        add("registers of a block", device.registers_per_block.unwrap_or(0));
        add("blocks of a core", device.blocks_per_core_limit.unwrap_or(0));
        add("GB/s", device.memory_bandwidth / 1_000_000_000);
        add("MB", device.memory_size >> 20);
        add("KB of cache", device.l2_cache_size >> 10);
        add("memory MHz", (device.memory_clock_ghz.unwrap_or(0.0) * 1e3) as i64);
        add("PCIe MB/s", device.pcie_bandwidth.unwrap_or(0) / 1_000_000);
        add("links", i64::from(device.nvlinks));
        add("with ECC", i64::from(device.has_ecc));
        add("toolkits", device.toolkit.map_or(0, |(major, minor)| i64::from(major * 100 + minor)));
        add("L1 cache", device.l1_cache_per_core());
        add("bytes of transactions", device.dram_transaction_bytes());
        add("transactions", device.memory_transactions_per_clock());
        add("like Hopper", i64::from(device.is_hopper()));
        add("like Blackwell", i64::from(device.is_blackwell_or_later()));
        add("of AMD", i64::from(device.is_rocm()));
        for rate in device.units.iter().flat_map(|units| units.scalar.iter().chain(units.matrix)) {
            add("element types of units", rate.elements.len() as i64);
            add("operations of units", rate.units * rate.operations);
        }
        let matrix_clock = device.units.as_ref().map_or(0.0, |units| units.matrix_clock_ghz);
        add("MHz of matrix units", (matrix_clock * 1e3) as i64);
        add("platforms", format!("{:?}", device.platform).len() as i64);
    }
    tally.check(expect![[r#"
        GB/s: 62250
        KB of cache: 1186048
        L1 cache: 83968
        MB: 2017811
        MHz: 35817
        MHz of matrix units: 16737
        PCIe MB/s: 208301
        blocks of a core: 160
        blocks of a grid: 70868926409
        bytes of descriptions: 335
        bytes of names: 123
        bytes of transactions: 1280
        cores: 2226
        element types of units: 194
        like Blackwell: 5
        like Hopper: 3
        links: 100
        memory MHz: 12203
        of AMD: 3
        operations of units: 158752
        platforms: 799
        registers of a block: 1048576
        registers of a core: 1048576
        shared memory: 1245184
        shared memory of a core: 3092480
        shared memory, opted in: 3035136
        shared memory, reserved: 3072
        threads: 4276224
        threads of a block: 19456
        threads of a block by dimension: 29568
        threads of a core: 34816
        toolkits: 10872
        transactions: 592
        units of a core: 2112
        warps: 672
        with ECC: 8
    "#]]);
}
