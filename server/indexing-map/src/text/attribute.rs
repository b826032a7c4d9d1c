//! Maps as MLIR attributes: `#xla.indexing_map<"…">`, and the older forms `#xla_gpu.indexing_map<…>` and
//! `#xla_gpu.map<…>`, with or without quotes.

use crate::map::IndexingMap;
use crate::text::print::{PrintStyle, print_map};

/// The names of attributes that hold an indexing map; the current one first.
const NAMES: [&str; 3] = ["#xla.indexing_map", "#xla_gpu.indexing_map", "#xla_gpu.map"];

/// Whether an attribute of this name holds an indexing map.
pub fn is_map_attribute(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The text of an attribute that contains a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapAttribute {
    name: &'static str,
    is_quoted: bool,
    has_flag: bool,
    /// The text of the map itself; adjacent strings are concatenated.
    pub body: String,
    /// The starts of the parts of the body, in the body and in the attribute.
    parts: Vec<(usize, usize)>,
}

impl MapAttribute {
    /// Returns `None` if the text is not such an attribute. The body is not checked to be a map.
    pub fn read(text: &str) -> Option<MapAttribute> {
        let start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let (name, rest) = NAMES.iter().find_map(|name| Some((*name, trimmed.strip_prefix(name)?)))?;
        let inner = rest.trim_start().strip_prefix('<')?;
        let inner = inner.strip_suffix('>')?;
        let from = start + trimmed.len() - 1 - inner.len();
        let is_quoted = inner.trim_start().starts_with('"');
        let (mut body, mut parts) = (String::new(), Vec::new());
        if is_quoted {
            let mut at = 0;
            for (nth, part) in inner.split('"').enumerate() {
                if nth % 2 == 1 {
                    parts.push((body.len(), from + at));
                    body += part;
                }
                at += part.len() + 1;
            }
        } else {
            parts.push((0, from));
            body += inner;
        }
        let has_flag = body.contains("is_simplified");
        Some(MapAttribute { name, is_quoted, has_flag, body, parts })
    }

    /// Converts an offset in the body into one in the attribute's text.
    pub(super) fn place(&self, at: usize) -> usize {
        let part = self.parts.iter().rev().find(|(start, _)| *start <= at);
        part.map_or(at, |(start, from)| from + (at - start))
    }

    /// Prints another map in the same form. If the attribute has the flag `is_simplified`, the new one has it
    /// too.
    pub fn with_map(&self, map: &IndexingMap) -> String {
        let flag = if self.has_flag { ", is_simplified: true" } else { "" };
        let quote = if self.is_quoted { "\"" } else { "" };
        let mut text = print_map(map, PrintStyle::Floordiv);
        if self.body.contains("floorDiv") || self.body.contains("ceilDiv") {
            text = text.replace("floordiv", "floorDiv").replace("ceildiv", "ceilDiv");
        }
        format!("{}<{quote}{text}{flag}{quote}>", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_map;

    /// Each byte of the body is in the attribute where `place` says, and a map printed in the same form is read as that map.
    #[track_caller]
    fn check(text: &str, map: &str, printed: &str) {
        let attribute = MapAttribute::read(text).expect("it is an attribute of a map");
        for (at, byte) in attribute.body.bytes().enumerate() {
            assert_eq!(text.as_bytes()[attribute.place(at)], byte, "{at} of {}", attribute.body);
        }
        let map = parse_map(map).unwrap();
        assert_eq!(parse_map(&attribute.body).as_ref(), Ok(&map));
        let again = attribute.with_map(&map);
        assert_eq!(again, printed);
        assert_eq!(parse_map(&MapAttribute::read(&again).expect("it is one, too").body), Ok(map));
    }

    #[test]
    fn every_form_of_the_attribute_is_read() {
        let map = "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]";
        check(
            "  #xla.indexing_map<\"(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]\"> ",
            map,
            "#xla.indexing_map<\"(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]\">",
        );
        check(
            "#xla_gpu.indexing_map< \"(d0) -> (d0 floordiv 2),\"\n  \" domain: \" \"d0 in [0, 9], is_simplified: true\">",
            map,
            "#xla_gpu.indexing_map<\"(d0) -> (d0 floordiv 2), domain: d0 in [0, 9], is_simplified: true\">",
        );
        check(
            "#xla_gpu.map <(d0) -> (d0 floorDiv 2), domain: d0 in [0, 9], is_simplified: false>",
            map,
            "#xla_gpu.map<(d0) -> (d0 floorDiv 2), domain: d0 in [0, 9], is_simplified: true>",
        );
        assert!(is_map_attribute("#xla_gpu.map") && !is_map_attribute("#xla.map"));
        for other in
            ["#xla.layout<\"x\">", "#xla.indexing_map", "#xla.indexing_map<\"x\"", "#xla.indexing_map\"x\">"]
        {
            assert_eq!(MapAttribute::read(other), None, "{other}");
        }
    }
}
