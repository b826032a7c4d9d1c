//! "Show as fused": the module after XLA's fusion. A client that shows previews does so itself; others get a new document with the
//! current text.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::file_context::FileContext;
use crate::optimize::OptimizeRequest;
use crate::optimize::planned::FUSION;
use crate::optimize::preview::Preview;
use crate::optimize::shown::is_unfused;

/// The id of the action.
pub const ID: &str = "show-as-fused";
/// Texts of more bytes are not fused for clients that want all changes at once.
const MAX_BYTES_AT_ONCE: usize = 200_000;

pub(crate) fn offer(context: &FileContext<'_>, _: &TextRange, actions: &mut Actions<'_>) {
    let is_slow = actions.makes_all_changes() && context.view.text.len_bytes() > MAX_BYTES_AT_ONCE;
    if !is_unfused(context) || is_slow {
        return;
    }
    actions.offer(ID, "Show as fused", CodeActionKind::Source, || {
        let preview = Preview::new(context, &OptimizeRequest::of(&[FUSION])).ok()?;
        let (text, _) = preview.text(&[]);
        Some(Change::NewDocument { name: "fused".to_owned(), extension: Some("hlo"), text })
    });
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::{apply, apply_in};
    use crate::fixture::open_mlir;

    #[test]
    fn the_fused_module_is_a_new_document() {
        let module = "HloModule m

ENTRY e {
  $0x = f32[64] parameter(0)
  n = f32[64] negate(x)
  ROOT a = f32[64] abs(n)
}
";
        let shown = apply(module, super::ID).expect("it is offered");
        assert!(shown.starts_with("// after fusion-pipeline · ") && shown.contains(" fusion(%x)"), "{shown}");
        let fused = shown.replacen("%x", "$0%x", 1);
        assert_eq!(apply(&fused, super::ID), None, "it is fused already");
        let stablehlo = "module @m {
  func.func public @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %n = stablehlo.negate %x : tensor<64xf32>
    %a = stablehlo.abs %n$0 : tensor<64xf32>
    return %a : tensor<64xf32>
  }
}
";
        let shown = apply_in(open_mlir(stablehlo), super::ID).expect("it is offered");
        assert!(shown.contains(" fusion(%x)"), "{shown}");
    }
}
