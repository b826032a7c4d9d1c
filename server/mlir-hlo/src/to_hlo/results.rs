//! What a function says of its results: shardings, layouts.

use ir::{AttributeKey as K, AttributeValue, Attributes, Opcode};
use mlir::OpId;
use mlir::lists::{braced, closing, dictionary, split};

use super::Writer;
use super::annotations::Annotations;
use super::body::{Draft, Operand};

/// The attributes of each result, in whichever form they are written.
fn attributes<'a>(head: &'a str, generic: Option<&'a str>) -> Vec<Vec<(&'a str, &'a str)>> {
    if let Some(list) = generic.and_then(|list| list.trim().strip_prefix('[')?.strip_suffix(']')) {
        return split(list).into_iter().map(dictionary).collect();
    }
    let custom = || {
        let (_, rest) = head.split_once('@')?;
        // A symbol in quotes may hold brackets.
        let rest = rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')).map_or(rest, |(_, r)| r);
        let (_, arguments) = rest.split_once('(')?;
        let behind = &arguments[closing(arguments, b'(', b')')? + 1..];
        let results = behind.trim_start().strip_prefix("->")?.trim_start().strip_prefix('(')?;
        Some(split(&results[..closing(results, b'(', b')')?]))
    };
    let of = |part: &'a str| {
        let mut places = part.match_indices('{').map(|(at, _)| &part[at..]);
        places.find(|rest| braced(rest) == Some(rest)).map(dictionary).unwrap_or_default()
    };
    custom().unwrap_or_default().into_iter().map(of).collect()
}

impl Writer<'_> {
    /// Adds the attributes of the results to the root, and returns the layouts that are stated for them.
    pub(super) fn result_attributes(
        &mut self,
        id: OpId,
        root: Operand,
        count: usize,
    ) -> (Operand, Vec<String>) {
        let (parse, text) = (self.parse(), self.text());
        let generic = parse.attribute(id, "res_attrs", text);
        let stated = attributes(parse.op(id).head.of(text), generic);
        if stated.len() != count {
            return (root, Vec::new());
        }
        let mut layouts = vec![String::new(); count];
        let mut shardings = vec![String::new(); count];
        for (number, attributes) in stated.into_iter().enumerate() {
            let mut annotations = Annotations::default();
            for (name, value) in attributes {
                match name {
                    "mhlo.layout_mode" => layouts[number] = value.trim_matches('"').to_owned(),
                    // What frontends leave is an instruction's: a result is none.
                    "mhlo.frontend_attributes" => {
                        self.report(id, format!("result {number}: attribute {name}"));
                    }
                    _ if annotations.add(name, value, self.environment) => {}
                    _ => self.report(id, format!("result {number}: attribute {name}")),
                }
            }
            for what in annotations.unsaid() {
                self.report(id, format!("result {number}: {what}"));
            }
            shardings[number] = annotations.sharding().to_owned();
        }
        layouts.iter_mut().filter(|layout| !layout.starts_with('{')).for_each(String::clear);
        if shardings.iter().all(String::is_empty) {
            return (root, layouts);
        }
        let sharding = match shardings.as_slice() {
            [only] => only.clone(),
            several => {
                let each = several.iter().map(|s| if s.is_empty() { "{replicated}" } else { s });
                format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
            }
        };
        (self.sharded(id, root, &sharding), layouts)
    }

    /// The root with a sharding. Its own instruction gets it, unless that is an argument or already has one.
    fn sharded(&mut self, id: OpId, root: Operand, sharding: &str) -> Operand {
        let value = || AttributeValue::Text(sharding.to_owned());
        let op = self.body().op_mut(&root);
        match op.attributes.text(K::Sharding) {
            Some(own) if own == sharding => return root,
            None if op.opcode != Opcode::Parameter => {
                op.attributes.push(K::Sharding, value());
                return root;
            }
            _ => {}
        }
        // As XLA does: of a tuple of its own.
        let tuple = self.tuple(std::slice::from_ref(&root), id);
        let attributes = Attributes::default().with(K::Index, 0).with(K::Sharding, value());
        let draft = Draft::new(Opcode::GetTupleElement, root.shape, &[tuple], attributes);
        self.body().push("result", draft, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_results_are_read() {
        let check =
            |head: &str, expect: &[&[(&str, &str)]]| assert_eq!(attributes(head, None), expect, "{head}");
        check(
            "func.func @f(%a: tensor<f32> {x = \"}\"}) -> (tensor<f32> {y = 1}, i1)",
            &[&[("y", "1")], &[]],
        );
        check("func.func @\"f(\"() -> (tensor<2xf32, #a<{b}>> {y = \"{z}\"})", &[&[("y", "\"{z}\"")]]);
        check("func.func @f() -> tensor<f32>", &[]);
        check("func.func @f(", &[]);
        assert_eq!(attributes("", Some("[{a = 1}, {}]")), [vec![("a", "1")], vec![]]);
    }
}
