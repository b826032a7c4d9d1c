//! All errors of MLIR text, in order. Unknown constructs are not errors.

use syntax::Span;

use crate::diagnostics::{Depth, Errors};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::{Diagnostic, Related, Severity};

/// The code of syntax errors: the rest of a function is then not checked.
const SYNTAX: &str = "syntax";

impl Errors for Mlir {
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic> {
        let unclosed = &context.mlir_module().unclosed;
        let read = context.mlir_piece(piece);
        let mut of_piece: Vec<Diagnostic> = Vec::new();
        for error in &read.parse.errors {
            of_piece.push(syntax_error(context, piece, error.span, error.message.clone()));
        }
        let first = unclosed.partition_point(|u| u.piece < piece);
        for unclosed in unclosed[first..].iter().take_while(|u| u.piece == piece) {
            if let Some(&region) = read.parse.open_below.get(unclosed.nth) {
                let brace = read.parse.brace(region);
                let message = if unclosed.is_left { mlir::LEFT_OPEN } else { "this { is not closed" };
                of_piece.push(syntax_error(context, piece, brace, message.to_owned()));
            }
        }
        if depth == Depth::Verifier {
            // In a cut function any piece may have syntax errors, which cause follow-up errors about names.
            let module = context.mlir_module();
            let is_told = |f: &mlir::Finding| {
                let mut parts =
                    read.parts.iter().enumerate().filter(|(nth, _)| module.is_broken(piece, *nth));
                !parts.any(|(_, part)| {
                    let function = read.parse.op(part.op).span;
                    function.start <= f.span.start && f.span.end <= function.end
                })
            };
            let own = read.findings.iter().filter(|f| is_told(f));
            of_piece.extend(own.map(|f| finding(context, piece, f)));
            let links = db::mlir_link_findings(context.db, context.piece_input(piece));
            for (found, definition) in links.iter().filter(|(f, _)| is_told(f)) {
                let mut diagnostic = finding(context, piece, found);
                if let Some((at, name)) = definition.and_then(|d| definition_of(context, d)) {
                    let first = found.code == "redefinition";
                    let message = if first { "the first definition" } else { "defined here" }.to_owned();
                    diagnostic.related.push(Related { range: context.range(at, name), message });
                }
                of_piece.push(diagnostic);
            }
            for (id, message) in db::hlo_op_findings(context.db, context.piece_input(piece)) {
                let name = read.parse.op(*id).name;
                of_piece.push(Diagnostic {
                    severity: Severity::Warning,
                    code: "hlo-verifier",
                    is_of_parser: false,
                    ..syntax_error(context, piece, name, format!("as HLO: {message}"))
                });
            }
            let map_findings = db::mlir_map_findings(context.db, context.piece_input(piece));
            of_piece.extend(map_findings.iter().map(|(_, f)| finding(context, piece, f)));
            if of_piece.iter().all(|d| d.code != SYNTAX) {
                let unknown = db::mlir_unknown_names(context.db, context.piece_input(piece));
                of_piece.extend(unknown.iter().map(|f| finding(context, piece, f)));
                let calls = db::mlir_call_findings(context.db, context.piece_input(piece));
                for found in calls.iter().filter(|f| is_told(f)) {
                    let mut diagnostic = finding(context, piece, found);
                    diagnostic.related.extend(declaration(context, piece, found));
                    of_piece.push(diagnostic);
                }
            }
            let start = context.range(piece, Span::default()).start;
            // Comments about the first lines are at the end of the previous piece.
            let above =
                piece.checked_sub(1).map_or("", |above| last_comments(&context.mlir_piece(above).text));
            match above.contains("expected-") {
                true => {
                    let text = format!("{above}{}", read.text);
                    without_expected(&text, start - above.len(), &mut of_piece);
                }
                false => without_expected(&read.text, start, &mut of_piece),
            }
        }
        of_piece
    }
}

/// The piece and span of the definition of a name that pieces of a function share.
fn definition_of(context: &FileContext<'_>, name: db::GiantName) -> Option<(usize, Span)> {
    let (piece, definition) = context.giant(name)?;
    let parse = &context.mlir_piece(piece).parse;
    Some(match definition {
        db::GiantDefinition::Value(value) => (piece, parse.values.get(value as usize)?.name),
        db::GiantDefinition::Block(block) => (piece, parse.blocks.get(block as usize)?.label),
    })
}

/// The name of the function that a call or a return refers to.
fn declaration(context: &FileContext<'_>, piece: usize, found: &mlir::Finding) -> Option<Related> {
    let read = context.mlir_piece(piece);
    let id = read.parse.op_at(found.span.start as usize)?;
    let named = |there: usize, is_it: &dyn Fn(&mlir::SymbolMention) -> bool| {
        let symbols = &context.mlir_piece(there).parse.symbols;
        let found = symbols.iter().find(|symbol| symbol.is_definition && is_it(symbol))?;
        Some(Related { range: context.range(there, found.span), message: "declared here".to_owned() })
    };
    if found.code.starts_with("return") {
        let (start, _) = context.start_of(OpRef { piece, id: read.parse.parent(id)? })?;
        return named(start.piece, &|symbol| symbol.op == start.id);
    }
    let symbol = read.parse.symbols.iter().find(|s| s.op == id && !s.is_definition)?.span;
    let name = db::symbol_name(symbol.of(&read.text));
    let part = context.part_at(piece, symbol.start);
    let &there = context.mlir_module().symbol(part, name).first()?;
    let text = &context.mlir_piece(there).text;
    named(there, &|symbol| {
        db::symbol_name(symbol.span.of(text)) == name && context.part_at(there, symbol.span.start) == part
    })
}

fn syntax_error(context: &FileContext<'_>, piece: usize, span: Span, message: String) -> Diagnostic {
    Diagnostic {
        range: context.range(piece, span),
        severity: Severity::Error,
        code: SYNTAX,
        message,
        related: Vec::new(),
        is_of_parser: true,
        fix: None,
    }
}

/// A finding is an error if every MLIR parser rejects it. Inside ops of unregistered dialects, which may have
/// their own rules, nothing about names is certain.
fn finding(context: &FileContext<'_>, piece: usize, finding: &mlir::Finding) -> Diagnostic {
    let related = finding.related.iter();
    let read = context.mlir_piece(piece);
    let is_error =
        mlir::is_refused(finding.code) && mlir::is_certain(&read.parse, &read.text, finding.span.start);
    Diagnostic {
        range: context.range(piece, finding.span),
        severity: if is_error { Severity::Error } else { Severity::Warning },
        code: finding.code,
        message: finding.message.clone(),
        related: related
            .map(|(span, message)| Related { range: context.range(piece, *span), message: message.clone() })
            .collect(),
        is_of_parser: false,
        fix: None,
    }
}

/// The comments after the last line of code.
fn last_comments(text: &str) -> &str {
    let mut start = text.len();
    for line in text.split_inclusive('\n').rev() {
        let letters = line.trim();
        if !letters.is_empty() && !letters.starts_with("//") {
            break;
        }
        start -= line.len();
    }
    &text[start..]
}

/// Removes errors on lines for which a comment expects one: `// expected-error@+1 {{…}}`. `start` is the
/// offset of the text in the file.
fn without_expected(text: &str, start: usize, found: &mut Vec<Diagnostic>) {
    if found.iter().all(|d| d.code == SYNTAX) || !text.contains("expected-") {
        return;
    }
    let mut covered: Vec<usize> = Vec::new();
    let mut starts = vec![0];
    let mut last_code = 0;
    for (nth, line) in text.split_inclusive('\n').enumerate() {
        starts.push(starts[nth] + line.len());
        let Some((code, comment)) = line.split_once("//") else {
            last_code = nth;
            continue;
        };
        if !code.trim().is_empty() {
            last_code = nth;
        }
        for kind in ["expected-error", "expected-warning"] {
            let Some((_, behind)) = comment.split_once(kind) else { continue };
            let behind = behind.trim_start_matches("-re").trim_start();
            let place = behind.strip_prefix('@').unwrap_or_default();
            let distance = |sign| {
                let digits: String =
                    place.strip_prefix(sign)?.chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<usize>().ok()
            };
            if place.starts_with("below") {
                // The next line that is not itself such a comment.
                let is_comment = |l: &&str| l.trim_start().starts_with("//");
                let skipped = text[starts[nth + 1]..].lines().take_while(is_comment).count();
                covered.push(nth + 1 + skipped);
            } else if place.starts_with("above") {
                covered.push(last_code);
            } else if let Some(lines) = distance('+') {
                covered.push(nth.saturating_add(lines));
            } else if let Some(lines) = distance('-') {
                covered.push(nth.saturating_sub(lines));
            } else {
                covered.push(nth);
            }
        }
    }
    found.retain(|d| {
        let local = d.range.start.saturating_sub(start);
        let line = starts.partition_point(|&s| s <= local).saturating_sub(1);
        d.code == SYNTAX || !covered.contains(&line)
    });
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, _) = open_mlir(text);
        let text = analysis.text(file).to_string();
        let found = analysis.diagnostics(file, 100).expect("nobody cancels");
        let shown: Vec<_> = found
            .shown
            .iter()
            .map(|d| format!("{:?} {} {}", d.severity, d.code, &text[d.range.clone()]))
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn dialects_that_nobody_has_heard_of_are_fine() {
        check("module {\n  %0 = nobody.heard {of = #this.one<a, b>} : !nobody.type<[1]>\n}\n", &[]);
    }

    #[test]
    fn brackets_and_names_are_told() {
        check("module @m {\n  func.func @f() {\n    return\n  }\n", &["Error syntax {"]);
        check("func.func @f() {\n  call @g() : () -> ()\n  return\n}\n", &["Warning unknown-symbol @g"]);
        check("func.func @f() {\n  x.y {a = #map}\n  return\n}\n", &["Warning unknown-alias #map"]);
        check("func.func @f() {\n  x.y %0 : f32\n  return\n}\n", &["Warning unknown-value %0"]);
        check("}\n", &["Error syntax }"]);
        // An error if every parser rejects it, except inside unregistered ops.
        let inside = |ops: &str| format!("func.func @f(%a: f32) -> f32 {{\n  {ops}\n  return %a : f32\n}}\n");
        check(&inside("%0 = arith.addf %a, %b : f32"), &["Error unknown-value %b"]);
        check(&inside("%0 = arith.negf %a : f64"), &["Error type-mismatch %a"]);
        check(&inside("x.y {\n    %0 = arith.negf %b : f32\n  }"), &["Warning unknown-value %b"]);
        check(&inside("%0 = arith.negf %b : f32 // expected-error {{undeclared}}"), &[]);
        check(
            "\
func.func @f(%a: tensor<4x8xf32>) {
  %0 = stablehlo.reshape %a : (tensor<4x8xf32>) -> tensor<33xf32>
  %1 = stablehlo.slice %a [0:5, 0:8] : (tensor<4x8xf32>) -> tensor<5x8xf32>
  return
}
",
            &["Warning hlo-verifier stablehlo.reshape", "Warning hlo-verifier stablehlo.slice"],
        );
        // Each op has the operands that its opcode takes, also where all types are equal.
        check(
            "\
func.func @f(%a: tensor<4xf32>) {
  %0 = stablehlo.add %a : tensor<4xf32>
  %1 = stablehlo.negate a : tensor<4xf32>
  %2 = \"stablehlo.add\"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
",
            &["Warning hlo-verifier stablehlo.add", "Warning hlo-verifier stablehlo.negate"],
        );
    }

    #[test]
    fn calls_and_returns_are_checked_wherever_functions_are() {
        let filler: String = (0..40).map(|n| format!("  %{n} = arith.negf %a : f32\n")).collect();
        let text = format!(
            "\
func.func @g(%a: f32, %i: i32) -> (f32, i32) {{
{filler}  return %a : f32
}}
func.func @f(%a: f32) -> i32 {{
{filler}  %x:2 = call @g(%a) : (f32) -> (f64, i32)
  return %a : f32
}}
"
        );
        for min_bytes in [256, usize::MAX] {
            let mut host = crate::AnalysisHost::in_pieces_of(min_bytes);
            let file = host.open("a.mlir", crate::Language::Mlir, &text);
            let found = host.analysis().diagnostics(file, 100).expect("nobody cancels").shown;
            let shown: Vec<_> = found
                .iter()
                .map(|d| {
                    let related: Vec<_> = d.related.iter().map(|r| &text[r.range.clone()]).collect();
                    format!("{:?} {} {} {related:?}", d.severity, d.code, &text[d.range.clone()])
                })
                .collect();
            assert_eq!(
                shown,
                [
                    "Error return-count return [\"@g\"]",
                    "Error call-count @g [\"@g\"]",
                    "Error call-type f64 [\"@g\"]",
                    "Error return-type %a [\"@f\"]",
                ],
                "{min_bytes}"
            );
        }
    }

    #[test]
    fn maps_and_subscripts_are_checked() {
        let inside = |ops: &str| {
            format!(
                "\
func.func @f(%a: tensor<4x8xf32>, %m: memref<4x8xf32>, %i: index) {{
  {ops}
  return
}}
"
            )
        };
        check(
            &inside("%0 = tensor.extract_slice %a[0, 4] [4, 5] [1, 1] : tensor<4x8xf32> to tensor<4x5xf32>"),
            &["Warning out-of-bounds tensor.extract_slice"],
        );
        check(
            &inside("%0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<33xf32>"),
            &["Warning reassociation tensor.collapse_shape"],
        );
        check(
            &inside("%0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i, %i)"),
            &["Warning map-arity affine.apply"],
        );
        check(
            &inside("affine.for %k = 0 to 5 {\n    %0 = affine.load %m[%k, %k + 3] : memref<4x8xf32>\n  }"),
            &["Warning out-of-bounds affine.load"],
        );
        check(
            &inside("affine.for %k = 9 to 9 {\n    %0 = affine.load %m[%k - 20, %k] : memref<4x8xf32>\n  }"),
            &[],
        );
        // Unknown values, and accesses that a condition may exclude.
        check(
            &inside(
                "\
affine.for %k = 0 to 5 {
    affine.if affine_set<(d0) : (d0 - 3 <= 0)>(%k) {
      %0 = affine.load %m[%k, %i] : memref<4x8xf32>
    }
  }",
            ),
            &[],
        );
        check(
            &inside(
                "// expected-error@+1 {{out of bounds}}\n  %0 = memref.load %m[%c, %c] : memref<4x8xf32>",
            )
            .replace("  //", "  %c = arith.constant 9 : index\n  //"),
            &[],
        );
        check(
            &inside("%c = arith.constant 9 : index\n  %0 = memref.load %m[%c, %i] : memref<4x8xf32>"),
            &["Warning out-of-bounds memref.load"],
        );
        check(
            "#m = #xla.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 7], d0 * 2 in [15, 15]\">\n",
            &["Warning empty-domain #xla.indexing_map"],
        );
        check(
            r#"func.func @f(%a: tensor<4x8xf32>, %o: tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
}
"#,
            &["Warning map-arity linalg.generic"],
        );
    }

    #[test]
    fn hlo_in_a_file_of_mlir_is_read_as_hlo() {
        check("HloModule m\n\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n", &[]);
        check("HloModule m\n\nENTRY e {\n  ROOT p = f32[] negate(q)\n}\n", &["Error unknown-operand q"]);
    }
}
