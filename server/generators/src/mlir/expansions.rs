//! Windows of expanded tensors.

use random::Rng;

use super::Program;
use super::builder::Builder;
use super::collapses::groups_text;
use super::groups::groups;
use super::types::{ELEMENTS, partial as ty};
use super::windows::Window;

/// `extract_slice(expand_shape(x))`
pub fn slice_of_expand(random: &mut Rng) -> Program {
    of_expand(random, false)
}

/// `insert_slice(s, expand_shape(x))`
pub fn insertion_into_expand(random: &mut Rng) -> Program {
    of_expand(random, true)
}

fn of_expand(random: &mut Rng, is_insert: bool) -> Program {
    let groups = groups(random);
    let element = *random.pick(&ELEMENTS);
    let encoding = if random.one_in(8) { ", \"e\"" } else { "" };
    let (generic, used_twice, some_are_unknown) = (random.one_in(5), random.one_in(4), random.one_in(3));
    let mut builder = Builder::new(random);
    let (mut y_known, mut output_shape, mut x_shape, mut x_known, mut axes) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for group in &groups {
        axes.push((y_known.len()..y_known.len() + group.len()).collect::<Vec<usize>>());
        let is_unknown = some_are_unknown && builder.random.one_in(2);
        let all: i64 = group.iter().product();
        for (nth, &extent) in group.iter().enumerate() {
            let is_unknown = is_unknown && nth == 0;
            output_shape.push(if is_unknown { builder.parameter(extent) } else { extent.to_string() });
            y_known.push((!is_unknown).then_some(extent));
        }
        x_shape.push(all);
        x_known.push((!is_unknown).then_some(all));
    }
    let (x_type, y_type) = (ty(&x_known, element, encoding), ty(&y_known, element, encoding));
    builder.tensor("%x", &x_type, &x_shape);
    builder.lines.push(format!(
        "%y = tensor.expand_shape %x [{}] output_shape [{}] : {x_type} into {y_type}",
        groups_text(&axes),
        output_shape.join(", ")
    ));
    if used_twice {
        builder.lines.push(format!("\"test.use\"(%y) : ({y_type}) -> ()"));
    }
    let mut window = Window::default();
    for group in &groups {
        let first = builder.random.range(0, group.len() as i64 - 1) as usize;
        // Otherwise the elements are rarely evenly spaced.
        let is_row = !builder.random.one_in(8);
        for (nth, &extent) in group.iter().enumerate() {
            let (mut offset, mut size, mut stride) = (0, extent, 1);
            if !is_row || nth <= first {
                offset = builder.random.range(0, extent - 1);
                stride = if builder.random.one_in(4) { builder.random.range(1, 3) } else { 1 };
                size = builder.random.range(1, (extent - 1 - offset) / stride + 1);
            }
            if is_row && nth < first {
                size = 1;
            }
            let is_whole = (offset, size) == (0, extent);
            window.offsets.push(if is_whole { "0".to_owned() } else { builder.number(offset) });
            window.sizes.push(if is_row && nth != first { size.to_string() } else { builder.size(size) });
            window.strides.push(if is_whole { "1".to_owned() } else { builder.number(stride) });
            window.extents.push(size);
        }
    }
    window.write(&mut builder, is_insert, &y_type, element, encoding, generic);
    builder.program("")
}
