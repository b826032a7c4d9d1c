//! Where an op comes from: `loc(…)` as metadata.

use std::rc::Rc;

use mlir::lists::{braced, closing};
use mlir::{OpId, ValueId, source_place};

use super::Writer;
use super::annotations::Location;
use crate::strings::hlo_string;

impl Writer<'_> {
    /// `op_name="…" source_file="…" source_line=1`, or nothing.
    pub(super) fn location(&mut self, id: OpId) -> Location {
        let op = self.parse().op(id);
        match op.location.is_empty() {
            true => Location::default(),
            false => self.metadata(op.location.of(self.source.text)),
        }
    }

    /// The location of an argument, which follows its type and attributes.
    pub(super) fn location_of_argument(&mut self, argument: ValueId) -> Location {
        let parse = self.source.parse;
        let types = parse.types(&parse.values[argument as usize].types);
        let Some(mlir::TypeRef::Written(span)) = types.first() else { return Location::default() };
        let mut behind = self.source.text.get(span.end as usize..).unwrap_or_default().trim_start();
        if let Some(attributes) = braced(behind) {
            behind = behind[attributes.len()..].trim_start();
        }
        // A location does not go over lines.
        let line = behind.split('\n').next().unwrap_or_default();
        let end = line.strip_prefix("loc(").and_then(|inside| closing(inside, b'(', b')'));
        let Some(end) = end else { return Location::default() };
        self.metadata(&line[..4 + end + 1])
    }

    fn metadata(&mut self, location: &str) -> Location {
        if let Some(known) = self.metadata.get(location) {
            return known.clone();
        }
        let inner = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')).unwrap_or_default();
        let environment = self.environment;
        let place = source_place(inner, &|name| {
            let value = environment.resolved(name);
            (value != name).then(|| value.to_owned())
        });
        let mut fields = Vec::new();
        if !place.name.is_empty() {
            fields.push(format!("op_name=\"{}\"", hlo_string(&place.name)));
        }
        if let Some(frame) = place.frames.first() {
            fields.push(format!("source_file=\"{}\" source_line={}", hlo_string(&frame.file), frame.line));
        }
        let text = Location((!fields.is_empty()).then(|| Rc::from(fields.join(" "))));
        // Locations that are written in place are many, aliases few.
        if inner.starts_with('#') {
            self.metadata.insert(location.into(), text.clone());
        }
        text
    }
}
