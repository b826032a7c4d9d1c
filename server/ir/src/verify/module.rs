//! Headers against computations: the entry's layout, aliases and donors. Source: `hlo_verifier.cc`
//! VerifyEntryComputationLayout, `HloInputOutputAliasConfig::Verify`, `HloBufferDonorConfig::Verify`.

use std::sync::Arc;

use crate::infer::Called;
use crate::module::{ComputationIndex, Module, ModuleFinding, ModuleSettings, SegmentRef, Slot};
use crate::shape_difference::Difference;

/// Contradictions between the headers of a file and its computations.
pub fn verify_module(
    module: &Module,
    called: &dyn Fn(ComputationIndex) -> Option<Arc<Called>>,
) -> Vec<ModuleFinding> {
    let mut findings = module.verifier_findings.clone();
    for section in 0..module.sections() {
        let Some(settings) = module.settings(section) else { continue };
        let Some(piece) = module.first_piece(section) else { continue };
        let Some(signature) = module.entry_of(section).and_then(called) else { continue };
        // The header's tokens are in the piece that the module starts with.
        let segment = SegmentRef { piece, computation: 0 };
        let mut report =
            |slot, code, message| findings.push(ModuleFinding::new(segment, slot, code, message));
        entry_layout(settings, &signature, &mut report);
        aliases(settings, &signature, &mut report);
    }
    findings
}

type Report<'a> = dyn FnMut(Slot, &'static str, String) + 'a;

fn entry_layout(settings: &ModuleSettings, entry: &Called, report: &mut Report<'_>) {
    let Some((parameters, result)) = &settings.entry_layout else { return };
    let slot = Slot::Header("entry_computation_layout");
    let (expected, actual) = (entry.parameters.len(), parameters.len());
    if expected != actual {
        let message = format!("the entry has {expected} parameters, but {actual} are written here");
        return report(slot, "entry-layout", message);
    }
    for (i, (own, written)) in entry.parameters.iter().zip(parameters).enumerate() {
        if !own.is_compatible(written) {
            report(
                slot,
                "entry-layout",
                format!("parameter {i} of the entry is {own}, but {written} is written here"),
            );
        }
    }
    if !entry.result.is_compatible(result) {
        let differ = Difference::between(&entry.result, result);
        let (place, actual, written) = (differ.place(), &differ.expected, &differ.actual);
        let message = format!("{place}the result of the entry is {actual}, but {written} is written here");
        report(slot, "entry-layout", message);
    }
}

fn aliases(settings: &ModuleSettings, entry: &Called, report: &mut Report<'_>) {
    let parameter = |number: i64| usize::try_from(number).ok().and_then(|i| entry.parameters.get(i));
    let slot = Slot::Header("input_output_alias");
    let mut used = rustc_hash::FxHashSet::default();
    for alias in &settings.aliases {
        let result = entry.result.element_at(&alias.output);
        let donated = parameter(alias.parameter).and_then(|shape| shape.element_at(&alias.index));
        let message = match (result, donated) {
            (None, _) => format!("{:?} is no element of the entry's result, {}", alias.output, entry.result),
            (_, None) => match parameter(alias.parameter) {
                None => format!("the entry has no parameter {}", alias.parameter),
                Some(own) => {
                    format!("{:?} is no element of parameter {}, {own}", alias.index, alias.parameter)
                }
            },
            (Some(result), Some(donated)) if result.bytes() != donated.bytes() => {
                format!("parameter {} gives {donated} for {result}, which has another size", alias.parameter)
            }
            _ if !used.insert((alias.parameter, &alias.index)) => {
                format!("{:?} of parameter {} is given to two results", alias.index, alias.parameter)
            }
            _ => continue,
        };
        report(slot, "aliasing", message);
    }
    for (number, index) in &settings.donors {
        let message = match parameter(*number) {
            None => format!("the entry has no parameter {number}"),
            Some(own) if own.element_at(index).is_none() => {
                format!("{index:?} is no element of parameter {number}, {own}")
            }
            Some(_) if used.contains(&(*number, index)) => {
                format!("{index:?} of parameter {number} is given to a result already")
            }
            Some(_) => continue,
        };
        report(Slot::Header("buffer_donor"), "aliasing", message);
    }
}
