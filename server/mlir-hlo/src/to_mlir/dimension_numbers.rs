//! The dimensions of products, convolutions, gathers and scatters: one attribute in MLIR, lists of numbers in HLO.

use ir::Op;
use syntax::hlo::AttributeKey as K;

use super::attributes::Written;
use crate::dimension_lists::{DOT_LISTS, GATHER_LISTS, SCATTER_LISTS};
use crate::lists::joined;
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::{AttributeRow, Form};

impl Written {
    pub(super) fn convolution_numbers(
        &mut self,
        attribute: &AttributeRow,
        dialect: &str,
        op: &Op,
    ) -> Outcome {
        let attributes = &op.attributes;
        let labels = attributes
            .text(attribute.key)
            .ok_or_else(|| NotInStablehlo::missing_name(attribute.key.name()))?;
        let spaced = |side: &str| side.chars().map(String::from).collect::<Vec<_>>().join(", ");
        let (input, rest) = labels.split_once('_').ok_or("dim_labels are not read")?;
        let (kernel, output) = rest.split_once("->").ok_or("dim_labels are not read")?;
        let numbers = format!("[{}]x[{}]->[{}]", spaced(input), spaced(kernel), spaced(output));
        self.both(attribute, format!("#{dialect}.conv<{numbers}>"), numbers);
        Ok(())
    }

    pub(super) fn dot_numbers(&mut self, attribute: &AttributeRow, dialect: &str, op: &Op) {
        let attributes = &op.attributes;
        let lists = DOT_LISTS.map(|(name, key)| (name, attributes.ints(key)));
        let both =
            |left: &[i64], right: &[i64]| format!("[{}] x [{}]", joined(left, ", "), joined(right, ", "));
        let [batch, contracting, right_batch, right_contracting] = lists.map(|(_, values)| values);
        if !batch.is_empty() {
            self.clauses.push(("batching_dims".to_owned(), both(batch, right_batch)));
        }
        self.clauses.push(("contracting_dims".to_owned(), both(contracting, right_contracting)));
        self.property(attribute.name, format!("#{dialect}.dot<{}>", fields(&lists)));
    }

    pub(super) fn index_numbers(&mut self, attribute: &AttributeRow, dialect: &str, op: &Op) {
        let attributes = &op.attributes;
        let (kind, lists) = match attribute.form {
            Form::GatherNumbers => ("gather", GATHER_LISTS),
            _ => ("scatter", SCATTER_LISTS),
        };
        let lists = lists.map(|(name, key)| (name, attributes.ints(key)));
        let index = attributes.int(K::IndexVectorDim).unwrap_or(0);
        let comma = if lists.iter().all(|(_, l)| l.is_empty()) { "" } else { ", " };
        let numbers = format!("{}{comma}index_vector_dim = {index}", fields(&lists));
        self.property(attribute.name, format!("#{dialect}.{kind}<{numbers}>"));
    }

    pub(super) fn ragged_numbers(&mut self, attribute: &AttributeRow, dialect: &str, op: &Op) {
        let attributes = &op.attributes;
        let lists = DOT_LISTS.map(|(name, key)| (name, attributes.ints(key)));
        let dot = format!("#{dialect}.dot<{}>", fields(&lists));
        let (ragged, groups) = (attributes.ints(K::LhsRaggedDims), attributes.ints(K::RhsGroupDims));
        self.property(
            attribute.name,
            format!(
                "#{dialect}.ragged_dot<dot_dimension_numbers = {dot}, lhs_ragged_dimensions = [{}], rhs_group_dimensions = [{}]>",
                joined(ragged, ", "),
                joined(groups, ", ")
            ),
        );
    }
}

fn fields(lists: &[(&str, &[i64])]) -> String {
    let stated = lists.iter().filter(|(_, list)| !list.is_empty());
    stated.map(|(name, list)| format!("{name} = [{}]", joined(list, ", "))).collect::<Vec<_>>().join(", ")
}
