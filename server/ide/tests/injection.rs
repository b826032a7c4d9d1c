//! Dumps are untrusted: no text in them becomes a live link, an image, a tag or a control character in any
//! output. A Markdown parser checks this.

use ide::{AnalysisHost, DomainHints, FusionQuery, HoverConfig, InlayHintsConfig, KernelLanguage, Language};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use random::Rng;

/// Fragments of metadata, names and comments of a hostile dump.
const FRAGMENTS: [&str; 40] = [
    "\n",
    "\n\n",
    "\r",
    "\t",
    "`",
    "``",
    "```",
    "\n```\n",
    "~~~",
    "[x](command:evil)",
    "![x](https://evil.example/b.png)",
    "](https://evil.example)",
    "<img src=x onerror=alert(1)>",
    "<https://evil.example>",
    "https://evil.example",
    "www.evil.example",
    "a@evil.example",
    "|",
    "\\",
    "**",
    "_",
    "*",
    "# h",
    "\n# h\n",
    "\n===\n",
    "\n---\n",
    "> q",
    "- i",
    "&lt;",
    "[x]: https://evil.example",
    "\n\n[x]: https://evil.example\n\n[x]",
    "<!--",
    "-->",
    "\u{1b}[31m",
    "\u{7}",
    "\u{9b}2J",
    "\u{202e}",
    "jit(f)/add",
    " ",
    "é",
];

fn hostile(rng: &mut Rng) -> String {
    (0..rng.range(1, 7)).map(|_| *rng.pick(&FRAGMENTS)).collect()
}

/// An HLO string, escaped or raw.
fn quoted(rng: &mut Rng, text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    if rng.flag() { text.replace('\n', "\\n").replace('\u{1b}', "\\033") } else { text }
}

/// An MLIR string.
fn mlir_quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' | '\n' | '\r' => format!("\\{:02X}", u32::from(c)),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

fn hlo(rng: &mut Rng) -> String {
    let text = |rng: &mut Rng| {
        let text = hostile(rng);
        quoted(rng, &text)
    };
    let metadata = |op: String, file: String| {
        format!("metadata={{op_name=\"{op}\" source_file=\"{file}\" source_line=3}}")
    };
    let [a, b, c, d] = std::array::from_fn(|_| text(rng));
    let root = if rng.flag() { "/x/" } else { "" };
    let comment = hostile(rng).replace("*/", "");
    // A name that the lexer accepts, or one that it rejects.
    let name = if rng.flag() { "r.1-x_y".to_owned() } else { format!("r{}", hostile(rng)) };
    format!(
        "HloModule m

FileNames
1 \"{root}{d}\"

FunctionNames
1 \"{a}\"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=7}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}

%fused {{
  p = f32[64,64] parameter(0)
  e = f32[64,64] exponential(p), {}
  t = f32[64,64] transpose(e), dimensions={{1,0}}
  ROOT {name} = f32[64,64] add(e, t), {}
}}

%other {{
  q = f32[64,64] parameter(0)
  ROOT n = f32[64,64] negate(q)
}}

/*{comment}*/
ENTRY %e {{
  x = f32[64,64] parameter(0), metadata={{op_name=\"{b}\" stack_frame_id=1}}
  f = f32[64,64] fusion(x), kind=kLoop, calls=%fused, {}
  g = f32[64,64] fusion(f), kind=kCustom, calls=%other, backend_config={{\"fusion_backend_config\":{{\"kind\":\"{c}\"}}}}
  h = f32[64,64] custom-call(g), custom_call_target=\"{d}\", frontend_attributes={{k=\"{a}\"}}, backend_config=\"{b}\"
  ROOT s = f32[64,64] add(h, g), {}
}}
",
        metadata(a.clone(), format!("{root}{b}")),
        metadata(b.clone(), c.clone()),
        metadata(c.clone(), format!("{root}{d}")),
        metadata(d.clone(), a.clone()),
    )
}

fn mlir(rng: &mut Rng) -> String {
    let text: [String; 6] = std::array::from_fn(|_| mlir_quoted(&hostile(rng)));
    let [a, b, c, d, e, f] = text;
    let root = if rng.flag() { "/x/" } else { "" };
    format!(
        "#loc1 = loc(\"{root}{a}\":3:4)
func.func @f(%x: tensor<64x64xf32> loc(\"{b}\")) -> tensor<64x64xf32> {{
  %0 = stablehlo.exponential %x : tensor<64x64xf32> loc(\"{c}\"(#loc1))
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(\"{root}{d}\":7:1)
  %2 = \"x.{e}\"(%1) {{\"{e}\" = \"{f}\"}} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = call @\"{f}\"(%2) : (tensor<64x64xf32>) -> tensor<64x64xf32> loc(fused[\"{a}\", \"{b}\"(#loc1)])
  %4 = stablehlo.custom_call @\"{d}\"(%3) {{backend_config = \"{c}\"}} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}}
func.func private @\"{f}\"(tensor<64x64xf32>) -> tensor<64x64xf32>
"
    )
}

/// Live Markdown constructs in `markdown` that are not ours.
fn live(markdown: &str) -> Option<String> {
    let mut code = 0;
    // Editors do not support metadata blocks, and those would hide the fence after a rule.
    let metadata =
        Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let options = Options::all() - metadata;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => return Some(format!("an image of {dest_url}")),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let is_ours = dest_url.starts_with("https://openxla.org/") || is_file(&dest_url);
                if !is_ours {
                    return Some(format!("a link to {dest_url}"));
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => return Some(format!("the tag {html}")),
            Event::Start(Tag::Heading { .. }) if !markdown.starts_with("# Heaviest kernels\n") => {
                return Some(format!("the heading {}", &markdown[range]));
            }
            Event::Start(Tag::FootnoteDefinition(name)) => return Some(format!("the footnote {name}")),
            Event::Start(Tag::BlockQuote(_)) => return Some("a quote".to_owned()),
            Event::Start(Tag::CodeBlock(_)) => code += 1,
            Event::End(TagEnd::CodeBlock) => code -= 1,
            // Many clients also turn bare addresses into links.
            Event::Text(text) if code == 0 => {
                let bare =
                    text.match_indices("://").any(|(at, _)| !markdown[..range.start + at].ends_with('\\'));
                if bare || text.contains("www.") {
                    return Some(format!("the address in {text}"));
                }
            }
            _ => {}
        }
    }
    markdown.chars().find(|&c| c != '\n' && c != '\t' && text::is_invisible(c)).map(|c| format!("{c:?}"))
}

/// Whether the target is a path of this machine without other URI parts.
fn is_file(target: &str) -> bool {
    let Some(path) = target.strip_prefix("file:///") else { return false };
    let path = path
        .rsplit_once("#L")
        .filter(|(_, line)| line.bytes().all(|b| b.is_ascii_digit()))
        .map_or(path, |(path, _)| path);
    !path.starts_with('/') && !path.contains(['#', '?', ' ', '\\'])
}

/// All Markdown output, with its origin.
fn shown(text: &str, language: Language) -> Vec<(String, String)> {
    let mut host = AnalysisHost::new();
    let file = host.open("x", language, text);
    let analysis = host.analysis();
    let said = "nobody cancels";
    let mut all = Vec::new();
    let mut last = None;
    for (at, _) in text.char_indices() {
        let hover = analysis.hover(file, at).expect(said);
        if hover != last {
            all.extend(hover.clone().map(|h| (format!("hover at {at}"), h.markdown())));
            last = hover;
        }
        if at % 97 == 0 {
            let found = analysis.completion(file, at).expect(said);
            let documents =
                found.items.iter().filter_map(|i| ide::completion_documentation(i.documentation.as_deref()?));
            all.extend(documents.map(|text| ("completion".to_owned(), text.markdown())));
            if let Some(help) = analysis.signature_help(file, at).expect(said) {
                all.push(("signature".to_owned(), help.documentation.markdown()));
                let parameters = help.parameters.into_iter();
                all.extend(parameters.map(|p| ("parameter".to_owned(), p.documentation.markdown())));
            }
        }
    }
    let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
    let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect(said);
    all.extend(hints.into_iter().filter_map(|h| Some(("hint".to_owned(), h.tooltip?.markdown()))));
    all.push(("heaviest".to_owned(), analysis.heaviest_kernels(file, 20).expect(said).markdown()));
    for instruction in ["f", "g", "h"] {
        let query = FusionQuery { instruction: instruction.to_owned(), computation: None };
        for language in [KernelLanguage::Mlir, KernelLanguage::Ptx] {
            let Ok(document) = analysis.kernel_document(file, &query, language).expect(said) else {
                continue;
            };
            for line in 0..document.body.lines().count() {
                let config = HoverConfig::default();
                let hover =
                    analysis.kernel_document_hover(file, &query, &document, line, 4, &config).expect(said);
                all.extend(
                    hover.map(|text| (format!("kernel of {instruction}, line {line}"), text.markdown())),
                );
            }
        }
    }
    all
}

#[track_caller]
fn check(text: &str, language: Language) -> usize {
    let shown = shown(text, language);
    for (place, markdown) in &shown {
        if let Some(what) = live(markdown) {
            panic!("{place}: {what} is live in\n{markdown}\nof\n{text}");
        }
    }
    shown.len()
}

#[test]
fn nothing_of_a_dump_is_live() {
    let mut rng = Rng::new(15);
    let mut popups = 0;
    for _ in 0..60 {
        popups += check(&hlo(&mut rng), Language::Hlo);
        popups += check(&mlir(&mut rng), Language::Mlir);
    }
    assert!(popups > 2_000, "{popups} popups");
}

#[test]
fn empty_lines_and_fences_stay_in_their_spans() {
    let beacon = "jit(f)/add\\n\\n![x](https://evil.example/beacon.png)\\n\\n[Click to fix](command:workbench.action.openSettings)";
    check(
        &format!(
            r#"HloModule m

ENTRY main {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %r = f32[4]{{0}} add(%p, %p), metadata={{op_name="{beacon}" source_file="a.py" source_line=1}}
}}
"#
        ),
        Language::Hlo,
    );
    check(
        r#"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc("a\0A\0A![x](https://evil.example/b.png)"("/etc/passwd":3:1))
  return %0 : tensor<4xf32>
}
"#,
        Language::Mlir,
    );
}

/// The check detects live constructs.
#[test]
fn the_judge_finds_what_is_live() {
    for text in [
        "a\n\n![x](https://evil.example)",
        "[x](command:evil)",
        "<b>",
        "<https://a.b>",
        "https://a.b",
        "www.a.b",
        "# h",
        "h\n---\n",
        "> q",
        "a\u{1b}",
        "[x](file://host/a)",
        "[x](file:////host/a)",
        "[x](javascript:a)",
    ] {
        assert!(live(text).is_some(), "{text}");
    }
    for text in
        ["`![x](y)`", "```\n<b>\n\nhttps://a.b\n```", "[a.py:3](file:///a.py#L3)", "\\<b\\> https\\://a.b"]
    {
        assert_eq!(live(text), None, "{text}");
    }
}
