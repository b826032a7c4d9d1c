//! An op in its generic form, `"stablehlo.add"(%a, %b) : (T, T) -> T`, and back: of ops whose custom form is certain.

use mlir::{Form, Token, TokenKind, tokens};

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::locate::FileContext;
use crate::mlir::code_actions::map_texts::letters;
use crate::{TextEdit, TextRange};

/// How the custom form of an op is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// `%a, %b : T`, or a function type where the types differ.
    SameType,
    /// `%a, %b : T`
    OneType,
    /// `%a : (A) -> B`
    Functional,
    /// `@f(%a) : (A) -> B`
    Call,
}

/// Operands of an op, with its layout.
///
/// Sources: `stablehlo/dialect/StablehloOps.td`, `mlir/include/mlir/Dialect/{Arith,Func}/IR/*Ops.td`.
fn layout(name: &str) -> Option<(Layout, Option<usize>)> {
    if matches!(name, "func.call" | "call") {
        return Some((Layout::Call, None));
    }
    let (dialect, op) = name.split_once('.')?;
    match dialect {
        "stablehlo" => match op {
            "abs"
            | "cbrt"
            | "ceil"
            | "count_leading_zeros"
            | "cosine"
            | "exponential"
            | "exponential_minus_one"
            | "floor"
            | "log"
            | "log_plus_one"
            | "logistic"
            | "negate"
            | "not"
            | "popcnt"
            | "round_nearest_afz"
            | "round_nearest_even"
            | "rsqrt"
            | "sign"
            | "sine"
            | "sqrt"
            | "tan"
            | "tanh" => Some((Layout::SameType, Some(1))),
            "add"
            | "atan2"
            | "divide"
            | "maximum"
            | "minimum"
            | "multiply"
            | "power"
            | "remainder"
            | "shift_left"
            | "shift_right_arithmetic"
            | "shift_right_logical"
            | "subtract"
            | "and"
            | "or"
            | "xor" => Some((Layout::SameType, Some(2))),
            "convert" | "is_finite" | "reshape" => Some((Layout::Functional, Some(1))),
            _ => None,
        },
        "arith" => match op {
            "addi" | "subi" | "muli" | "divsi" | "divui" | "remsi" | "remui" | "ceildivsi" | "ceildivui"
            | "floordivsi" | "andi" | "ori" | "xori" | "shli" | "shrsi" | "shrui" | "maxsi" | "maxui"
            | "minsi" | "minui" | "addf" | "subf" | "mulf" | "divf" | "remf" | "maximumf" | "minimumf"
            | "maxnumf" | "minnumf" => Some((Layout::OneType, Some(2))),
            "negf" => Some((Layout::OneType, Some(1))),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let read = context.mlir_piece(at.piece);
    let (parse, text) = (&read.parse, &*read.text);
    let op = parse.op(at.id);
    let Some((layout, operands)) = layout(parse.name(at.id, text)) else { return };
    if op.first_region.is_some() || op.results.len() > 1 && layout != Layout::Call {
        return;
    }
    let end = if op.location.is_empty() { op.span.end } else { op.location.start };
    let (all, _) = tokens(text, op.name.end as usize, end as usize, false);
    let body = Body { text, all: &all, at: 0 };
    let (written, id, title) = match op.form {
        Form::Custom => {
            (body.generic(parse.name(at.id, text), layout, operands), "to-generic-form", "generic form")
        }
        Form::Generic => {
            (body.custom(parse.name(at.id, text), layout, operands), "to-custom-form", "custom form")
        }
        Form::Alias | Form::Resources => return,
    };
    let (Some(insert), Some(last)) = (written, all.last()) else { return };
    actions.offer(id, format!("Write in the {title}"), CodeActionKind::RefactorRewrite, || {
        let span = syntax::Span { start: op.name.start, end: last.span.end };
        Some(Change::Edits(vec![TextEdit { range: context.range(at.piece, span), insert }]))
    });
}

/// What stands behind the name of an op, read from left to right.
struct Body<'t> {
    text: &'t str,
    all: &'t [Token],
    at: usize,
}

impl<'t> Body<'t> {
    fn kind(&self) -> Option<TokenKind> {
        self.all.get(self.at).map(|t| t.kind)
    }

    fn eat(&mut self, kind: TokenKind) -> Option<&'t str> {
        let token = self.all.get(self.at).filter(|t| t.kind == kind)?;
        self.at += 1;
        Some(token.span.of(self.text))
    }

    /// `%a, %b`
    fn values(&mut self) -> Option<Vec<&'t str>> {
        let mut found = Vec::new();
        while let Some(value) = self.eat(TokenKind::Value) {
            found.push(value);
            if self.eat(TokenKind::Comma).is_none() {
                return Some(found);
            }
        }
        found.is_empty().then_some(found)
    }

    /// `{…}`, were there one.
    fn dictionary(&mut self) -> Option<&'t str> {
        let first = self.at;
        if self.kind() != Some(TokenKind::OpenBrace) {
            return Some("");
        }
        let mut depth = 0;
        while let Some(kind) = self.kind() {
            self.at += 1;
            match kind {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth == 1 => return Some(self.between(first, self.at)),
                TokenKind::CloseBrace => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn between(&self, first: usize, behind: usize) -> &'t str {
        let start = self.all[first].span.start as usize;
        &self.text[start..self.all[behind - 1].span.end as usize]
    }

    /// What stands behind a colon, to the end.
    fn types(&mut self) -> Option<&'t str> {
        self.eat(TokenKind::Colon)?;
        (self.at < self.all.len()).then(|| self.between(self.at, self.all.len()))
    }

    fn generic(mut self, name: &str, layout: Layout, operands: Option<usize>) -> Option<String> {
        let callee = match layout {
            Layout::Call => Some(self.eat(TokenKind::Symbol)?),
            _ => None,
        };
        if callee.is_some() {
            self.eat(TokenKind::OpenParen)?;
        }
        let values = self.values()?;
        if callee.is_some() {
            self.eat(TokenKind::CloseParen)?;
        }
        let attributes = self.dictionary()?;
        let types = self.types()?;
        if operands.is_some_and(|n| n != values.len()) {
            return None;
        }
        let types = match types.starts_with('(') {
            true => types.to_owned(),
            false if layout == Layout::Call => return None,
            false => format!("({}) -> {types}", vec![types; values.len()].join(", ")),
        };
        let properties = callee.map(|callee| format!(" <{{callee = {callee}}}>")).unwrap_or_default();
        let blank = if attributes.is_empty() { "" } else { " " };
        let name = if name == "call" { "func.call" } else { name };
        Some(format!("\"{name}\"({}){properties}{blank}{attributes} : {types}", values.join(", ")))
    }

    fn custom(mut self, name: &str, layout: Layout, operands: Option<usize>) -> Option<String> {
        self.eat(TokenKind::OpenParen)?;
        let values = self.values()?;
        self.eat(TokenKind::CloseParen)?;
        let mut properties = "";
        if self.eat(TokenKind::OpenAngle).is_some() {
            properties = self.dictionary()?;
            self.eat(TokenKind::CloseAngle)?;
        }
        let attributes = self.dictionary()?;
        let first = self.at;
        let types = self.types()?;
        if operands.is_some_and(|n| n != values.len()) {
            return None;
        }
        // Text of before there were properties has the callee among the attributes.
        let both = [properties, attributes];
        let [properties, attributes] = match (layout, both) {
            (Layout::Call, ["", callee]) => [callee, ""],
            (_, both) => both,
        };
        let mut head = String::new();
        let mut kept = attributes;
        match letters(properties).as_str() {
            "" => {}
            inner if layout == Layout::Call => {
                let callee = inner.strip_prefix("{callee=")?.strip_suffix('}')?;
                if !callee.starts_with('@') || callee.contains(',') {
                    return None;
                }
                head = callee.to_owned();
            }
            // What is not written means the same.
            "{fastmath=#arith.fastmath<none>}" | "{overflowFlags=#arith.overflow<none>}" => {}
            _ if layout == Layout::OneType || !attributes.is_empty() => return None,
            _ => kept = properties,
        }
        let values = values.join(", ");
        let values = match layout {
            Layout::Call if head.is_empty() => return None,
            Layout::Call => format!("{head}({values})"),
            _ => values,
        };
        let types = match layout {
            Layout::Call | Layout::Functional => types.to_owned(),
            Layout::SameType | Layout::OneType => match self.same_type(first + 1) {
                Some(ty) => ty.to_owned(),
                None if layout == Layout::SameType => types.to_owned(),
                None => return None,
            },
        };
        let blank = if kept.is_empty() { "" } else { " " };
        Some(format!("{name} {values}{blank}{kept} : {types}"))
    }

    /// `T` of `(T, T) -> T`, whose first token is `at`.
    fn same_type(&self, at: usize) -> Option<&'t str> {
        let arrow = (at..self.all.len()).rfind(|&i| self.all[i].kind == TokenKind::Arrow)?;
        let result = (arrow + 1 < self.all.len()).then(|| self.between(arrow + 1, self.all.len()))?;
        let inside = letters(self.between(at, arrow)).strip_prefix('(')?.strip_suffix(')')?.to_owned();
        let wanted = letters(result);
        let mut left = inside.as_str();
        loop {
            left = left.strip_prefix(wanted.as_str())?;
            if left.is_empty() {
                return Some(result);
            }
            left = left.strip_prefix(',')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::mlir::code_actions::tests::{apply, titles};

    /// Both forms, each made from the other.
    #[track_caller]
    fn check(custom: &str, generic: &str) {
        let with_cursor =
            |line: &str| format!("func.func @f(%a: T, %b: T) {{\n  %0 = $0{line} loc(\"x\")\n}}\n");
        let without = |line: &str| with_cursor(line).replace("$0", "");
        assert_eq!(apply(&with_cursor(custom), "to-generic-form"), Some(without(generic)));
        assert_eq!(apply(&with_cursor(generic), "to-custom-form"), Some(without(custom)));
    }

    #[test]
    fn ops_have_two_forms() {
        check(
            "stablehlo.add %a, %b : tensor<4xf32>",
            "\"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        );
        check(
            "stablehlo.abs %a {k = 1} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
            "\"stablehlo.abs\"(%a) {k = 1} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
        );
        check(
            "stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>",
            "\"stablehlo.convert\"(%a) : (tensor<4xf32>) -> tensor<4xbf16>",
        );
        check("arith.addi %a, %b : index", "\"arith.addi\"(%a, %b) : (index, index) -> index");
        check("func.call @f(%a) : (T) -> T", "\"func.call\"(%a) <{callee = @f}> : (T) -> T");
        check("func.call @f() : () -> T", "\"func.call\"() <{callee = @f}> : () -> T");
    }

    #[test]
    fn what_would_be_lost_is_kept_in_its_form() {
        for line in [
            "arith.addf %a, %b fastmath<fast> : f32",
            "\"arith.addf\"(%a, %b) <{fastmath = #arith.fastmath<fast>}> : (f32, f32) -> f32",
            "\"arith.addi\"(%a, %b) : (i32, i32) -> i64",
            "\"func.call\"(%a) <{callee = @f, no_inline}> : (T) -> T",
            "stablehlo.add %a : tensor<4xf32>",
            "some.add %a, %b : T",
        ] {
            assert_eq!(titles(&format!("%0 = $0{line}\n")), [""; 0], "{line}");
        }
        let default =
            "%0 = $0\"arith.addf\"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32\n";
        assert_eq!(apply(default, "to-custom-form").as_deref(), Some("%0 = arith.addf %a, %b : f32\n"));
    }
}
