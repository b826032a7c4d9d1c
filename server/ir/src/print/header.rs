//! `HloModule name, …` and the tables after it. Source: XLA `hlo_module.cc` HloModule::Print.

use std::fmt::Write as _;

use syntax::hlo::ModuleHeader;

use super::Printer;
use super::program::parameter_number;
use super::shapes::{separate, write_shape};
use super::values;
use crate::block::Block;
use crate::shape::Shape;

/// The attributes in the order of printing.
const ORDER: &[&str] = &[
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
];

impl Printer<'_, '_> {
    /// The header and the blank line after it.
    pub(super) fn header(&mut self, block: Option<&Block>) {
        let header = block.and_then(|b| b.parse.header.as_ref()).zip(block);
        self.out.push_str("HloModule ");
        match &header {
            Some((header, block)) => {
                let name = header.name.of(&block.text);
                // A word of the grammar reads back as a name only like this.
                if syntax::hlo::ElementType::from_name(name).is_some() {
                    self.out.push('%');
                }
                self.out.push_str(name);
            }
            None => {
                let entry = self.program.computations.iter().find(|c| c.is_entry);
                self.out.push_str(entry.map_or("_", |entry| &entry.name));
            }
        }
        for &name in ORDER {
            let written = header.as_ref().and_then(|(header, block)| {
                let found = header.attributes.iter().find(|(key, _)| key.of(&block.text) == name)?;
                Some(found.1.of(&block.text))
            });
            match (name, written) {
                ("entry_computation_layout", _) => self.entry_layout(header),
                (_, Some(text)) => self.header_attribute(name, text),
                (_, None) => {}
            }
        }
        if let Some((header, block)) = header {
            for (key, value) in &header.attributes {
                let key = key.of(&block.text);
                if !ORDER.contains(&key) {
                    let _ = write!(self.out, ", {key}={}", value.of(&block.text));
                }
            }
        }
        self.out.push('\n');
        if let Some((header, block)) = header {
            self.tables(header, block);
        }
        self.out.push('\n');
    }

    fn header_attribute(&mut self, name: &str, text: &str) {
        let out = &mut self.out;
        let is_default = match name {
            "replica_count" | "num_partitions" => text == "1",
            "is_scheduled" | "alias_passthrough_params" => text == "false",
            "input_output_alias" | "buffer_donor" | "frontend_attributes" => {
                text.trim_matches(['{', '}', ' ']).is_empty()
            }
            "debug_attributes" => false,
            _ => false,
        };
        if is_default {
            return;
        }
        if name == "debug_attributes" {
            let _ = write!(out, ",\n{name}={text}");
            return;
        }
        let _ = write!(out, ", {name}=");
        match name {
            "input_output_alias" => {
                out.push_str("{ ");
                values::write_aliasing(out, text, true);
                out.push_str(" }");
            }
            "buffer_donor" => {
                out.push_str("{ ");
                let inner = text.trim().trim_start_matches('{').strip_suffix('}').unwrap_or(text);
                for (i, donor) in super::tokens::split_top_level(inner).into_iter().enumerate() {
                    separate(out, i, false);
                    let parts = donor.trim_start_matches('(').trim_end_matches(')');
                    out.push('(');
                    for (i, part) in super::tokens::split_top_level(parts).into_iter().enumerate() {
                        separate(out, i, false);
                        values::write_dense(out, part);
                    }
                    out.push(')');
                }
                out.push_str(" }");
            }
            "frontend_attributes" => values::write_frontend_attributes(out, text),
            "allow_spmd_sharding_propagation_to_parameters" | "allow_spmd_sharding_propagation_to_output" => {
                let list = values_list(text);
                let _ = write!(out, "{{{}}}", list.join(","));
            }
            "origin_recovery_table" => {
                out.push_str(text);
                out.push('\n');
            }
            _ => out.push_str(text),
        }
    }

    /// As written, else of the entry's parameters and root.
    fn entry_layout(&mut self, header: Option<(&ModuleHeader, &Block)>) {
        let entry = self.program.computations.iter().find(|c| c.is_entry);
        let mut parameters: Vec<(u32, Option<&Shape>)> = Vec::new();
        let mut result = None;
        if let Some(entry) = entry {
            let numbered = entry
                .nodes
                .iter()
                .filter_map(|node| Some((parameter_number(self.program, node)?, node.shape.as_deref())));
            parameters = numbered.collect();
            parameters.sort_by_key(|(number, _)| *number);
            result = entry.nodes.get(entry.root as usize).and_then(|n| n.shape.as_deref());
        }
        if let Some((layout, block)) = header.and_then(|(h, b)| Some((h.entry_layout.as_ref()?, b))) {
            let shape = |id: &syntax::hlo::ShapeId| &block.shapes[id.0 as usize];
            parameters = layout.0.iter().map(|id| (0, Some(shape(id)))).collect();
            result = Some(shape(&layout.1));
        } else if entry.is_none() {
            return;
        }
        self.out.push_str(", entry_computation_layout={(");
        for (i, (_, shape)) in parameters.into_iter().enumerate() {
            separate(&mut self.out, i, true);
            if let Some(shape) = shape {
                write_shape(&mut self.out, shape);
            }
        }
        self.out.push_str(")->");
        if let Some(shape) = result {
            write_shape(&mut self.out, shape);
        }
        self.out.push('}');
    }

    /// The tables stay as they are: their rows may hold more than is read of them.
    fn tables(&mut self, header: &ModuleHeader, block: &Block) {
        if !self.options.metadata {
            return;
        }
        let names = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];
        let mut last = "";
        for line in tables(header, block).lines().map(str::trim).filter(|line| !line.is_empty()) {
            if names.contains(&line) {
                self.out.push('\n');
            }
            let _ = writeln!(self.out, "{line}");
            last = line;
        }
        if !last.is_empty() {
            self.out.push('\n');
        }
    }
}

/// The tables of source locations after a header, as written; empty where there are none.
pub(super) fn tables<'a>(header: &ModuleHeader, block: &'a Block) -> &'a str {
    let text = header.span.of(&block.text);
    text.find("\nFileNames").map_or("", |start| &text[start..])
}

fn values_list(text: &str) -> Vec<&str> {
    text.trim_matches(['{', '}', ' ']).split(',').map(str::trim).filter(|v| !v.is_empty()).collect()
}
