//! Maps through chains of ops, compared with evaluating the chains on arrays whose elements record their
//! origins.

use std::collections::BTreeSet;

use mlir_indexing::{Access, Space, op_maps, through_producers};
use mlir_ops::Source;
use op_reads::*;

#[test]
fn chains() {
    let mut random = Rng::new(51);
    let mut longest = 0;
    for _ in 0..400 {
        let (text, values) = generators::mlir::chain(&mut random);
        let read = Read::of(text);
        let source = Source::alone(&read.parse, &read.text);
        let maps_of = |id, result| {
            let maps = op_maps(&source, id, result)?.ok()?;
            Some((maps.space, maps.accesses))
        };
        let Some(last) = values.last().filter(|v| v.name != "%b") else { continue };
        let op = (0..read.parse.ops.len() as u32)
            .find(|&id| {
                let results = read.parse.op(id).results.clone();
                results.into_iter().any(|v| read.parse.values[v as usize].name.of(&read.text) == last.name)
            })
            .expect("the op of the last value");
        let reads_nothing = |id| read.parse.uses_of(id).is_empty();
        let far = through_producers(&read.parse, &maps_of, &reads_nothing, op, 0, None);
        assert!(!far.is_cut, "{}", read.text);
        longest = far.accesses.iter().map(|f| f.through).max().unwrap_or(0).max(longest);
        let (space, direct): (Space, Vec<Access>) = maps_of(op, 0).expect("it has maps");
        assert_eq!(space, Space::Result(0));
        let all: Vec<&Access> = direct.iter().chain(far.accesses.iter().map(|f| &f.access)).collect();
        for p in indices(&last.shape) {
            let mut found = BTreeSet::new();
            for access in all.iter().filter(|a| a.operand == "%a" || a.operand == "%b") {
                for place in evaluated(access, &p, &|_, _| None) {
                    found.insert((access.operand.clone(), place));
                }
            }
            let shown: Vec<_> = all.iter().map(|a| format!("{}: {}", a.operand, a.map)).collect();
            assert_eq!(found, last.at(&p), "{p:?} of\n{}{}", read.text, shown.join("\n"));
        }
    }
    assert!(longest >= 5, "{longest}");
}

/// Symbols of several ops with the same value become one in the composition, and cancel.
#[test]
fn offsets_cancel() {
    let read = Read::of(
        "\
func.func @f(%t: tensor<64xf32>, %s: tensor<8xf32>, %i: index) {
  %0 = tensor.insert_slice %s into %t[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
  %1 = tensor.extract_slice %0[%i] [8] [1] : tensor<64xf32> to tensor<8xf32>
  return
}
"
        .to_owned(),
    );
    let source = Source::alone(&read.parse, &read.text);
    let maps_of = |id, result| {
        let maps = op_maps(&source, id, result)?.ok()?;
        Some((maps.space, maps.accesses))
    };
    let reads_nothing = |id| read.parse.uses_of(id).is_empty();
    let far =
        through_producers(&read.parse, &maps_of, &reads_nothing, read.op("tensor.extract_slice"), 0, None);
    let shown: Vec<_> =
        far.accesses.iter().map(|f| format!("{}: {}", f.access.operand, f.access.map)).collect();
    // The overwritten array is not read.
    assert_eq!(shown, ["%s: (d0) -> (d0), domain: d0 in [0, 7]"]);
}
