//! Elements of fewer than eight bits, constant arrays, and integer powers.

mod kernels;

use kernels::{apply, build, execute_over};

/// Packs elements of `bits` bits, the first one in the lowest bits of its byte.
fn pack(elements: &[i64], bits: u32) -> Vec<u8> {
    let per_byte = (8 / bits) as usize;
    let byte = |chunk: &[i64]| {
        let parts = chunk.iter().enumerate();
        parts.fold(0u8, |sum, (n, &x)| sum | ((x as u8) & ((1u16 << bits) - 1) as u8) << (n as u32 * bits))
    };
    elements.chunks(per_byte).map(byte).collect()
}

fn numbers(bits: u32, is_signed: bool, count: usize) -> Vec<i64> {
    let wrap = |n: i64| {
        let raw = n & ((1 << bits) - 1);
        if is_signed && raw >> (bits - 1) == 1 { raw - (1 << bits) } else { raw }
    };
    (0..count as i64).map(|n| wrap(n * 7 + n / 5)).collect()
}

/// A fusion with one parameter; the text of its root follows `ROOT r = `.
fn fusion(parameter: &str, body: &str, output: &str) -> String {
    format!(
        "\
HloModule m

f (p0: {parameter}) -> {output} {{
  p0 = {parameter} parameter(0)
{body}}}

ENTRY main {{
  p0 = {parameter} parameter(0)
  ROOT fusion = {output} fusion(p0), kind=kLoop, calls=f
}}
"
    )
}

fn run(hlo: &str, input: Vec<u8>, bytes: u64) -> Vec<u8> {
    let built = build(hlo, "h100-sxm").unwrap_or_else(|reason| panic!("{reason}\n{hlo}"));
    // 32-bit words are read in order to be changed.
    let zeros = executor::Contents::Known(Box::new(|_, page| page.fill(0)));
    execute_over(&built, &[input], bytes.next_multiple_of(4), zeros)
        .unwrap_or_else(|reason| panic!("{reason}\n{hlo}"))
}

#[test]
fn packed_elements_are_read_and_written() {
    for (ty, bits, is_signed) in [("s4", 4, true), ("u4", 4, false), ("s2", 2, true), ("u2", 2, false)] {
        let count = 1024;
        let elements = numbers(bits, is_signed, count);
        let bytes: Vec<u8> = elements.iter().map(|&x| x as u8).collect();
        let wide = if is_signed { "s8" } else { "u8" };
        let packed = pack(&elements, bits);
        let narrow = apply("convert", &[wide], ty, count, std::slice::from_ref(&bytes), packed.len() as u64);
        assert_eq!(narrow, Ok(packed.clone()), "{ty}");
        assert_eq!(
            apply("convert", &[ty], wide, count, std::slice::from_ref(&packed), count as u64),
            Ok(bytes),
            "{ty}"
        );
        let sums: Vec<i64> = elements.iter().map(|&x| x + x).collect();
        let sum = apply("add", &[ty, ty], ty, count, &[packed.clone(), packed.clone()], packed.len() as u64);
        assert_eq!(sum, Ok(pack(&sums, bits)), "{ty}");
    }
}

#[test]
fn packed_elements_at_odd_places_leave_their_neighbours_alone() {
    for (ty, bits, is_signed) in [("s4", 4, true), ("u2", 2, false)] {
        let elements = numbers(bits, is_signed, 35);
        let mut reversed = elements.clone();
        reversed.reverse();
        let hlo = fusion(
            &format!("{ty}[35]{{0}}"),
            &format!("  ROOT r = {ty}[35]{{0}} reverse(p0), dimensions={{0}}\n"),
            &format!("{ty}[35]{{0}}"),
        );
        let right = pack(&reversed, bits);
        let result = run(&hlo, pack(&elements, bits), right.len() as u64);
        assert_eq!(result[..right.len()], right, "{ty}");
    }
}

#[test]
fn constant_arrays_are_read() {
    let body = "  c = s32[8]{0} constant({10, -20, 30, -40, 50, -60, 70, -80})\n  b = s32[4,8]{1,0} broadcast(c), dimensions={1}\n  \
                ROOT r = s32[4,8]{1,0} add(p0, b)\n";
    let hlo = fusion("s32[4,8]{1,0}", body, "s32[4,8]{1,0}");
    let input: Vec<u8> = (0..32i32).flat_map(i32::to_le_bytes).collect();
    let result = run(&hlo, input, 128);
    let right: Vec<u8> = (0..32i32)
        .flat_map(|n| {
            let k = n % 8 + 1;
            (n + 10 * k * if k % 2 == 0 { -1 } else { 1 }).to_le_bytes()
        })
        .collect();
    assert_eq!(result, right);
}

#[test]
fn powers_of_whole_numbers() {
    let pairs: Vec<(i32, i32)> =
        (-5..6).flat_map(|a| (-4..67).map(move |b| (a, b))).chain([(2, 1 << 20), (3, -1)]).collect();
    let mut pairs = pairs;
    while !pairs.len().is_multiple_of(128) {
        pairs.push((1, 1));
    }
    let of = |f: fn(&(i32, i32)) -> i32| pairs.iter().flat_map(|p| f(p).to_le_bytes()).collect::<Vec<u8>>();
    let inputs = [of(|p| p.0), of(|p| p.1)];
    let result = apply("power", &["s32", "s32"], "s32", pairs.len(), &inputs, pairs.len() as u64 * 4)
        .expect("a kernel");
    for (&(a, b), bytes) in pairs.iter().zip(result.chunks(4)) {
        let result = i32::from_le_bytes(bytes.try_into().expect("four bytes"));
        let right = match (a, b) {
            (1, _) => 1,
            (-1, _) => {
                if b % 2 == 0 {
                    1
                } else {
                    -1
                }
            }
            (_, ..0) => 0,
            (_, 0..64) => a.wrapping_pow(b as u32),
            (_, _) if a % 2 == 0 => 0,
            _ => a.wrapping_pow((b & 63) as u32),
        };
        assert_eq!(result, right, "{a}^{b}");
    }
}
