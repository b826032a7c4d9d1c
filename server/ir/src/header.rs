//! What a module's header says, beyond its grammar.

use syntax::Span;

use crate::block::Block;
use crate::module::{Alias, ModuleSettings};

impl Block {
    /// The place of the value of an attribute of the header.
    pub fn header_value(&self, key: &str) -> Option<Span> {
        let attributes = &self.parse.header.as_ref()?.attributes;
        attributes.iter().find(|(own, _)| own.of(&self.text) == key).map(|&(_, value)| value)
    }

    pub(crate) fn settings(&self) -> Option<ModuleSettings> {
        let header = self.parse.header.as_ref()?;
        let shape = |id: &syntax::hlo::ShapeId| self.shapes[id.0 as usize].clone();
        let text = |key| self.header_value(key).map_or("", |span| span.of(&self.text));
        Some(ModuleSettings {
            replica_count: header.replica_count.unwrap_or(1),
            num_partitions: header.num_partitions.unwrap_or(1),
            is_scheduled: header.is_scheduled,
            entry_layout: header
                .entry_layout
                .as_ref()
                .map(|(parameters, result)| (parameters.iter().map(shape).collect(), shape(result))),
            aliases: aliases(text("input_output_alias")),
            donors: donors(text("buffer_donor")),
        })
    }
}

/// `{ {0}: (1, {}, must-alias), … }`
pub(crate) fn aliases(text: &str) -> Vec<Alias> {
    let entries = inside(text).split(')').filter_map(|entry| {
        let (output, rest) = entry.trim_start_matches([',', ' ', '\n']).split_once(':')?;
        let (parameter, rest) =
            rest.split_once('(')?.1.split_once(',').unwrap_or((rest.split_once('(')?.1, ""));
        Some(Alias {
            output: numbers(output),
            parameter: parameter.trim().parse().ok()?,
            index: numbers(rest.split('}').next().unwrap_or("")),
            is_must: rest.contains("must-alias"),
        })
    });
    entries.collect()
}

/// `{ (0, {1}), … }`
fn donors(text: &str) -> Vec<(i64, Vec<i64>)> {
    let entries = inside(text).split(')').filter_map(|entry| {
        let (parameter, index) = entry.split_once('(')?.1.split_once(',')?;
        Some((parameter.trim().parse().ok()?, numbers(index)))
    });
    entries.collect()
}

fn inside(text: &str) -> &str {
    text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or("")
}

/// The numbers in a text, whatever is between them.
fn numbers(text: &str) -> Vec<i64> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '-');
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read() {
        let found = aliases("{ {0}: (1, {}, must-alias), {1,2}: (3, {4}, may-alias), {}: (0) }");
        let alias = |output: &[i64], parameter, index: &[i64], is_must| Alias {
            output: output.to_vec(),
            parameter,
            index: index.to_vec(),
            is_must,
        };
        let expected = [alias(&[0], 1, &[], true), alias(&[1, 2], 3, &[4], false), alias(&[], 0, &[], false)];
        assert_eq!(found, expected);
        assert_eq!(donors("{ (0, {1}), (2, {}) }"), [(0, vec![1]), (2, vec![])]);
    }
}
