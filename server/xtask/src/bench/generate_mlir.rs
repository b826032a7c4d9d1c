//! Generates a module of upstream dialects to measure language servers: `func`, `scf`, `arith`, `tensor`,
//! `affine`, `memref`. The text is always the same, and valid for `mlir-opt`.

use std::fmt::Write;

/// The line above the operand that the benchmark breaks and repairs.
pub const PLACE: &str = "// MEND HERE";

/// Ops of a function's inner loop; `{n}` is the number of the function.
const FUNCTION: &str = "\
  func.func @kernel{n}(%in: tensor<64x{w}xf32>, %scale: tensor<{w}xf32>, %out: memref<64x{w}xf32>, %bias: f32) -> tensor<64x{w}xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %width = arith.constant {w} : index
    %zero = arith.constant 0.000000e+00 : f32
    %empty = tensor.empty() : tensor<64x{w}xf32>
    %rows = scf.for %row = %c0 to %c64 step %c1 iter_args(%acc = %empty) -> (tensor<64x{w}xf32>) {
      %columns = scf.for %column = %c0 to %width step %c1 iter_args(%line = %acc) -> (tensor<64x{w}xf32>) {
        %linear = affine.apply affine_map<(d0, d1) -> (d0 * {w} + d1)>(%row, %column)
        %lane = affine.apply affine_map<(d0) -> (d0 mod 32)>(%linear)
        %x = tensor.extract %in[%row, %column] : tensor<64x{w}xf32>
        %s = tensor.extract %scale[%column] : tensor<{w}xf32>
        %scaled = arith.mulf %x, %s : f32
        %shifted = arith.addf %scaled, %bias : f32
        %is_low = arith.cmpf olt, %shifted, %zero : f32
        %clipped = arith.select %is_low, %zero, %shifted : f32
        %lane_number = arith.index_cast %lane : index to i32
        %weight = arith.sitofp %lane_number : i32 to f32
        %mixed = arith.mulf %clipped, %weight : f32
        %is_first = arith.cmpi eq, %lane, %c0 : index
        %result = scf.if %is_first -> (f32) {
          %sum = arith.addf %mixed, %x : f32
          scf.yield %sum : f32
        } else {
          %difference = arith.subf %mixed, %x : f32
          scf.yield %difference : f32
        }
        memref.store %result, %out[%row, %column] : memref<64x{w}xf32>
        %next = tensor.insert %result into %line[%row, %column] : tensor<64x{w}xf32>
        scf.yield %next : tensor<64x{w}xf32>
      }
      scf.yield %columns : tensor<64x{w}xf32>
    }
    affine.for %i = 0 to 64 {
      affine.for %j = 0 to {w} {
        %loaded = affine.load %out[%i, %j] : memref<64x{w}xf32>
        %doubled = arith.addf %loaded, %loaded : f32
        affine.store %doubled, %out[%i, %j] : memref<64x{w}xf32>
      }
    }
    {place}%last = arith.addf %bias, %zero : f32
    %final = tensor.insert %last into %rows[%c0, %c0] : tensor<64x{w}xf32>
    return %final : tensor<64x{w}xf32>
  }
";

/// One module of functions with at least `bytes` bytes, with [`PLACE`] in the middle.
pub fn module(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 8192);
    text.push_str("module {\n");
    let mut has_place = false;
    let mut number = 0;
    while text.len() < bytes {
        let is_middle = !has_place && text.len() >= bytes / 2;
        has_place |= is_middle;
        let place = if is_middle {
            format!("{PLACE}\n    %mended = arith.addf %bias, %zero\n")
        } else {
            String::new()
        };
        // Moves the type to the next line, so that the edited operand is at the end of its line.
        let place = place.replace("%zero\n", "%zero\n      : f32\n    ");
        let width = 128 + number % 64;
        let function = FUNCTION
            .replace("{place}", &place)
            .replace("{n}", &number.to_string())
            .replace("{w}", &width.to_string());
        // Writing to a string cannot fail.
        let _ = write!(text, "{function}");
        number += 1;
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::{PLACE, module};

    #[test]
    fn the_text_is_the_same_each_time_and_has_one_place() {
        let text = module(20_000);
        assert_eq!(text, module(20_000));
        assert_eq!(text.matches(PLACE).count(), 1);
        assert!(text.len() >= 20_000 && !text.contains("{w}") && !text.contains("{place}"));
        let (_, below) = text.split_once(PLACE).expect("it is there");
        assert!(below.lines().nth(1).is_some_and(|line| line.ends_with("%zero")));
    }
}
