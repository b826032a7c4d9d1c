//! Replicated parameters, and what a device has of a module.

use db::{Database, Documents, Language};
use memory::{Action, Advice, Devices, Sharding};

use crate::memory_modules::planned;
use crate::{PEAK, advised, keeps_its_promises, scheduled};

/// Each as `parameter along dimension: bytes before readers`.
fn shardings(advice: &[Advice]) -> Vec<String> {
    let shardings = advice.iter().filter_map(|one| match &one.action {
        Action::Shard(Sharding { name, dimension, bytes_per_device, gathered_before, .. }) => {
            Some(format!("{name} along {dimension}: {bytes_per_device} before {}", gathered_before.join(" ")))
        }
        _ => None,
    });
    shardings.collect()
}

/// Weights that are read in front of the peak.
fn replicated() -> String {
    let text = scheduled(&format!(
        "
  weights = f32[6,4096]{{1,0}} parameter(0), sharding={{replicated}}
  p = f32[16]{{0}} parameter(1), sharding={{replicated}}
  q = f32[4096]{{0}} custom-call(weights), custom_call_target=\"f\"{PEAK}
  ROOT r = f32[16]{{0}} custom-call(wider, q), custom_call_target=\"narrow\""
    ));
    text.replace("is_scheduled=true", "is_scheduled=true, num_partitions=8")
}

fn devices(text: &str) -> Devices {
    let (mut db, mut documents) = (Database::default(), Documents::default());
    let file = documents.open(&mut db, Language::Hlo, text);
    db::module_devices(&db, documents.view(file).expect("it is open").file)
}

#[test]
fn a_replicated_parameter_is_cut_and_gathered_where_it_is_read() {
    let expected = format!("weights along 1: {} before q", 4 * 6 * 512);
    // The gathered weights are not alive at the peak.
    let text = replicated().replace("f32[8192]", "f32[32768]");
    assert_eq!(shardings(&keeps_its_promises(&text)), [expected]);
    for other in ["num_partitions=1", "num_partitions=7"] {
        assert_eq!(
            shardings(&keeps_its_promises(&text.replace("num_partitions=8", other))),
            [""; 0],
            "{other}"
        );
    }
    let cut = text.replace("(0), sharding={replicated}", "(0), sharding={devices=[1,8]<=[8]}");
    assert_eq!(shardings(&keeps_its_promises(&cut)), [""; 0], "it is cut already");
}

#[test]
fn of_a_donated_parameter_the_peak_is_a_bound() {
    let text = replicated()
        .replace("num_partitions=8", "num_partitions=8, input_output_alias={ {}: (0, {}, may-alias) }")
        .replace("r = f32[16]{0}", "r = f32[6,4096]{1,0}");
    let advice = advised(&text);
    let found = shardings(&advice);
    assert_eq!(found, [format!("weights along 1: {} before ", 4 * 6 * 512)]);
}

const UNPARTITIONED: &str = "HloModule m, num_partitions=8, replica_count=2

ENTRY e {
  x = f32[64,32]{1,0} parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  w = f32[32,32]{1,0} parameter(1), sharding={replicated}
  ROOT y = f32[64,32]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
";

#[test]
fn a_module_that_is_not_partitioned_has_bounds_per_device() {
    let found = devices(UNPARTITIONED);
    assert!(!found.is_partitioned);
    assert_eq!((found.partitions, found.replicas, found.problems.len()), (8, 2, 0));
    let needed = found.per_device(&planned(UNPARTITIONED)).expect("it is not partitioned");
    let parameters = 4 * (16 * 32 + 32 * 32);
    assert_eq!(needed.parameters, parameters);
    assert_eq!(needed.in_use, [parameters + 4 * 64 * 32 / 8, parameters + 4 * 64 * 32]);
}

#[test]
fn a_module_of_one_device_has_the_sizes_of_one() {
    let scheduled = UNPARTITIONED.replace("num_partitions", "is_scheduled=true, num_partitions");
    let gathered = UNPARTITIONED.replace("dot(x, w)", "all-reduce(x)");
    let plain = UNPARTITIONED.replace("num_partitions=8, ", "");
    for text in [scheduled, gathered, plain] {
        assert_eq!(devices(&text).per_device(&planned(&text)), None, "{text}");
    }
}

#[test]
fn shardings_that_no_device_can_have_are_named() {
    for (sharding, why) in [
        (
            "{devices=[3,1]<=[3]}",
            "%x: its sharding is over 3 devices, and the module has 8 partitions; it counts as whole",
        ),
        (
            "{devices=[2,2,2]<=[8]}",
            "%x: its sharding cuts 3 dimensions of f32[64,32]{1,0}; it counts as whole",
        ),
    ] {
        let text = UNPARTITIONED.replace("{devices=[4,1,2]<=[8] last_tile_dim_replicate}", sharding);
        assert_eq!(devices(&text).problems, [why]);
    }
    for odd in [
        "{devices=[0,8]<=[8]}",
        "{devices=[",
        "{maximal device=3}",
        "{devices=[9223372036854775807,8]<=[8]}",
        "{}",
    ] {
        let text = UNPARTITIONED.replace("{devices=[4,1,2]<=[8] last_tile_dim_replicate}", odd);
        assert_eq!(devices(&text).problems, [""; 0], "{odd}");
    }
}
