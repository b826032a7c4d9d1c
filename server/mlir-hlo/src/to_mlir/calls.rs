//! Calls: of functions, of decompositions, of what others know.

use ir::{AttributeKey as K, OpId};
use mlir::lists::{dictionary, split};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::module::symbol;
use super::statement::{Results, signature};
use super::values::results;
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::strings::mlir_string;

impl FunctionWriter<'_> {
    /// The symbol of a computation that is a function.
    pub(super) fn symbol_of(&self, computation: &str) -> Result<String, NotInStablehlo> {
        let name = self
            .program
            .functions
            .get(computation)
            .ok_or_else(|| NotInStablehlo::missing_name(computation))?;
        Ok(symbol(name))
    }

    pub(super) fn call(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let computation = op.attributes.computation(K::ToApply).ok_or("it names no computation")?;
        let callee = self.symbol_of(computation)?;
        let (operands, types) = self.operands(scope, id)?;
        let answers = Self::types_of(&results(&op.shape))?;
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::ToApply, K::IsComposite]);
        let signature = signature(&types, &answers);
        let frontend = op.attributes.text(K::FrontendAttributes).map(dictionary).unwrap_or_default();
        let stated = |name: &str| {
            frontend.iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"'))
        };
        let name = stated("composite.name").filter(|_| op.attributes.bool(K::IsComposite) == Some(true));
        let operands = operands.join(", ");
        let text = if let Some(name) = name {
            written.extra.retain(|(key, _)| key != "mhlo.frontend_attributes");
            let others: Vec<_> = frontend.iter().filter(|(key, _)| !key.starts_with("composite.")).collect();
            let others: Vec<_> = others.iter().map(|(key, value)| format!("{key}={value}")).collect();
            if !others.is_empty() {
                let text = super::annotations::frontend(&format!("{{{}}}", others.join(",")));
                written.extra.push(("mhlo.frontend_attributes".to_owned(), text));
            }
            let attributes =
                stated("composite.attributes").filter(|a| a.starts_with('{')).unwrap_or("{}").to_owned();
            let version = stated("composite.version").and_then(|v| v.parse::<i64>().ok()).unwrap_or(0);
            written.extra.insert(0, ("version".to_owned(), format!("{version} : i32")));
            written.extra.insert(0, ("decomposition".to_owned(), callee));
            written.extra.insert(0, ("composite_attributes".to_owned(), attributes));
            let name = mlir_string(name);
            let space = if operands.is_empty() { "" } else { " " };
            format!("stablehlo.composite \"{name}\"{space}{operands}{} : {signature}", written.dictionary())
        } else {
            format!("func.call {callee}({operands}){} : {signature}", written.dictionary())
        };
        self.define(scope, id, Results::Elements, &text);
        Ok(())
    }

    pub(super) fn custom_call(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let attributes = &op.attributes;
        let target =
            attributes.text(K::CustomCallTarget).ok_or(NotInStablehlo::missing("custom_call_target"))?;
        let (operands, types) = self.operands(scope, id)?;
        let answers = Self::types_of(&results(&op.shape))?;
        let mut written = Written::default();
        let mut add = |name: &str, value: String| written.extra.push((name.to_owned(), value));
        let version = match attributes.text(K::ApiVersion) {
            Some("API_VERSION_STATUS_RETURNING") => 2,
            Some("API_VERSION_STATUS_RETURNING_UNIFIED") => 3,
            Some("API_VERSION_TYPED_FFI") => 4,
            _ => 1,
        };
        if version != 1 {
            add("api_version", format!("{version} : i32"));
        }
        if attributes.bool(K::CustomCallHasSideEffect) == Some(true) {
            add("has_side_effect", "true".to_owned());
        }
        if let Some(config) = attributes.text(K::BackendConfig) {
            match version == 4 && config.starts_with('{') && !config.contains("\":") {
                true => add("backend_config", config.to_owned()),
                false => add("backend_config", format!("\"{}\"", mlir_string(config))),
            }
        }
        let called: Vec<String> = attributes
            .computations(K::CalledComputations)
            .iter()
            .chain(attributes.computations(K::ToApply))
            .map(|name| self.symbol_of(name))
            .collect::<Result<_, _>>()?;
        if !called.is_empty() {
            add("called_computations", format!("[{}]", called.join(", ")));
        }
        let constraints = attributes.text(K::OperandLayoutConstraints);
        if let Some(layouts) = constraints.and_then(stated_layouts).filter(|l| l.len() == operands.len()) {
            let result_layouts: Vec<_> = results(&op.shape).into_iter().map(super::header::layout).collect();
            add("operand_layouts", format!("[{}]", layouts.join(", ")));
            add("result_layouts", format!("[{}]", result_layouts.join(", ")));
        }
        if let Some(aliases) =
            attributes.text(K::OutputToOperandAliasing).map(aliases).filter(|a| !a.is_empty())
        {
            add("output_operand_aliases", format!("[{}]", aliases.join(", ")));
        }
        let known = [
            K::CustomCallTarget,
            K::ApiVersion,
            K::CustomCallHasSideEffect,
            K::BackendConfig,
            K::CalledComputations,
            K::ToApply,
            K::OperandLayoutConstraints,
            K::OutputToOperandAliasing,
        ];
        self.note(scope, id, &mut written, &known);
        let call = format!("stablehlo.custom_call {}({})", symbol(target), operands.join(", "));
        let text = format!("{call}{} : {}", written.dictionary(), signature(&types, &answers));
        self.define(scope, id, Results::Elements, &text);
        Ok(())
    }
}

/// The layouts in `{f32[4,8]{0,1}, s32[]}`, one per shape; nothing where one says more than an order.
fn stated_layouts(constraints: &str) -> Option<Vec<String>> {
    let inner = constraints.trim().strip_prefix('{')?.strip_suffix('}')?;
    let of = |shape: &str| {
        let order = shape.split_once("]{").map_or("", |(_, rest)| rest.trim_end_matches('}'));
        let numbers: Vec<i64> = order
            .split(',')
            .filter(|n| !n.is_empty())
            .map(|n| n.trim().parse().ok())
            .collect::<Option<_>>()?;
        let list: Vec<_> = numbers.iter().map(i64::to_string).collect();
        Some(match numbers.is_empty() {
            true => "dense<> : tensor<0xindex>".to_owned(),
            false => format!("dense<[{}]> : tensor<{}xindex>", list.join(", "), list.len()),
        })
    };
    split(inner).into_iter().map(of).collect()
}

/// `#stablehlo.output_operand_alias<…>` per entry of `{{0}: (1, {})}`.
fn aliases(text: &str) -> Vec<String> {
    let inner = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or_default();
    let of = |entry: &str| {
        let (output, rest) = entry.split_once(':')?;
        let rest = rest.trim().strip_prefix('(')?;
        let (operand, rest) = rest.split_once(',').unwrap_or((rest.trim_end_matches(')'), ""));
        let numbers = |list: &str| {
            let digits = list.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
            digits.collect::<Vec<_>>().join(", ")
        };
        let inside = rest.split('}').next().unwrap_or_default();
        Some(format!(
            "#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, operand_tuple_indices = [{}]>",
            numbers(output),
            operand.trim(),
            numbers(inside)
        ))
    };
    split(inner).into_iter().filter_map(of).collect()
}
