//! The documentation site: the pages of `server/docs` as a book.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{file_of, relative_links};
use crate::commands::{command, on_path, output, root, run, target_dir};

const DOCS: &str = "server/docs";
const SUMMARY: &str = "SUMMARY.md";

/// Checks that the table of contents has each page of the folder once, and that links between pages lead to pages and headings of
/// the site.
pub fn check() -> Result<()> {
    let docs = root().join(DOCS);
    let read = |page: &Path| {
        std::fs::read_to_string(docs.join(page)).with_context(|| format!("cannot read {}", page.display()))
    };
    let summary = read(Path::new(SUMMARY))?;
    let chapters: Vec<PathBuf> =
        relative_links(&summary).into_iter().filter_map(file_of).map(PathBuf::from).collect();
    let listed: BTreeSet<&PathBuf> = chapters.iter().collect();
    if listed.len() != chapters.len() {
        bail!("{SUMMARY} lists a page twice");
    }
    // mdBook writes the first chapter to index.html, too, with its links as they are.
    if chapters.first().is_none_or(|first| first.components().count() != 1) {
        bail!("the first page of {SUMMARY} is not beside it");
    }
    let files = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
    let files = output(command("git", &files).current_dir(&docs)).context("listing the pages")?;
    let missing = files.lines().filter(|&file| file != SUMMARY && docs.join(file).is_file());
    let missing: Vec<&str> = missing.filter(|file| !listed.contains(&PathBuf::from(file))).collect();
    if !missing.is_empty() {
        bail!("pages that {DOCS}/{SUMMARY} does not list: {}", missing.join(", "));
    }
    let mut dead = Vec::new();
    for page in &chapters {
        let text = read(page)?;
        for target in relative_links(&text) {
            let file = match file_of(target) {
                Some(file) => normal(&page.parent().unwrap_or(Path::new("")).join(file)),
                None => Some(page.clone()),
            };
            let fault = match file {
                None => Some("leads out of the site"),
                Some(file) if file.extension().is_none_or(|ending| ending != "md") => None,
                Some(file) if !listed.contains(&file) => Some("leads to a page that is not in the site"),
                Some(file) => match target.split_once('#') {
                    Some((_, anchor)) if !anchors(&read(&file)?).contains(anchor) => {
                        Some("leads to a heading that is not there")
                    }
                    _ => None,
                },
            };
            dead.extend(fault.map(|fault| format!("{}: {target} {fault}", page.display())));
        }
    }
    if !dead.is_empty() {
        bail!("links of the site:\n{}", dead.join("\n"));
    }
    Ok(())
}

/// Builds the site into the target folder, if mdBook is on PATH.
pub fn build() -> Result<()> {
    let Some(mdbook) = on_path(&["mdbook"]) else {
        println!("without building the site: no mdbook on PATH (cargo install mdbook)");
        return Ok(());
    };
    let site = target_dir().join("book");
    run(command(mdbook, &["build"]).arg(root().join(DOCS).join("book")).arg("--dest-dir").arg(&site))?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// A path within the folder of the pages without `..`; `None` if it leads out.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => found.push(part),
            Component::ParentDir if !found.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

/// The anchors of the headings of a page, as mdBook and GitHub name them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut in_code = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if in_code || title == line {
            continue;
        }
        let kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
        let words: String = title.trim().to_lowercase().chars().filter(|&c| kept(c)).collect();
        found.insert(words.replace(' ', "-"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_has_all_pages_and_no_dead_links() {
        check().expect("the pages are well linked");
    }

    #[test]
    fn paths_and_anchors() {
        assert_eq!(normal(Path::new("book/cookbook/../../diff.md")), Some(PathBuf::from("diff.md")));
        assert_eq!(normal(Path::new("book/../../../README.md")), None);
        let anchors = anchors("# From a kernel, to PTX\n```sh\n# no heading\n```\n### no-op\n#\n");
        let anchors: Vec<&str> = anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["", "from-a-kernel-to-ptx", "no-op"]);
    }
}
