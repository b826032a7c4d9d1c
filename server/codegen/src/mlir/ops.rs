//! The ops of a function, except those of [reductions](super::reductions).

use ir::{ElementTypeExt, OpId};
use syntax::hlo::ElementType;

use super::Printer;
use super::names::{Names, type_text};
use super::scalars::{self, dense, element_type, scalar};
use crate::kernel::{Op, OpKind, Type, ValueId};

impl<'k> Printer<'k> {
    pub(super) fn op(&mut self, names: &mut Names<'k>, op: &'k Op) {
        let origin = op.origin;
        match &op.kind {
            OpKind::Read { tensor, at } => {
                let at = self.indices(names, at, origin);
                let ty = type_text(names.function.ty(*tensor));
                let tensor_name = names.value(*tensor);
                let name = names.fresh();
                self.note_read(names, *tensor);
                self.line(origin, format!("{name} = tensor.extract {tensor_name}[{at}] : {ty}"));
                self.name_read(names, op, name, names.function.element(*tensor));
            }
            OpKind::Write { value, tensor, at } => {
                let at = self.indices(names, at, origin);
                let ty = type_text(names.function.ty(*tensor));
                let from = self.as_in_memory(names, *value, origin);
                let tensor = names.value(*tensor);
                let name = names.name(op.results[0]);
                self.line(origin, format!("{name} = tensor.insert {from} into {tensor}[{at}] : {ty}"));
            }
            OpKind::Call { function, args, at } => {
                let at_text = self.indices(names, at, origin);
                let called = self.kernel.functions.get(*function).map_or("", |called| &called.name);
                let is_number = |arg: &&ValueId| {
                    matches!(names.function.ty(**arg), Type::Scalar(_) | Type::Vector { .. })
                };
                let tensors = args.iter().take_while(|arg| !is_number(arg)).count();
                let (tensors, numbers) = args.split_at(tensors);
                let join = |parts: [String; 3]| {
                    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
                };
                let inputs = join([names.list(tensors), at_text, names.list(numbers)]);
                let indices = vec!["index"; at.len()].join(", ");
                let types = join([names.types(tensors), indices, names.types(numbers)]);
                let (results, outputs) = self.results(names, &op.results);
                let text = format!("{results} = xla.pure_call @{called}({inputs}) : ({types}) -> {outputs}");
                self.line(origin, text);
            }
            OpKind::FromIndex { index } => {
                let index = self.index(names, index, origin);
                let to = names.function.element(op.results[0]);
                let name = names.name(op.results[0]);
                let text = match to {
                    _ if scalars::is_integer(to) => {
                        format!("{name} = arith.index_castui {index} : index to {}", element_type(to))
                    }
                    _ => format!("{name} = arith.uitofp {index} : index to {}", element_type(to)),
                };
                self.line(origin, text);
            }
            OpKind::ToIndex { value, var } => {
                let from = element_type(names.function.element(*value));
                let bounds = names.function.index_vars[*var as usize].bounds;
                let value = names.value(*value);
                let (raw, low, high) = (names.fresh(), names.fresh(), names.fresh());
                self.line(origin, format!("{raw} = arith.index_cast {value} : {from} to index"));
                let most = self.constant(names, bounds.upper, origin);
                self.line(origin, format!("{low} = arith.minsi {raw}, {most} : index"));
                let least = self.constant(names, bounds.lower, origin);
                self.line(origin, format!("{high} = arith.maxsi {low}, {least} : index"));
                names.vars[*var as usize] = Some(high);
            }
            OpKind::AsIndex { value, var } => {
                let element = names.function.element(*value);
                let cast = if element.is_signed_integer() { "index_cast" } else { "index_castui" };
                let (from, value) = (element_type(element), names.value(*value));
                let name = names.fresh();
                self.line(origin, format!("{name} = arith.{cast} {value} : {from} to index"));
                names.vars[*var as usize] = Some(name);
            }
            OpKind::Update { tensor, at, body } => {
                let at = self.indices(names, at, origin);
                let ty = type_text(names.function.ty(*tensor));
                let tensor = names.value(*tensor);
                let name = names.name(op.results[0]);
                self.line(origin, format!("{name} = xla.atomic_rmw {tensor}[{at}] : {ty} {{"));
                let args: Vec<String> = body
                    .args
                    .iter()
                    .map(|&arg| format!("{}: {}", names.name(arg), type_text(names.function.ty(arg))))
                    .collect();
                self.line(origin, format!("^bb0({}):", args.join(", ")));
                self.region(names, body, "xla.yield");
                self.line(origin, "}".to_owned());
            }
            OpKind::If { condition, then, otherwise } => {
                let condition = self.condition(names, condition, origin);
                let (results, outputs) = self.results(names, &op.results);
                self.line(origin, format!("{results} = scf.if {condition} -> {outputs} {{"));
                self.region(names, then, "scf.yield");
                self.line(origin, "} else {".to_owned());
                self.region(names, otherwise, "scf.yield");
                self.line(origin, "}".to_owned());
            }
            OpKind::For { var, count, inits, body } => {
                let zero = self.constant(names, 0, origin);
                let one = self.constant(names, 1, origin);
                let end = self.constant(names, *count, origin);
                let counter = names.fresh();
                names.vars[*var as usize] = Some(counter.clone());
                let carried = self.carried(names, inits, &body.args);
                let (results, outputs) = self.results(names, &op.results);
                self.line(
                    origin,
                    format!("{results} = scf.for {counter} = {zero} to {end} step {one} iter_args({carried}) -> {outputs} {{"),
                );
                self.region(names, body, "scf.yield");
                self.line(origin, "}".to_owned());
            }
            OpKind::Loop { map, dims, vars, results, inits, body } => {
                let map = self.map(map);
                let dims = self.indices(names, dims, origin);
                let letters = ["%i", "%j", "%k", "%l", "%m"];
                let mut define = |ids: &[u32], of: &dyn Fn(usize, u32) -> String| -> String {
                    let all = ids.iter().enumerate().map(|(n, &id)| {
                        let name = of(n, id);
                        names.vars[id as usize] = Some(name.clone());
                        name
                    });
                    all.collect::<Vec<_>>().join(", ")
                };
                let ivs =
                    define(vars, &|n, id| letters.get(n).map_or(format!("%iv{id}"), |l| (*l).to_owned()));
                let of = define(results, &|n, _| {
                    let letter = b'a'.saturating_add(n as u8) as char;
                    format!("%r{letter}")
                });
                let carried = self.carried(names, inits, &body.args);
                let (name, outputs) = self.results(names, &op.results);
                self.line(
                    origin,
                    format!("{name} = xla.loop ({dims})[{ivs}] -> ({of}) in {map} iter_args({carried}) -> {outputs} {{"),
                );
                self.region(names, body, "xla.yield");
                self.line(origin, "}".to_owned());
            }
            OpKind::Splat { .. }
            | OpKind::Extract { .. }
            | OpKind::Insert { .. }
            | OpKind::ShuffleReduce { .. }
            | OpKind::ReadIf { .. }
            | OpKind::WriteIf { .. }
            | OpKind::Switch { .. } => self.reduction_op(names, op),
            OpKind::AllocateShared => {
                let ty = type_text(names.function.ty(op.results[0]));
                let name = names.name(op.results[0]);
                self.line(origin, format!("{name} = xla_gpu.allocate_shared : {ty}"));
            }
            OpKind::Sync { tensors } => {
                let (from, types) = (names.list(tensors), names.types(tensors));
                if tensors.is_empty() {
                    self.line(origin, "xla_gpu.sync_threads  : ".to_owned());
                    return;
                }
                let (results, _) = self.results(names, &op.results);
                self.line(origin, format!("{results} = xla_gpu.sync_threads {from} : {types}"));
            }
            OpKind::Missing => {
                for &result in &op.results {
                    let ty = type_text(names.function.ty(result));
                    let name = names.name(result);
                    let known = self.kernel.missing.iter().find(|missing| Some(missing.op) == op.origin);
                    let why = known.map_or_else(String::new, |missing| {
                        format!(": %{}: {}", missing.instruction, missing.reason)
                    });
                    self.line(origin, format!("{name} = ub.poison : {ty} // not written{why}"));
                }
            }
            OpKind::Table(number) => {
                let name = names.name(op.results[0]);
                let ty = type_text(names.function.ty(op.results[0]));
                let dense = self.kernel.tables.get(*number).map_or_else(String::new, dense);
                self.line(origin, format!("{name} = arith.constant dense<{dense}> : {ty}"));
            }
            OpKind::Constant(_) | OpKind::Compute { .. } => {
                let inputs: Vec<String> = match &op.kind {
                    OpKind::Compute { operands, .. } => operands.iter().map(|&v| names.value(v)).collect(),
                    _ => Vec::new(),
                };
                let name = names.name(op.results[0]);
                for text in scalar(names.function, op, &name, &inputs) {
                    self.line(origin, text);
                }
            }
        }
    }

    /// A `pred` is a byte in memory.
    pub(super) fn as_in_memory(
        &mut self,
        names: &mut Names<'k>,
        value: ValueId,
        origin: Option<OpId>,
    ) -> String {
        let from = names.value(value);
        if names.function.element(value) != ElementType::Pred {
            return from;
        }
        let byte = names.fresh();
        self.line(origin, format!("{byte} = arith.extui {from} : i1 to i8"));
        byte
    }

    /// Names the result of an op that read `name` from memory.
    pub(super) fn name_read(&mut self, names: &mut Names<'k>, op: &Op, name: String, element: ElementType) {
        let name = match element {
            ElementType::Pred => {
                let bit = names.fresh();
                self.line(op.origin, format!("{bit} = arith.trunci {name} : i8 to i1"));
                bit
            }
            _ => name,
        };
        names.values.insert(op.results[0], name);
    }

    /// `%a:2` and `(f32, f32)`, or `%a` and `f32`.
    pub(super) fn results(&mut self, names: &mut Names<'k>, results: &[ValueId]) -> (String, String) {
        let types = names.types(results);
        match results {
            [one] => (names.name(*one), types),
            many => {
                let base = names.fresh();
                for (n, &value) in many.iter().enumerate() {
                    names.values.insert(value, format!("{base}#{n}"));
                }
                (format!("{base}:{}", many.len()), format!("({types})"))
            }
        }
    }

    pub(super) fn carried(&mut self, names: &mut Names<'k>, inits: &[ValueId], args: &[ValueId]) -> String {
        let pairs = inits.iter().zip(args).map(|(&init, &arg)| {
            let from = names.value(init);
            format!("{} = {from}", names.name(arg))
        });
        pairs.collect::<Vec<_>>().join(", ")
    }
}
