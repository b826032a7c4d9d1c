//! Dimensions named by a string: `ij,jk->ik`.

use std::fmt;

/// The letters of the dimensions of each array: `ij,jk->ik`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Einsum {
    /// Those of each operand. A letter may occur in several, and several times.
    pub operands: Vec<Vec<char>>,
    /// Each occurs once, and in an operand.
    pub output: Vec<char>,
}

impl Einsum {
    /// Reads a string for operands and an output of these ranks.
    ///
    /// # Errors
    ///
    /// Where it has not the form `operands->output`, or its letters do not fit the ranks.
    pub fn of(config: &str, ranks: &[usize], output_rank: usize) -> Result<Einsum, EinsumError> {
        let (operands, output) = config.split_once("->").ok_or(EinsumError::NoOutput)?;
        let operands: Vec<&str> = operands.split(',').collect();
        if operands.len() != ranks.len() {
            return Err(EinsumError::OtherOperands);
        }
        let operands: Vec<Vec<char>> =
            operands.iter().zip(ranks).map(|(text, &rank)| letters(text, rank)).collect::<Result<_, _>>()?;
        let output = letters(output, output_rank)?;
        let is_known = |(at, letter): (usize, &char)| {
            !output[..at].contains(letter) && operands.iter().any(|operand| operand.contains(letter))
        };
        match output.iter().enumerate().all(is_known) {
            true => Ok(Einsum { operands, output }),
            false => Err(EinsumError::OtherOutput),
        }
    }
}

/// Why a string does not name the dimensions of arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EinsumError {
    /// It has no `->`.
    NoOutput,
    /// It is of more operands, or of fewer.
    OtherOperands,
    /// A letter of the output is of no operand, or occurs twice.
    OtherOutput,
    /// It contains something other than letters and one `...`.
    NotLetters(String),
    /// It has too many letters for the rank, or too few and no `...`.
    OtherRank { text: String, rank: usize },
}

impl fmt::Display for EinsumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EinsumError::NoOutput => f.write_str("einsum_config has no result"),
            EinsumError::OtherOperands => f.write_str("einsum_config is not of as many operands"),
            EinsumError::OtherOutput => f.write_str("a dimension of its result is not one of the operands'"),
            EinsumError::NotLetters(text) => write!(f, "{text:?} holds what is no letter"),
            EinsumError::OtherRank { text, rank } => write!(f, "{text:?} is not of {rank} dimensions"),
        }
    }
}

impl std::error::Error for EinsumError {}

/// The private-use letter of the last dimension that `...` covers; earlier dimensions have the next ones.
const ELLIPSIS: u32 = 0xE000;

/// The letters of an array's dimensions, as in `ij`; `...` covers the remaining dimensions of the rank.
fn letters(text: &str, rank: usize) -> Result<Vec<char>, EinsumError> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (front, behind) = text.split_once("...").unwrap_or((&text, ""));
    if !front.chars().chain(behind.chars()).all(|c| c.is_ascii_alphabetic()) {
        return Err(EinsumError::NotLetters(text));
    }
    let left = rank.checked_sub(front.len() + behind.len()).filter(|&n| n == 0 || text.contains("..."));
    let left = left.ok_or_else(|| EinsumError::OtherRank { text: text.clone(), rank })? as u32;
    let hidden = (0..left).rev().filter_map(|n| char::from_u32(ELLIPSIS + n));
    Ok(front.chars().chain(hidden).chain(behind.chars()).collect())
}

#[cfg(test)]
mod tests {
    use super::{Einsum, EinsumError, letters};

    #[test]
    fn an_ellipsis_is_what_the_rank_leaves() {
        assert_eq!(letters(" i j", 2), Ok(vec!['i', 'j']));
        assert_eq!(letters("i...j", 2), Ok(vec!['i', 'j']));
        let of = |text, rank| letters(text, rank).unwrap_or_default();
        // The last dimensions match, whatever precedes them.
        assert_eq!(of("...j", 4)[1..], of("i...", 3)[1..].iter().copied().chain(['j']).collect::<Vec<_>>());
        for (text, rank) in [("ij", 3), ("ij", 1), ("i...j", 1), ("i1", 2), ("i......j", 4)] {
            assert!(letters(text, rank).is_err(), "{text} of {rank}");
        }
    }

    #[test]
    fn letters_of_the_output_are_of_an_operand() {
        let of = |config| Einsum::of(config, &[2, 2], 2);
        let read = of("ij,jk->ik").unwrap();
        assert_eq!((read.operands, read.output), (vec![vec!['i', 'j'], vec!['j', 'k']], vec!['i', 'k']));
        for (config, why) in [
            ("ij,jk", EinsumError::NoOutput),
            ("ij->ij", EinsumError::OtherOperands),
            ("ij,jk->il", EinsumError::OtherOutput),
            ("ij,jk->ii", EinsumError::OtherOutput),
        ] {
            assert_eq!(of(config), Err(why), "{config}");
        }
    }
}
