//! Asynchronous instructions: start, update, done.
//!
//! StableHLO starts an exchange between devices by a region that holds it, MHLO anything by the name of a function. Source:
//! `xla/hlo/translate/hlo_to_mhlo/async_importer.cc`.

use ir::{AttributeKey as K, Counterpart, Graph, Op, OpId, Opcode, Phase, Shape, op_info};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::locations::location;
use super::statement::signature;
use super::values::{MlirValue, from_results, results};
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::{Dialect, OpRow};
use crate::op_table::op_of;
use crate::types::mlir_type;

/// The opcode of which an instruction is a half of its own, and whether it is the start.
pub(super) fn exchange_of(opcode: Opcode) -> Option<(Opcode, bool)> {
    match op_info(opcode).phase {
        Phase::Start { of, .. } => Some((of?, true)),
        Phase::Done { start } => Some((exchange_of(start)?.0, false)),
        Phase::Whole | Phase::Update => None,
    }
}

/// Whether StableHLO starts it with a region.
fn is_exchange(opcode: Opcode) -> bool {
    let info = op_info(opcode);
    info.is_collective && info.counterpart != Counterpart::None
}

/// The shape of the result that an instruction starts: an element of its tuple, or all of it.
fn answer(op: &Op) -> Result<&Shape, NotInStablehlo> {
    let at = match op.opcode {
        Opcode::AllReduceStart => return Ok(&op.shape),
        Opcode::CopyStart => 0,
        _ => 1,
    };
    op.shape.tuple_elements().and_then(|e| e.get(at)).ok_or("it is no tuple".into())
}

impl FunctionWriter<'_> {
    /// The opcode that `reverse-start`, or a later step of it, wraps without naming a computation.
    fn wrapped(&self, scope: &Scope<'_>, id: OpId) -> Option<Opcode> {
        let graph = scope.graph;
        let mut first = id;
        while graph.ops[first as usize].opcode != Opcode::AsyncStart {
            first = *graph.operands[first as usize].first().filter(|&&of| of < first)?;
        }
        match graph.ops[first as usize].attributes.computation(K::Calls) {
            Some(_) => None,
            None => {
                let key = (scope.computation.to_owned(), graph.names[first as usize].clone());
                self.program.wrapped.get(&key).copied()
            }
        }
    }

    /// An instruction that starts another one, which is written as what it becomes.
    pub(super) fn started_alone(&mut self, scope: &mut Scope<'_>, id: OpId, opcode: Opcode) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let name = graph.names[id as usize].clone();
        let shape = answer(op)?.clone();
        let answers = Self::types_of(&results(&shape))?;
        let [answer] = answers.as_slice() else {
            return Err(NotInStablehlo::OtherUse("StableHLO and MHLO start what answers one array"));
        };
        op_of(opcode).ok_or(NotInStablehlo::NoSuchOp)?;
        let (operands, types) = self.operands(scope, id)?;
        let mut alone = Graph { is_complete: true, ..Graph::default() };
        let mut parameters = Vec::new();
        for (number, shape) in op.operand_shapes.iter().enumerate() {
            let leaf = Op { parameter: Some(number as u32), ..Op::leaf(shape.clone()) };
            parameters.push(alone.push(leaf, Vec::new(), format!("started.{number}")));
        }
        let plain = Op { opcode, shape, ..op.clone() };
        alone.root = alone.push(plain, parameters, name.clone());
        let place = location(op, &self.program.frames);
        let stated = format!(" {{xla_shape = \"{}\"}}", op.shape);
        let signature = types.join(", ");
        let (list, names) = match is_exchange(opcode) {
            true => {
                let (list, names) = self.result_list(&name, 1);
                let start = op_in(Dialect::Stablehlo, Opcode::AsyncStart)?;
                self.line(&format!("{list}\"{start}\"({}) ({{", operands.join(", ")));
                self.alone(&alone, &types, |arguments| format!("^bb0({arguments}):"), "stablehlo.return")?;
                let end = format!("}}){stated} : ({signature}) -> !stablehlo.future<{answer}>{place}");
                self.line(&end);
                scope.values.insert(id, MlirValue::Started(names[0].clone()));
                return Ok(());
            }
            false => self.result_list(&name, 1),
        };
        // A function of its own, after the others.
        let wanted = self.program.symbols.borrow_mut().take(&format!("async.{name}"));
        let symbol = super::module::symbol(&wanted);
        let (out, indent) = (std::mem::take(&mut self.out), std::mem::replace(&mut self.indent, 1));
        let head = |arguments: &str| {
            format!(
                "func.func private {symbol}({arguments}) -> {answer} attributes {{execution_thread = \"main\"}} {{"
            )
        };
        let written = self.alone(&alone, &types, head, "return");
        self.line("}");
        let function = std::mem::replace(&mut self.out, out);
        self.indent = indent;
        written?;
        self.more_functions.push_str(&function);
        let bundle = bundle(&types, answer);
        let call = format!("<{{called_computation = {symbol}, execution_thread = \"main\"}}>");
        let (start, operands) = (op_in(Dialect::Mhlo, Opcode::AsyncStart)?, operands.join(", "));
        self.line(&format!("{list}\"{start}\"({operands}) {call} : ({signature}) -> {bundle}{place}"));
        scope.values.insert(id, MlirValue::Started(names[0].clone()));
        Ok(())
    }

    /// The block of one instruction.
    fn alone(
        &mut self,
        graph: &Graph,
        types: &[String],
        head: impl Fn(&str) -> String,
        terminator: &str,
    ) -> Outcome {
        let mut scope = Scope { graph, computation: "", values: Default::default() };
        let mut arguments = Vec::new();
        for (number, ty) in types.iter().enumerate() {
            let argument = format!("%{}", self.names.take("started"));
            arguments.push(format!("{argument}: {ty}"));
            scope.values.insert(number as OpId, MlirValue::One(argument));
        }
        self.line(&head(&arguments.join(", ")));
        self.indent += 1;
        self.body(&mut scope);
        let root = scope.values.get(&graph.root).cloned().ok_or("it could not be written")?;
        let shape = &graph.ops[graph.root as usize].shape;
        let returned = self.result_names(&root, shape)?;
        self.terminate(terminator, &returned, &results(shape))?;
        self.indent -= 1;
        Ok(())
    }

    /// An instruction that goes on with what was started alone, or ends it.
    pub(super) fn ended_alone(
        &mut self,
        scope: &mut Scope<'_>,
        id: OpId,
        row: &OpRow,
        opcode: Opcode,
    ) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (value, of) = scope.operand(id, 0)?;
        let MlirValue::Started(started) = value.clone() else { return Err("nothing starts it".into()) };
        let mut first = of;
        while graph.ops[first as usize].opcode == Opcode::AsyncUpdate {
            first = *graph.operands[first as usize].first().ok_or("nothing starts it")?;
        }
        let start = &graph.ops[first as usize];
        if start.opcode != Opcode::AsyncStart && exchange_of(start.opcode) != Some((opcode, true)) {
            return Err("nothing starts it".into());
        }
        let answer = mlir_type(answer(start)?)?;
        let is_update = op.opcode == Opcode::AsyncUpdate;
        let is_region = is_exchange(opcode);
        if is_region && is_update {
            // StableHLO has no step between.
            scope.values.insert(id, MlirValue::Started(started));
            return Ok(());
        }
        let types: Vec<_> = start.operand_shapes.iter().map(mlir_type).collect::<Result<_, _>>()?;
        let (name, from) = match is_region {
            true => (op_in(Dialect::Stablehlo, Opcode::AsyncDone)?, format!("!stablehlo.future<{answer}>")),
            false if is_update => (row.full_name(), bundle(&types, &answer)),
            false => (op_in(Dialect::Mhlo, Opcode::AsyncDone)?, bundle(&types, &answer)),
        };
        let to = if is_update { from.clone() } else { answer };
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::AsyncExecutionThread]);
        let (list, names) = self.result_list(&graph.names[id as usize], 1);
        let (dictionary, place) = (written.dictionary(), location(op, &self.program.frames));
        self.line(&format!("{list}\"{name}\"({started}){dictionary} : ({from}) -> {to}{place}"));
        let name = names[0].clone();
        scope.values.insert(id, if is_update { MlirValue::Started(name) } else { MlirValue::One(name) });
        Ok(())
    }

    /// Asynchronous instructions that call a computation.
    pub(super) fn asynchronous(&mut self, scope: &mut Scope<'_>, id: OpId, row: &OpRow) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        if let Some(wrapped) = self.wrapped(scope, id) {
            return match op.opcode {
                Opcode::AsyncStart => self.started_alone(scope, id, wrapped),
                _ => self.ended_alone(scope, id, row, wrapped),
            };
        }
        let bundle = |shape: &ir::Shape| -> Result<String, NotInStablehlo> {
            let parts = shape.tuple_elements().ok_or("it is no tuple")?;
            let parts: Vec<_> = parts.iter().map(mlir_type).collect::<Result<_, _>>()?;
            Ok(format!("!mhlo.async_bundle<{}>", parts.join(", ")))
        };
        // The one that starts says what is called.
        let mut first = id;
        while graph.ops[first as usize].opcode != Opcode::AsyncStart {
            first = *graph.operands[first as usize]
                .first()
                .filter(|&&of| of < first)
                .ok_or("nothing starts it")?;
        }
        let called =
            graph.ops[first as usize].attributes.computation(K::Calls).ok_or("it names no computation")?;
        let callee = self.symbol_of(called)?;
        let is_start = op.opcode == Opcode::AsyncStart;
        let (operands, mut types) = match is_start {
            true => self.operands(scope, id)?,
            false => {
                let (value, _) = scope.operand(id, 0)?;
                let MlirValue::Started(name) = value.clone() else {
                    return Err("nothing starts it".into());
                };
                (vec![name], Vec::new())
            }
        };
        if !is_start {
            types = vec![bundle(op.operand_shapes.first().ok_or("nothing starts it")?)?];
        }
        let is_done = op.opcode == Opcode::AsyncDone;
        let answers = if is_done { Self::types_of(&results(&op.shape))? } else { vec![bundle(&op.shape)?] };
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::Calls, K::AsyncExecutionThread]);
        let (list, names) = self.result_list(&graph.names[id as usize], answers.len());
        let properties = match is_start {
            true => format!(" <{{called_computation = {callee}, execution_thread = \"main\"}}>"),
            false => String::new(),
        };
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"{}\"({}){properties}{} : {}{place}",
            row.full_name(),
            operands.join(", "),
            written.dictionary(),
            signature(&types, &answers)
        ));
        let value = match is_done {
            true => from_results(&op.shape, names),
            false => MlirValue::Started(names.into_iter().next().unwrap_or_default()),
        };
        scope.values.insert(id, value);
        Ok(())
    }
}

/// The full name of the op of an opcode in a dialect: `stablehlo.async_done`.
fn op_in(dialect: Dialect, opcode: Opcode) -> Result<String, NotInStablehlo> {
    let row = op_of(opcode).ok_or(NotInStablehlo::NoSuchOp)?;
    Ok(OpRow { dialect, ..*row }.full_name())
}

/// The type of what MHLO starts: the operands, the result, and a context.
fn bundle(operands: &[String], answer: &str) -> String {
    format!("!mhlo.async_bundle<tuple<{}>, {answer}, tensor<ui32>>", operands.join(", "))
}
