//! Convolutions and their gradients as calls of cuDNN. No call has a value in HLO, so each is written as the convolution that cuDNN
//! computes for it, and compared with the one that it replaced.
//!
//! With a window of size K, stride s, dilation d and padding p, y = conv(x, f) is y[o] = Σ x[o·s + k·d − p] f[k]. The backward calls
//! have the window and the labels of that convolution, and compute the gradients of x and of f.

use expect_test::expect;
use ir::{AttributeKey, WindowDim};
use passes::{InstructionId, Module};
use random::Rng;
use test_files::Tally;

use crate::compare::compare;
use crate::{module, print, run};

/// Labels with characters in place of others.
fn relabelled(labels: &str, by: &[(char, char)]) -> String {
    let of = |c: char| by.iter().find(|(from, _)| *from == c).map_or(c, |&(_, to)| to);
    labels.chars().map(of).collect()
}

/// A convolution without its operands.
fn with(window: &[WindowDim], labels: [&str; 3], groups: i64) -> String {
    let list = |of: &dyn Fn(&WindowDim) -> String| window.iter().map(of).collect::<Vec<_>>().join("x");
    let [input, filter, output] = labels;
    format!(
        "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}, \
         dim_labels={input}_{filter}->{output}, feature_group_count={groups}",
        list(&|dim| dim.size.to_string()),
        list(&|dim| dim.stride.to_string()),
        list(&|dim| format!("{}_{}", dim.pad_low, dim.pad_high)),
        list(&|dim| dim.base_dilation.to_string()),
        list(&|dim| dim.window_dilation.to_string()),
        list(&|dim| i64::from(dim.is_reversed).to_string()),
    )
}

/// The window of the gradient of x, of that size, from the gradient of y.
fn for_input(dim: &WindowDim, x: i64, y: i64) -> WindowDim {
    let reach = (dim.size - 1) * dim.window_dilation;
    let pad_low = reach - dim.pad_low;
    let pad_high = x - (y - 1) * dim.stride - 1 - pad_low + reach;
    WindowDim { stride: 1, base_dilation: dim.stride, pad_low, pad_high, is_reversed: true, ..*dim }
}

/// The window of the gradient of f from x and the gradient of y.
fn for_filter(dim: &WindowDim, x: i64, y: i64) -> WindowDim {
    let pad_high = (dim.size - 1) * dim.window_dilation + (y - 1) * dim.stride + 1 - x - dim.pad_low;
    let (stride, window_dilation) = (dim.window_dilation, dim.stride);
    WindowDim { size: y, stride, window_dilation, pad_high, ..*dim }
}

/// What cuDNN computes for a call.
fn computed(module: &Module, call: InstructionId) -> String {
    let attributes = module[call].attributes();
    let labels = attributes.text(AttributeKey::DimLabels).expect("a call has labels");
    let (input, rest) = labels.split_once('_').expect("of three arrays");
    let (filter, output) = rest.split_once("->").expect("of three arrays");
    let dims = attributes.convolution_dims().expect("they are complete");
    let [first, second] = [0, 1].map(|n| &module[module.operand(call, n)]);
    let result = module[call].shape().element_at(&[0]).expect("the result and the scratch");
    let window = attributes.window();
    let groups = attributes.int(AttributeKey::FeatureGroupCount).unwrap_or(1);
    let each = |of: &dyn Fn(&WindowDim, usize) -> WindowDim| -> Vec<WindowDim> {
        window.iter().enumerate().map(|(i, dim)| of(dim, i)).collect()
    };
    let rest = match attributes.text(AttributeKey::CustomCallTarget) {
        Some("__cudnn$convForward") => with(window, [input, filter, output], groups),
        Some("__cudnn$convBackwardInput") => {
            let window = each(&|dim, i| {
                for_input(dim, result.dims()[dims.input_spatial[i]], first.dims()[dims.output_spatial[i]])
            });
            with(&window, [output, &relabelled(filter, &[('i', 'o'), ('o', 'i')]), input], 1)
        }
        Some("__cudnn$convBackwardFilter") => {
            let window = each(&|dim, i| {
                for_filter(dim, first.dims()[dims.input_spatial[i]], second.dims()[dims.output_spatial[i]])
            });
            let labels = [
                relabelled(input, &[('b', 'f'), ('f', 'b')]),
                relabelled(output, &[('b', 'i'), ('f', 'o')]),
                relabelled(filter, &[('i', 'b'), ('o', 'f')]),
            ];
            with(&window, [&labels[0], &labels[1], &labels[2]], 1)
        }
        other => panic!("{other:?}"),
    };
    format!("{result} convolution(%{}, %{}), {rest}", first.name(), second.name())
}

/// The text of a module with the calls replaced, and the calls' targets.
fn as_convolutions(module: &Module) -> (String, Vec<String>) {
    let mut targets = Vec::new();
    let mut lines = Vec::new();
    for line in print(module).lines() {
        let name = line.trim_start().trim_start_matches("ROOT ").split(" = ").next();
        let name = name.unwrap_or_default().trim_start_matches('%');
        let call = module.all_instructions().find(|&id| module[id].name() == name);
        let target = call.and_then(|id| module[id].attributes().text(AttributeKey::CustomCallTarget));
        let (Some(call), Some(target)) = (call, target.filter(|_| line.contains("custom-call"))) else {
            lines.push(line.to_owned());
            continue;
        };
        targets.push(target.trim_start_matches("__cudnn$").to_owned());
        lines.push(format!("  %{name}.value = {}", computed(module, call)));
        lines.push(format!("  %{name}.scratch = u8[0]{{0}} constant({{}})"));
        let shape = module[call].shape();
        lines.push(format!("  %{name} = {shape} tuple(%{name}.value, %{name}.scratch)"));
    }
    (lines.join("\n") + "\n", targets)
}

/// A convolution y = conv(x, f): labels, extents by label, and the window.
struct Random {
    labels: [String; 3],
    extents: [Vec<(char, i64)>; 3],
    window: Vec<WindowDim>,
}

impl Random {
    fn new(rng: &mut Rng) -> Option<Random> {
        let rank = 1 + rng.index(2);
        let size = |rng: &mut Rng, most: usize| 1 + rng.index(most) as i64;
        let (batch, features, results) = (size(rng, 3), size(rng, 3), size(rng, 3));
        let mut extents = [
            vec![('b', batch), ('f', features)],
            vec![('i', features), ('o', results)],
            vec![('b', batch), ('f', results)],
        ];
        let mut window = Vec::new();
        for n in 0..rank {
            let label = char::from(b'0' + n as u8);
            let (x, k, s, d) = (2 + size(rng, 6), size(rng, 3), size(rng, 2), size(rng, 2).min(size(rng, 2)));
            let (pad_low, pad_high) = (rng.index(3) as i64, rng.index(3) as i64);
            let y = (x + pad_low + pad_high - (k - 1) * d - 1).div_euclid(s) + 1;
            if y < 1 {
                return None;
            }
            extents.iter_mut().zip([x, k, y]).for_each(|(all, extent)| all.push((label, extent)));
            window.push(WindowDim {
                size: k,
                stride: s,
                pad_low,
                pad_high,
                base_dilation: 1,
                window_dilation: d,
                is_reversed: false,
            });
        }
        let labels = extents.each_mut().map(|all| {
            for last in (1..all.len()).rev() {
                all.swap(last, rng.index(last + 1));
            }
            all.iter().map(|(label, _)| *label).collect::<String>()
        });
        Some(Random { labels, extents, window })
    }

    fn shape(&self, array: usize) -> String {
        let extents: Vec<String> = self.extents[array].iter().map(|(_, n)| n.to_string()).collect();
        format!("f32[{}]", extents.join(","))
    }

    fn extent(&self, array: usize, spatial: usize) -> i64 {
        let label = char::from(b'0' + spatial as u8);
        self.extents[array].iter().find(|(c, _)| *c == label).expect("each is spatial").1
    }

    fn module(&self, operands: [usize; 2], lines: &str, result: usize, operation: &str) -> String {
        let [a, b] = operands.map(|array| self.shape(array));
        format!(
            "HloModule m\n\nENTRY e {{\n  a = {a} parameter(0)\n  b = {b} parameter(1)\n{lines}  \
             ROOT r = {} {operation}\n}}\n",
            self.shape(result)
        )
    }

    fn forward(&self) -> String {
        let [input, filter, output] = self.labels.each_ref().map(String::as_str);
        let rest = with(&self.window, [input, filter, output], 1);
        self.module([0, 1], "", 2, &format!("convolution(a, b), {rest}"))
    }

    /// As frameworks write it: the filter reversed by an op of its own.
    fn input_gradient(&self) -> String {
        let [input, filter, output] = self.labels.each_ref().map(String::as_str);
        let spatial = filter.char_indices().filter(|(_, c)| c.is_ascii_digit());
        let spatial: Vec<String> = spatial.map(|(at, _)| at.to_string()).collect();
        let reverse = format!("  v = {} reverse(b), dimensions={{{}}}\n", self.shape(1), spatial.join(","));
        let window = self.window.iter().enumerate().map(|(i, dim)| WindowDim {
            is_reversed: false,
            ..for_input(dim, self.extent(0, i), self.extent(2, i))
        });
        let window: Vec<WindowDim> = window.collect();
        let filter = relabelled(filter, &[('i', 'o'), ('o', 'i')]);
        let rest = with(&window, [output, &filter, input], 1);
        self.module([2, 1], &reverse, 0, &format!("convolution(a, v), {rest}"))
    }

    fn filter_gradient(&self) -> String {
        let [input, filter, output] = self.labels.each_ref().map(String::as_str);
        let window = self.window.iter().enumerate();
        let window: Vec<WindowDim> =
            window.map(|(i, dim)| for_filter(dim, self.extent(0, i), self.extent(2, i))).collect();
        let labels = [
            relabelled(input, &[('b', 'f'), ('f', 'b')]),
            relabelled(output, &[('b', 'i'), ('f', 'o')]),
            relabelled(filter, &[('i', 'b'), ('o', 'f')]),
        ];
        let rest = with(&window, [&labels[0], &labels[1], &labels[2]], 1);
        self.module([0, 2], "", 1, &format!("convolution(a, b), {rest}"))
    }
}

#[test]
fn calls_of_cudnn_compute_the_convolutions_and_gradients_that_they_replace() {
    let mut tally = Tally::default();
    for seed in 0..300 {
        let Some(random) = Random::new(&mut Rng::new(seed)) else { continue };
        let texts = [
            ("forward", random.forward()),
            ("gradient of the input", random.input_gradient()),
            ("gradient of the filter", random.filter_gradient()),
        ];
        for (kind, text) in texts {
            let mut module = module(&text);
            run(&mut module, "conv-rewriter").expect("it is supported");
            let (called, targets) = as_convolutions(&module);
            let compared = compare(&text, &called, seed, &[]);
            assert!(compared.as_ref().is_ok_and(|n| *n > 0), "{compared:?}\n{text}\n{}", print(&module));
            tally.add(format!("{kind}: {}", targets.join(" ")), 1);
            run(&mut module, "conv-padding-legalization").expect("it is supported");
            let (padded, targets) = as_convolutions(&module);
            let compared = compare(&text, &padded, seed, &[]);
            assert!(compared.as_ref().is_ok_and(|n| *n > 0), "{compared:?}\n{text}\n{}", print(&module));
            let after = print(&module);
            for op in ["pad", "slice"] {
                tally.add(format!("{}: {op}", targets.join(" ")), after.matches(&format!(" {op}(")).count());
            }
            for id in module.all_instructions() {
                for dim in module[id].attributes().window() {
                    assert!(dim.pad_low == dim.pad_high && dim.pad_low >= 0, "{dim:?}\n{text}\n{after}");
                }
            }
        }
    }
    tally.check(expect![[r#"
        convBackwardFilter: pad: 118
        convBackwardFilter: slice: 0
        convBackwardInput: pad: 0
        convBackwardInput: slice: 122
        convForward: pad: 635
        convForward: slice: 68
        forward: convBackwardFilter: 8
        forward: convForward: 290
        gradient of the filter: convBackwardFilter: 172
        gradient of the filter: convForward: 126
        gradient of the input: convBackwardInput: 194
        gradient of the input: convForward: 104
    "#]]);
}
