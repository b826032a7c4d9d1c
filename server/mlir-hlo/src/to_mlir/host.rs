//! Barriers, exchanges, and what goes to the host and comes from it.

use ir::{AttributeKey as K, OpId, Opcode};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::groups::groups;
use super::locations::location;
use super::ops::function_result;
use super::values::{from_leaves, from_results, leaves, results};
use crate::not_in_stablehlo::NotInStablehlo;
use crate::op_row::{Dialect, How, OpRow};
use crate::strings::mlir_string;

impl FunctionWriter<'_> {
    pub(super) fn optimization_barrier(
        &mut self,
        scope: &mut Scope<'_>,
        id: OpId,
    ) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (value, of) = scope.operand(id, 0)?;
        let (value, shape) = (value.clone(), &graph.ops[of as usize].shape);
        let operands = self.leaf_names(&value, shape)?;
        let types = Self::types_of(&leaves(shape))?;
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[]);
        let (list, names) = self.result_list(&graph.names[id as usize], types.len());
        let place = location(op, &self.program.frames);
        let dictionary = written.dictionary();
        let (operands, types) = (operands.join(", "), types.join(", "));
        // The short form has its attributes elsewhere, and no place for nothing.
        let text = match types.is_empty() || !dictionary.is_empty() {
            true => {
                let name = "\"stablehlo.optimization_barrier\"";
                let answers = if names.len() == 1 { types.clone() } else { format!("({types})") };
                format!("{name}({operands}){dictionary} : ({types}) -> {answers}")
            }
            false => format!("stablehlo.optimization_barrier {operands} : {types}"),
        };
        self.line(&format!("{list}{text}{place}"));
        scope.values.insert(id, from_leaves(&op.shape, &mut names.into_iter()));
        Ok(())
    }

    pub(super) fn all_to_all(
        &mut self,
        scope: &mut Scope<'_>,
        id: OpId,
        row: &'static OpRow,
    ) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let [dimension] = op.attributes.ints(K::Dimensions) else {
            // Each operand goes to one device: MHLO's op says nothing of dimensions.
            if scope.operand_count(id) < 2 {
                return Err("it gives its only operand to the only device".into());
            }
            let tuple = OpRow { dialect: Dialect::Mhlo, how: How::Row, ..*row };
            return self.row(scope, id, &tuple);
        };
        let groups = op.attributes.text(K::ReplicaGroups).and_then(groups).unwrap_or_default();
        let count = groups
            .first()
            .map(Vec::len)
            .filter(|&n| n > 0)
            .ok_or("how many devices there are is not known")?;
        let (operands, types) = self.operands(scope, id)?;
        let mut written = Written::of(row, op)?;
        self.note(scope, id, &mut written, &[K::Dimensions]);
        let answers = Self::types_of(&results(&op.shape))?;
        let (list, names) = self.result_list(&graph.names[id as usize], answers.len());
        let properties = written.properties();
        let properties = properties.trim_start_matches(" <{").trim_end_matches("}>");
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"stablehlo.all_to_all\"({}) <{{split_dimension = {dimension} : i64, concat_dimension = {dimension} : i64, split_count = {count} : i64, {properties}}}>{} : ({}) -> {}{place}",
            operands.join(", "),
            written.dictionary(),
            types.join(", "),
            function_result(&answers)
        ));
        scope.values.insert(id, from_results(&op.shape, names));
        Ok(())
    }

    pub(super) fn infeed(&mut self, scope: &mut Scope<'_>, id: OpId) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (value, of) = scope.operand(id, 0)?;
        let token = self.whole(&value.clone(), &graph.ops[of as usize].shape)?;
        let config = mlir_string(op.attributes.text(K::InfeedConfig).unwrap_or_default());
        let answers = Self::types_of(&leaves(&op.shape))?;
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::InfeedConfig]);
        let (list, names) = self.result_list(&graph.names[id as usize], answers.len());
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"stablehlo.infeed\"({token}) <{{infeed_config = \"{config}\"}}>{} : (!stablehlo.token) -> {}{place}",
            written.dictionary(),
            function_result(&answers)
        ));
        scope.values.insert(id, from_leaves(&op.shape, &mut names.into_iter()));
        Ok(())
    }

    pub(super) fn outfeed(&mut self, scope: &mut Scope<'_>, id: OpId) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (data, of) = scope.operand(id, 0)?;
        let (data, shape) = (data.clone(), &graph.ops[of as usize].shape);
        let mut operands = self.leaf_names(&data, shape)?;
        let mut types = Self::types_of(&leaves(shape))?;
        let (token, of) = scope.operand(id, 1)?;
        operands.push(self.whole(&token.clone(), &graph.ops[of as usize].shape)?);
        types.push("!stablehlo.token".to_owned());
        let config = mlir_string(op.attributes.text(K::OutfeedConfig).unwrap_or_default());
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::OutfeedConfig, K::OutfeedShape]);
        let (list, names) = self.result_list(&graph.names[id as usize], 1);
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"stablehlo.outfeed\"({}) <{{outfeed_config = \"{config}\"}}>{} : ({}) -> !stablehlo.token{place}",
            operands.join(", "),
            written.dictionary(),
            types.join(", ")
        ));
        scope.values.insert(id, from_results(&op.shape, names));
        Ok(())
    }

    /// What is sent or received is written where that is done.
    fn started(
        &mut self,
        scope: &Scope<'_>,
        id: OpId,
        opcode: Opcode,
    ) -> Result<(OpId, String), NotInStablehlo> {
        let graph = scope.graph;
        let first = graph.operands[id as usize]
            .first()
            .copied()
            .filter(|&of| graph.ops[of as usize].opcode == opcode);
        let first = first.ok_or("nothing starts it")?;
        let attributes = &graph.ops[first as usize].attributes;
        let handle = attributes.int(K::ChannelId).unwrap_or(0);
        let is_host = attributes.bool(K::IsHostTransfer).unwrap_or(false);
        // Source: `xla_data.proto` ChannelHandle: between devices, to the host, from it.
        let kind = match (is_host, opcode) {
            (false, _) => 1,
            (true, Opcode::Send) => 2,
            (true, _) => 3,
        };
        Ok((
            first,
            format!(
                " <{{channel_handle = #stablehlo.channel_handle<handle = {handle}, type = {kind}>, is_host_transfer = {is_host}}}>"
            ),
        ))
    }

    pub(super) fn send(&mut self, scope: &mut Scope<'_>, id: OpId) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let (first, properties) = self.started(scope, id, Opcode::Send)?;
        let (data, of) = scope.operand(first, 0)?;
        let (data, shape) = (data.clone(), &graph.ops[of as usize].shape);
        let mut operands = self.leaf_names(&data, shape)?;
        let mut types = Self::types_of(&leaves(shape))?;
        let (token, of) = scope.operand(first, 1)?;
        operands.push(self.whole(&token.clone(), &graph.ops[of as usize].shape)?);
        types.push("!stablehlo.token".to_owned());
        let op = &graph.ops[id as usize];
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::ChannelId, K::IsHostTransfer]);
        let (list, names) = self.result_list(&graph.names[id as usize], 1);
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"stablehlo.send\"({}){properties}{} : ({}) -> !stablehlo.token{place}",
            operands.join(", "),
            written.dictionary(),
            types.join(", ")
        ));
        scope.values.insert(id, from_results(&op.shape, names));
        Ok(())
    }

    pub(super) fn recv(&mut self, scope: &mut Scope<'_>, id: OpId) -> Result<(), NotInStablehlo> {
        let graph = scope.graph;
        let (first, properties) = self.started(scope, id, Opcode::Recv)?;
        let (token, of) = scope.operand(first, 0)?;
        let token = self.whole(&token.clone(), &graph.ops[of as usize].shape)?;
        let op = &graph.ops[id as usize];
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::ChannelId, K::IsHostTransfer]);
        let answers = Self::types_of(&leaves(&op.shape))?;
        let (list, names) = self.result_list(&graph.names[id as usize], answers.len());
        let place = location(op, &self.program.frames);
        self.line(&format!(
            "{list}\"stablehlo.recv\"({token}){properties}{} : (!stablehlo.token) -> {}{place}",
            written.dictionary(),
            function_result(&answers)
        ));
        scope.values.insert(id, from_leaves(&op.shape, &mut names.into_iter()));
        Ok(())
    }
}
