//! Batch norms as the ops that XLA expands them to. Source: `BatchNormExpander`.

use std::fmt::Write;

use ir::{AttributeKey, ElementType, ElementTypeExt};

use super::dispatch::Asked;
use super::expansions::{PREFIX, list, shape};
use super::positions::array;
use crate::checks::{Checked, dimensions, ensure};

/// The lines of a batch norm: `all` is the type of the input, `each` the type of one value per feature.
struct Lines {
    text: String,
    all: String,
    each: String,
    element: ElementType,
    /// All dimensions except the feature dimension.
    others: String,
    feature: usize,
}

impl Lines {
    /// The head of the computation, its parameters by name, and the values that all three batch norms need.
    fn of(asked: &Asked<'_>, parameters: &[(&str, bool)]) -> Checked<Lines> {
        let input = array(asked.operand_shape(0)?)?;
        let element = input.element;
        ensure(element.is_floating(), format!("batch norm of {element} is not evaluated"))?;
        let rank = input.dims.len();
        let feature = asked.op.attributes.int(AttributeKey::FeatureIndex).unwrap_or(0);
        let feature = dimensions(&[feature], rank)?[0];
        let others: Vec<i64> = (0..rank as i64).filter(|&d| d != feature as i64).collect();
        let each_dims = [input.dims[feature]];
        for (i, &(_, is_all)) in parameters.iter().enumerate() {
            let given = array(asked.operand_shape(i)?)?;
            let expected = if is_all { input.dims.as_slice() } else { &each_dims };
            let fits = given.element == element && given.dims == expected;
            ensure(fits, format!("operand {i} does not fit the first one"))?;
        }
        let (all, each) = (shape(element, &input.dims), shape(element, &each_dims));
        // A 32-bit float for every type.
        let epsilon =
            asked.op.attributes.text(AttributeKey::Epsilon).and_then(|text| text.parse::<f32>().ok());
        let epsilon = f64::from(epsilon.ok_or("epsilon is missing")?);
        // XLA multiplies the sizes in 32 bits.
        let count = others.iter().fold(1i32, |n, &d| n.wrapping_mul(input.dims[d as usize] as i32));
        let text = format!(
            "{PREFIX}sum.{element} {{\n a = {element}[] parameter(0)\n b = {element}[] parameter(1)\n \
             ROOT s = {element}[] add(a, b)\n}}\nENTRY {PREFIX}entry {{\n"
        );
        let mut lines = Lines { text, all, each, element, others: list(&others), feature };
        for (i, (name, is_all)) in parameters.iter().enumerate() {
            let shape = if *is_all { &lines.all } else { &lines.each };
            let line = format!(" {name} = {shape} parameter({i})\n");
            lines.text += &line;
        }
        let scalar = format!("{element}[]");
        lines.line("zero", &scalar, "constant(0)");
        lines.line("eps", &scalar, &format!("constant({epsilon:e})"));
        lines.line("number", "s32[]", &format!("constant({count})"));
        lines.line("count", &scalar, "convert(number)");
        Ok(lines)
    }

    fn line(&mut self, name: &str, shape: &str, op: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, " {name} = {shape} {op}");
    }

    fn all(&mut self, name: &str, op: &str) {
        self.line(name, &self.all.clone(), op);
    }

    fn each(&mut self, name: &str, op: &str) {
        self.line(name, &self.each.clone(), op);
    }

    /// Broadcasts a value per feature to every element of the feature.
    fn spread(&mut self, name: &str, of: &str) {
        self.all(name, &format!("broadcast({of}), dimensions={{{}}}", self.feature));
    }

    fn sum(&mut self, name: &str, of: &str) {
        let op = format!(
            "reduce({of}, zero), dimensions={{{}}}, to_apply={PREFIX}sum.{}",
            self.others, self.element
        );
        self.each(name, &op);
    }

    fn finish(mut self, root: [&str; 3]) -> String {
        let tuple = format!("({}, {}, {}) tuple({})", self.all, self.each, self.each, root.join(", "));
        self.text += &format!(" ROOT result = {tuple}\n}}\n");
        self.text
    }
}

pub(super) fn training(asked: &Asked<'_>) -> Checked<String> {
    let mut e = Lines::of(asked, &[("x", true), ("scale", false), ("offset", false)])?;
    e.each("counts", "broadcast(count), dimensions={}");
    e.all("squares", "multiply(x, x)");
    e.sum("sum", "x");
    e.sum("sum_of_squares", "squares");
    e.each("mean", "divide(sum, counts)");
    e.each("mean_of_squares", "divide(sum_of_squares, counts)");
    e.each("square_of_mean", "multiply(mean, mean)");
    e.each("variance", "subtract(mean_of_squares, square_of_mean)");
    e.spread("means", "mean");
    e.spread("variances", "variance");
    e.spread("scales", "scale");
    e.spread("offsets", "offset");
    e.all("epsilons", "broadcast(eps), dimensions={}");
    e.all("sum_of_both", "add(variances, epsilons)");
    e.all("deviation", "rsqrt(sum_of_both)");
    e.all("centred", "subtract(x, means)");
    e.all("normal", "multiply(centred, deviation)");
    e.all("scaled", "multiply(normal, scales)");
    e.all("moved", "add(scaled, offsets)");
    Ok(e.finish(["moved", "mean", "variance"]))
}

pub(super) fn inference(asked: &Asked<'_>) -> Checked<String> {
    let each = [("scale", false), ("offset", false), ("mean", false), ("variance", false)];
    let mut e = Lines::of(asked, &[&[("x", true)], &each[..]].concat())?;
    e.each("epsilons", "broadcast(eps), dimensions={}");
    e.each("sum_of_both", "add(variance, epsilons)");
    e.each("deviation", "rsqrt(sum_of_both)");
    e.each("factor", "multiply(scale, deviation)");
    e.each("shift", "multiply(mean, factor)");
    e.each("rest", "subtract(offset, shift)");
    e.spread("factors", "factor");
    e.spread("rests", "rest");
    e.all("scaled", "multiply(x, factors)");
    let all = e.all.clone();
    e.text += &format!(" ROOT moved = {all} add(scaled, rests)\n}}\n");
    Ok(e.text)
}

pub(super) fn gradient(asked: &Asked<'_>) -> Checked<String> {
    let parameters = [("x", true), ("scale", false), ("mean", false), ("variance", false), ("grad", true)];
    let mut e = Lines::of(asked, &parameters)?;
    e.spread("scales", "scale");
    e.spread("means", "mean");
    e.spread("variances", "variance");
    e.all("epsilons", "broadcast(eps), dimensions={}");
    e.each("epsilon_each", "broadcast(eps), dimensions={}");
    e.all("counts", "broadcast(count), dimensions={}");
    e.all("sum_of_both", "add(variances, epsilons)");
    e.all("deviations", "rsqrt(sum_of_both)");
    e.each("sum_of_each", "add(variance, epsilon_each)");
    e.each("deviation", "rsqrt(sum_of_each)");
    e.all("centred", "subtract(x, means)");
    e.all("weighed", "multiply(grad, centred)");
    e.sum("sum_weighed", "weighed");
    e.sum("grad_offset", "grad");
    e.each("grad_scale", "multiply(sum_weighed, deviation)");
    e.spread("i2", "grad_offset");
    e.spread("i3", "sum_weighed");
    e.all("i4", "multiply(i3, centred)");
    e.all("i5", "divide(i4, sum_of_both)");
    e.all("factor", "multiply(scales, deviations)");
    e.all("factor_each", "divide(factor, counts)");
    e.all("i1", "multiply(grad, counts)");
    e.all("i12", "subtract(i1, i2)");
    e.all("i6", "subtract(i12, i5)");
    e.all("grad_x", "multiply(factor_each, i6)");
    Ok(e.finish(["grad_x", "grad_scale", "grad_offset"]))
}
