//! Loads and stores in loops, addresses by layout, and index values, compared with running the loops.

use mlir_indexing::Access;
use op_reads::*;

#[test]
fn affine_loads_in_loops() {
    let mut random = Rng::new(31);
    for _ in 0..300 {
        let (lower, step) = (random.below(0..3), random.below(1..4));
        let upper = lower + random.below(1..8);
        let inner = random.below(1..6);
        let names = ["%i", "%j", "%n"];
        let (x, f) = expression(&mut random, &names, 3);
        let (y, g) = expression(&mut random, &names, 2);
        // The same expression in a separate map, applied to the values.
        let in_map = |text: &str| text.replace("%i", "d0").replace("%j", "d1").replace("%n", "s0");
        let is_strided = random.flag();
        let (strides, offset) = ([random.below(1..50), random.below(1..5)], random.below(0..9));
        let layout = match is_strided {
            true => format!(", strided<{strides:?}, offset: {offset}>"),
            false => String::new(),
        };
        let buffer = format!("memref<100x100xf32{layout}>");
        let text = format!(
            "\
#map = affine_map<(d0, d1)[s0] -> ({})>
func.func @f(%m: {buffer}, %n: index) {{
  affine.for %i = {lower} to {upper} step {step} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = arith.constant {inner} : index
    scf.for %j = %c0 to %c step %c1 {{
      %x = affine.apply #map(%i, %j)[%n]
      %0 = affine.load %m[%x, {y}] : {buffer}
    }}
  }}
  return
}}
",
            in_map(&x)
        );
        let read = Read::of(text);
        let maps = read.maps("affine.load");
        let access = &maps.accesses[0];
        let address = access.address.as_ref().expect("its layout is known");
        for i in (lower..upper).step_by(step as usize) {
            for j in 0..inner {
                for n in [0, 1, 7] {
                    let values = |name: &str| match name {
                        "%i" => i,
                        "%j" => j,
                        "%n" => n,
                        other => panic!("{other} in {}", read.text),
                    };
                    let expect = vec![f(&values), g(&values)];
                    let at = point(access, &access.map, &values);
                    assert_eq!(
                        access.map.evaluate(&at).as_ref(),
                        Some(&expect),
                        "{at:?} {} in {}",
                        access.map,
                        read.text
                    );
                    let linear = match is_strided {
                        true => offset + strides[0] * expect[0] + strides[1] * expect[1],
                        false => expect[0] * 100 + expect[1],
                    };
                    let whole = Access { symbols: address.symbols.clone(), ..access.clone() };
                    let at = point(&whole, &address.map, &values);
                    assert_eq!(
                        address.map.evaluate(&at),
                        Some(vec![linear]),
                        "{} in {}",
                        address.map,
                        read.text
                    );
                    // The stride is the distance to the next iteration.
                    if let Some((variable, stride)) = &address.stride {
                        let next = |name: &str| match name.strip_prefix('%') == Some(variable) {
                            true => values(name) + if name == "%i" { step } else { 1 },
                            false => values(name),
                        };
                        let after = [f(&next), g(&next)];
                        let then = match is_strided {
                            true => offset + strides[0] * after[0] + strides[1] * after[1],
                            false => after[0] * 100 + after[1],
                        };
                        assert_eq!(then - linear, *stride, "{variable} in {}", read.text);
                    }
                }
            }
        }
        // Points that the loops do not visit are not in the domain.
        if step > 1 && access.map.dims().iter().any(|v| v.name.as_deref() == Some("i")) {
            let values = |name: &str| if name == "%i" { lower + 1 } else { 0 };
            assert_eq!(access.map.evaluate(&point(access, &access.map, &values)), None, "{}", access.map);
        }
    }
}

#[test]
fn chains_of_indices() {
    let mut random = Rng::new(32);
    for _ in 0..300 {
        let (a, b) = (random.below(1..9), random.below(1..9));
        let [x, y, z] = [random.below(1..6), random.below(1..6), random.below(1..6)];
        let text = format!(
            r#"#xmap = #xla.indexing_map<"(d0)[s0] -> (d0 * {x} + s0, d0 floordiv {y}), domain: d0 in [0, 1000]," " s0 in [0, 1000]">
func.func @f(%t: index {{xla.range = [0 : index, {a} : index]}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cb = arith.constant {b} : index
  scf.for %i = %c0 to %cb step %c1 {{
    %0:2 = xla.apply_indexing #xmap(%t)[%i]
    %1 = arith.muli %0#0, %cb : index
    %2 = arith.addi %1, %0#1 : index
    %3:3 = affine.delinearize_index %2 into ({x}, {y}, {z}) : index, index, index
    %4 = affine.linearize_index [%3#0, %3#1, %3#2] by ({x}, {y}, {z}) : index
    %5 = arith.remsi %4, %cb : index
    %6 = affine.max affine_map<(d0) -> (d0, {x})>(%5)
  }}
  return
}}
"#
        );
        let read = Read::of(text);
        let source = mlir_ops::Source::alone(&read.parse, &read.text);
        for t in 0..=a {
            for i in 0..b {
                let value = (t * x + i) * b + t.div_euclid(y);
                let digits = [value / (y * z), value / z % y, value % z];
                let values = |name: &str| match name {
                    "%t" => t,
                    "%i" => i,
                    other => panic!("{other} in {}", read.text),
                };
                let check = |op: &str, result: usize, expect: i64| {
                    let maps = mlir_indexing::op_maps(&source, read.op(op), result)
                        .expect("an index")
                        .expect("a map");
                    let access = &maps.accesses[0];
                    let at = point(access, &access.map, &values);
                    assert_eq!(
                        access.map.evaluate(&at),
                        Some(vec![expect]),
                        "{op} {} in {}",
                        access.map,
                        read.text
                    );
                };
                (0..3).for_each(|nth| check("affine.delinearize_index", nth, digits[nth]));
                let linear = (digits[0] * y + digits[1]) * z + digits[2];
                assert_eq!(linear, value);
                check("affine.linearize_index", 0, linear);
                check("affine.max", 0, (linear % b).max(x));
            }
        }
    }
}

/// Addresses of all elements of a subview, by the layout of the viewed buffer.
#[test]
fn layouts() {
    let mut random = Rng::new(33);
    for _ in 0..100 {
        let shape = random.shape(1..4, 2..6);
        let order = random.permutation(shape.len());
        let layout = format!("#xtile.layout<{order:?}>");
        let buffer =
            format!("memref<{}f32, {layout}>", shape.iter().map(|n| format!("{n}x")).collect::<String>());
        let tile: Vec<i64> = shape.iter().map(|&n| random.below(1..n + 1)).collect();
        let at: Vec<i64> = shape.iter().zip(&tile).map(|(n, t)| random.below(0..n - t + 1)).collect();
        let ones = vec![1; shape.len()];
        let read = Read::of(format!(
            "\
func.func @f(%m: {buffer}) {{
  %r = xtile.extract %m{at:?}{tile:?}{ones:?} : {buffer} -> {}
  return
}}
",
            tensor(&tile)
        ));
        let maps = read.maps("xtile.extract");
        let address = maps.accesses[0].address.as_ref().expect("its layout is known");
        for i in indices(&tile) {
            let place: Vec<i64> = i.iter().zip(&at).map(|(i, a)| i + a).collect();
            // The first dimension of the layout varies fastest.
            let (mut linear, mut weight) = (0, 1);
            for &k in &order {
                linear += place[k] * weight;
                weight *= shape[k];
            }
            assert_eq!(evaluated(&maps.accesses[0], &i, &|_, _| None), [place]);
            assert_eq!(address.map.evaluate(&i), Some(vec![linear]), "{} in {}", address.map, read.text);
        }
    }
}

#[test]
fn views() {
    let mut random = Rng::new(34);
    for _ in 0..100 {
        let shape = random.shape(1..4, 1..6);
        let order = random.permutation(shape.len());
        let buffer = ty("memref", &shape, "f32", &[]);
        let names: Vec<String> = (0..shape.len()).map(|k| format!("x{k}")).collect();
        let swapped: Vec<String> = order.iter().map(|&k| names[k].clone()).collect();
        let result: Vec<i64> = order.iter().map(|&k| shape[k]).collect();
        let read = Read::of(format!(
            "\
func.func @f(%m: {buffer}) {{
  %r = memref.transpose %m ({}) -> ({}) : {buffer} to {}
  return
}}
",
            names.join(", "),
            swapped.join(", "),
            ty("memref", &result, "f32", &[])
        ));
        check_reads(&read, "memref.transpose", &result, &|_, _| None, &|p| {
            let mut place = vec![0; shape.len()];
            order.iter().zip(p).for_each(|(&k, &i)| place[k] = i);
            let mut reads = Reads::new();
            op_reads::read(&mut reads, "%m", place);
            reads
        });
        let strides: Vec<i64> = shape.iter().map(|_| random.below(1..9)).collect();
        let read = Read::of(format!(
            "\
func.func @f(%m: memref<1000xf32>, %o: index) {{
  %r = memref.reinterpret_cast %m to offset: [%o], sizes: {shape:?}, strides: {strides:?} : memref<1000xf32> to {}
  return
}}
",
            buffer.replace('>', &format!(", strided<{strides:?}, offset: ?>>"))
        ));
        check_reads(&read, "memref.reinterpret_cast", &shape, &|_, _| Some(5), &|p| {
            let mut reads = Reads::new();
            op_reads::read(
                &mut reads,
                "%m",
                vec![5 + p.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>()],
            );
            reads
        });
    }
}
