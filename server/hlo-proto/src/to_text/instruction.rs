//! One instruction of a message as a line of text.

use ir::{AttributeValue, Attributes, Op, Shape, Verbatim};
use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationWriter, Instructions, local_id};
use crate::attributes::{self, CALLS, Context};
use crate::literal::{ELIDED, take_literal};
use crate::messages::HloInstructionProto;
use crate::scan::quoted;

/// Attributes that an opcode which is not known does not have: others lie in the same field.
const ALIASES: &[AttributeKey] = {
    use AttributeKey::*;
    &[IotaDimension, InferredDimension, Order, OperandLayoutConstraints, Type]
};

/// Comparisons that were opcodes once. Source: XLA `HloInstruction::CreateFromProto`.
const OLD_COMPARISONS: &[(&str, &str)] = &[
    ("equal-to", "EQ"),
    ("not-equal-to", "NE"),
    ("greater-than-or-equal-to", "GE"),
    ("greater-than", "GT"),
    ("less-than-or-equal-to", "LE"),
    ("less-than", "LT"),
];

impl ComputationWriter<'_> {
    /// Writes `name = shape opcode(operands), attributes`.
    pub(super) fn instruction(
        &mut self,
        out: &mut String,
        mut proto: HloInstructionProto,
        instructions: &Instructions,
    ) -> Result<(), String> {
        let name = std::mem::take(&mut proto.name);
        let of = |why: String| format!("{name}: {why}");
        let id = local_id(std::mem::take(&mut proto.id));
        let word = std::mem::take(&mut proto.opcode);
        let word = match OLD_COMPARISONS.iter().find(|(old, _)| *old == word) {
            Some((_, direction)) => {
                proto.comparison_direction = (*direction).to_owned();
                "compare".to_owned()
            }
            None => word,
        };
        if word.is_empty()
            || !word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        {
            return Err(of(format!("the opcode is {}", quoted(word.as_bytes()))));
        }
        let named = |ids: Vec<i64>| -> Result<Vec<&(String, Shape)>, String> {
            let of_id = |id: &i64| {
                instructions
                    .names
                    .get(&local_id(*id))
                    .ok_or_else(|| of(format!("no instruction has the id {id}")))
            };
            ids.iter().map(of_id).collect()
        };
        let operands = named(std::mem::take(&mut proto.operand_ids))?;
        let before = named(std::mem::take(&mut proto.control_predecessor_ids))?;
        let opcode = Opcode::from_name(&word);
        let shapes: Vec<Shape> = operands.iter().map(|(_, shape)| shape.clone()).collect();
        let mut op = Op {
            opcode: opcode.unwrap_or(Opcode::CustomCall),
            shape: instructions.names.get(&id).map_or(Shape::Opaque, |(_, shape)| shape.clone()),
            operand_shapes: shapes.clone(),
            attributes: Attributes::default(),
            parameter: None,
            literal: None,
        };
        proto.shape = proto.shape.filter(|shape| !crate::notes::fields_left(shape).is_empty());
        let mut verbatim = Verbatim { opcode: opcode.is_none().then(|| word.clone()), ..Verbatim::default() };
        match opcode {
            Some(Opcode::Parameter) => {
                let number = std::mem::take(&mut proto.parameter_number);
                op.parameter =
                    Some(u32::try_from(number).map_err(|_| of(format!("parameter number {number}")))?);
            }
            Some(Opcode::Constant) => {
                let literal = match &mut proto.literal {
                    Some(literal) => take_literal(literal, self.budget).map_err(of)?,
                    None => ELIDED.to_owned(),
                };
                op.literal = Some(literal);
            }
            None => self.notes.add(format!("the opcode {word} is not known")),
            Some(_) => {}
        }
        if let Some(sugar) = self.names.asynchronous.sugar(&word, &mut proto) {
            verbatim.opcode = Some(sugar.word);
            if let Some(wrapped) = sugar.wrapped {
                self.wrapped(&mut op, wrapped, &shapes, &proto).map_err(of)?;
            }
        } else {
            self.calls(&mut op, opcode, &mut proto).map_err(of)?;
        }
        if !before.is_empty() {
            let names = before.iter().map(|(name, _)| name.clone()).collect();
            op.attributes.push(AttributeKey::ControlPredecessors, AttributeValue::Names(names));
        }
        let attributes = self.attributes(opcode, &shapes, &mut proto);
        // What the start of an asynchronous operation says itself stands for what the wrapped one says.
        for (key, value) in attributes {
            op.attributes.set(key, value);
        }
        out.push_str(&name);
        out.push_str(" = ");
        op.write_verbatim(out, operands.iter().map(|(name, _)| name.as_str()), &verbatim);
        out.push('\n');
        self.notes.left(&proto, &format!("{word} %{name}"));
        Ok(())
    }

    /// The attributes that an opcode has, out of its message.
    fn attributes(
        &mut self,
        opcode: Option<Opcode>,
        operands: &[Shape],
        proto: &mut HloInstructionProto,
    ) -> Vec<(AttributeKey, AttributeValue)> {
        let mut context = Context { opcode, operands, payloads: self.payloads, budget: &mut *self.budget };
        let info = opcode.map(ir::op_info);
        let mut found = Vec::new();
        for &key in AttributeKey::ALL {
            let is_allowed = match info {
                Some(info) => info.allows(key),
                None => !ALIASES.contains(&key),
            };
            if !is_allowed || opcode == Some(Opcode::CustomCall) && key == AttributeKey::ToApply {
                continue;
            }
            let is_stated =
                info.is_some_and(|info| info.required.contains(&key) || info.always_printed.contains(&key));
            if opcode.is_none() && is_empty_without(key, proto) {
                continue;
            }
            if let Some(value) = attributes::take(key, proto, &mut context, is_stated) {
                found.push((key, value));
            }
        }
        take_implied(opcode, proto);
        found
    }

    /// The computations that an instruction calls.
    fn calls(
        &mut self,
        op: &mut Op,
        opcode: Option<Opcode>,
        proto: &mut HloInstructionProto,
    ) -> Result<(), String> {
        let called = std::mem::take(&mut proto.called_computation_ids);
        let name_of = |id: &i64| {
            self.names.computations.get(id).cloned().ok_or_else(|| format!("no computation has the id {id}"))
        };
        let mut called: Vec<String> = called.iter().map(name_of).collect::<Result<_, _>>()?;
        let has = |key: AttributeKey| match opcode {
            Some(Opcode::CustomCall) | None => key == AttributeKey::CalledComputations,
            Some(Opcode::Conditional) => {
                let is_indexed =
                    op.operand_shapes.first().and_then(Shape::element) != Some(ir::ElementType::Pred);
                (key == AttributeKey::BranchComputations) == is_indexed
                    && ir::op_info(Opcode::Conditional).allows(key)
            }
            Some(opcode) => ir::op_info(opcode).allows(key),
        };
        // These wait for a computation that the start names.
        if matches!(opcode, Some(Opcode::AsyncUpdate | Opcode::AsyncDone)) {
            called.clear();
        }
        for &key in CALLS.iter().filter(|&&key| has(key)) {
            if called.is_empty() {
                return Ok(());
            }
            let value = match key {
                AttributeKey::BranchComputations | AttributeKey::CalledComputations => {
                    AttributeValue::Names(std::mem::take(&mut called))
                }
                _ => AttributeValue::Computation(called.remove(0)),
            };
            op.attributes.push(key, value);
        }
        match called.first() {
            Some(name) => Err(format!("it calls {name}, which {} does not", op.opcode.name())),
            None => Ok(()),
        }
    }

    /// The attributes of the operation that an asynchronous one wraps.
    fn wrapped(
        &mut self,
        op: &mut Op,
        mut wrapped: HloInstructionProto,
        operands: &[Shape],
        start: &HloInstructionProto,
    ) -> Result<(), String> {
        let opcode = Opcode::from_name(&wrapped.opcode);
        self.calls(op, opcode, &mut wrapped)?;
        let start_has_attributes = start.frontend_attributes.as_ref().is_some_and(|own| !own.map.is_empty());
        for (key, value) in self.attributes(opcode, operands, &mut wrapped) {
            use AttributeKey::{BackendConfig, ControlPredecessors, FrontendAttributes, Metadata, Origin};
            // Only the attributes of the start are printed.
            let is_of_start = matches!(key, Metadata | BackendConfig | Origin | ControlPredecessors)
                || key == FrontendAttributes && start_has_attributes;
            if !is_of_start {
                op.attributes.push(key, value);
            }
        }
        Ok(())
    }
}

/// Whether an attribute of an opcode that is not known would only say that it is absent.
fn is_empty_without(key: AttributeKey, proto: &HloInstructionProto) -> bool {
    use AttributeKey::*;
    match key {
        ReplicaGroups => {
            proto.collective_device_list.is_none()
                && proto.iota_collective_device_list.is_none()
                && proto.mesh_axes_replica_group_list.is_none()
                && proto.replica_groups.is_empty()
        }
        Slice => proto.slice_dimensions.is_empty(),
        Padding => proto.padding_config.is_none(),
        SourceTargetPairs => proto.source_target_pairs.is_empty(),
        Epsilon => proto.epsilon == 0.0,
        Domain => proto.domain_entry_sharding.is_none() && proto.domain_exit_sharding.is_none(),
        ApiVersion => proto.custom_call_api_version == 0,
        _ => false,
    }
}

/// Removes what a message says although it follows from the opcode, or means nothing for it.
fn take_implied(opcode: Option<Opcode>, proto: &mut HloInstructionProto) {
    // XLA writes the precisions of operands for ops that have none, and the thread of all parts of an asynchronous operation.
    if matches!(opcode, Some(Opcode::AsyncUpdate | Opcode::AsyncDone)) {
        proto.async_execution_thread.clear();
        proto.called_computation_ids.clear();
    }
    if let Some(statistics) = &mut proto.statistics_viz
        && statistics.statistics.is_empty()
    {
        statistics.stat_index_to_visualize = 0;
    }
}
