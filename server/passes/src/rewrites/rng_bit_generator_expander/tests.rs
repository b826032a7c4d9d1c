use crate::{Module, Options, Stop, optimize};

fn expanded(bits: &str, state: &str, algorithm: &str) -> Result<String, Stop> {
    let text = format!(
        "HloModule m\n\nENTRY e {{
  s = {state} parameter(0)
  ROOT r = ({state}, {bits}) rng-bit-generator(s), algorithm={algorithm}
}}\n"
    );
    let mut module = Module::from_text(&text).expect("a module");
    let device = gpu::Device::find(gpu::DEFAULT_DEVICE).expect("the default");
    let options = Options::new("", device);
    optimize(&mut module, &["rng-bit-generator-expander"], &options)?;
    Ok(module.to_text(&ir::PrintOptions::lossless()).expect("it is small"))
}

/// How many instructions of each opcode the computation has.
fn counts(text: &str, opcodes: &[&str]) -> Vec<usize> {
    opcodes.iter().map(|opcode| text.matches(&format!(" {opcode}(")).count()).collect()
}

#[test]
fn philox_has_ten_rounds() {
    let text = expanded("u8[10]", "u64[2]", "rng_default").expect("it is expanded");
    assert_eq!(counts(&text, &["multiply", "xor", "rng-bit-generator", "reverse"]), [20, 40, 0, 1]);
    // 10 numbers are 3 vectors of 4, of which 2 are cut off.
    assert!(text.contains("u64[3]{0} iota()") && text.contains("u32[12]{0} reshape("), "{text}");
    // The state of three words is kept whole.
    let text = expanded("u64[6]", "u64[3]", "rng_philox").expect("it is expanded");
    assert_eq!(counts(&text, &["multiply", "reverse"]), [20, 0]);
    assert!(text.contains("u64[3]{0} concatenate("), "{text}");
}

#[test]
fn three_fry_has_twenty_rounds() {
    let text = expanded("u32[3,5]", "u64[2]", "rng_three_fry").expect("it is expanded");
    assert_eq!(counts(&text, &["shift-right-logical"]), [20 + 2]);
    // An odd dimension is split in halves of 3, and the last column is cut off.
    assert!(text.contains("u32[3,3,2]{2,1,0} concatenate("), "{text}");
    assert!(text.contains("u32[3,5]{1,0} slice("), "{text}");
    assert!(expanded("u32[]", "u64[2]", "rng_three_fry").is_ok());
}

#[test]
fn other_states_and_types_are_reported() {
    for (bits, state, algorithm) in [
        ("s32[4]", "u64[2]", "rng_default"),
        ("u32[4]", "u32[4]", "rng_default"),
        ("u32[4]", "u64[3]", "rng_three_fry"),
    ] {
        let error = expanded(bits, state, algorithm).expect_err("it is not supported");
        assert!(error.to_string().contains("%r makes random bits"), "{error}");
    }
}
