//! Example ops with their maps.

use expect_test::{Expect, expect};
use mlir_indexing::{Role, op_maps};
use mlir_ops::Source;
use op_reads::Read;

/// Checks the maps of the last op of a function with these arguments.
fn check(arguments: &str, line: &str, expect: Expect) {
    let read = Read::of(format!("func.func @f({arguments}) {{\n  {line}\n  return\n}}\n"));
    let source = Source::alone(&read.parse, &read.text);
    let ops = 0..read.parse.ops.len() as u32 - 1;
    let shown = ops.filter_map(|id| op_maps(&source, id, 0)).next_back().map(|maps| match maps {
        Ok(maps) => maps
            .accesses
            .iter()
            .map(|a| {
                let role = match a.role {
                    Role::Read => "",
                    Role::Write => "writes ",
                    Role::Value => "is ",
                };
                let note = a.note.as_ref().map(|n| format!(" ({n})")).unwrap_or_default();
                let address = a.address.as_ref().map(|at| format!("\n  at {}", at.map)).unwrap_or_default();
                format!("{role}{}{note}: {}{address}\n", a.operand, a.map)
            })
            .collect(),
        Err(reason) => format!("no map: {reason}\n"),
    });
    let shown = shown.unwrap_or_else(|| "nothing is read by index\n".to_owned());
    let shown = shown.replace(&i64::MAX.to_string(), "∞").replace(&i64::MIN.to_string(), "-∞");
    expect.assert_eq(&shown);
}

#[test]
fn tiles_of_xla() {
    check(
        "%m: memref<1024x64xf32, #xtile.layout<[0, 1]>>, %i: index {xla.range = [0 : index, 31 : index]}",
        "\
%c = arith.constant 32 : index
  %o = arith.muli %i, %c : index
  %0 = xtile.extract %m[%o, 3][32, 1][1, 1] : memref<1024x64xf32, #xtile.layout<[0, 1]>> -> tensor<32xf32>",
        expect![[r#"
            %m: (d0){i} -> (i * 32 + d0, 3), domain: d0 in [0, 31], i in [0, 31]
              at (d0){i} -> (i * 32 + d0 + 3072), domain: d0 in [0, 31], i in [0, 31]
        "#]],
    );
    check(
        "%p: !tt.ptr<f32>, %t: tensor<16x8xf32>, %i: index",
        "triton_xla.insert %t into %p as memref<64x8xf32, #xtile.layout<[1, 0]>> [%i, 0] [16, 8] [1, 1] : tensor<16x8xf32>",
        expect![[r#"
            writes %p: (d0, d1){i} -> (d0 + i, d1), domain: d0 in [0, 15], d1 in [0, 7], i in [0, 63], d0 + i in [0, 63]
              at (d0, d1){i} -> (d0 * 8 + i * 8 + d1), domain: d0 in [0, 15], d1 in [0, 7], i in [0, 63]
        "#]],
    );
    check(
        "%t: tensor<16x8xf32>, %v: f32",
        "%0 = xtile.mask %t bounds [3, 8], %v : tensor<16x8xf32>",
        expect![[r#"
            %t: (d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 7]
            %v (outside of the bounds): (d0, d1) -> (), domain: d0 in [0, 15], d1 in [0, 7]
        "#]],
    );
    check(
        "%t: tensor<16x1x8xf32>",
        "%0 = triton_xla.squeeze_dims %t {axis = 1 : i32} : tensor<16x1x8xf32> -> tensor<16x8xf32>",
        expect![[r#"
            %t: (d0, d1) -> (d0, 0, d1), domain: d0 in [0, 15], d1 in [0, 7]
        "#]],
    );
}

#[test]
fn threads_of_xla() {
    check(
        "%v: !xla_gpu.indexed_vector<32x64xf32, #m>, %t: tensor<128x64xf32>, %i: index, %j: index",
        "%0 = xla_gpu.insert %v(%i, %j) into %t at #xla.indexing_map<\"(th, w)[s0] -> (th * 4 + s0, w), domain: th in [0, 31], w in [0, 63], s0 in [0, 3]\"> : !xla_gpu.indexed_vector<32x64xf32, #m> -> tensor<128x64xf32>",
        expect![[r#"
            writes %t: ()[s0]{i, j} -> (i * 4 + s0, j), domain: s0 in [0, 3], i in [0, 31], j in [0, 63]
        "#]],
    );
    check(
        "%a: tensor<8x4x2xf32>, %z: f32",
        "%0 = xla_gpu.reduce (%a) inits(%z) dimensions=[0, 2] combiner=@add : tensor<8x4x2xf32> to tensor<4xf32>",
        expect![[r#"
            %a: (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 3], s0 in [0, 7], s1 in [0, 1]
            %z: (d0) -> (), domain: d0 in [0, 3]
        "#]],
    );
    check(
        "%m: memref<1024xf32>",
        "%t = gpu.thread_id x\n  %b = gpu.block_id x upper_bound 4\n  %i = affine.linearize_index [%b, %t] by (4, 256) : index\n  %0 = memref.load %m[%i] : memref<1024xf32>",
        expect![[r#"
            %m: (){b, t} -> (b * 256 + t), domain: b in [0, 3], t in [0, 1023]
              at (){b, t} -> (b * 256 + t), domain: b in [0, 3], t in [0, 1023]
        "#]],
    );
}

/// The domain of a load in loops of every kind.
#[test]
fn loops_of_every_kind() {
    let load = "%x = memref.load %m[%i, %j] : memref<64x64xf32>";
    let m = "%m: memref<64x64xf32>, %n: index, %k: index {xla.range = [1 : index, 9 : index]}";
    let constants =
        "%c0 = arith.constant 0 : index\n  %c2 = arith.constant 2 : index\n  %c8 = arith.constant 8 : index";
    check(
        m,
        &format!("scf.forall (%i, %j) in (8, %n) {{\n    {load}\n  }}"),
        expect![[r#"
        %m: (i, j){n} -> (i, j), domain: i in [0, 7], j in [0, ∞], n in [-∞, ∞], -n + j in [-∞, -1]
          at (i, j){n} -> (i * 64 + j), domain: i in [0, 7], j in [0, ∞], n in [-∞, ∞], -n + j in [-∞, -1]
    "#]],
    );
    check(
        m,
        &format!("scf.forall (%i, %j) = (2, %k) to (8, 16) step (3, 1) {{\n    {load}\n  }}"),
        expect![[r#"
            %m: (i, j){k} -> (i, j), domain: i in [2, 7], j in [1, 15], k in [1, 9], (i + 1) mod 3 in [0, 0], -k + j in [0, ∞]
              at (i, j){k} -> (i * 64 + j), domain: i in [2, 7], j in [1, 15], k in [1, 9], (i + 1) mod 3 in [0, 0], -k + j in [0, ∞]
        "#]],
    );
    check(
        m,
        &format!(
            "\
{constants}
  scf.parallel (%i, %j) = (%c0, %c2) to (%c8, %n) step (%c2, %c2) {{
    {load}
  }}"
        ),
        expect![[r#"
            %m: (i, j){n} -> (i, j), domain: i in [0, 6], j in [2, ∞], n in [-∞, ∞], -n + j in [-∞, -1], i mod 2 in [0, 0], j mod 2 in [0, 0]
              at (i, j){n} -> (i * 64 + j), domain: i in [0, 6], j in [2, ∞], n in [-∞, ∞], -n + j in [-∞, -1], i mod 2 in [0, 0], j mod 2 in [0, 0]
        "#]],
    );
    check(
        m,
        &format!("affine.parallel (%i, %j) = (0, 2) to (%k, %n * 2) step (1, 4) {{\n    {load}\n  }}"),
        expect![[r#"
            %m: (i, j){k, n} -> (i, j), domain: i in [0, 8], j in [2, ∞], k in [1, 9], n in [-∞, ∞], (j + 2) mod 4 in [0, 0], -k + i in [-∞, -1], n * -2 + j in [-∞, -1]
              at (i, j){k, n} -> (i * 64 + j), domain: i in [0, 8], j in [2, ∞], k in [1, 9], n in [-∞, ∞], (j + 2) mod 4 in [0, 0], -k + i in [-∞, -1], n * -2 + j in [-∞, -1]
        "#]],
    );
    check(
        m,
        &format!(
            "\
affine.for %i = 0 to 64 step 16 {{
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0)[s0] -> (d0 + 16, s0)>(%i)[%k] {{
      {load}
    }}
  }}"
        ),
        expect![[r#"
            %m: (i, j){k} -> (0, j), domain: i in [0, 0], j in [0, 8], k in [1, 9], -k + j in [-∞, -1]
              at (i, j){k} -> (j), domain: i in [0, 0], j in [0, 8], k in [1, 9], -k + j in [-∞, -1]
        "#]],
    );
    check(
        m,
        &format!(
            r#"{constants}
  "scf.for"(%c0, %c8, %c2) ({{
  ^bb0(%i: index):
    "scf.for"(%c0, %n, %c2) ({{
    ^bb0(%j: index):
      {load}
      scf.yield
    }}) : (index, index, index) -> ()
    scf.yield
  }}) : (index, index, index) -> ()"#
        ),
        expect![[r#"
            %m: (i, j){n} -> (i, j), domain: i in [0, 6], j in [0, ∞], n in [-∞, ∞], -n + j in [-∞, -1], i mod 2 in [0, 0], j mod 2 in [0, 0]
              at (i, j){n} -> (i * 64 + j), domain: i in [0, 6], j in [0, ∞], n in [-∞, ∞], -n + j in [-∞, -1], i mod 2 in [0, 0], j mod 2 in [0, 0]
        "#]],
    );
}

#[test]
fn values_of_indices() {
    check(
        "%a: tensor<?x8xf32>, %i: index",
        "\
%c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x8xf32>
  %w = tensor.dim %a, %c1 : tensor<?x8xf32>
  %x = arith.muli %n, %w : index
  %y = arith.ceildivsi %x, %w : index
  %z = arith.maxsi %y, %i : index",
        expect![[r#"
            is %z: (){a_dim0, i} -> (max(a_dim0, i)), domain: a_dim0 in [0, ∞], i in [-∞, ∞]
        "#]],
    );
}

/// The generic form says the same.
#[test]
fn generic_forms() {
    check(
        "%a: tensor<16x8xf32>, %i: index",
        "%0 = \"tensor.extract_slice\"(%a, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 2>, static_sizes = array<i64: 4, 3>, static_strides = array<i64: 2, 1>}> : (tensor<16x8xf32>, index) -> tensor<4x3xf32>",
        expect![[r#"
            %a: (d0, d1){i} -> (d0 * 2 + i, d1 + 2), domain: d0 in [0, 3], d1 in [0, 2], i in [0, 9]
        "#]],
    );
    check(
        "%a: tensor<3x5x7xf32>",
        "%0 = \"tensor.collapse_shape\"(%a) <{reassociation = [[0, 1], [2]]}> : (tensor<3x5x7xf32>) -> tensor<15x7xf32>",
        expect![[r#"
            %a: (d0, d1) -> (d0 floordiv 5, d0 mod 5, d1), domain: d0 in [0, 14], d1 in [0, 6]
        "#]],
    );
    check(
        "%m: memref<4x?xf32>, %i: index",
        "%0 = \"affine.load\"(%m, %i) <{map = affine_map<(d0) -> (3, d0 + 1)>}> : (memref<4x?xf32>, index) -> f32",
        expect![[r#"
            %m: (){i} -> (3, i + 1), domain: i in [-∞, ∞]
              at (){i, m_dim1} -> (m_dim1 * 3 + i + 1), domain: i in [-∞, ∞], m_dim1 in [0, ∞]
        "#]],
    );
    check(
        "%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>",
        r#"%0 = "linalg.matmul"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%x: f32, %y: f32, %z: f32):
    linalg.yield %z : f32
  }) : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>"#,
        expect![[r#"
            %a: (m, n)[k] -> (m, k), domain: m in [0, 3], n in [0, 1], k in [0, 7]
            %b: (m, n)[k] -> (k, n), domain: m in [0, 3], n in [0, 1], k in [0, 7]
            %c: (m, n) -> (m, n), domain: m in [0, 3], n in [0, 1]
        "#]],
    );
    check(
        "%v: vector<4x8xf32>, %i: index",
        "%0 = \"vector.extract\"(%v, %i) <{static_position = array<i64: -9223372036854775808>}> : (vector<4x8xf32>, index) -> vector<8xf32>",
        expect![[r#"
            %v: (d0){i} -> (i, d0), domain: d0 in [0, 7], i in [0, 3]
        "#]],
    );
}

#[test]
fn extents_follow_from_ops() {
    check(
        "%a: tensor<?x?xf32>, %b: tensor<?x?xf32>",
        "\
%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>",
        expect![[r#"
            %a: (m, n)[k]{a_dim0, a_dim1, b_dim1} -> (m, k), domain: m in [0, ∞], n in [0, ∞], k in [0, ∞], a_dim0 in [0, ∞], a_dim1 in [0, ∞], b_dim1 in [0, ∞], -a_dim0 + m in [-∞, -1], -a_dim1 + k in [-∞, -1], -b_dim1 + n in [-∞, -1]
            %b: (m, n)[k]{a_dim0, a_dim1, b_dim1} -> (k, n), domain: m in [0, ∞], n in [0, ∞], k in [0, ∞], a_dim0 in [0, ∞], a_dim1 in [0, ∞], b_dim1 in [0, ∞], -a_dim0 + m in [-∞, -1], -a_dim1 + k in [-∞, -1], -b_dim1 + n in [-∞, -1]
            %e: (m, n){a_dim0, b_dim1} -> (m, n), domain: m in [0, ∞], n in [0, ∞], a_dim0 in [0, ∞], b_dim1 in [0, ∞], -a_dim0 + m in [-∞, -1], -b_dim1 + n in [-∞, -1]
        "#]],
    );
}

#[test]
fn outputs_that_do_not_tell_their_iteration() {
    check(
        "%a: memref<8xf32>, %b: memref<15xf32>, %k: memref<8xf32>",
        r#"linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i + j)>], iterator_types = ["parallel", "reduction"]} ins(%a, %k : memref<8xf32>, memref<8xf32>) outs(%b : memref<15xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    linalg.yield %x : f32
  }"#,
        expect![[r#"
            %a: (i, j) -> (i), domain: i in [0, 7], j in [0, 7]
            writes %b: (i, j) -> (i + j), domain: i in [0, 7], j in [0, 7]
        "#]],
    );
}

#[test]
fn what_has_no_map_says_why() {
    check(
        "%a: tensor<*xf32>",
        "%0 = tensor.extract_slice %a[0] [4] [1] : tensor<*xf32> to tensor<4xf32>",
        expect![[r#"
            no map: the rank of tensor<*xf32> is not known
        "#]],
    );
    check(
        "%a: tensor<4x8xf32>",
        "%0 = tensor.collapse_shape %a [[1, 0]] : tensor<4x8xf32> into tensor<32xf32>",
        expect![[r#"
            no map: its reassociation does not name the dimensions in order
        "#]],
    );
}

/// Truncated text never panics.
#[test]
fn cut_text_is_survived() {
    let text = include_str!("examples.rs");
    let lines: Vec<&str> = text.lines().filter(|l| l.contains("= ") && l.contains('%')).collect();
    for line in lines {
        let line = line.trim().trim_matches(['"', ',']).replace("\\n", "\n").replace("\\\"", "\"");
        for end in (0..line.len()).filter(|&at| line.is_char_boundary(at)) {
            let cut = &line[..end];
            let parse = mlir::parse(cut, mlir::PieceState::default());
            let source = Source::alone(&parse, cut);
            for id in 0..parse.ops.len() as u32 {
                _ = op_maps(&source, id, 0);
                _ = op_maps(&source, id, 7);
                _ = mlir_indexing::MapChecks::new(&source).of(id);
                _ = mlir_indexing::op_hints(&source, id);
            }
        }
    }
}
