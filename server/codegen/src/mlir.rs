//! The MLIR text of a kernel, in the dialects that XLA's emitters write. Source: `codegen/emitters/ir/xla_ops.td`,
//! `backends/gpu/codegen/emitters/ir/xla_gpu_ops.td`.

mod reductions;
mod scalars;

use std::fmt::Write;

use indexing_map::{Constraint, Expr, IndexingMap, Interval, PrintStyle, print_map};
use ir::{ArrayShape, ElementTypeExt, OpId};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use crate::KernelText;
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, SharedArray, Type, ValueId};
use scalars::{dense, element_type, scalar};

/// The kernel as MLIR, before it is lowered; those that run after it each as a module of its own.
pub fn mlir(kernel: &Kernel) -> KernelText {
    let mut text = String::new();
    let mut lines = Vec::new();
    let mut accesses = Vec::new();
    for (n, stage) in kernel.stages().enumerate() {
        if n > 0 {
            // As tools of MLIR part their inputs.
            text += "// -----\n";
            lines.push(None);
        }
        let own = module(stage, &mut |origin, line| {
            let _ = writeln!(text, "{line}");
            lines.push(origin);
        });
        // The body stands at the end, with a brace behind it.
        let first = lines.len().saturating_sub(own.lines + 1);
        accesses.extend(own.accesses.into_iter().map(|(at, argument)| (first + at, argument)));
    }
    let missing = kernel.missing.clone();
    KernelText { text, lines, missing, accesses, shared_bytes: kernel.launch.shared_bytes }
}

/// How many lines the functions of a module have, and which of them read an argument of the kernel.
struct Body {
    lines: usize,
    accesses: Vec<(usize, usize)>,
}

fn module(kernel: &Kernel, line: &mut dyn FnMut(Option<OpId>, &str)) -> Body {
    let mut printer =
        Printer { kernel, maps: Vec::new(), lines: Vec::new(), accesses: Vec::new(), indent: 1 };
    for (number, function) in kernel.functions.iter().enumerate() {
        // A tuple of results is no function.
        if number == 0 || !function.name.is_empty() {
            printer.function(number, function);
        }
    }
    for missing in &kernel.missing {
        line(None, &format!("// incomplete: {}: {}", missing.instruction, missing.reason));
    }
    for (number, map) in printer.maps.iter().enumerate() {
        line(None, &format!("{} = #xla.indexing_map<\"{map}\">", map_name(number)));
    }
    line(
        None,
        &format!(
            "module @{}_kernel_module attributes {{dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>}} {{",
            kernel.name
        ),
    );
    for (origin, body) in &printer.lines {
        line(*origin, body);
    }
    line(None, "}");
    Body { lines: printer.lines.len(), accesses: printer.accesses }
}

fn map_name(number: usize) -> String {
    if number == 0 { "#indexing_map".to_owned() } else { format!("#indexing_map{number}") }
}

struct Printer<'k> {
    kernel: &'k Kernel,
    maps: Vec<String>,
    lines: Vec<(Option<OpId>, String)>,
    /// Places in `lines`, with the argument of the kernel that is read there.
    accesses: Vec<(usize, usize)>,
    indent: usize,
}

/// The names of one function.
struct Names<'k> {
    function: &'k Function,
    values: FxHashMap<ValueId, String>,
    vars: Vec<Option<String>>,
    next: usize,
    /// Indices that were computed, per open region.
    indices: Vec<FxHashMap<Expr, String>>,
}

impl<'k> Names<'k> {
    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    fn value(&self, value: ValueId) -> String {
        self.values.get(&value).cloned().unwrap_or_else(|| "%undefined".to_owned())
    }

    fn name(&mut self, value: ValueId) -> String {
        let name = self.fresh();
        self.values.insert(value, name.clone());
        name
    }

    fn list(&self, values: &[ValueId]) -> String {
        values.iter().map(|&value| self.value(value)).collect::<Vec<_>>().join(", ")
    }

    fn types(&self, values: &[ValueId]) -> String {
        values.iter().map(|&value| type_text(self.function.ty(value))).collect::<Vec<_>>().join(", ")
    }
}

/// `i1` is what a `pred` is between memory and memory.
fn type_text(ty: &Type) -> String {
    match ty {
        Type::Scalar(ElementType::Pred) => "i1".to_owned(),
        Type::Scalar(element) => element_type(*element),
        Type::Tensor(shape) => tensor(shape),
        Type::Vector { element, size } => {
            format!("vector<{size}x{}>", type_text(&Type::Scalar(*element)))
        }
        Type::Shared(SharedArray { element, dims }) => {
            let sizes: String = dims.iter().map(|size| format!("{size}x")).collect();
            format!("tensor<{sizes}{}>", element_type(*element))
        }
    }
}

fn tensor(shape: &ArrayShape) -> String {
    let sizes: String = shape.dims.iter().map(|size| format!("{size}x")).collect();
    let order = shape.minor_to_major();
    let is_row_major = order.iter().rev().copied().eq(0..shape.dims.len());
    let layout = match is_row_major {
        true => String::new(),
        false => {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            format!(", dense<[{}]> : tensor<{}xi64>", order.join(", "), order.len())
        }
    };
    format!("tensor<{sizes}{}{layout}>", element_type(shape.element))
}

fn range(bounds: Interval) -> String {
    format!("xla.range = [{} : index, {} : index]", bounds.lower, bounds.upper)
}

impl<'k> Printer<'k> {
    fn line(&mut self, origin: Option<OpId>, text: String) {
        let text = format!("{}{text}", "  ".repeat(self.indent));
        self.lines.push((origin, text));
    }

    /// The next line reads a tensor.
    fn note_read(&mut self, names: &Names<'k>, tensor: ValueId) {
        // Tensors that are arguments of a function are those of the kernel, by position.
        let argument = names.function.args.iter().position(|&arg| arg == tensor);
        self.accesses.extend(argument.map(|argument| (self.lines.len(), argument)));
    }

    fn map(&mut self, map: &IndexingMap) -> String {
        let text = print_map(map, PrintStyle::Symbolic);
        let number = self.maps.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.maps.push(text);
            self.maps.len() - 1
        });
        map_name(number)
    }

    fn function(&mut self, number: usize, function: &'k Function) {
        let mut names = Names {
            function,
            values: FxHashMap::default(),
            vars: vec![None; function.index_vars.len()],
            next: 0,
            indices: vec![FxHashMap::default()],
        };
        let is_entry = number == 0;
        // Tensors, indices, numbers.
        let is_number = |arg: &&ValueId| matches!(function.ty(**arg), Type::Scalar(_) | Type::Vector { .. });
        let tensors = function.args.iter().take_while(|arg| !is_number(arg)).count();
        let mut args = Vec::new();
        for (n, &arg) in function.args[..tensors].iter().enumerate() {
            let name = format!("%arg{n}");
            let attributes = match self.kernel.params.get(n).filter(|_| is_entry) {
                Some(param) => {
                    let slice = param.aliases.unwrap_or(n);
                    let (align, bytes) = (param.align, param.bytes);
                    let is_aliased =
                        param.is_result() || self.kernel.params.iter().any(|other| other.aliases == Some(n));
                    let invariant = if is_aliased { "" } else { "xla.invariant, " };
                    format!(
                        " {{llvm.align = {align} : index, llvm.dereferenceable = {bytes} : index, {invariant}xla.slice_index = {slice} : index}}"
                    )
                }
                None => String::new(),
            };
            args.push(format!("{name}: {}{attributes}", type_text(function.ty(arg))));
            names.values.insert(arg, name);
        }
        if !is_entry {
            for (n, var) in function.index_vars.iter().take(function.index_args).enumerate() {
                let name = format!("%arg{}", tensors + n);
                args.push(format!("{name}: index {{{}}}", range(var.bounds)));
                names.vars[n] = Some(name);
            }
        }
        for &arg in &function.args[tensors..] {
            let name = format!("%arg{}", args.len());
            args.push(format!("{name}: {}", type_text(function.ty(arg))));
            names.values.insert(arg, name);
        }
        let results = names.types(&function.body.yields);
        let results = if function.body.yields.len() == 1 { results } else { format!("({results})") };
        let (visibility, attributes) = match is_entry {
            true => ("", "xla.backend_kind = #xla.backend_kind<gpu>, xla.entry"),
            false => ("private ", "llvm.linkage = #llvm.linkage<internal>"),
        };
        self.line(
            function.root,
            format!(
                "func.func {visibility}@{}({}) -> {results} attributes {{{attributes}}} {{",
                function.name,
                args.join(", ")
            ),
        );
        self.indent += 1;
        if is_entry {
            let kinds = ["gpu.thread_id", "gpu.block_id"];
            for (n, var) in function.index_vars.iter().take(function.index_args).enumerate() {
                let (kind, axis) = (kinds[n / 3 % 2], ["x", "y", "z"][n % 3]);
                let name = format!("%{}_{axis}", kind.trim_start_matches("gpu."));
                self.line(None, format!("{name} = {kind} {axis} {{{}}}", range(var.bounds)));
                names.vars[n] = Some(name);
            }
        }
        self.ops(&mut names, &function.body);
        let yields = &function.body.yields;
        self.line(function.root, format!("return {} : {}", names.list(yields), names.types(yields)));
        self.indent -= 1;
        self.line(None, "}".to_owned());
    }

    fn ops(&mut self, names: &mut Names<'k>, region: &'k Region) {
        for op in &region.ops {
            self.op(names, op);
        }
    }

    fn region(&mut self, names: &mut Names<'k>, region: &'k Region, end: &str) {
        self.indent += 1;
        names.indices.push(FxHashMap::default());
        self.ops(names, region);
        if !region.yields.is_empty() {
            let text = format!("{end} {} : {}", names.list(&region.yields), names.types(&region.yields));
            self.line(None, text);
        }
        names.indices.pop();
        self.indent -= 1;
    }

    fn op(&mut self, names: &mut Names<'k>, op: &'k Op) {
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
    fn as_in_memory(&mut self, names: &mut Names<'k>, value: ValueId, origin: Option<OpId>) -> String {
        let from = names.value(value);
        if names.function.element(value) != ElementType::Pred {
            return from;
        }
        let byte = names.fresh();
        self.line(origin, format!("{byte} = arith.extui {from} : i1 to i8"));
        byte
    }

    /// Names the result of an op that read `name` from memory.
    fn name_read(&mut self, names: &mut Names<'k>, op: &Op, name: String, element: ElementType) {
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
    fn results(&mut self, names: &mut Names<'k>, results: &[ValueId]) -> (String, String) {
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

    fn carried(&mut self, names: &mut Names<'k>, inits: &[ValueId], args: &[ValueId]) -> String {
        let pairs = inits.iter().zip(args).map(|(&init, &arg)| {
            let from = names.value(init);
            format!("{} = {from}", names.name(arg))
        });
        pairs.collect::<Vec<_>>().join(", ")
    }

    fn constant(&mut self, names: &mut Names<'k>, value: i64, origin: Option<OpId>) -> String {
        let expr = Expr::Const(value);
        if let Some(name) = names.indices.iter().rev().find_map(|known| known.get(&expr)) {
            return name.clone();
        }
        let name = names.fresh();
        self.line(origin, format!("{name} = arith.constant {value} : index"));
        if let Some(known) = names.indices.last_mut() {
            known.insert(expr, name.clone());
        }
        name
    }

    fn indices(&mut self, names: &mut Names<'k>, at: &[Expr], origin: Option<OpId>) -> String {
        let all: Vec<String> = at.iter().map(|e| self.index(names, e, origin)).collect();
        all.join(", ")
    }

    /// An index as a value: a variable, a constant, or a map over the variables in it.
    fn index(&mut self, names: &mut Names<'k>, expr: &Expr, origin: Option<OpId>) -> String {
        match expr {
            Expr::Const(value) => return self.constant(names, *value, origin),
            Expr::Var(var) => {
                let name = names.vars.get(*var as usize).cloned().flatten();
                return name.unwrap_or_else(|| "%undefined".to_owned());
            }
            Expr::Binary(_) => {}
        }
        if let Some(name) = names.indices.iter().rev().find_map(|known| known.get(expr)) {
            return name.clone();
        }
        let mut used: Vec<u32> = Vec::new();
        expr.for_each_var(&mut |v| {
            if !used.contains(&v) {
                used.push(v);
            }
        });
        used.sort_unstable();
        let of = |v: u32| used.iter().position(|&known| known == v).map(Expr::var);
        let result = expr.substitute(&mut |v| of(v));
        let vars = &names.function.index_vars;
        let dims = used.iter().map(|&v| indexing_map::Variable::from(vars[v as usize].bounds)).collect();
        let map = IndexingMap::new(dims, Vec::new(), Vec::new(), vec![result]);
        let map = self.map(&map);
        let args: Vec<String> =
            used.iter().map(|&v| names.vars[v as usize].clone().unwrap_or_default()).collect();
        let name = names.fresh();
        self.line(origin, format!("{name} = xla.apply_indexing {map}({})", args.join(", ")));
        if let Some(known) = names.indices.last_mut() {
            known.insert(expr.clone(), name.clone());
        }
        name
    }

    fn condition(&mut self, names: &mut Names<'k>, condition: &Condition, origin: Option<OpId>) -> String {
        let constraints = match condition {
            Condition::Value(value) => return names.value(*value),
            Condition::Within(constraints) => constraints,
        };
        self.constraints(names, constraints, origin)
    }

    /// A bit that says whether all constraints hold.
    fn constraints(
        &mut self,
        names: &mut Names<'k>,
        constraints: &[Constraint],
        origin: Option<OpId>,
    ) -> String {
        let mut all: Option<String> = None;
        for Constraint { expr, interval } in constraints {
            let index = self.index(names, expr, origin);
            for (predicate, bound) in [("sge", interval.lower), ("sle", interval.upper)] {
                if bound == i64::MIN || bound == i64::MAX {
                    continue;
                }
                let bound = self.constant(names, bound, origin);
                let test = names.fresh();
                self.line(origin, format!("{test} = arith.cmpi {predicate}, {index}, {bound} : index"));
                all = Some(match all {
                    None => test,
                    Some(before) => {
                        let both = names.fresh();
                        self.line(origin, format!("{both} = arith.andi {before}, {test} : i1"));
                        both
                    }
                });
            }
        }
        all.unwrap_or_else(|| {
            let name = names.fresh();
            self.line(origin, format!("{name} = arith.constant true"));
            name
        })
    }
}
