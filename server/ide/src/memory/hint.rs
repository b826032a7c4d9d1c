//! Hints with the bytes in use at each instruction of a scheduled module: `⟨2.15 MB⟩`.

use ::memory::sum;

use super::section::{by_kind, scheduled_step};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::inlay_hints::in_brackets;
use crate::rich_text::Line;
use crate::units::bytes;

/// The bytes in use while an instruction runs, and of what they are. `None` for instructions inside fusions, and where the
/// order of the instructions is not stated.
pub(crate) fn hint(context: &FileContext<'_>, at: InstructionRef) -> Option<(String, Line)> {
    let (memory, position) = scheduled_step(context, at)?;
    let used = memory.usage.in_use.get(position as usize)?;
    let peak = if position == memory.usage.peak { ", the peak" } else { "" };
    let tooltip = format!(
        "position {position} of {}: {} in use{peak}: {}",
        memory.positions(),
        bytes(sum(used)),
        by_kind(used)
    );
    Some((in_brackets(&format!("{}{peak}", bytes(sum(used)))), tooltip.into()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::fixture::open;
    use crate::inlay_hints::{DomainHints, InlayHintsConfig};

    const MODULE: &str = "HloModule m, is_scheduled=true

%fused {
  %q = f32[4096]{0} parameter(0)
  ROOT %n = f32[4096]{0} negate(%q)
}

ENTRY %e {
  %p = f32[256]{0} parameter(0)
  %wide = f32[4096]{0} broadcast(%p), dimensions={}
  %last = f32[4096]{0} reverse(%wide), dimensions={0}
  %flat = f32[64,64]{1,0} bitcast(%last)
  ROOT %f = f32[4096]{0} fusion(%last), kind=kLoop, calls=%fused
}
";

    fn hints(text: &str, memory: bool) -> String {
        let (analysis, file, _) = open(text);
        let config = InlayHintsConfig { domains: DomainHints::Off, splits: false, memory };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let shown = hints.into_iter().map(|hint| {
            let line = text[..hint.offset].rfind('\n').map_or(0, |n| n + 1);
            let tooltip = hint.tooltip.map(|tooltip| tooltip.markdown()).unwrap_or_default();
            format!("{} {} | {tooltip}\n", text[line..hint.offset].trim_start(), hint.label)
        });
        shown.collect()
    }

    #[test]
    fn each_step_has_the_bytes_in_use() {
        expect![[r#"
            %p = f32[256]{0} parameter(0) ⟨1.02 kB⟩ | position 0 of 5: 1.02 kB in use: 1.02 kB parameters
            %wide = f32[4096]{0} broadcast(%p) ⟨17.4 kB⟩ | position 1 of 5: 17.4 kB in use: 1.02 kB parameters, 16.4 kB outputs
            %last = f32[4096]{0} reverse(%wide) ⟨33.8 kB, the peak⟩ | position 2 of 5: 33.8 kB in use, the peak: 1.02 kB parameters, 16.4 kB outputs, 16.4 kB temporaries
            %flat = f32[64,64]{1,0} bitcast(%last) ⟨17.4 kB⟩ | position 3 of 5: 17.4 kB in use: 1.02 kB parameters, 16.4 kB temporaries
            ROOT %f = f32[4096]{0} fusion(%last) ⟨33.8 kB⟩ | position 4 of 5: 33.8 kB in use: 1.02 kB parameters, 16.4 kB outputs, 16.4 kB temporaries
        "#]].assert_eq(&hints(MODULE, true));
    }

    #[test]
    fn a_broken_instruction_has_its_hint_behind_what_was_read_of_it() {
        let shown = hints(&MODULE.replace("reverse(", "rev erse("), true);
        assert!(shown.contains("\n%last = f32[4096]{0} ⟨17.4 kB⟩"), "{shown}");
    }

    #[test]
    fn nothing_is_shown_unasked_or_without_a_schedule() {
        assert_eq!(hints(MODULE, false), "");
        assert_eq!(hints(&MODULE.replace(", is_scheduled=true", ""), true), "");
    }
}
