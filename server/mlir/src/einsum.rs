//! Dimensions named by a string: `ij,jk->ik`.

use std::fmt;

/// Why a string does not name the dimensions of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EinsumError {
    /// It contains something other than letters and one `...`.
    NotLetters(String),
    /// It has too many letters for the rank, or too few and no `...`.
    OtherRank { text: String, rank: usize },
}

impl fmt::Display for EinsumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EinsumError::NotLetters(text) => write!(f, "{text:?} holds what is no letter"),
            EinsumError::OtherRank { text, rank } => write!(f, "{text:?} is not of {rank} dimensions"),
        }
    }
}

impl std::error::Error for EinsumError {}

/// The private-use letter of the last dimension that `...` covers; earlier dimensions have the next ones.
const ELLIPSIS: u32 = 0xE000;

/// The letters of an array's dimensions, as in `ij`; `...` covers the remaining dimensions of the rank.
pub fn einsum_letters(text: &str, rank: usize) -> Result<Vec<char>, EinsumError> {
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
    use super::einsum_letters;

    #[test]
    fn an_ellipsis_is_what_the_rank_leaves() {
        assert_eq!(einsum_letters(" i j", 2), Ok(vec!['i', 'j']));
        assert_eq!(einsum_letters("i...j", 2), Ok(vec!['i', 'j']));
        let of = |text, rank| einsum_letters(text, rank).unwrap_or_default();
        // The last dimensions match, whatever precedes them.
        assert_eq!(of("...j", 4)[1..], of("i...", 3)[1..].iter().copied().chain(['j']).collect::<Vec<_>>());
        for (text, rank) in [("ij", 3), ("ij", 1), ("i...j", 1), ("i1", 2), ("i......j", 4)] {
            assert!(einsum_letters(text, rank).is_err(), "{text} of {rank}");
        }
    }
}
