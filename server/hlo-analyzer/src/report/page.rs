//! The frame of the page: head, contents, sections.

use maud::{DOCTYPE, PreEscaped, html};

use super::Section;

const STYLE: &str = include_str!("style.css");
/// The page loads nothing and runs nothing, whatever the names in a dump are.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

pub(super) fn page(name: &str, sections: &[Section]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (name) " – hlo-analyzer" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { h1 { (name) } }
                @if sections.len() > 1 {
                    nav { ol {
                        @for (number, section) in sections.iter().enumerate() {
                            li {
                                a href=(format!("#part-{number}")) { (section.title) }
                                " " span.facts { (section.facts.join(" · ")) }
                            }
                        }
                    } }
                }
                @for (number, section) in sections.iter().enumerate() {
                    section id=(format!("part-{number}")) {
                        @if sections.len() > 1 { h2 { (section.title) } }
                        ul.facts { @for fact in &section.facts { li { (fact) } } }
                        (section.body)
                    }
                }
                footer { "hlo-analyzer " (env!("CARGO_PKG_VERSION")) }
            }
        }
    };
    page.into_string()
}
