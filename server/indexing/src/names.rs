//! Names for the variables of an op's maps by their role: `batch`, `m`, `n`, `k` of a dot.

use ir::{AttributeKey, Op, Opcode};

use crate::operand_indexing::{ArraySource, OperandIndexing, RuntimeSource};

/// The maximum length of an op's name that a runtime variable takes.
const MAX_NAME: usize = 24;

/// Range variables before simplification drops those with one value.
type Ranges = Vec<(String, i64)>;

/// Names for the variables of an access from an output of `op`, by variable id; empty if the default name is
/// as good. Dimensions and range variables of dots, convolutions, reductions, windows and gathers have roles;
/// a runtime variable is named after the op that holds its value.
pub fn variable_names(op: &Op, access: &OperandIndexing) -> Vec<String> {
    let map = &access.map;
    let mut names = vec![String::new(); map.variables().len()];
    if !map.is_mapped() {
        return names;
    }
    let (dims, ranges) = roles(op).unwrap_or_default();
    if dims.len() == map.num_dims() {
        names[..dims.len()].clone_from_slice(&dims);
    }
    let sizes: Vec<i64> = map.ranges().iter().map(|v| v.bounds.size() as i64).collect();
    let fits = |ranges: &Ranges| ranges.iter().map(|(_, size)| size).eq(&sizes);
    let left: Ranges = ranges.iter().filter(|(_, size)| *size > 1).cloned().collect();
    if let Some(ranges) = [ranges, left].into_iter().find(fits) {
        let own = &mut names[map.num_dims()..];
        own.iter_mut().zip(ranges).for_each(|(name, (role, _))| *name = role);
    }
    let sources: Vec<String> = access.runtime_variables.iter().map(|v| source_name(&v.source)).collect();
    for (i, source) in sources.iter().enumerate().filter(|(_, source)| !source.is_empty()) {
        let number = sources[..i].iter().filter(|other| *other == source).count();
        let is_alone = sources.iter().filter(|other| *other == source).count() == 1;
        if let Some(name) = names.get_mut(map.num_dims() + map.num_ranges() + i) {
            *name = if is_alone { source.clone() } else { format!("{source}_{number}") };
        }
    }
    names
}

/// `role` for one, `role0`, `role1`, … for more.
fn numbered(role: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![role.to_owned()],
        _ => (0..count).map(|i| format!("{role}{i}")).collect(),
    }
}

fn roles(op: &Op) -> Option<(Vec<String>, Ranges)> {
    let rank = op.shape.as_array().map_or(0, |array| array.rank());
    let operand = |i: usize| Some(op.operand_shapes.get(i)?.as_array()?.dims.as_slice());
    let ints = |key| op.attributes.ints(key);
    Some(match op.opcode {
        Opcode::Dot | Opcode::ScaledDot => {
            let contracting = ints(AttributeKey::LhsContractingDims);
            let batches = ints(AttributeKey::LhsBatchDims).len();
            let free = |i: usize| operand(i)?.len().checked_sub(batches + contracting.len());
            let mut dims = numbered("batch", batches);
            dims.extend(numbered("m", free(0)?));
            dims.extend(numbered("n", free(1)?));
            let size = |dim: &i64| operand(0)?.get(usize::try_from(*dim).ok()?).copied();
            let sizes: Option<Vec<i64>> = contracting.iter().map(size).collect();
            (dims, numbered("k", contracting.len()).into_iter().zip(sizes?).collect())
        }
        Opcode::Convolution => {
            let labels = op.attributes.convolution_dims()?;
            let window = op.attributes.window();
            let mut dims = vec![String::new(); rank];
            *dims.get_mut(labels.output_batch)? = "batch".to_owned();
            *dims.get_mut(labels.output_feature)? = "out_feature".to_owned();
            for (&dim, name) in labels.output_spatial.iter().zip(numbered("spatial", window.len())) {
                *dims.get_mut(dim)? = name;
            }
            let sizes = window.iter().map(|w| w.size);
            let mut ranges: Ranges = numbered("window", window.len()).into_iter().zip(sizes).collect();
            ranges.push(("in_feature".to_owned(), *operand(1)?.get(labels.kernel_input_feature)?));
            (dims, ranges)
        }
        Opcode::Reduce => {
            let input = operand(0)?;
            let reduced = ints(AttributeKey::Dimensions);
            let sizes: Vec<i64> = (0..input.len())
                .filter(|&dim| reduced.contains(&(dim as i64)))
                .map(|dim| input[dim])
                .collect();
            (Vec::new(), numbered("reduced", sizes.len()).into_iter().zip(sizes).collect())
        }
        Opcode::ReduceWindow => {
            let window = op.attributes.window();
            let sizes = window.iter().map(|w| w.size);
            (Vec::new(), numbered("window", window.len()).into_iter().zip(sizes).collect())
        }
        Opcode::Gather => {
            let offsets = ints(AttributeKey::OffsetDims);
            let is_offset = |dim: usize| offsets.contains(&(dim as i64));
            let count = (0..rank).filter(|&dim| is_offset(dim)).count();
            let (mut offset, mut batch) =
                (numbered("offset", count).into_iter(), numbered("batch", rank - count).into_iter());
            let next = |dim| if is_offset(dim) { offset.next() } else { batch.next() };
            ((0..rank).map(next).collect::<Option<_>>()?, Vec::new())
        }
        _ => return None,
    })
}

/// The op's name as an identifier, `v5` for `%5`; empty if the op has no name or a long one.
fn source_name(source: &RuntimeSource) -> String {
    let (name, suffix) = match source {
        RuntimeSource::Operand(_)
        | RuntimeSource::Extent { array: ArraySource::Operand(_) | ArraySource::Output, .. } => {
            return String::new();
        }
        RuntimeSource::Op { name, .. } => (name, String::new()),
        RuntimeSource::Extent { array: ArraySource::Op { name, .. }, dimension } => {
            (name, format!("_dim{dimension}"))
        }
    };
    let name = name.trim_start_matches('%');
    let is_word = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if name.len() > MAX_NAME || !is_word {
        return String::new();
    }
    let letters: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let prefix = if letters.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
    format!("{prefix}{letters}{suffix}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indexing_map::{PrintStyle, print_named};
    use ir::Graph;
    use syntax::hlo::{PieceState, parse};

    use super::*;
    use crate::{Rules, in_graph, no_callees};

    /// Checks the names of the map into operand 0, before and after simplification.
    #[track_caller]
    fn check(body: &str, raw: &str, simplified: &str) {
        let text: Arc<str> = format!("HloModule m\nENTRY e {{\n{body}\n}}").into();
        let block = ir::lower(text.clone(), Arc::new(parse(&text, PieceState::HEADER)));
        let graph = Graph::build(&[(&block, 0)]).unwrap();
        let mut answer = in_graph(&graph, graph.root, 0, Rules::Exact, &no_callees);
        for expected in [raw, simplified] {
            let access = &answer.operands[0][0];
            let names = variable_names(&graph.ops[graph.root as usize], access);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = print_named(&access.map, &names, PrintStyle::Floordiv);
            assert_eq!(text.split(", domain").next(), Some(expected));
            answer.simplify_by(Rules::Exact);
        }
    }

    #[test]
    fn dots() {
        check(
            "p = f32[4,8,16] parameter(0)
             q = f32[4,16,2] parameter(1)
             ROOT x = f32[4,8,2] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
            "(batch, m, n)[k] -> (batch, m, k)",
            "(batch, m, n)[k] -> (batch, m, k)",
        );
        check(
            "p = f32[4,8,1,3] parameter(0)
             q = f32[1,3] parameter(1)
             ROOT x = f32[4,8] dot(p, q), lhs_contracting_dims={2,3}, rhs_contracting_dims={0,1}",
            "(m0, m1)[k0, k1] -> (m0, m1, k0, k1)",
            "(m0, m1)[k1] -> (m0, m1, 0, k1)",
        );
    }

    #[test]
    fn windows_and_reductions() {
        let convolution =
            "(batch, spatial, out_feature)[window, in_feature] -> (batch, spatial + window, in_feature)";
        check(
            "p = f32[2,10,3] parameter(0)
             q = f32[4,3,5] parameter(1)
             ROOT x = f32[2,7,5] convolution(p, q), window={size=4}, dim_labels=b0f_0io->b0f",
            convolution,
            convolution,
        );
        check(
            "p = f32[2,10,3] parameter(0)
             z = f32[] constant(0)
             ROOT x = f32[10] reduce(p, z), dimensions={0,2}, to_apply=f",
            "(d0)[reduced0, reduced1] -> (reduced0, d0, reduced1)",
            "(d0)[reduced0, reduced1] -> (reduced0, d0, reduced1)",
        );
    }

    #[test]
    fn runtime_variables_are_called_as_their_source() {
        check(
            "p = f32[64,8] parameter(0)
             start.1 = s32[] parameter(1)
             x-0 = s32[] parameter(2)
             ROOT x = f32[16,4] dynamic-slice(p, start.1, x-0), dynamic_slice_sizes={16,4}",
            "(d0, d1){start_1, x_0} -> (d0 + start_1, d1 + x_0)",
            "(d0, d1){start_1, x_0} -> (d0 + start_1, d1 + x_0)",
        );
        check(
            "p = f32[64,8] parameter(0)
             i = s32[5,2] parameter(1)
             ROOT x = f32[5,4] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,4}",
            "(batch, offset){i_0, i_1} -> (i_0, offset + i_1)",
            "(batch, offset){i_0, i_1} -> (i_0, offset + i_1)",
        );
    }

    #[test]
    fn what_has_no_role_keeps_its_name() {
        let map = "(d0, d1) -> (d1, d0)";
        check("p = f32[2,3] parameter(0)\n ROOT x = f32[3,2] transpose(p), dimensions={1,0}", map, map);
    }
}
