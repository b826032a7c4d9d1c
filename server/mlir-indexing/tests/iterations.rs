//! Iteration, block and thread numbers, compared with running the loops: `linalg.index`, `gpu.launch`,
//! `gpu.thread_id`.

use mlir_indexing::{Access, OpMaps};
use op_reads::*;

/// The values of each variable of an access, by name: loops, then symbols.
fn variables(access: &Access) -> Vec<(String, Vec<i64>)> {
    let loops = access.map.dims().iter().map(|v| (v.name.as_deref().expect("a name").to_owned(), v.bounds));
    let symbols = access.symbols.iter().zip(access.map.runtime());
    let symbols =
        symbols.map(|(s, v)| (s.describe(&access.map).trim_start_matches('%').to_owned(), v.bounds));
    loops.chain(symbols).map(|(name, bounds)| (name, (bounds.lower..=bounds.upper).collect())).collect()
}

/// The variables' values, and the index read for them.
type Place = (Vec<(String, i64)>, Vec<i64>);

/// Every index that an access reads.
fn places(maps: &OpMaps) -> Vec<Place> {
    let access = &maps.accesses[0];
    let variables = variables(access);
    let sizes: Vec<i64> = variables.iter().map(|(_, values)| values.len() as i64).collect();
    let points = indices(&sizes).into_iter().map(|at| {
        let values = at.iter().zip(&variables).map(|(&i, (name, values))| (name.clone(), values[i as usize]));
        let values: Vec<_> = values.collect();
        let numbers: Vec<i64> = values.iter().map(|(_, n)| *n).collect();
        let place = access.map.evaluate(&numbers);
        place.map(|place| (values, place))
    });
    points.flatten().collect()
}

#[test]
fn indices_of_structured_ops() {
    let mut random = Rng::new(77);
    for _ in 0..200 {
        let shape = [random.below(1..6), random.below(1..6), random.below(1..4)];
        let order = random.permutation(3);
        let (a, b, c) = (random.below(0..4), random.below(1..4), random.below(0..5));
        let names = ["i", "j", "k"];
        let index = |nth: &usize| {
            let op = if random.flag() {
                "linalg.index {n} : index"
            } else {
                "\"linalg.index\"() <{dim = {n} : i64}> : () -> index"
            };
            format!("      %{} = {}\n", names[*nth], op.replace("{n}", &nth.to_string()))
        };
        let read_indices: String = order.iter().map(index).collect();
        let text = format!(
            r#"#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @f(%t: tensor<?x?xf32>, %o: {out}) {{
  %0 = linalg.generic {{indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel"]}} outs(%o : {out}) {{
    ^bb0(%x: f32):
{read_indices}      %l = affine.apply affine_map<(d0, d1, d2) -> (d0 * {a} + d1 * {b} + d2 + {c})>(%i, %j, %k)
      %e = tensor.extract %t[%l, %j] : tensor<?x?xf32>
      linalg.yield %e : f32
  }} -> {out}
}}
"#,
            out = tensor(&shape)
        );
        let found = places(&Read::of(text).maps("tensor.extract"));
        let expect: Vec<_> = indices(&shape)
            .into_iter()
            .map(|at| {
                let values = (0..3).map(|l| (names[l].to_owned(), at[l])).collect::<Vec<_>>();
                (values, vec![at[0] * a + at[1] * b + at[2] + c, at[1]])
            })
            .collect();
        assert_eq!(found, expect);
    }
}

/// Extents of dynamic loops bound the index, and two uses of one loop share a variable.
#[test]
fn indices_of_dynamic_loops() {
    let read = Read::of(
        r#"func.func @f(%t: tensor<?x?xf32>, %o: tensor<?x4xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<?x4xf32>) {
    %a = linalg.index 0 : index
    %b = linalg.index 0 : index
    %i = scf.execute_region -> index {
      %c = linalg.index 1 : index
      scf.yield %c : index
    }
    %s = arith.subi %a, %b : index
    %e = tensor.extract %t[%s, %b] : tensor<?x?xf32>
    linalg.yield %e : f32
  }
}
"#
            .to_owned(),
    );
    let maps = read.maps("tensor.extract");
    let access = &maps.accesses[0];
    assert_eq!(access.map.results().len(), 2);
    assert_eq!(access.map.results()[0].as_const(), Some(0));
    let names: Vec<_> = access.map.dims().iter().filter_map(|v| v.name.as_deref()).collect();
    assert_eq!(names, ["a"]);
    assert!(access.symbols.iter().any(|s| s.describe(&access.map) == "dim(%o, 0)"), "{}", access.map);
}

#[test]
fn blocks_and_threads() {
    let mut random = Rng::new(78);
    for _ in 0..200 {
        let sizes: Vec<i64> = (0..6).map(|_| random.below(1..5)).collect();
        let constants: String = sizes
            .iter()
            .enumerate()
            .map(|(n, size)| format!("  %c{n} = arith.constant {size} : index\n"))
            .collect();
        let body = "    %l = affine.apply affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>(%bx, %tx)[%bdx]\n    %e = memref.load %m[%l, %by] : memref<?x?xf32>\n    gpu.terminator\n";
        let custom = format!(
            "  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c0, %gy = %c1, %gz = %c2) threads(%tx, %ty, %tz) in (%bdx = %c3, %bdy = %c4, %bdz = %c5) {{\n{body}  }}\n"
        );
        let arguments = ["bx", "by", "bz", "tx", "ty", "tz", "gx", "gy", "gz", "bdx", "bdy", "bdz"];
        let arguments = arguments.map(|name| format!("%{name}: index")).join(", ");
        let generic = format!(
            r#"  "gpu.launch"(%c0, %c1, %c2, %c3, %c4, %c5) ({{
  ^bb0({arguments}):
{body}  }}) : (index, index, index, index, index, index) -> ()
"#
        );
        let asked = format!(
            "  gpu.launch blocks(%b0, %b1, %b2) in (%gx = %c0, %gy = %c1, %gz = %c2) threads(%t0, %t1, %t2) in (%d0 = %c3, %d1 = %c4, %d2 = %c5) {{\n    %bx = gpu.block_id x\n    %by = gpu.block_id y\n    %tx = gpu.thread_id x\n    %bdx = gpu.block_dim x\n{body}  }}\n"
        );
        let launch = &[custom, generic, asked][random.below(0..3) as usize];
        let text = format!("func.func @f(%m: memref<?x?xf32>) {{\n{constants}{launch}  return\n}}\n");
        check_launch(&text, &sizes);
        let stated = format!(
            r#"gpu.module @g {{
  gpu.func @f(%m: memref<?x?xf32>) kernel attributes {{known_block_size = array<i32: {}, {}, {}>, known_grid_size = array<i32: {}, {}, {}>}} {{
    %bx = gpu.block_id x
    %by = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
    %tx = gpu.thread_id x
    %bdx = gpu.block_dim x
{}    gpu.return
  }}
}}
"#,
            sizes[3],
            sizes[4],
            sizes[5],
            sizes[0],
            sizes[1],
            sizes[2],
            body.replace("    gpu.terminator\n", "")
        );
        check_launch(&stated, &sizes);
    }
}

/// Each block and thread reads its own index.
fn check_launch(text: &str, sizes: &[i64]) {
    let mut found: Vec<(i64, i64, i64, Vec<i64>)> = places(&Read::of(text.to_owned()).maps("memref.load"))
        .into_iter()
        .map(|(values, place)| {
            let of = |name: &str| values.iter().find(|(own, _)| own == name).map_or(0, |(_, n)| *n);
            (of("bx"), of("by"), of("tx"), place)
        })
        .collect();
    found.sort();
    let mut expect = Vec::new();
    for bx in 0..sizes[0] {
        for by in 0..sizes[1] {
            for tx in 0..sizes[3] {
                expect.push((bx, by, tx, vec![bx * sizes[3] + tx, by]));
            }
        }
    }
    assert_eq!(found, expect, "{text}");
}

/// Ids of a launch of unknown size are below that size.
#[test]
fn launches_of_unknown_size() {
    let read = Read::of(
        "\
func.func @f(%m: memref<?xf32>, %n: index) {
  %c = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c, %gz = %c) threads(%tx, %ty, %tz) in (%bdx = %c, %bdy = %c, %bdz = %c) {
    %e = memref.load %m[%bx] : memref<?xf32>
    gpu.terminator
  }
  return
}
"
            .to_owned(),
    );
    let access = &read.maps("memref.load").accesses[0];
    let shown = access.map.to_string();
    assert!(shown.contains("-n + bx in [-9223372036854775808, -1]"), "{shown}");
}
