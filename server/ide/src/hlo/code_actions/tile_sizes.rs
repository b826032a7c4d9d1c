//! "Use tiles 64×128": writes the configuration that is fastest by XLA's model into `backend_config` of a fusion for Triton.

use std::ops::Range;

use syntax::hlo::AttributeKey;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::figures::duration;
use crate::kernel::tilings::{TileConfig, stated};
use crate::{TextEdit, TextRange};

/// The number of configurations offered.
const OFFERED: usize = 2;

pub(super) fn tile_sizes(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.instruction_at(range.start) else { return };
    let Some(id) = context.kernel_id(at) else { return };
    let Some(Ok(analysis)) = context.kernel(id) else { return };
    let Ok(now) = stated(analysis) else { return };
    // The search is memoised; a fusion without configuration has none.
    let Ok(best) = context.best_configs(id) else { return };
    let stated_time = context.config_figures(id, &now).ok().and_then(|figures| figures.time.ok());
    let is_faster = |time: &gpu::KernelTime| stated_time.is_none_or(|now| time.exec_us < now.exec_us);
    let faster = best.iter().filter(|best| !best.config.is_same_kernel(&now));
    let faster =
        faster.filter_map(|best| Some((best, best.time.as_ref().ok().filter(|&time| is_faster(time))?)));
    for (best, time) in faster.take(OFFERED) {
        let config = &best.config;
        let instead =
            stated_time.map_or_else(String::new, |now| format!(" instead of {}", duration(now.exec_us)));
        let title = format!("Use tiles {config} (≈ {}{instead} by XLA's model)", duration(time.exec_us));
        let id = format!(
            "use-tiles-{}-{}-{}",
            config.tiles().replace(", ", "-").replace(' ', ""),
            config.warps,
            config.stages
        );
        actions.offer(id, title, CodeActionKind::RefactorRewrite, || {
            edits(context, at, &now, config).map(Change::Edits)
        });
    }
}

/// The edits that write a configuration over that in the text; `None` if the text has another form than XLA's.
fn edits(
    context: &FileContext<'_>,
    at: InstructionRef,
    now: &TileConfig,
    config: &TileConfig,
) -> Option<Vec<TextEdit>> {
    let Some(Ok(analysis)) = context.kernel(context.kernel_id(at)?) else { return None };
    let mut edits = edits_of(context, at, |text| fusion_edits(text, config))?;
    let mut sizes = &config.contracted[..];
    for dot in xtile::configs::dots(&analysis.fused) {
        let count = analysis.fused.op(dot).attributes.ints(AttributeKey::LhsContractingDims).len();
        let (own, others) = sizes.split_at_checked(count)?;
        sizes = others;
        if config.contracted != now.contracted {
            let dot = context.nested_instruction(at, analysis.fused.name(dot))?;
            edits.extend(edits_of(context, dot, |text| Some(vec![sizes_edit(text, 0, own)?]))?);
        }
    }
    Some(edits)
}

/// The edits of an instruction's `backend_config`; `of` makes them of its text.
fn edits_of(
    context: &FileContext<'_>,
    at: InstructionRef,
    of: impl FnOnce(&str) -> Option<Vec<(Range<usize>, String)>>,
) -> Option<Vec<TextEdit>> {
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let config = attributes.iter().find(|a| a.key == Some(AttributeKey::BackendConfig))?.value_span;
    let start = context.range(at.piece, config).start;
    let edits = of(config.of(&block.text))?
        .into_iter()
        .map(|(range, insert)| TextEdit { range: start + range.start..start + range.end, insert });
    Some(edits.collect())
}

/// The edits of a block-level configuration: a JSON object, perhaps in a string.
fn fusion_edits(text: &str, config: &TileConfig) -> Option<Vec<(Range<usize>, String)>> {
    let start = text.find("block_level_fusion_config")?;
    let tiles = start + text[start..].find("output_tiles")?;
    let warps_at = start + text[start..].find("num_warps")?;
    let mut edits =
        vec![sizes_edit(text, tiles, &config.result)?, number_edit(text, warps_at, config.warps)?];
    match text[start..].find("num_stages") {
        Some(stages) => edits.push(number_edit(text, start + stages, config.stages)?),
        None if config.stages == 1 => {}
        None => {
            // The quote before the key, which a string escapes.
            let quote = if text[..warps_at].ends_with("\\\"") { "\\\"" } else { "\"" };
            let place = warps_at.checked_sub(quote.len())?;
            edits.push((place..place, format!("{quote}num_stages{quote}:{},", config.stages)));
        }
    }
    edits.retain(|(range, insert)| text[range.clone()] != **insert);
    Some(edits)
}

/// Replaces the sizes in the first `"sizes":["64","128"]` from `from` on; each keeps the quotes of the first one.
fn sizes_edit(text: &str, from: usize, sizes: &[i64]) -> Option<(Range<usize>, String)> {
    let key = from + text[from..].find("sizes")?;
    let open = key + text[key..].find('[')? + 1;
    let close = open + text[open..].find(']')?;
    let first = text[open..close].split(',').next()?.trim();
    let digits = first.find(|c: char| c.is_ascii_digit());
    let quote = digits.map_or("", |digits| &first[..digits]);
    let sizes: Vec<String> = sizes.iter().map(|size| format!("{quote}{size}{quote}")).collect();
    (digits.is_some() || sizes.is_empty()).then(|| (open..close, sizes.join(",")))
}

/// Replaces the number behind a key at `key`.
fn number_edit(text: &str, key: usize, number: i64) -> Option<(Range<usize>, String)> {
    let colon = key + text[key..].find(':')?;
    let start = colon + text[colon..].find(|c: char| c.is_ascii_digit())?;
    let len = text[start..].find(|c: char| !c.is_ascii_digit())?;
    let is_direct = text[colon + 1..start].chars().all(|c| c.is_whitespace() || "\"\\".contains(c));
    is_direct.then(|| (start..start + len, number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_actions::Wanted;
    use crate::code_actions::tests::apply;
    use crate::fixture::open;

    /// A row of 1000 numbers in tiles that are too small.
    const ROWS: &str = r#"HloModule m

%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%rows {
  p = f32[4096,1000] parameter(0)
  z = f32[] constant(0)
  r = f32[4096] reduce(p, z), dimensions={1}, to_apply=%add
  b = f32[4096,1000] broadcast(r), dimensions={0}
  ROOT d = f32[4096,1000] divide(p, b)
}

ENTRY %e {
  x = f32[4096,1000] parameter(0)
  ROOT $0f = f32[4096,1000] fusion(x), kind=kCustom, calls=%rows, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"32","output_tiles":[{"sizes":["1","1"]}]}}}
}
"#;

    fn offered(text: &str) -> Vec<(String, String)> {
        let (analysis, file, offset) = open(text);
        let actions = analysis.code_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        let own = actions.into_iter().filter(|action| action.id.starts_with("use-tiles-"));
        own.map(|action| (action.id, action.title)).collect()
    }

    /// What is written is what was offered: the changed fusion states that configuration, and a faster one is not known.
    #[test]
    fn the_best_is_written() {
        let offers = offered(ROWS);
        assert_eq!(offers.len(), OFFERED, "{offers:?}");
        let (id, title) = &offers[0];
        assert!(title.starts_with("Use tiles ") && title.contains(" instead of "), "{title}");
        let changed = apply(ROWS, id).expect("it is offered");
        assert_ne!(changed, ROWS.replace("$0", ""));
        let again = changed.replacen("ROOT f =", "ROOT $0f =", 1);
        assert_eq!(offered(&again), []);
        let tab = apply(&again, "show-kernel-as-tilings").expect("it is offered");
        let now = tab.lines().find(|line| line.ends_with("now, fastest by XLA's model")).expect(&tab);
        let tiles = title.strip_prefix("Use tiles ").and_then(|rest| rest.split(',').next());
        assert!(now.starts_with(tiles.expect("the tiles")), "{title}: {now}");
    }

    #[test]
    fn other_fusions_have_no_offer() {
        assert_eq!(offered(&ROWS.replace("__triton", "__custom_fusion")), []);
        assert_eq!(offered(&ROWS.replace("$0f", "f").replace("x = f32", "$0x = f32")), []);
        assert_eq!(offered(&ROWS.replace("output_tiles", "tiles")), []);
    }

    #[test]
    fn the_form_of_the_text_stays() {
        let config = TileConfig { result: vec![64, 128], contracted: vec![32], warps: 8, stages: 3 };
        let check = |text: &str, expect: Option<&str>| {
            let changed = fusion_edits(text, &config).map(|mut edits| {
                edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
                let mut text = text.to_owned();
                edits.into_iter().for_each(|(range, insert)| text.replace_range(range, &insert));
                text
            });
            assert_eq!(changed.as_deref(), expect);
        };
        check(
            r#"{"block_level_fusion_config":{"num_stages":1,"num_warps":"4","output_tiles":[{"sizes":["1", "2"]}]}}"#,
            Some(
                r#"{"block_level_fusion_config":{"num_stages":3,"num_warps":"8","output_tiles":[{"sizes":["64","128"]}]}}"#,
            ),
        );
        check(
            r#""{\"block_level_fusion_config\":{\"num_warps\":\"4\",\"output_tiles\":[{\"sizes\":[\"1\"]}]}}""#,
            Some(
                r#""{\"block_level_fusion_config\":{\"num_stages\":3,\"num_warps\":\"8\",\"output_tiles\":[{\"sizes\":[\"64\",\"128\"]}]}}""#,
            ),
        );
        check(
            r#"{"block_level_fusion_config":{"output_tiles":[{"sizes":[1]}],"num_warps":4}}"#,
            Some(
                r#"{"block_level_fusion_config":{"output_tiles":[{"sizes":[64,128]}],"num_stages":3,"num_warps":8}}"#,
            ),
        );
        check(r#"{"block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":[]}]}}"#, None);
        for broken in [
            "",
            "block_level_fusion_config",
            r#"{"block_level_fusion_config":{"num_warps":"","output_tiles":["#,
        ] {
            check(broken, None);
        }
    }
}
