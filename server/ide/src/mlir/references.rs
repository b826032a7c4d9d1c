//! All uses of a value, a block, a symbol or an alias.

use crate::locate::FileContext;
use crate::mlir::occurrences::{occurrence_at, occurrences};
use crate::references::{Reference, ReferenceKind};

/// In text order.
pub(crate) fn references(context: &FileContext<'_>, offset: usize, with_definition: bool) -> Vec<Reference> {
    let Some((_, symbol)) = occurrence_at(context, offset) else { return Vec::new() };
    let found = occurrences(context, &symbol).into_iter();
    found
        .filter(|o| with_definition || !o.is_definition)
        .map(|o| Reference {
            range: context.range(o.piece, o.span),
            kind: if o.is_definition { ReferenceKind::Write } else { ReferenceKind::Read },
        })
        .collect()
}

/// All occurrences that refer to the same definition.
pub(crate) fn document_highlight(context: &FileContext<'_>, offset: usize) -> Vec<Reference> {
    references(context, offset, true)
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::references::ReferenceKind;

    /// The references, as lines with the names in brackets.
    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, offset) = open_mlir(text);
        let text = analysis.rope(file).to_string();
        let found = analysis.references(file, offset, true).expect("nobody cancels");
        let shown: Vec<_> = found
            .iter()
            .map(|r| {
                let start = text[..r.range.start].rfind('\n').map_or(0, |n| n + 1);
                let end = text[r.range.end..].find('\n').map_or(text.len(), |n| r.range.end + n);
                let sign = if r.kind == ReferenceKind::Write { "=" } else { "" };
                let (before, name, behind) =
                    (&text[start..r.range.start], &text[r.range.clone()], &text[r.range.end..end]);
                format!("{before}[{sign}{name}]{behind}").trim().to_owned()
            })
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn values_are_used_in_their_function() {
        check(
            "func.func @f(%a: f32) {\n  %0:2 = x.y %a : f32, f32\n  x.z {\n    x.w %0#1, $0%0#0 : f32\n  }\n}\nfunc.func @g(%0: f32) {\n  x.w %0 : f32\n}\n",
            &["[=%0]:2 = x.y %a : f32, f32", "x.w [%0]#1, %0#0 : f32", "x.w %0#1, [%0]#0 : f32"],
        );
    }

    #[test]
    fn symbols_are_used_in_their_part() {
        check(
            "func.func private @g() -> ()\nfunc.func @f() {\n  call $0@g() : () -> ()\n}\n// -----\nfunc.func private @g() -> ()\n",
            &["func.func private [=@g]() -> ()", "call [@g]() : () -> ()"],
        );
        check(
            "\"func.func\"() <{sym_name = \"$0g\"}> ({}) : () -> ()\nx.y {f = @g}\n",
            &["\"func.func\"() <{sym_name = \"[=g]\"}> ({}) : () -> ()", "x.y {f = [@g]}"],
        );
    }
}
