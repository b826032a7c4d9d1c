//! Calls: of functions, of decompositions, of what others know.

use ir::{AttributeKey as K, AttributeValue as Value, Attributes, Opcode};
use mlir::lists::split;
use mlir::{OpId, field, integer, integers};

use super::Writer;
use crate::environment::bare;
use crate::lists::braces;
use crate::not_in_hlo::NotInHlo;
use crate::op_text::missing;
use crate::strings::hlo_string;
use crate::types::with_layout;

impl Writer<'_> {
    /// The computation of a function; the call is remembered.
    pub(super) fn callee(&mut self, symbol: &str) -> Result<String, NotInHlo> {
        let symbol = bare(symbol);
        let declared = self.environment.function(symbol).filter(|f| f.is_defined);
        let computation = declared.ok_or_else(|| format!("@{symbol} has no body"))?.computation.to_string();
        if !self.calls.iter().any(|known| &**known == symbol) {
            self.calls.push(symbol.into());
        }
        Ok(computation)
    }

    /// The first symbol that an op names.
    fn named_symbol(&self, id: OpId, attribute: &str) -> Option<&str> {
        let op = &self.op_text(id);
        op.first_of(&[attribute]).or_else(|| {
            let body = op.body().trim_start();
            let rest = body.strip_prefix('@')?;
            let end = match rest.strip_prefix('"') {
                Some(quoted) => quoted.find('"')? + 3,
                None => rest.find(['(', ' ']).unwrap_or(rest.len()) + 1,
            };
            body.get(..end)
        })
    }

    pub(super) fn call(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let symbol = self.named_symbol(id, "callee").ok_or("what it calls is not read")?.to_owned();
        let operands = self.operands(id)?;
        let computation = self.callee(&symbol)?;
        let attributes = Attributes::default().with(K::ToApply, Value::Computation(computation));
        self.emit(id, Opcode::Call, &operands, attributes, &["callee"])
    }

    /// A call that names the op it replaces. Source: `xla/hlo/translate/mhlo_to_hlo`, CompositeOp.
    pub(super) fn composite(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let custom = || op.body().trim_start().strip_prefix('"')?.split('"').next();
        let name = op.string(&["name"]).or_else(custom).ok_or_else(|| missing("name"))?.to_owned();
        let decomposition =
            op.first_of(&["decomposition"]).ok_or_else(|| missing("decomposition"))?.to_owned();
        let attributes = op.first_of(&["composite_attributes"]).unwrap_or("{}").to_owned();
        let version = op.int(&["version"]).unwrap_or(0);
        let operands = self.operands(id)?;
        let computation = self.callee(&decomposition)?;
        let known = ["name", "decomposition", "composite_attributes", "version"];
        let mut annotations = self.annotations(id, &known);
        annotations.add_frontend(format!("composite.attributes={attributes}"));
        annotations.add_frontend(format!("composite.name=\"{}\"", hlo_string(&name)));
        annotations.add_frontend(format!("composite.version=\"{version}\""));
        let shapes = self.results(id)?;
        let mut attributes = Attributes::default()
            .with(K::ToApply, Value::Computation(computation))
            .with(K::IsComposite, true);
        annotations.add_to(&mut attributes);
        self.define(id, Opcode::Call, shapes, &operands, attributes);
        Ok(())
    }

    pub(super) fn custom_call(&mut self, id: OpId) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let named = op.string(&["call_target_name"]).or_else(|| self.named_symbol(id, "call_target_name"));
        let target = bare(named.ok_or_else(|| missing("call_target_name"))?).to_owned();
        let operands = self.operands(id)?;
        let mut attributes =
            Attributes::default().with(K::CustomCallTarget, Value::Quoted(hlo_string(&target)));
        let layouts = |name: &str| -> Option<Vec<Vec<i64>>> {
            let list = op.first_of(&[name])?.trim().strip_prefix('[')?.strip_suffix(']')?;
            split(list).into_iter().map(integers).collect()
        };
        if let Some(layouts) = layouts("operand_layouts").filter(|l| l.len() == operands.len()) {
            let laid_out = operands.iter().zip(&layouts).map(|(o, layout)| with_layout(&o.shape, layout));
            let shapes: Vec<_> = laid_out.map(|shape| shape.to_string()).collect();
            let constraints = Value::Text(format!("{{{}}}", shapes.join(", ")));
            attributes.push(K::OperandLayoutConstraints, constraints);
        }
        if op.has("has_side_effect") {
            attributes.push(K::CustomCallHasSideEffect, true);
        }
        if let Some(list) =
            op.first_of(&["called_computations"]).and_then(|l| l.trim().strip_prefix('[')?.strip_suffix(']'))
        {
            let names: Result<Vec<_>, _> =
                split(list).into_iter().map(|symbol| self.callee(symbol)).collect();
            let names = names?;
            if !names.is_empty() {
                attributes.push(K::CalledComputations, Value::Names(names));
            }
        }
        if let Some(aliasing) = aliasing(op.first_of(&["output_operand_aliases"]).unwrap_or_default()) {
            attributes.push(K::OutputToOperandAliasing, Value::Text(aliasing));
        }
        if let Some(schedule) = op.case(&["custom_call_schedule"]).filter(|word| *word != "NONE") {
            attributes.push(K::Schedule, Value::Word(format!("SCHEDULE_{schedule}")));
        }
        let version = match op.int(&["api_version"]) {
            Some(2) => Some("API_VERSION_STATUS_RETURNING"),
            Some(3) => Some("API_VERSION_STATUS_RETURNING_UNIFIED"),
            Some(4) => Some("API_VERSION_TYPED_FFI"),
            _ => None,
        };
        if let Some(version) = version {
            attributes.push(K::ApiVersion, Value::Word(version.to_owned()));
        }
        let mut shapes = self.results(id)?;
        if let Some(layouts) = layouts("result_layouts").filter(|l| l.len() == shapes.len()) {
            for (shape, layout) in shapes.iter_mut().zip(&layouts) {
                *shape = with_layout(shape, layout);
            }
        }
        let known = [
            "call_target_name",
            "operand_layouts",
            "result_layouts",
            "has_side_effect",
            "called_computations",
            "output_operand_aliases",
            "custom_call_schedule",
            "api_version",
            "backend_config",
            "mhlo.backend_config",
        ];
        self.annotations(id, &known).add_to(&mut attributes);
        let config = op.first_of(&["mhlo.backend_config"]).or_else(|| op.first_of(&["backend_config"]));
        match config.unwrap_or_default().trim() {
            "" | "\"\"" => {}
            dictionary if dictionary.starts_with('{') => {
                attributes.push(K::BackendConfig, Value::Text(dictionary.to_owned()));
            }
            text => attributes.push(K::BackendConfig, Value::Quoted(hlo_string(text.trim_matches('"')))),
        }
        self.define(id, Opcode::CustomCall, shapes, &operands, attributes);
        Ok(())
    }
}

/// `{{0}: (0, {})}` of a list of `#stablehlo.output_operand_alias<…>`.
fn aliasing(list: &str) -> Option<String> {
    let list = list.trim().strip_prefix('[').and_then(|l| l.strip_suffix(']')).unwrap_or_default();
    let of = |alias: &str| {
        let numbers = |name| field(alias, name).and_then(integers).unwrap_or_default();
        let operand = field(alias, "operand_index").and_then(integer)?;
        let (output, inside) = (numbers("output_tuple_indices"), numbers("operand_tuple_indices"));
        Some(format!("{}: ({operand}, {})", braces(&output), braces(&inside)))
    };
    let entries: Vec<_> = split(list).into_iter().filter_map(of).collect();
    (!entries.is_empty()).then(|| format!("{{{}}}", entries.join(", ")))
}
