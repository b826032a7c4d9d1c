//! The documentation step of `cargo xtask test`: rustdoc without warnings, pages without dead links, and the site.

mod book;

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::commands::{cargo, command, output, root, run};

pub fn check() -> Result<()> {
    check_links()?;
    book::check()?;
    book::build()?;
    // Includes private items: readers of these pages work on this tree, and may use links to them.
    let mut rustdoc =
        cargo(&["doc", "--release", "--workspace", "--no-deps", "--quiet", "--document-private-items"]);
    run(rustdoc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}

/// Checks that every relative link of every page names a file or folder of the tree.
fn check_links() -> Result<()> {
    let listed = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
    let pages = output(&mut command("git", &listed)).context("listing the pages")?;
    let mut dead = Vec::new();
    for page in pages.lines().filter(|page| root().join(page).is_file()) {
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for target in relative_links(&text).into_iter().filter_map(file_of) {
            if !folder.join(target).exists() {
                dead.push(format!("{page}: {target}"));
            }
        }
    }
    if !dead.is_empty() {
        bail!("links that lead nowhere:\n{}", dead.join("\n"));
    }
    Ok(())
}

/// The targets of `[text](target)` outside code blocks, without web addresses.
fn relative_links(page: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        // Text between single backquotes is code: `](` there is not a link.
        let prose = line.split('`').step_by(2);
        let targets =
            prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
        links.extend(targets.filter(|target| !target.contains(':')));
    }
    links
}

/// The file of a link without the anchor; `None` for an anchor of the page itself.
fn file_of(target: &str) -> Option<&str> {
    target.split('#').next().filter(|file| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{file_of, relative_links};

    #[test]
    fn links_are_found_and_web_addresses_and_code_are_not() {
        let page = "[a](one.md) and [b](two/three.md#part)\n[c](https://example.org) [d](#here) `[e](f)`\n\
                    ```\n[g](h)\n```\n[i](j.png)";
        let links = relative_links(page);
        assert_eq!(links, ["one.md", "two/three.md#part", "#here", "j.png"]);
        let files: Vec<&str> = links.into_iter().filter_map(file_of).collect();
        assert_eq!(files, ["one.md", "two/three.md", "j.png"]);
    }
}
