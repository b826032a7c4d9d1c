//! Maps through producers do not depend on where the text is cut into pieces.

use db::{Database, Documents, Language, mlir_piece, mlir_producers};
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

/// A function of so many ops, each of which reads values near it. Those of short ways are mostly arguments and constants.
fn function(rng: &mut Rng, ops: usize, is_short: bool) -> String {
    let t = "tensor<6x6xf32>";
    let mut text = format!("func.func @f(%a: {t}, %b: {t}, %c: tensor<6xf32>) {{\n");
    let mut values = vec!["%a".to_owned(), "%b".to_owned()];
    for n in 0..ops {
        let mut near = || {
            if is_short && rng.one_in(3) {
                return (*rng.pick(&["%a", "%b"])).to_owned();
            }
            let last = values.len() - 1;
            values[last - rng.index(values.len().min(60))].clone()
        };
        let (left, right) = (near(), near());
        text += &match rng.index(8).max(if is_short { 0 } else { 3 }) {
            0 => format!("  %{n} = stablehlo.constant dense<{n}.0> : {t}\n"),
            1 => format!("  %{n} = stablehlo.transpose {left}, dims = [1, 0] : ({t}) -> {t}\n"),
            2 => format!("  %{n} = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<6xf32>) -> {t}\n"),
            3 => format!(
                "  %{n} = stablehlo.dot_general {left}, {right}, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}\n"
            ),
            _ => format!("  %{n} = stablehlo.add {left}, {right} : {t}\n"),
        };
        values.push(format!("%{n}"));
    }
    text + "  return\n}\n"
}

#[test]
fn pieces_do_not_matter() {
    let mut rng = Rng::new(7);
    let (mut cut, mut whole) = (0, 0);
    for (ops, is_short) in [(200, true), (600, true), (600, false), (1200, false)] {
        let text = function(&mut rng, ops, is_short);
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
