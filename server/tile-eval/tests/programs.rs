//! Programs that are refused, or stop, with the reason and its line.

use eval::{Column, Kind, Reason};
use tile_eval::{Memory, Program};

/// A program of two arrays of 8 `f32` in blocks of 4, around a body.
fn program(body: &str) -> String {
    format!(
        "#map = #xla.indexing_map<\"(pid) -> (pid * 4), domain: pid in [0, 1]\">
module {{
  xtile.entry_func @k(%a: memref<8xf32>, %b: memref<8xf32>, %pid: index {{xla.range = [0 : index, 2 : index]}}) attributes {{num_opaque_args = 0 : i32}} {{
{body}
    xtile.return
  }}
}}
"
    )
}

const COPY: &str = "    %0 = xla.apply_indexing #map(%pid)
    %1 = xtile.extract %a[%0] [4] [1] : memref<8xf32> -> tensor<4xf32>
    xtile.insert %1 into %b[%0] [4] [1] : tensor<4xf32> -> memref<8xf32>";

/// Element `i` of `%a` is `i`; what is written to `%b` is kept.
#[derive(Default)]
struct Arrays {
    written: Vec<(i64, f64)>,
}

impl Memory for Arrays {
    fn read(&mut self, _: usize, positions: &[i64]) -> Result<Column, Reason> {
        let kind = Kind::of(ir::ElementType::F32).ok_or("f32")?;
        Ok(Column::real(kind, positions.iter().map(|&p| p as f64).collect()))
    }

    fn outside(&mut self, kind: Kind, count: usize) -> Column {
        Column::real(kind, vec![-1.0; count])
    }

    fn write(&mut self, argument: usize, positions: &[i64], values: &Column) -> Result<(), Reason> {
        assert_eq!(argument, 1);
        self.written.extend(positions.iter().copied().zip(values.reals().iter().copied()));
        Ok(())
    }
}

/// What block `block` writes.
fn run(text: &str, block: i64, mut work: u64) -> Result<Vec<(i64, f64)>, String> {
    let mut arrays = Arrays::default();
    let program = Program::read(text).map_err(|why| why.to_string())?;
    program.run(block, &mut arrays, &mut work).map_err(|why| why.to_string())?;
    Ok(arrays.written)
}

#[test]
fn a_block_reads_and_writes_its_tile() {
    let read = Program::read(&program(COPY)).expect("a program");
    assert_eq!((read.name.as_str(), read.blocks.clone(), read.arguments.len()), ("k", 0..=2, 2));
    let expected = (4..8).map(|i| (i, i as f64)).collect();
    assert_eq!(run(&program(COPY), 1, 100), Ok(expected));
}

#[test]
fn what_is_outside_is_not_written() {
    let shifted = "    %0 = arith.constant 6 : index
    %1 = xtile.extract %a[%0] [4] [1] : memref<8xf32> -> tensor<4xf32>
    %2 = stablehlo.add %1, %1 : tensor<4xf32>
    xtile.insert %2 into %b[%0] [4] [1] : tensor<4xf32> -> memref<8xf32>";
    assert_eq!(run(&program(shifted), 0, 100), Ok(vec![(6, 12.0), (7, 14.0)]));
    let to_start = shifted.replace("%b[%0]", "%b[0]");
    assert_eq!(run(&program(&to_start), 0, 100), Ok(vec![(0, 12.0), (1, 14.0), (2, -2.0), (3, -2.0)]));
}

#[test]
fn loops_and_branches_are_followed() {
    let text = "    %0 = arith.constant 0 : index
    %n = arith.constant 3 : index
    %1 = arith.constant 1 : index
    %z = arith.constant dense<1.000000e+00> : tensor<4xf32>
    %r:2 = scf.for %i = %0 to %n step %1 iter_args(%x = %z, %y = %1) -> (tensor<4xf32>, index) {
      %is = arith.cmpi eq, %i, %1 : index
      %next = scf.if %is -> (tensor<4xf32>) {
        scf.yield %x : tensor<4xf32>
      } else {
        %sum = arith.addf %x, %x : tensor<4xf32>
        scf.yield %sum : tensor<4xf32>
      }
      %more = arith.addi %y, %1 : index
      scf.yield %next, %more : tensor<4xf32>, index
    }
    xtile.insert %r#0 into %b[%r#1] [4] [1] : tensor<4xf32> -> memref<8xf32>";
    assert_eq!(run(&program(text), 0, 1000), Ok((4..8).map(|i| (i, 4.0)).collect()));
}

#[test]
fn what_is_no_program_is_refused_at_its_line() {
    let refused = |text: &str| run(text, 0, 1000).expect_err("it is refused");
    assert_eq!(refused("module {\n}\n"), "there is no xtile.entry_func");
    assert!(refused("module {\n  xtile.entry_func @k(%a: memref<8xf32>) {\n").starts_with("line "));
    let line = |from: &str, to: &str| refused(&program(&COPY.replace(from, to)));
    assert_eq!(
        line("[4] [1] : memref<8xf32> ->", "[4] [1, 1] : memref<8xf32> ->").split(':').next(),
        Some("line 5")
    );
    assert_eq!(line("insert %1", "insert %9"), "line 6: %9 is not a value of the block");
    assert!(line("into %b", "into %0").starts_with("line 6: xtile.insert: %0 is no array"));
    assert!(line("xtile.extract %a[%0]", "xtile.unheard_of %a").starts_with("line 5: xtile.unheard_of: "));
    assert!(line("[4] [1] : memref<8xf32> ->", "[99999999999] [1] : memref<8xf32> ->").contains("elements"));
    let whole = program(COPY);
    let without = whole.replace(" {xla.range = [0 : index, 2 : index]}", "");
    assert_eq!(refused(&without), "line 3: an index without its range");
}

#[test]
fn execution_stops_with_the_reason() {
    let stopped = |text: &str, block| run(text, block, 50).expect_err("it stops");
    assert_eq!(stopped(&program(COPY), 2), "line 4: the map has no value at [2]");
    assert_eq!(stopped(&program(COPY), 3), "there is no block 3");
    let forever = "    %0 = arith.constant 0 : index
    %n = arith.constant 9000000000000000000 : index
    %1 = arith.constant 1 : index
    %r = scf.for %i = %0 to %n step %1 iter_args(%x = %0) -> (index) {
      scf.yield %x : index
    }";
    assert_eq!(stopped(&program(forever), 0), "line 7: too much work to execute");
    assert_eq!(stopped(&program(&forever.replace("step %1", "step %0")), 0), "line 7: a loop in steps of 0");
}

#[test]
fn deep_regions_are_refused() {
    let (open, close) = ("scf.if %c {\n".repeat(5000), "}\n".repeat(5000));
    let text = program(&format!("    %c = arith.constant true\n{open}{close}"));
    let found = run(&text, 0, 1000).expect_err("it is refused");
    assert!(found.ends_with("regions nest too deep"), "{found}");
}

#[test]
fn any_text_is_read_without_a_panic() {
    let whole = program(COPY);
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        _ = run(&whole[..end], 0, 1000);
        _ = run(&format!("{}{}", &whole[..end], &whole[(end + 3).min(whole.len())..]), 0, 1000);
    }
}
