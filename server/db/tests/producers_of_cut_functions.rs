//! Maps through producers do not depend on where the text is cut into pieces.

use db::{Database, Documents, Language, mlir_piece, mlir_producers};
use generators::mlir::stablehlo_function;
use random::Rng;

/// Operand, map and number of ops of each argument, and whether the way back was cut.
type Far = (Vec<(String, String, usize)>, bool);

/// The way back from the value by this name, in a text of pieces of at least so many bytes, and how many these are.
fn far(text: &str, min_bytes: usize, name: &str) -> (Far, usize) {
    let mut db = Database::default();
    let mut documents = Documents::in_pieces_of(min_bytes);
    let id = documents.open(&mut db, Language::Mlir, text);
    let file = documents.view(id).expect("it is open").file;
    let pieces = file.pieces(&db);
    let op_in = |&piece: &db::Piece| {
        let read = mlir_piece(&db, piece);
        (0..read.parse.ops.len() as u32).find(|&op| {
            let mut results = read.parse.op(op).results.clone();
            results.any(|value| read.parse.values[value as usize].name.of(&read.text) == name)
        })
    };
    let (at, op) = (0..).zip(pieces).find_map(|(at, piece)| Some((at, op_in(piece)?))).expect("it is there");
    let found = mlir_producers(&db, file, at, op, 0);
    let row = |far: &mlir_indexing::FarAccess| {
        (far.access.operand.clone(), far.access.map.to_string(), far.through)
    };
    ((found.accesses.iter().map(row).collect(), found.is_cut), pieces.len())
}

#[test]
fn pieces_do_not_matter() {
    let mut rng = Rng::new(7);
    let (mut cut, mut whole) = (0, 0);
    for (ops, is_short) in [(200, true), (600, true), (600, false), (1200, false)] {
        let text = stablehlo_function(&mut rng, ops, is_short);
        for _ in 0..8 {
            let name = format!("%{}", ops - 1 - rng.index(ops / 2));
            let (alone, pieces) = far(&text, 1 << 30, &name);
            assert_eq!(pieces, 1);
            let (found, pieces) = far(&text, 1500, &name);
            assert!(pieces > 1, "{pieces} pieces of {} bytes", text.len());
            assert_eq!(found, alone, "{name} of {text}");
            if alone.1 { cut += 1 } else { whole += 1 }
        }
    }
    assert!(cut > 4 && whole > 4, "{cut} cut, {whole} whole");
}
