//! A computation as a function, or as a region of an op.

use std::sync::Arc;

use ir::{AttributeKey, Graph, OpId, Opcode, Shape};
use mlir::lists::split;
use rustc_hash::FxHashMap;

use super::header::is_row_major;
use super::locations::location;
use super::module::{MAX_BYTES, MissingInstruction, Program, symbol};
use super::values::{MlirValue, names, results};
use crate::names::UniqueNames;
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::strings::mlir_string;
use crate::types::mlir_type;

/// Computations in computations beyond this depth are not written.
const MAX_DEPTH: usize = 100;

/// Writes one function.
pub(super) struct FunctionWriter<'p> {
    pub program: &'p Program,
    /// Of the function, for reports.
    computation: &'p str,
    pub out: String,
    pub indent: usize,
    pub names: UniqueNames,
    pub incomplete: Vec<MissingInstruction>,
    /// The functions that asynchronous ops of this one call, as text.
    pub more_functions: String,
    depth: usize,
    /// Instructions that may still be written in bodies of inlined computations. Never given back: text that is
    /// taken back has been worked on, too.
    left: usize,
}

/// A computation while it is written, and what its instructions are.
pub(super) struct Scope<'g> {
    pub graph: &'g Graph,
    /// Its name; empty where it is of no text.
    pub computation: &'g str,
    pub values: FxHashMap<OpId, MlirValue>,
}

impl Scope<'_> {
    /// The value of an operand; nothing where its instruction could not be written.
    pub fn operand(&self, id: OpId, at: usize) -> Result<(&MlirValue, OpId), NotInStablehlo> {
        let of = *self.graph.operands[id as usize].get(at).ok_or("an operand is missing")?;
        let value = self
            .values
            .get(&of)
            .ok_or_else(|| NotInStablehlo::missing_name(&self.graph.names[of as usize]))?;
        Ok((value, of))
    }

    pub fn operand_count(&self, id: OpId) -> usize {
        self.graph.operands[id as usize].len()
    }
}

impl<'p> FunctionWriter<'p> {
    pub fn new(program: &'p Program, computation: &'p str) -> FunctionWriter<'p> {
        FunctionWriter {
            program,
            computation,
            out: String::new(),
            indent: 1,
            names: UniqueNames::default(),
            incomplete: Vec::new(),
            more_functions: String::new(),
            depth: 0,
            left: program.max_inlined(),
        }
    }

    pub fn line(&mut self, text: &str) {
        cancel::check();
        (0..self.indent).for_each(|_| self.out.push_str("  "));
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn report(&mut self, instruction: &str, what: String) {
        let (computation, instruction) = (self.computation.to_owned(), instruction.to_owned());
        self.incomplete.push(MissingInstruction { computation, instruction, what });
    }

    pub fn function(
        &mut self,
        graph: &Graph,
        name: &str,
        is_entry: bool,
        donations: &FxHashMap<u32, String>,
    ) {
        let mut scope = Scope { graph, computation: self.computation, values: FxHashMap::default() };
        let mut arguments = Vec::new();
        for (number, id) in graph.parameters().into_iter().enumerate() {
            let Some(id) = id else { continue };
            let op = &graph.ops[id as usize];
            let argument = self.names.take(&graph.names[id as usize]);
            let ty = mlir_type(&op.shape).unwrap_or_else(|reason| {
                self.report(&graph.names[id as usize], reason.to_string());
                "none".to_owned()
            });
            let mut attributes: Vec<String> = donations.get(&(number as u32)).cloned().into_iter().collect();
            if let Some(sharding) = op.attributes.text(AttributeKey::Sharding) {
                attributes.push(format!("mhlo.sharding = \"{}\"", mlir_string(sharding)));
            }
            if let Some(copies) = op.attributes.text(AttributeKey::ParameterReplication) {
                let list = copies.trim().trim_start_matches('{').trim_end_matches('}');
                attributes.push(format!("mhlo.parameter_replication = [{}]", split(list).join(", ")));
            }
            if let Some(frontend) = op.attributes.text(AttributeKey::FrontendAttributes) {
                attributes
                    .push(format!("mhlo.frontend_attributes = {}", super::annotations::frontend(frontend)));
            }
            if let Some(layout) =
                op.shape.as_array().filter(|a| !is_row_major(a)).and_then(|a| a.layout.as_ref())
            {
                attributes.push(format!("mhlo.layout_mode = \"{layout}\""));
            }
            let attributes = match attributes.is_empty() {
                true => String::new(),
                false => format!(" {{{}}}", attributes.join(", ")),
            };
            let place = location(op, &self.program.frames);
            arguments.push(format!("%{argument}: {ty}{attributes}{place}"));
            scope.values.insert(id, MlirValue::One(format!("%{argument}")));
        }
        let root = &graph.ops[graph.root as usize].shape;
        // The entry returns the element of a tuple of one, as XLA translates it.
        let only = root.tuple_elements().and_then(|elements| <&[Shape; 1]>::try_from(elements).ok());
        let only = only.filter(|_| is_entry);
        let answered = only.map_or_else(|| results(root), |[element]| vec![element]);
        let types: Vec<String> =
            answered.into_iter().map(|s| mlir_type(s).unwrap_or("none".into())).collect();
        let shardings = self.result_shardings(graph, types.len());
        let answers = match (types.as_slice(), &shardings) {
            ([], _) => String::new(),
            ([only], None) => format!(" -> {only}"),
            (several, None) => format!(" -> ({})", several.join(", ")),
            (several, Some(shardings)) => {
                let each = several.iter().zip(shardings);
                let each: Vec<_> =
                    each.map(|(ty, s)| format!("{ty} {{mhlo.sharding = \"{}\"}}", mlir_string(s))).collect();
                format!(" -> ({})", each.join(", "))
            }
        };
        let visibility = if is_entry { "public" } else { "private" };
        let thread = match self.program.asynchronous.contains(self.computation) {
            true => " attributes {execution_thread = \"main\"}",
            false => "",
        };
        let head =
            format!("func.func {visibility} {}({}){answers}{thread} {{", symbol(name), arguments.join(", "));
        self.line(&head);
        self.indent += 1;
        self.body(&mut scope);
        let returned = match scope.values.get(&graph.root).cloned() {
            Some(root_value) => match only {
                Some([element]) => self
                    .element(&root_value, root, 0)
                    .and_then(|value| self.whole(&value, element))
                    .map(|name| vec![name]),
                None => self.result_names(&root_value, root),
            },
            None => Err("its root could not be written".into()),
        };
        match returned {
            Ok(values) if values.is_empty() => self.line("return"),
            Ok(values) => self.line(&format!("return {} : {}", values.join(", "), types.join(", "))),
            Err(reason) => self.report(&graph.names[graph.root as usize], reason.to_string()),
        }
        self.indent -= 1;
        self.line("}");
    }

    /// The sharding of each result, where the root is not an op that has it itself.
    fn result_shardings(&mut self, graph: &Graph, count: usize) -> Option<Vec<String>> {
        let root = &graph.ops[graph.root as usize];
        let sharding = root.attributes.text(AttributeKey::Sharding)?.trim().to_owned();
        if !matches!(root.opcode, Opcode::Tuple | Opcode::GetTupleElement) {
            return None;
        }
        let inner = sharding.strip_prefix('{').and_then(|s| s.strip_suffix('}')).unwrap_or_default();
        let each: Vec<String> = match inner.trim_start().starts_with('{') {
            true => split(inner).into_iter().map(str::to_owned).collect(),
            false => vec![sharding; count],
        };
        if each.len() != count {
            self.report(&graph.names[graph.root as usize], "attribute sharding".to_owned());
            return None;
        }
        Some(each)
    }

    /// The instructions of a computation, in their order; parameters have values already.
    pub fn body(&mut self, scope: &mut Scope<'_>) {
        for id in 0..scope.graph.ops.len() as OpId {
            if scope.values.contains_key(&id) {
                continue;
            }
            cancel::check();
            if self.out.len() > MAX_BYTES {
                self.report(&scope.graph.names[id as usize], "the text is too large".to_owned());
                return;
            }
            let op = &scope.graph.ops[id as usize];
            if op.opcode == Opcode::Parameter {
                self.report(
                    &scope.graph.names[id as usize],
                    "a parameter that no argument is for".to_owned(),
                );
                continue;
            }
            let length = self.out.len();
            let written = self.instruction(scope, id);
            if let Err(reason) = written {
                self.out.truncate(length);
                self.placeholder(scope, id, &reason.to_string());
            }
        }
    }

    /// A computation as a region: its parameters are these values. Returns what it ends with.
    pub fn inlined(
        &mut self,
        name: &str,
        parameters: &[MlirValue],
    ) -> Result<(Arc<Graph>, MlirValue), NotInStablehlo> {
        let graph =
            self.program.graphs.get(name).cloned().ok_or_else(|| NotInStablehlo::missing_name(name))?;
        let left = self.left.checked_sub(graph.ops.len().max(1));
        let (Some(left), true) = (left, self.depth <= MAX_DEPTH && self.out.len() <= MAX_BYTES) else {
            return Err("its computations are too deep, or too many".into());
        };
        self.left = left;
        let mut scope = Scope { graph: &graph, computation: name, values: FxHashMap::default() };
        for (id, value) in graph.parameters().into_iter().zip(parameters) {
            scope.values.extend(id.map(|id| (id, value.clone())));
        }
        self.depth += 1;
        recursion::grow(|| self.body(&mut scope));
        self.depth -= 1;
        let root = scope.values.get(&graph.root).cloned().ok_or("its root could not be written")?;
        Ok((graph, root))
    }

    /// A region whose arguments are the parameters of a computation, and that ends with `terminator`.
    pub fn region(&mut self, name: &str, terminator: &str) -> Outcome {
        let graph =
            self.program.graphs.get(name).cloned().ok_or_else(|| NotInStablehlo::missing_name(name))?;
        let mut arguments = Vec::new();
        let mut values = Vec::new();
        for id in graph.parameters().into_iter().map_while(|id| id) {
            let argument = format!("%{}", self.names.take(&graph.names[id as usize]));
            arguments.push(format!("{argument}: {}", mlir_type(&graph.ops[id as usize].shape)?));
            values.push(MlirValue::One(argument));
        }
        self.line(&format!("^bb0({}):", arguments.join(", ")));
        self.indent += 1;
        let (graph, root) = self.inlined(name, &values)?;
        let shape = &graph.ops[graph.root as usize].shape;
        let returned = self.result_names(&root, shape)?;
        self.terminate(terminator, &returned, &results(shape))?;
        self.indent -= 1;
        Ok(())
    }

    pub fn terminate(&mut self, terminator: &str, values: &[String], shapes: &[&ir::Shape]) -> Outcome {
        let types: Vec<_> = shapes.iter().map(|s| mlir_type(s)).collect::<Result<_, _>>()?;
        match values.is_empty() {
            true => self.line(terminator),
            false => self.line(&format!("{terminator} {} : {}", values.join(", "), types.join(", "))),
        }
        Ok(())
    }

    /// `%name = `, `%name:2 = `, or nothing, and the names of the results.
    pub fn result_list(&mut self, name: &str, count: usize) -> (String, Vec<String>) {
        let name = self.names.take(name);
        let list = match count {
            0 => String::new(),
            1 => format!("%{name} = "),
            _ => format!("%{name}:{count} = "),
        };
        (list, names(&name, count))
    }
}
