//! The ops of reductions: vectors, shuffles, and accesses by some threads only.

use super::Printer;
use super::names::{Names, type_text};
use crate::kernel::{Op, OpKind};

impl<'k> Printer<'k> {
    pub(super) fn reduction_op(&mut self, names: &mut Names<'k>, op: &'k Op) {
        let origin = op.origin;
        let ty_of = |names: &Names<'k>, value| type_text(names.function.ty(value));
        match &op.kind {
            OpKind::Splat { value } => {
                let (from, element) = (names.value(*value), ty_of(names, *value));
                let ty = ty_of(names, op.results[0]);
                let name = names.name(op.results[0]);
                self.line(origin, format!("{name} = vector.broadcast {from} : {element} to {ty}"));
            }
            OpKind::Extract { vector, at } => {
                let at = self.index(names, at, origin);
                let (from, ty) = (names.value(*vector), ty_of(names, *vector));
                let element = ty_of(names, op.results[0]);
                let name = names.name(op.results[0]);
                self.line(origin, format!("{name} = vector.extract {from}[{at}] : {element} from {ty}"));
            }
            OpKind::Insert { value, vector, at } => {
                let at = self.index(names, at, origin);
                let (value_name, element) = (names.value(*value), ty_of(names, *value));
                let (into, ty) = (names.value(*vector), ty_of(names, *vector));
                let name = names.name(op.results[0]);
                self.line(
                    origin,
                    format!("{name} = vector.insert {value_name}, {into} [{at}] : {element} into {ty}"),
                );
            }
            OpKind::ShuffleReduce { values, distance, combiner } => {
                let (from, types) = (names.list(values), names.types(values));
                let combiner = self.kernel.functions.get(*combiner).map_or("", |called| &called.name);
                let (results, _) = self.results(names, &op.results);
                let text = format!(
                    "{results} = xla_gpu.shuffle_reduce({from}) to {distance} combiner=@{combiner} : {types}"
                );
                self.line(origin, text);
            }
            OpKind::ReadIf { tensor, at, constraints, otherwise } => {
                let condition = self.constraints(names, constraints, origin);
                let at = self.indices(names, at, origin);
                let otherwise = self.as_in_memory(names, *otherwise, origin);
                let (from, ty) = (names.value(*tensor), ty_of(names, *tensor));
                let name = names.fresh();
                self.note_read(names, *tensor);
                self.line(
                    origin,
                    format!(
                        "{name} = xla.predicated_extract {from}[{at}] if {condition} else {otherwise} : {ty}"
                    ),
                );
                self.name_read(names, op, name, names.function.element(*tensor));
            }
            OpKind::WriteIf { value, tensor, at, constraints } => {
                let condition = self.constraints(names, constraints, origin);
                let at = self.indices(names, at, origin);
                let value = self.as_in_memory(names, *value, origin);
                let (into, ty) = (names.value(*tensor), ty_of(names, *tensor));
                let name = names.name(op.results[0]);
                self.line(
                    origin,
                    format!("{name} = xla.predicated_insert {value} into {into}[{at}] if {condition} : {ty}"),
                );
            }
            OpKind::Switch { on, cases } => {
                let on = self.index(names, on, origin);
                let (results, outputs) = self.results(names, &op.results);
                self.line(
                    origin,
                    format!("{results} = scf.index_switch {on} -> {}", outputs.trim_matches(['(', ')'])),
                );
                for (number, case) in cases.iter().enumerate().skip(1) {
                    self.line(origin, format!("case {number} {{"));
                    self.region(names, case, "scf.yield");
                    self.line(origin, "}".to_owned());
                }
                self.line(origin, "default {".to_owned());
                if let Some(first) = cases.first() {
                    self.region(names, first, "scf.yield");
                }
                self.line(origin, "}".to_owned());
            }
            _ => {}
        }
    }
}
