//! Counts of a module.

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::statistics::{FileStatistics, Statistics};

impl Statistics for Hlo {
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics {
        let module = context.module();
        FileStatistics {
            module: module.name.to_string(),
            computations: module.computations.len(),
            instructions: (0..context.pieces())
                .map(|piece| context.block(piece).parse.instructions.len())
                .sum(),
            pieces: context.pieces(),
        }
    }
}
