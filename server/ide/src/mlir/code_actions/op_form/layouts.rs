//! Ops of other dialects whose custom form consists of their operands and types.

use mlir::TokenKind;

use super::body::Body;
use crate::mlir::code_actions::map_texts::letters;

/// The layout of an op's custom form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `%a, %b : T`
    OneType,
    /// `@f(%a) : (A) -> B`
    Call,
}

/// The layout of an op, with its number of operands.
///
/// Source: `mlir/include/mlir/Dialect/{Arith,Func}/IR/*Ops.td`.
pub(super) fn layout(name: &str) -> Option<(Layout, Option<usize>)> {
    if mlir::is_call(name) {
        return Some((Layout::Call, None));
    }
    match name.strip_prefix("arith.")? {
        "addi" | "subi" | "muli" | "divsi" | "divui" | "remsi" | "remui" | "ceildivsi" | "ceildivui"
        | "floordivsi" | "andi" | "ori" | "xori" | "shli" | "shrsi" | "shrui" | "maxsi" | "maxui"
        | "minsi" | "minui" | "addf" | "subf" | "mulf" | "divf" | "remf" | "maximumf" | "minimumf"
        | "maxnumf" | "minnumf" => Some((Layout::OneType, Some(2))),
        "negf" => Some((Layout::OneType, Some(1))),
        _ => None,
    }
}

impl<'t> Body<'t> {
    pub(super) fn generic(mut self, name: &str, layout: Layout, operands: Option<usize>) -> Option<String> {
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
        let name = if layout == Layout::Call { mlir::CALL } else { name };
        Some(format!("\"{name}\"({}){properties}{blank}{attributes} : {types}", values.join(", ")))
    }

    pub(super) fn custom(mut self, name: &str, layout: Layout, operands: Option<usize>) -> Option<String> {
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
        // Texts from before MLIR had properties have the callee among the attributes.
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
            // These are the defaults, which the custom form omits.
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
            Layout::Call => types.to_owned(),
            Layout::OneType => self.same_type(first + 1)?.to_owned(),
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
