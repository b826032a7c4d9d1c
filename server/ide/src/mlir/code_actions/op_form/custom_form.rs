//! The custom form of an op by its [`CustomForm`].

use mlir::{TokenKind, integer, integers};
use mlir_hlo::{CustomForm, Piece, Types};

use super::body::Body;
use super::by_format::{Said, functional, list_of};
use super::products::products;
use crate::mlir::code_actions::map_texts::letters;

impl Said {
    /// Parses the custom form; `body` is the text after the name.
    pub(super) fn of_custom(mut body: Body<'_>, form: &CustomForm) -> Option<Said> {
        let mut operands = Vec::new();
        let mut attributes = Vec::new();
        let mut others = "";
        for piece in &form.pieces {
            match *piece {
                Piece::Operand => operands.push(body.eat(TokenKind::Value)?.to_owned()),
                Piece::Operands => {
                    operands.push(body.eat(TokenKind::Value)?.to_owned());
                    while body.kind() == Some(TokenKind::Comma) && body.kind_at(1) == Some(TokenKind::Value) {
                        body.eat(TokenKind::Comma)?;
                        operands.push(body.eat(TokenKind::Value)?.to_owned());
                    }
                }
                Piece::Comma => _ = body.eat(TokenKind::Comma)?,
                Piece::Case(name, of) => {
                    attributes.push((name, format!("#stablehlo<{of} {}>", body.eat(TokenKind::Word)?)));
                }
                Piece::MaybeCase(name, of) => {
                    if body.eat(TokenKind::Comma).is_some() {
                        attributes.push((name, format!("#stablehlo<{of} {}>", body.eat(TokenKind::Word)?)));
                    }
                }
                Piece::List(word, name) => {
                    body.clause(word)?;
                    attributes.push((name, array(&integers(body.group()?)?)));
                }
                Piece::Number(word, name) => {
                    body.clause(word)?;
                    let sign = if body.word() == "-" { -1 } else { 1 };
                    body.at += usize::from(sign < 0);
                    let number = sign * body.eat(TokenKind::Number)?.parse::<i64>().ok()?;
                    attributes.push((name, format!("{number} : i64")));
                }
                Piece::Elements(name) => {
                    others = body.dictionary()?;
                    let value = body.up_to_types().filter(|value| value.starts_with("dense"))?;
                    attributes.push((name, value.to_owned()));
                }
                Piece::Ranges(names) => {
                    let lists = ranges(body.group()?)?;
                    attributes.extend(names.into_iter().zip(lists.iter().map(|list| array(list))));
                }
                Piece::Products(_) => attributes.extend(products(&mut body)?),
            }
        }
        if others.is_empty() {
            others = body.dictionary()?;
        }
        let types = body.types()?;
        let (operand_types, result_type) = match functional(types) {
            Some(found) => found,
            None => {
                let all = list_of(types);
                let of = |n: usize, ty: &str| vec![ty.to_owned(); n];
                match (form.types, all.as_slice()) {
                    (Types::Same, [ty]) => (of(operands.len(), ty), ty.clone()),
                    (Types::Result, [ty]) => (Vec::new(), ty.clone()),
                    (Types::Choice, [choice, ty]) => ([of(1, choice), of(2, ty)].concat(), ty.clone()),
                    _ => return None,
                }
            }
        };
        // A constant's type is written once, so its value has it as well.
        for (_, value) in attributes.iter_mut().filter(|_| form.is_constant()) {
            *value += &format!(" : {result_type}");
        }
        let others = others.to_owned();
        Said { operands, attributes, others, operand_types, result_type }.checked()
    }

    /// `None` if an attribute cannot be written in the custom form.
    pub(super) fn custom(&self, name: &str, form: &CustomForm) -> Option<String> {
        let mut text = String::new();
        let mut operands = self.operands.iter();
        // For example `#stablehlo<comparison_direction EQ>`.
        let case = |value: &str, of: &str| {
            let inside = value.trim().strip_prefix("#stablehlo<")?.strip_suffix('>')?;
            Some(inside.trim().strip_prefix(of)?.trim().to_owned())
        };
        let mut said = 0;
        for piece in &form.pieces {
            match *piece {
                Piece::Operand => text += operands.next()?,
                Piece::Operands => {
                    let all: Vec<&str> = operands.by_ref().map(String::as_str).collect();
                    (!all.is_empty()).then_some(())?;
                    text += &all.join(", ");
                }
                Piece::Comma => text += ", ",
                Piece::Case(name, of) => {
                    said += 1;
                    text += &case(self.attribute(name)?, of)?;
                }
                Piece::MaybeCase(name, of) => {
                    if let Some(value) = self.attribute(name) {
                        said += 1;
                        text += &format!(", {}", case(value, of)?);
                    }
                }
                Piece::List(word, name) => {
                    said += 1;
                    text += &format!("{word} = {:?}", integers(self.attribute(name)?)?);
                }
                Piece::Number(word, name) => {
                    said += 1;
                    text += &format!("{word} = {}", integer(self.attribute(name)?)?);
                }
                Piece::Elements(name) => {
                    said += 1;
                    let value = self.attribute(name)?.strip_suffix(self.result_type.as_str())?;
                    if !self.others.is_empty() {
                        text += &format!("{} ", self.others);
                    }
                    text += value.trim_end().strip_suffix(':')?.trim_end();
                }
                Piece::Ranges(names) => {
                    said += 3;
                    let [starts, limits, strides] = names.map(|name| integers(self.attribute(name)?));
                    let (starts, limits, strides) = (starts?, limits?, strides?);
                    (starts.len() == limits.len() && limits.len() == strides.len()).then_some(())?;
                    let entries: Vec<String> = (0..starts.len())
                        .map(|k| match strides[k] {
                            1 => format!("{}:{}", starts[k], limits[k]),
                            stride => format!("{}:{}:{stride}", starts[k], limits[k]),
                        })
                        .collect();
                    text += &format!(" [{}]", entries.join(", "));
                }
                Piece::Products(_) => {
                    said += self.attributes.len();
                    text += &self.products()?;
                }
            }
        }
        if operands.next().is_some() || said != self.attributes.len() {
            return None;
        }
        if !self.others.is_empty() && !form.is_constant() {
            text += &format!(" {}", self.others);
        }
        if !form.pieces.is_empty() {
            text.insert(0, ' ');
        }
        let is_result = |ty: &String| letters(ty) == letters(&self.result_type);
        let types = match (form.types, self.operand_types.as_slice()) {
            (Types::Same, all) if all.iter().all(is_result) => self.result_type.clone(),
            (Types::Result, []) => self.result_type.clone(),
            (Types::Result, _) => return None,
            (Types::Choice, [choice, rest @ ..]) if rest.iter().all(is_result) => {
                format!("{choice}, {}", self.result_type)
            }
            (_, all) => format!("({}) -> {}", all.join(", "), self.result_type),
        };
        Some(format!("{name}{text} : {types}"))
    }
}

/// For example `array<i64: 0, 1>`.
fn array(list: &[i64]) -> String {
    let numbers: Vec<String> = list.iter().map(i64::to_string).collect();
    match numbers.is_empty() {
        true => "array<i64>".to_owned(),
        false => format!("array<i64: {}>", numbers.join(", ")),
    }
}

/// `[0:8:2, 1:4]` as starts, limits and strides.
fn ranges(group: &str) -> Option<[Vec<i64>; 3]> {
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    let inside = group.strip_prefix('[')?.strip_suffix(']')?;
    for entry in inside.split(',').filter(|entry| !inside.trim().is_empty() || !entry.trim().is_empty()) {
        let numbers: Option<Vec<i64>> = entry.split(':').map(|n| n.trim().parse().ok()).collect();
        let (start, limit, stride) = match numbers?.as_slice() {
            [start, limit] => (*start, *limit, 1),
            [start, limit, stride] => (*start, *limit, *stride),
            _ => return None,
        };
        lists.iter_mut().zip([start, limit, stride]).for_each(|(list, n)| list.push(n));
    }
    Some(lists)
}
