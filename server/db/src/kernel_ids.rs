//! The ids by which kernels are asked for.

use std::sync::Arc;

use crate::fusions::fused_computations;
use crate::mlir_kernels::mlir_kernel_names;
use crate::queries::block;
use crate::{Language, Piece};

/// A kernel, by the name of its instruction: adding or removing lines around it does not change its id.
#[salsa::interned(debug)]
pub struct KernelId<'db> {
    #[returns(copy)]
    pub piece: Piece,
    /// The number of the computation in the piece; in MLIR, that of the function.
    #[returns(copy)]
    pub computation: u32,
    /// The instruction's name, without `%`.
    #[returns(clone)]
    pub name: Arc<str>,
}

/// The id of the instruction called `name`, without `%`. Cheap after the first call for the piece.
///
/// Salsa frees an interned value that is no longer asked for, with all that was computed for it, but only if a query
/// created it. So a query creates the ids of a piece. An id that it does not know stays in memory: one of an instruction
/// inside a fusion, or of an op of an MLIR function that is too long for one kernel.
pub fn kernel_id<'db>(
    db: &'db dyn salsa::Database,
    piece: Piece,
    computation: u32,
    name: &str,
) -> KernelId<'db> {
    create_ids(db, piece);
    KernelId::new(db, piece, computation, name)
}

#[salsa::tracked]
fn create_ids(db: &dyn salsa::Database, piece: Piece) {
    let Some(file) = piece.file(db) else { return };
    if file.language(db) == Language::Mlir {
        mlir_kernel_names(db, piece, &mut |nth, name| _ = KernelId::new(db, piece, nth, name));
        return;
    }
    let block = block(db, piece);
    let fused = fused_computations(db, file);
    for (number, computation) in (0..).zip(&block.parse.computations) {
        if !fused.contains(computation.name.of(&block.text)) {
            for id in computation.instructions.clone() {
                KernelId::new(db, piece, number, block.name(id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;
    use salsa::plumbing::AsId;
    use text::Edit;

    use super::*;
    use crate::{Database, Documents, kernel};

    const HEAD: &str = "HloModule m\n\n%other {\n  y = f32[8] parameter(0)\n  ROOT o = f32[8] negate(y)\n}\n\n\
        ENTRY %e {\n  x = f32[8] parameter(0)\n  ROOT ";

    /// The kernels of more names than one database can have in memory at once.
    #[test]
    fn names_that_are_gone_leave_no_ids() {
        const NAMES: usize = 4000;
        let mut db = Database::default();
        let mut documents = Documents::in_pieces_of(0);
        let file = documents.open(&mut db, Language::Hlo, &format!("{HEAD}n = f32[8] negate(x)\n}}\n"));
        let mut memory = FxHashSet::default();
        let mut len = 1;
        for number in 0..NAMES {
            let name = format!("n{number}");
            let range = HEAD.len()..HEAD.len() + len;
            documents.edit(&mut db, file, &[Edit { range, insert: name.clone() }]);
            len = name.len();
            let pieces = documents.view(file).expect("it is open").file.pieces(&db);
            let id = kernel_id(&db, *pieces.last().expect("the entry"), 0, &name);
            assert!(kernel(&db, id).is_some(), "{name} has a shape");
            memory.insert(id.as_id().index());
            // A kernel that is asked for now and then has its own id each time.
            if number % 100 == 0 {
                let id = kernel_id(&db, pieces[pieces.len() - 2], 0, "o");
                assert_eq!(&*id.name(&db), "o");
                assert!(matches!(kernel(&db, id), Some(Ok(_))));
            }
        }
        assert!(memory.len() < NAMES / 2, "{} ids for {NAMES} names", memory.len());
    }

    #[test]
    fn an_id_survives_lines_around_its_instruction() {
        let mut db = Database::default();
        let mut documents = Documents::default();
        let text = format!("{HEAD}n = f32[8] negate(x)\n}}\n");
        let file = documents.open(&mut db, Language::Hlo, &text);
        let id = |db: &Database, documents: &Documents| {
            let pieces = documents.view(file).expect("it is open").file.pieces(db);
            kernel_id(db, pieces[0], 1, "n").as_id()
        };
        let before = id(&db, &documents);
        let at = HEAD.len() - "  ROOT ".len();
        let insert = "  z = f32[8] negate(x)\n".to_owned();
        documents.edit(&mut db, file, &[Edit { range: at..at, insert }]);
        assert_eq!(id(&db, &documents), before);
    }
}
