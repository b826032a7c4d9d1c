//! "Show kernel as PTX", "… as MLIR": the code that a fusion becomes, in a new document.

use super::{Actions, Change, CodeActionKind, instructions_in};
use crate::TextRange;
use crate::kernel_preview::{KernelLanguage, preview_at};
use crate::locate::FileContext;

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(&at) = instructions_in(context, range, 1).first() else { return };
    if !context.is_launched(at) {
        return;
    }
    let is_written =
        context.kernel_key(at).is_some_and(|key| matches!(context.kernel_code(&key), Some(Ok(_))));
    if !is_written {
        return;
    }
    let name = context.block(at.piece).name(at.id).to_owned();
    for (id, title, language, ending) in [
        ("show-kernel-ptx", "Show kernel as PTX", KernelLanguage::Ptx, "ptx"),
        ("show-kernel-mlir", "Show kernel as MLIR", KernelLanguage::Mlir, "mlir"),
    ] {
        actions.offer(id, title, CodeActionKind::Source, || {
            let preview = preview_at(context, at, language).ok()?;
            Some(Change::NewDocument { name: name.clone(), extension: Some(ending), text: preview.text })
        });
    }
}
