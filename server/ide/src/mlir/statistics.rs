//! Counts of an MLIR file: functions count as computations, ops as instructions.

use crate::locate::FileContext;
use crate::statistics::FileStatistics;

pub(crate) fn statistics(context: &FileContext<'_>) -> FileStatistics {
    let module = context.mlir_module();
    let pieces = context.view.file.pieces(context.db).iter();
    FileStatistics {
        module: module.name.clone(),
        computations: module.functions,
        instructions: pieces.map(|&piece| *db::mlir_ops(context.db, piece)).sum(),
        pieces: context.pieces(),
    }
}
