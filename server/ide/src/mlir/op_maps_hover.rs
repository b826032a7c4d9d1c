//! The maps of an op in its popup: what each result is made of, where stores go, what an index is, and further away the
//! arguments that all of it comes from.

use db::MlirMaps;
use indexing::{OperandIndexing, Rules};
use indexing_map::{IndexingMap, PrintStyle, domain_short, print_map, wrap};
use ir::{ArrayShape, ElementType, Shape};
use mlir_indexing::{Access, OpMaps, Role, Source, Space, SymbolSource};

use crate::hover::{HoverConfig, MAP_LIMIT, access_blocks, utilisation_text};
use crate::locate::FileContext;
use crate::markdown::{code, fence};
use crate::mlir::context::OpRef;
use crate::mlir::map_text::{domain_text, map_text};

/// Results of which the maps are shown.
const RESULT_LIMIT: usize = 8;
/// Arguments far away of which the maps are shown.
const FAR_LIMIT: usize = 8;

/// All that is known of what an op reads and writes, as Markdown; empty where that is nothing.
pub(crate) fn op_maps_hover(context: &FileContext<'_>, at: OpRef, config: &HoverConfig) -> String {
    let read = context.mlir_piece(at.piece);
    let found = db::with_mlir_source(context.db, context.view.file, at.piece, |source| {
        let results = source.result_count(at.id).clamp(1, RESULT_LIMIT);
        let mut blocks = Vec::new();
        for result in 0..results {
            match db::mlir_maps(source, at.id, result) {
                Some(Ok(MlirMaps::Own(maps))) => blocks.extend(own_blocks(source, &maps, results)),
                Some(Ok(MlirMaps::Twin(twin))) => {
                    let from = if results > 1 { format!("output {result}") } else { "output".to_owned() };
                    let named = config.readable_variables.then(|| twin.op());
                    let (exact, xla) = (twin.maps(result, Rules::Exact), twin.maps(result, Rules::Xla));
                    blocks.extend(access_blocks(&from, &twin.operands, twin.op(), &exact, &xla, named));
                }
                // What reads nothing misses nothing.
                Some(Err(reason)) if read.parse.operands_of(at.id).next().is_some() => {
                    blocks.push(format!("No map: {reason}.\n"));
                    break;
                }
                _ => {}
            }
        }
        if blocks.is_empty() {
            return String::new();
        }
        let omitted = blocks.len().saturating_sub(MAP_LIMIT);
        blocks.truncate(MAP_LIMIT);
        if omitted > 0 {
            blocks.push(format!("… and {omitted} more maps.\n\n"));
        }
        blocks.push(far_blocks(context, at));
        format!("\n{}", blocks.concat())
    });
    found.unwrap_or_default()
}

/// One block per operand; operands that are read alike share one.
fn own_blocks(source: &Source<'_>, maps: &OpMaps, results: usize) -> Vec<String> {
    let mut groups: Vec<(Vec<&str>, &Access)> = Vec::new();
    for access in &maps.accesses {
        let is_like = |other: &Access| {
            (&other.map, &other.symbols, &other.note, &other.address, other.role)
                == (&access.map, &access.symbols, &access.note, &access.address, access.role)
        };
        match groups.iter_mut().find(|(_, other)| is_like(other)) {
            Some((names, _)) if names.contains(&access.operand.as_str()) => {}
            Some((names, _)) => names.push(&access.operand),
            None => groups.push((vec![&access.operand], access)),
        }
    }
    let block = |(names, access): (Vec<&str>, &Access)| {
        let used = match maps.space {
            Space::Result(_) => utilisation(source, access).unwrap_or_default(),
            _ => String::new(),
        };
        own_block(&maps.space, &names, access, results) + &used
    };
    groups.into_iter().map(block).collect()
}

/// How much of an array of known shape is read, where the map alone tells it.
fn utilisation(source: &Source<'_>, access: &Access) -> Option<String> {
    if access.role != Role::Read || access.note.is_some() || !access.symbols.is_empty() {
        return None;
    }
    let (value, index) = access.value?;
    let written = mlir_hlo::static_hlo_shape(&source.type_of(value, index)?).ok()?;
    let (element, dims) = written.split_once('[')?;
    let dims: Option<Vec<i64>> =
        dims.trim_end_matches(']').split(',').filter(|d| !d.is_empty()).map(|d| d.parse().ok()).collect();
    let element = ElementType::from_name(element)?;
    let shape = Shape::Array(ArrayShape { element, dims: dims?, dynamic: Vec::new(), layout: None }.into());
    utilisation_text(&[OperandIndexing::from(access.map.clone())], &shape)
}

fn own_block(space: &Space, names: &[&str], access: &Access, results: usize) -> String {
    let operands = names.iter().map(|n| code(n)).collect::<Vec<_>>().join(", ");
    let title = match (space, access.role) {
        (Space::Loops, Role::Value) => "**points of the loop**".to_owned(),
        (_, Role::Value) => format!("**{operands} is**"),
        (Space::Around, Role::Read) => format!("**reads {operands}**"),
        (Space::Around, Role::Write) => format!("**writes {operands}**"),
        (Space::Result(n), _) if results > 1 => format!("**output {n} → {operands}**"),
        (Space::Result(_), _) => format!("**output → {operands}**"),
        (Space::Loops, Role::Read) => format!("**loops → {operands}**"),
        (Space::Loops, Role::Write) => format!("**loops → {operands}** written"),
        (Space::Stored(value), _) => format!("**{} → {operands}** written", code(value)),
        (Space::Written(buffer), _) => format!("**{} → {operands}**", code(buffer)),
    };
    format!("{title}{}", access_text(access))
}

fn access_text(access: &Access) -> String {
    let note = access.note.as_ref().map(|n| format!("{n}\n\n")).unwrap_or_default();
    let map = &access.map;
    if map.is_undefined() {
        return format!(" no map: {note}");
    }
    if map.is_known_empty() {
        return format!(" nothing is read\n\n{note}");
    }
    if map.results().is_empty() && map.constraints().is_empty() {
        let note = access.note.as_ref().map(|n| format!(", {n}")).unwrap_or_default();
        return format!(" the scalar{note}\n\n");
    }
    let mut text = match map.is_identity() && map.num_dims() > 0 && access.symbols.is_empty() {
        true => format!(" identity · {}\n\n{note}", domain_short(map, PrintStyle::Floordiv)),
        false => format!("\n{}{note}", fence("", &map_text(map))),
    };
    text += &symbols(access, map);
    if let Some(address) = &access.address {
        let linear = print_map(&address.map, PrintStyle::Floordiv);
        let linear = linear.split(", domain: ").next().unwrap_or_default();
        let result = linear.split_once(" -> ").map_or(linear, |(_, result)| result);
        let result = result.strip_prefix('(').and_then(|r| r.strip_suffix(')')).unwrap_or(result);
        let stride = match &address.stride {
            Some((name, stride)) => format!(" · next {}: {stride:+}", code(name)),
            None => String::new(),
        };
        text += &format!("address {}{stride}\n\n", code(&wrap(result, 72)));
    }
    text
}

/// What the runtime variables are, where their names do not tell.
fn symbols(access: &Access, map: &IndexingMap) -> String {
    let mut told = Vec::new();
    for symbol in &access.symbols {
        let what = symbol.describe(map);
        let is_plain = matches!(symbol.source, SymbolSource::Value { .. } | SymbolSource::Loop { .. })
            && what.trim_start_matches('%') == &*symbol.name;
        if !is_plain {
            told.push(format!("{} is {}", code(&symbol.name), code(&what)));
        }
    }
    if told.is_empty() { String::new() } else { format!("{}\n\n", told.join(" · ")) }
}

/// The arguments that the results are made of in the end.
fn far_blocks(context: &FileContext<'_>, at: OpRef) -> String {
    let mut text = String::new();
    let far = db::mlir_producers(context.db, context.view.file, at.piece, at.id, 0);
    for found in far.accesses.iter().take(FAR_LIMIT) {
        text += &format!("**→ {}** (through {} ops)", code(&found.access.operand), found.through);
        text += &access_text(&found.access);
    }
    let omitted = far.accesses.len().saturating_sub(FAR_LIMIT);
    if omitted > 0 {
        text += &format!("… and {omitted} more arguments.\n\n");
    }
    if far.is_cut {
        text += "The way back to the arguments is long: not all of it was followed.\n\n";
    }
    text
}

/// The domain of an op's own maps, for a hint: of the access that says most.
pub(crate) fn own_domain(maps: &OpMaps) -> Option<String> {
    if matches!(maps.space, Space::Around) {
        return None;
    }
    let mapped = maps.accesses.iter().filter(|a| a.map.is_mapped() && !a.map.variables().is_empty());
    let extent = |a: &&Access| (!a.map.results().is_empty(), a.map.num_ranges() + a.map.num_runtime());
    let widest = mapped.rev().max_by_key(extent)?;
    let is_unbounded = widest.map.variables().iter().any(|v| v.bounds.upper == i64::MAX);
    let label = match is_unbounded {
        true => domain_text(&widest.map),
        false => domain_short(&widest.map, PrintStyle::Floordiv),
    };
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    /// What the hover of an op says behind its line.
    fn check(text: &str, expect: Expect) {
        let (analysis, file, offset) = open_mlir(text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
        let at = hover.markdown.find("\n**").unwrap_or(hover.markdown.len());
        expect.assert_eq(hover.markdown[at..].trim_start());
    }

    #[test]
    fn slices_with_sizes_that_are_not_known() {
        check(
            "func.func @f(%a: tensor<?x64xf32>, %n: index) {\n  scf.for %i = %c0 to %n step %c4 {\n    %0 = tensor.extract_slice$0 %a[%i, 8] [%n, 4] [1, 2] : tensor<?x64xf32> to tensor<?x4xf32>\n  }\n}\n",
            expect![[r#"
                **output → `%a`**
                ```
                (d0, d1){c0, n, i} -> (d0 + i, d1 * 2 + 8)
                domain: 0 ≤ d0 < n, 0 ≤ d1 ≤ 3, 0 ≤ i < n, c0 ≤ i
                ```
            "#]],
        );
    }

    #[test]
    fn loops_have_the_names_of_the_op() {
        check(
            "func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) {\n  %0 = linalg.matmul$0 ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>\n}\n",
            expect![[r#"
                **output → `%a`**
                ```
                (m, n)[k] -> (m, k)
                domain: m in [0, 3], n in [0, 15], k in [0, 7]
                ```
                reads 100 % (128 B), each element 16 times

                **output → `%b`**
                ```
                (m, n)[k] -> (k, n)
                domain: m in [0, 3], n in [0, 15], k in [0, 7]
                ```
                reads 100 % (512 B), each element 4 times

                **output → `%c`** identity · m ≤ 3, n ≤ 15

            "#]],
        );
    }

    #[test]
    fn loads_say_where_in_memory_they_are() {
        check(
            "#map = affine_map<(d0)[s0] -> (d0 * 4 + s0)>\nfunc.func @f(%m: memref<64x?xf32, strided<[100, 2], offset: ?>>, %k: index) {\n  affine.for %i = 0 to 16 {\n    affine.for %j = 2 to 10 step 3 {\n      %x = affine.apply #map(%i)[%k]\n      %0 = affine.load$0 %m[%x, %j + 1] : memref<64x?xf32, strided<[100, 2], offset: ?>>\n    }\n  }\n}\n",
            expect![[r#"
                **reads `%m`**
                ```
                (i, j){k} -> (i * 4 + k, j + 1)
                domain: 0 ≤ i ≤ 15, 2 ≤ j ≤ 9, (j + 1) mod 3 = 0
                ```
                address `i * 400 + j * 2 + k * 100 + m_offset + 2` · next `j`: +6

            "#]],
        );
    }

    #[test]
    fn values_of_indices_are_told_in_terms_of_loops() {
        check(
            "func.func @f(%t: index {xla.range = [0 : index, 127 : index]}) {\n  affine.for %i = 0 to 4 {\n    %l = affine.linearize_index [%i, %t] by (4, 128) : index\n    %0:2 = affine.delinearize_index$0 %l into (64, 8) : index, index\n  }\n}\n",
            expect![[r#"
                **`%0#0` is**
                ```
                (i){t} -> (i * 16 + t floordiv 8)
                domain: i in [0, 3], t in [0, 127]
                ```
                **`%0#1` is**
                ```
                (i){t} -> (t mod 8)
                domain: i in [0, 3], t in [0, 127]
                ```
            "#]],
        );
    }

    #[test]
    fn arguments_far_away() {
        check(
            "func.func @f(%a: tensor<4x8xf32>, %b: tensor<?xf32>) {\n  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>\n  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>\n  %2 = arith.addf %1, %1 : tensor<32xf32>\n  %3 = tensor.extract_slice$0 %2[4] [8] [2] : tensor<32xf32> to tensor<8xf32>\n}\n",
            expect![[r#"
                **output → `%2`**
                ```
                (d0) -> (d0 * 2 + 4)
                domain: d0 in [0, 7]
                ```
                reads 25 % (32 B), each element once

                **→ `%a`** (through 4 ops)
                ```
                (d0) -> ((d0 mod 2) * 2, d0 floordiv 2 + 1)
                domain: d0 in [0, 7]
                ```
            "#]],
        );
    }

    #[test]
    fn runtime_offsets_go_along() {
        check(
            "func.func @f(%a: tensor<64x8xf32>, %i: tensor<i32>) {\n  %z = stablehlo.constant dense<0> : tensor<i32>\n  %0 = stablehlo.dynamic_slice %a, %i, %z, sizes = [16, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>\n  %1 = tensor.extract_slice$0 %0[2, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>\n}\n",
            expect![[r#"
                **output → `%0`**
                ```
                (d0, d1) -> (d0 + 2, d1)
                domain: d0 in [0, 3], d1 in [0, 7]
                ```
                reads 25 % (128 B), each element once

                **→ `%a`** (through 2 ops)
                ```
                (d0, d1){i} -> (d0 + i + 2, d1)
                domain: d0 in [0, 3], d1 in [0, 7], i in [0, 48]
                ```
                **→ `%i`** (through 2 ops) the scalar

            "#]],
        );
    }

    #[test]
    fn values_at_run_time_have_their_names() {
        check(
            "func.func @f(%a: tensor<64x8xf32>, %0: tensor<4x1xi32>) {\n  %1 = \"stablehlo.gather\"$0(%a, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<64x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>\n}\n",
            expect![[r#"
                **output → `%a`**
                ```
                (batch, offset){v0} -> (v0, offset)
                domain: batch in [0, 3], offset in [0, 7], v0 in [0, 63]
                ```
                `v0` is `%0` at `(batch, offset) -> (batch, 0)`

                reads 1.562 % (32 B), each element 4 times

                **output → `%0`**
                ```
                (batch, offset) -> (batch, 0)
                domain: batch in [0, 3], offset in [0, 7]
                ```
                reads 100 % (16 B), each element 8 times

            "#]],
        );
    }

    #[test]
    fn stablehlo_of_dynamic_shapes() {
        check(
            "func.func @f(%a: tensor<?x8xf32>, %s: tensor<2xi32>) {\n  %0 = stablehlo.dynamic_broadcast_in_dim$0 %a, %s, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>\n}\n",
            expect![[r#"
                **output → `%a`**
                ```
                (d0, d1){s_at0, a_dim0} -> (d0 mod a_dim0, d1)
                domain: 0 ≤ d0 < s_at0, 0 ≤ d1 ≤ 7, 0 ≤ s_at0, 0 ≤ a_dim0
                ```
                `s_at0` is `%s[0]` · `a_dim0` is `dim(%a, 0)`

            "#]],
        );
    }

    #[test]
    fn vectors_are_read_from_tiles() {
        check(
            "func.func @f(%m: memref<32x30xf32>, %i: index, %p: f32) {\n  %0 = vector.transfer_read$0 %m[%i, %i], %p {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<32x30xf32>, vector<4x8xf32>\n}\n",
            expect![[r#"
                **output → `%m`**
                ```
                (d0, d1){i} -> (d1 + i, d0 + i)
                domain: 0 ≤ d0 ≤ 3, 0 ≤ d1 ≤ 7, 0 ≤ d1 + i ≤ 31
                ```
                address `d1 * 30 + i * 31 + d0` · next `d1`: +30

                **output → `%p`** the scalar, outside of the array

            "#]],
        );
    }

    /// The maps in the hover of an op.
    fn check_line(line: &str, expect: Expect) {
        let text = format!(
            "func.func @f(%a: tensor<4x8xf32>, %k: tensor<1x8xf32>, %i: tensor<i32>, %s: tensor<f32>) {{\n  %z = stablehlo.constant dense<0> : tensor<i32>\n  {line}\n}}\n"
        );
        let (analysis, file, offset) = open_mlir(&text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
        let maps =
            hover.markdown.split("**output").skip(1).map(|block| format!("output{}\n", block.trim_end()));
        expect.assert_eq(&maps.collect::<String>());
    }

    #[test]
    fn ops_read_their_operands_as_their_twins_do() {
        check_line(
            "%0 = stablehlo.trans$0pose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
            expect![[r#"
                output → `%a`**
                ```
                (d0, d1) -> (d1, d0)
                domain: d0 in [0, 7], d1 in [0, 3]
                ```
            "#]],
        );
        check_line(
            "%0 = stablehlo.broadcast_in$0_dim %k, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>",
            expect![[r#"
                output → `%k`**
                ```
                (d0, d1) -> (0, d1)
                domain: d0 in [0, 3], d1 in [0, 7]
                ```
                reads 100 % (32 B), each element 4 times
            "#]],
        );
        check_line(
            "%0 = stablehlo.reduce$0(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
            expect![[r#"
                output → `%a`**
                ```
                (d0)[reduced] -> (d0, reduced)
                domain: d0 in [0, 3], reduced in [0, 7]
                ```
                output → `%s`** the scalar
            "#]],
        );
    }

    #[test]
    fn loops_of_xla_compute_indices() {
        check(
            "#map = #xla.indexing_map<\"(w)[s0] -> (w, s0 * 2), domain: w in [0, 15], s0 in [0, 3]\">\nfunc.func @f(%in: tensor<16x8xf32>, %z: f32, %w: index {xla.range = [0 : index, 15 : index]}) -> f32 {\n  %sum = xla.loop (%w)[%i] -> (%r0, %r1) in #map iter_args(%s = %z) -> (f32) {\n    %x = tensor.extract$0 %in[%r0, %r1] : tensor<16x8xf32>\n    xla.yield %x : f32\n  }\n}\n",
            expect![[r#"
                **reads `%in`**
                ```
                (i){w} -> (w, i * 2)
                domain: i in [0, 3], w in [0, 15]
                ```
            "#]],
        );
        check(
            "#map = #xla.indexing_map<\"(w)[s0] -> (w, s0 * 2), domain: w in [0, 15], s0 in [0, 3]\">\nfunc.func @f(%z: f32, %w: index) -> f32 {\n  %sum = xla.loop$0 (%w)[%i] -> (%r0, %r1) in #map iter_args(%s = %z) -> (f32) {\n    xla.yield %s : f32\n  }\n}\n",
            expect![[r#"
                **points of the loop**
                ```
                (w)[i] -> (w, i * 2)
                domain: w in [0, 15], i in [0, 3]
                ```
            "#]],
        );
    }

    #[test]
    fn variables_of_loops_have_ranges() {
        let (analysis, file, offset) = open_mlir(
            "func.func @f(%n: index) {\n  affine.for %i = 2 to 10 step 3 {\n    x.y $0%i : index\n  }\n}\n",
        );
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is a value");
        let ranges: Vec<_> = hover.markdown.lines().filter(|l| l.contains('≤')).collect();
        assert_eq!(ranges, ["2 ≤ i ≤ 9, (i + 1) mod 3 = 0"]);
    }

    /// Aliases stand at the top, and what uses them in other pieces.
    #[test]
    fn aliases_of_other_pieces_are_known() {
        let filler: String = (0..1500)
            .map(|n| format!("func.func @f{n}(%a: f32) {{\n  %b = x.y %a : f32\n  return\n}}\n"))
            .collect();
        let text = format!(
            "#map = affine_map<(d0)[s0] -> (d0 * 4 + s0)>\n!array = tensor<4x8xf32>\n{filler}func.func @g(%i: index, %x: !array) {{\n  %0 = affine.apply$0 #map(%i)[%i]\n}}\n"
        );
        check(
            &text,
            expect![[r#"
            **`%0` is**
            ```
            (){i} -> (i * 5)
            ```
        "#]],
        );
        let text = text.replace("$0", "").replace(
            "%0 = ",
            "%1 = tensor.extract_slice$0 %x[0, 1] [4, 2] [1, 3] : !array to tensor<4x2xf32>\n  %0 = ",
        );
        check(
            &text,
            expect![[r#"
            **output → `%x`**
            ```
            (d0, d1) -> (d0, d1 * 3 + 1)
            domain: d0 in [0, 3], d1 in [0, 1]
            ```
            reads 25 % (32 B), each element once

        "#]],
        );
    }
}
