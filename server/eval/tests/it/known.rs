//! Where `indexing` is known to be wrong, with the reason. An entry goes when its reason does.

use crate::tally::Direction::{self, InputToOutput, OutputToInput};

const NOT_MARKED: &str = "the map is an upper bound, as its note says, but is_upper_bound is not set";
const NO_TARGET: &str = "a device that no pair names as its target receives zeros and reads nothing";

const KNOWN: &[(Direction, &str, &str)] = &[
    (OutputToInput, "collective-permute", NO_TARGET),
    (OutputToInput, "collective-permute-start", NO_TARGET),
    (InputToOutput, "collective-permute", NO_TARGET),
    (InputToOutput, "collective-permute-start", NO_TARGET),
    (OutputToInput, "dynamic-update-slice", NOT_MARKED),
    (InputToOutput, "dynamic-update-slice", NOT_MARKED),
    (OutputToInput, "pad", NOT_MARKED),
    (InputToOutput, "pad", NOT_MARKED),
];

pub fn is_known(direction: Direction, opcode: &str) -> bool {
    KNOWN.iter().any(|(d, o, _)| *d == direction && *o == opcode)
}

/// Opcodes on the list, for tests in which they are part of something larger.
pub fn is_listed(opcode: &str) -> bool {
    KNOWN.iter().any(|(_, o, _)| *o == opcode)
}
