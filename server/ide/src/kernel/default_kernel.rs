//! The kernel that is used where none is named.

use ir::Opcode;

use crate::file_context::FileContext;

/// Names of the fusions of a file in text order.
pub(crate) fn fusions(context: &FileContext<'_>, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    for piece in 0..context.pieces() {
        let block = context.block(piece);
        for (id, instruction) in block.parse.instructions.iter().enumerate() {
            if names.len() < limit && instruction.opcode == Some(Opcode::Fusion) {
                names.push(block.name(id as u32).to_owned());
            }
        }
    }
    names
}

/// The instruction whose kernel is used where none is named: the only fusion, else the root of the entry; or
/// the reason why there is none.
pub(crate) fn default_kernel(context: &FileContext<'_>) -> Result<String, &'static str> {
    if let [only] = fusions(context, 2).as_slice() {
        return Ok(only.clone());
    }
    let module = context.module();
    let root = module.entry.and_then(|entry| context.root_of(&module.computations[entry].segments));
    let root = root.filter(|&at| context.may_be_kernel(at)).ok_or("which kernel? name it")?;
    Ok(context.block(root.piece).name(root.id).to_owned())
}
