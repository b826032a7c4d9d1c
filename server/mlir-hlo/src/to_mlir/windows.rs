//! Slices, paddings and windows that slide, as attributes.

use super::attributes::Written;
use super::matrices::matrix;
use crate::lists::array_attribute;

impl Written {
    pub(super) fn slice(&mut self, triples: &[[i64; 3]]) {
        let of = |nth: usize| triples.iter().map(|t| t[nth]).collect::<Vec<_>>();
        self.property("start_indices", array_attribute(&of(0)));
        self.property("limit_indices", array_attribute(&of(1)));
        self.property("strides", array_attribute(&of(2)));
        let each: Vec<_> = triples
            .iter()
            .map(|[from, to, by]| if *by == 1 { format!("{from}:{to}") } else { format!("{from}:{to}:{by}") })
            .collect();
        self.clauses.push(("slice".to_owned(), each.join(", ")));
    }

    /// What slides over an operand of `rank` dimensions; one that is not stated is of one element.
    pub(super) fn window(&mut self, window: &[ir::WindowDim], rank: usize, is_dilated: bool) {
        let of = |get: fn(&ir::WindowDim) -> i64| match window.is_empty() {
            true => vec![1; rank],
            false => window.iter().map(get).collect::<Vec<_>>(),
        };
        self.property("window_dimensions", array_attribute(&of(|d| d.size)));
        self.property("window_strides", array_attribute(&of(|d| d.stride)));
        if is_dilated {
            self.property("base_dilations", array_attribute(&of(|d| d.base_dilation)));
            self.property("window_dilations", array_attribute(&of(|d| d.window_dilation)));
        }
        self.property("padding", edges(window, rank));
    }

    pub(super) fn convolution_window(&mut self, window: &[ir::WindowDim], rank: usize) {
        let of = |get: fn(&ir::WindowDim) -> i64| match window.is_empty() {
            true => vec![1; rank],
            false => window.iter().map(get).collect::<Vec<_>>(),
        };
        self.property("window_strides", array_attribute(&of(|d| d.stride)));
        self.property("padding", edges(window, rank));
        self.property("lhs_dilation", array_attribute(&of(|d| d.base_dilation)));
        self.property("rhs_dilation", array_attribute(&of(|d| d.window_dilation)));
        if window.iter().any(|d| d.is_reversed) {
            let flags: Vec<_> = window.iter().map(|d| d.is_reversed.to_string()).collect();
            self.property("window_reversal", format!("array<i1: {}>", flags.join(", ")));
        }
    }
}

fn edges(window: &[ir::WindowDim], rank: usize) -> String {
    if window.is_empty() {
        return match rank {
            0 => "dense<> : tensor<0x2xi64>".to_owned(),
            _ => format!("dense<0> : tensor<{rank}x2xi64>"),
        };
    }
    matrix(&window.iter().map(|d| vec![d.pad_low, d.pad_high]).collect::<Vec<_>>())
}
