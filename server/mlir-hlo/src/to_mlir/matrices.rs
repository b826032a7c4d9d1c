//! Matrices of numbers.

use crate::lists::joined;

/// `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`; shorter rows are filled up with -1.
pub(super) fn matrix(rows: &[Vec<i64>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return format!("dense<> : tensor<{}x0xi64>", rows.len());
    }
    let row = |row: &Vec<i64>| {
        let mut row = row.clone();
        row.resize(width, -1);
        format!("[{}]", joined(&row, ", "))
    };
    let shown: Vec<_> = rows.iter().map(row).collect();
    format!("dense<[{}]> : tensor<{}x{width}xi64>", shown.join(", "), rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_filled_up() {
        assert_eq!(matrix(&[vec![0, 1], vec![2]]), "dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>");
        assert_eq!(matrix(&[]), "dense<> : tensor<0x0xi64>");
    }
}
