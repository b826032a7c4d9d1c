//! Block sizes that the backend configuration of a fusion states for kernels from other compilers and
//! libraries.

use ir::{AttributeKey, Attributes};

/// `tiles 1×128, 4 warps`, `block_m 64, block_n 64, block_k 32, 4 warps, 3 stages`; `None` if none are
/// stated.
/// Source: `BlockLevelFusionConfig` and `AutotuneResult.TritonGemmKey`, `service/gpu/backend_configs.proto`.
pub(crate) fn block_config(attributes: &Attributes) -> Option<String> {
    let plain = plain_backend_config(attributes)?;
    let mut parts = Vec::new();
    if let Some((_, tiles)) = plain.split_once("output_tiles:[") {
        let tiles = &tiles[..tiles.find("}]").unwrap_or(tiles.len())];
        let sizes = tiles.split("sizes:[").skip(1).filter_map(|rest| rest.split_once(']'));
        let sizes: Vec<String> = sizes.map(|(sizes, _)| sizes.replace(',', "×")).collect();
        if !sizes.is_empty() {
            parts.push(format!("tiles {}", sizes.join(" and ")));
        }
    }
    for key in ["block_m", "block_n", "block_k", "split_k"] {
        parts.extend(number(&plain, key).map(|n| format!("{key} {n}")));
    }
    for (key, unit) in [("num_warps", "warp"), ("num_stages", "stage"), ("num_ctas", "CTA")] {
        let counted = |n: u64| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
        parts.extend(number(&plain, key).map(counted));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The configuration of an op without spaces and quotes: `{sizes:[32]}`.
pub fn plain_backend_config(attributes: &Attributes) -> Option<String> {
    let text = attributes.text(AttributeKey::BackendConfig)?;
    Some(text.chars().filter(|c| !c.is_whitespace() && !"\\\"".contains(*c)).collect())
}

fn number(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.split_once(&format!("{key}:"))?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::fixture;

    #[track_caller]
    fn check(config: &str, expect: Option<&str>) {
        let module = format!(
            "\
HloModule m
fused {{
 p = f32[8] parameter(0)
 ROOT n = f32[8] negate(p)
}}
ENTRY e {{
 p = f32[8] parameter(0)
 ROOT f = f32[8] fusion(p), kind=kCustom, calls=fused, backend_config={config}
}}
"
        );
        let fused = fixture::fused(&module, "f").unwrap();
        assert_eq!(fused.block_config.as_deref(), expect);
    }

    #[test]
    fn sizes_are_found() {
        check(
            r#"{"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","128"]},{"sizes":["1"]}],"num_ctas":1}}}"#,
            Some("tiles 1×128 and 1, 4 warps, 1 CTA"),
        );
        check(
            r#"{"fusion_backend_config":{"kind":"__triton_gemm","triton_gemm_config":{"block_m":"64","block_n":"32","block_k":"16","num_stages":"3"}}}"#,
            Some("block_m 64, block_n 32, block_k 16, 3 stages"),
        );
        check(r#"{"fusion_backend_config":{"kind":"__custom_fusion","output_tiles":["#, None);
        check(r#"{"num_warps":"99999999999999999999999"}"#, None);
    }
}
