//! The arrays that a program reads and writes.

use eval::{Column, Kind, Reason};

/// The arguments of a program, by number. Positions are row-major, and inside of the array.
pub trait Memory {
    /// The elements of an argument at these positions.
    fn read(&mut self, argument: usize, positions: &[i64]) -> Result<Column, Reason>;

    /// Elements of a tile that are outside of its array. No result may depend on them.
    fn outside(&mut self, kind: Kind, count: usize) -> Column;

    /// Writes elements of an argument at these positions.
    fn write(&mut self, argument: usize, positions: &[i64], values: &Column) -> Result<(), Reason>;
}
