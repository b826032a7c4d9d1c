//! The cost of edits in MLIR: in files of many functions, and in one cut function.

use ide::{FileId, Language, TextEdit};

use crate::Counted;

/// The queries that run per piece to compute diagnostics.
const PER_PIECE: [&str; 9] = [
    "mlir_read",
    "mlir_piece",
    "mlir_signature",
    "mlir_links",
    "mlir_link_findings",
    "mlir_imported",
    "mlir_map_findings",
    "hlo_op_findings",
    "mlir_unknown_names",
];

impl Counted {
    fn open_mlir(text: &str) -> (Counted, FileId, usize) {
        let mut counted = Counted::new();
        let file = counted.host.open("a.mlir", Language::Mlir, text);
        assert_eq!(counted.diagnose(file), 0);
        let pieces = counted.host.analysis().statistics(file).expect("nobody cancels").pieces;
        (counted, file, pieces)
    }

    /// The number of runs of each query of [`PER_PIECE`] after an edit that leaves `findings` diagnostics.
    fn after(&mut self, file: FileId, at: usize, len: usize, insert: &str, findings: usize) -> [usize; 9] {
        self.forget();
        self.host.apply(file, &[TextEdit { range: at..at + len, insert: insert.to_owned() }]);
        assert_eq!(self.diagnose(file), findings, "after {insert:?}");
        PER_PIECE.map(|query| self.count(query))
    }
}

/// Functions that call each other, with loops whose subscripts are provably in bounds.
fn functions(count: usize) -> String {
    let function = |n: usize| {
        let body =
            "    affine.for %i = 0 to 4 {\n      %v = affine.load %m[%i] : memref<4xf32>\n    }\n".repeat(30);
        format!(
            "  func.func @f{n}(%m: memref<4xf32>) {{\n{body}    call @f{}(%m) : (memref<4xf32>) -> ()\n    return\n  }}\n",
            (n + 1) % count
        )
    };
    format!("module {{\n{}}}\n", (0..count).map(function).collect::<String>())
}

#[test]
fn an_edit_in_one_function_reads_no_other_piece() {
    let text = functions(120);
    let (mut counted, file, pieces) = Counted::open_mlir(&text);
    assert!(pieces > 10, "{pieces}");
    let function = text.find("func.func @f60(").expect("it is there") + "func.func ".len();
    let at = function + text[function..].find("[%i]").expect("a load") + 1;
    // Names of other pieces are not queried.
    let once = [1, 1, 1, 0, 1, 1, 1, 1, 1];
    for (len, insert, findings) in
        [(0, " ", 0), (3, "%i + 1", 1), (6, "%i", 0), (2, "%x", 1), (2, "%i", 0), (0, "(", 1), (1, "", 0)]
    {
        let mut expect = once;
        // Names are not looked up while there are syntax errors.
        expect[8] = usize::from(insert != "(");
        assert_eq!(counted.after(file, at, len, insert, findings), expect, "{insert:?}");
        assert_eq!(
            ["mlir_module", "mlir_giant_index"].map(|query| counted.count(query)),
            [0, 0],
            "{insert:?}"
        );
    }
    // The file's names are collected again, and every piece looks its own up; nothing else re-runs.
    let ran = counted.after(file, function + 1, 3, "g60", 1);
    assert_eq!(ran[..8], once[..8]);
    assert_eq!((ran[8], counted.count("mlir_module")), (pieces, 1));
}

#[test]
fn more_pieces_than_before_leave_those_that_were_there() {
    let text = functions(120);
    let (mut counted, file, pieces) = Counted::open_mlir(&text);
    let at = text.find("  func.func @f60(").expect("it is there");
    let more = |n| format!("  func.func @more{n}(%a: f32) {{\n    %b = x.y %a : f32\n    return\n  }}\n");
    let more: String = (0..2000).map(more).collect();
    let ran = counted.after(file, at, 0, &more, 0);
    let now = counted.host.analysis().statistics(file).expect("nobody cancels").pieces;
    let new = now - pieces + 2;
    assert!(now > pieces + 3, "{pieces} pieces, then {now}");
    assert!(ran[..8].iter().all(|&count| count <= new), "{ran:?} of {new} pieces");
}

#[test]
fn an_edit_in_a_giant_function_reads_one_piece() {
    let line = |n: usize| format!("    %{n} = stablehlo.add %a, %{} : tensor<4xf32>\n", n.max(1) - 1);
    let body: String = (1..12_000).map(line).collect();
    let text = format!(
        "\
module {{
  func.func @f(%a: tensor<4xf32>) {{
    %0 = stablehlo.add %a, %a : tensor<4xf32>
{body}    return
  }}
}}
"
    );
    let (mut counted, file, pieces) = Counted::open_mlir(&text);
    assert!(pieces > 5, "{pieces}");
    // Operands are imported for an op that has too many: no other needs their definitions for diagnostics.
    let once = |imports| [1, 1, 1, 1, 1, imports, 1, 1, 1];
    let of_file = |counted: &Counted| ["mlir_module", "mlir_giant_index"].map(|query| counted.count(query));
    let at = text.find("%6000 =").expect("it is there") + "%6000 = stablehlo.add %a, ".len();
    // Use of a different value, which affects no other piece; white space; an undefined name.
    for (len, insert, findings, imports) in
        [(5, "%5998", 0, 0), (0, " ", 0, 0), (1, "%x", 1, 1), (2, "", 0, 0)]
    {
        assert_eq!(counted.after(file, at, len, insert, findings), once(imports), "{insert:?}");
        assert_eq!(of_file(&counted), [0, 0]);
    }
    // A different type of a value that only its piece uses: the names are unchanged.
    let name = text.find("%6001 =").expect("it is there");
    let ty = name + text[name..].find("tensor<4").expect("it has a type") + "tensor<".len();
    // Its operands then have a different type, and so does the operand of the next op.
    for (insert, findings) in [("5", 3), ("4", 0)] {
        assert_eq!(counted.after(file, ty, 1, insert, findings)[0], 1);
        assert_eq!(of_file(&counted), [0, 0]);
    }
    // All pieces check a new name with unchanged results; only those that use later names re-run their
    // checks.
    let ran = counted.after(file, name, 0, "%new = stablehlo.add %a, %a : tensor<4xf32>\n    ", 0);
    assert_eq!(of_file(&counted), [0, 1]);
    assert_eq!(ran, [1, 1, 1, pieces, 2, 0, 1, 1, 1]);
}
