//! Arrays in readable form: row by row, elided in the middle.

use super::column::Column;
use super::literals::element;

/// The most elements of a row, or rows of a dimension, that are shown without a gap.
const WHOLE: i64 = 16;

/// The number of elements or rows before and after a gap.
const EDGE: i64 = 6;

/// The elements of an array that are shown, and the gaps between them. A row runs along the last dimension.
pub(crate) struct Summary {
    dims: Vec<i64>,
    /// For each dimension, the number of indices shown at its start and at its end.
    edges: Vec<(i64, i64)>,
}

impl Summary {
    /// Shows at most `max_rows` rows, but at least one.
    pub(crate) fn of(dims: &[i64], max_rows: i64) -> Summary {
        let edge = |&size: &i64| if size <= WHOLE { (size, 0) } else { (EDGE, EDGE) };
        let mut edges: Vec<(i64, i64)> = dims.iter().map(edge).collect();
        let outer = dims.len().saturating_sub(1);
        let rows = |edges: &[(i64, i64)]| {
            edges[..outer].iter().fold(1i64, |rows, (head, tail)| rows.saturating_mul(head + tail))
        };
        // The outermost dimensions are shortened first.
        for (head, tail) in [(3, 3), (1, 1), (1, 0)] {
            for d in 0..outer {
                if rows(&edges) > max_rows && edges[d].0 + edges[d].1 > head + tail {
                    edges[d] = (head, tail);
                }
            }
        }
        Summary { dims: dims.to_vec(), edges }
    }

    /// The row-major positions of the shown elements, in display order.
    pub(crate) fn positions(&self) -> Vec<i64> {
        let mut positions = vec![0];
        for (&size, &(head, tail)) in self.dims.iter().zip(&self.edges) {
            let indices = || (0..head).chain(size - tail..size);
            positions = positions.iter().flat_map(|p| indices().map(move |i| p * size + i)).collect();
        }
        positions
    }

    /// The lines for `column`, which holds the elements at [`Summary::positions`].
    pub(crate) fn text(&self, column: &Column) -> String {
        if self.dims.contains(&0) {
            return "no elements".to_owned();
        }
        let cells: Vec<String> = (0..column.len()).map(|i| element(column, i)).collect();
        let width = cells.iter().map(|cell| cell.len()).max().unwrap_or(0);
        let mut lines = Lines { summary: self, cells: &cells, width, text: String::new() };
        let outer = self.dims.len().saturating_sub(1);
        lines.nested(&mut Vec::new(), outer);
        lines.text
    }
}

struct Lines<'a> {
    summary: &'a Summary,
    /// The cells not yet written.
    cells: &'a [String],
    width: usize,
    text: String,
}

impl Lines<'_> {
    /// Writes the rows whose first indices are `index`; `outer` is the number of indices of a row.
    fn nested(&mut self, index: &mut Vec<i64>, outer: usize) {
        let d = index.len();
        if d == outer {
            self.row(index);
            return;
        }
        let size = self.summary.dims[d];
        let (head, tail) = self.summary.edges[d];
        for i in (0..head).chain(size - tail..size) {
            if i == size - tail {
                self.gap(d, outer);
            }
            index.push(i);
            self.nested(index, outer);
            index.pop();
        }
        if tail == 0 {
            self.gap(d, outer);
        }
    }

    /// Writes the line for the omitted rows of dimension `d`.
    fn gap(&mut self, d: usize, outer: usize) {
        let left_out = self.summary.left_out(d);
        if left_out > 0 {
            let rows = self.summary.dims[d + 1..outer]
                .iter()
                .fold(left_out, |rows, size| rows.saturating_mul(*size));
            let noun = if rows == 1 { "row" } else { "rows" };
            self.line(&format!("… {rows} more {noun} …"));
        }
    }

    fn row(&mut self, index: &[i64]) {
        let mut line = String::new();
        if !index.is_empty() {
            let label: Vec<String> = index.iter().map(i64::to_string).collect();
            let widest = index.iter().enumerate().map(|(d, _)| (self.summary.dims[d] - 1).to_string().len());
            // Brackets, commas and indices.
            let width = 1 + widest.map(|digits| digits + 1).sum::<usize>();
            line += &format!("{:<width$}", format!("[{}]", label.join(",")));
        }
        let (head, tail) = self.summary.edges.last().copied().unwrap_or((1, 0));
        let (row, rest) = self.cells.split_at(self.cells.len().min((head + tail) as usize));
        self.cells = rest;
        for (i, cell) in row.iter().enumerate() {
            let left_out = self.summary.dims.len().checked_sub(1).map_or(0, |d| self.summary.left_out(d));
            if i as i64 == head && left_out > 0 {
                line += &format!("  … {left_out} more …");
            }
            let gap = if line.is_empty() { "" } else { "  " };
            line += &format!("{gap}{cell:>width$}", width = self.width);
        }
        self.line(&line);
    }

    fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += line;
    }
}

impl Summary {
    /// The number of indices of dimension `d` that are not shown.
    fn left_out(&self, d: usize) -> i64 {
        let (head, tail) = self.edges[d];
        self.dims[d] - head - tail
    }
}

#[cfg(test)]
mod tests {
    use random::Rng;

    use super::*;
    use crate::{Fill, Kind};

    #[track_caller]
    fn check(dims: &[i64], max_rows: i64, expect: &str) {
        let summary = Summary::of(dims, max_rows);
        let column = Fill::Iota.column(Kind::Signed(64), 0, 0, &summary.positions());
        assert_eq!(summary.text(&column), expect);
    }

    #[test]
    fn rows_with_their_indices() {
        check(&[], 9, "0");
        check(&[3], 9, "0  1  2");
        check(&[0, 4], 9, "no elements");
        check(&[2, 3], 9, "[0]  0  1  2\n[1]  3  4  5");
        check(&[2, 1, 2], 9, "[0,0]  0  1\n[1,0]  2  3");
    }

    #[test]
    fn what_is_long_is_left_out_in_the_middle() {
        check(&[17], 9, " 0   1   2   3   4   5  … 5 more …  11  12  13  14  15  16");
        check(&[20, 1], 8, "[0]    0\n[1]    1\n[2]    2\n… 14 more rows …\n[17]  17\n[18]  18\n[19]  19");
        check(
            &[5, 4, 1],
            4,
            "[0,0]   0\n… 2 more rows …\n[0,3]   3\n… 12 more rows …\n[4,0]  16\n… 2 more rows …\n[4,3]  19",
        );
        check(&[3, 2, 2], 1, "[0,0]  0  1\n… 1 more row …\n… 4 more rows …");
    }

    /// The shown elements and the counts of gaps add up to the whole array.
    #[test]
    fn nothing_is_lost() {
        let mut random = Rng::new(5);
        for _ in 0..500 {
            let rank = random.range(0, 7);
            let dims: Vec<i64> =
                (0..rank).map(|_| random.range(1, *random.clone().pick(&[2, 5, 40, 300]))).collect();
            let max_rows = random.range(1, 300);
            let summary = Summary::of(&dims, max_rows);
            let positions = summary.positions();
            assert!(positions.is_sorted() && positions.iter().all(|&p| p < dims.iter().product()));
            let text = summary.text(&Fill::Iota.column(Kind::Signed(64), 0, 0, &positions));
            let (mut rows, mut shown_rows) = (0, 0);
            for line in text.lines() {
                if let Some(gap) = line.strip_prefix("… ") {
                    rows += gap.split(' ').next().expect("a count").parse::<i64>().expect("a count");
                    continue;
                }
                (rows, shown_rows) = (rows + 1, shown_rows + 1);
                let line = line.split_once(']').map_or(line, |(_, cells)| cells);
                let gap = line.split_once("… ").map_or(0, |(_, gap)| {
                    gap.split(' ').next().expect("a count").parse::<i64>().expect("a count")
                });
                let cells = line.split_whitespace().filter(|word| word.parse::<i64>().is_ok()).count() as i64;
                let counted = if gap > 0 { cells - 1 + gap } else { cells };
                assert_eq!(counted, dims.last().copied().unwrap_or(1), "{text}");
            }
            assert_eq!(
                rows,
                dims[..dims.len().saturating_sub(1)].iter().product::<i64>(),
                "{dims:?}\n{text}"
            );
            assert!(shown_rows <= max_rows, "{shown_rows} of {max_rows}: {dims:?}");
        }
    }
}
