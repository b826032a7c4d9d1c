//! The framework name and the stack of source frames of an instruction or op.

use crate::rich_text::{Inline, Line, RichText, code, file_link, parts, quoted};
use crate::units::{counted, shorten};

/// The largest number of characters of the framework name in a hover.
const NAME_LIMIT: usize = 200;
/// The largest number of callers in a hover.
const CALLERS_SHOWN: usize = 6;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub(crate) op_name: Option<String>,
    /// The calls that led to the op, innermost first.
    pub(crate) frames: Vec<SourceFrame>,
    /// Why the stack is not complete: what is wrong with the tables of the module.
    pub(crate) problem: Option<String>,
}

/// The framework's op that an instruction comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameworkOp {
    /// `jit(train)/jvp(while)`
    pub name: Option<String>,
    /// The innermost line of the source outside of installed packages.
    pub source: Option<SourceFrame>,
}

impl From<SourceLocation> for FrameworkOp {
    fn from(location: SourceLocation) -> FrameworkOp {
        FrameworkOp { source: location.shown_frame().cloned(), name: location.op_name }
    }
}

/// A line of source in the stack of an op.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// Empty if it is not known.
    pub function: String,
    /// As written: absolute, or relative to a root that the program's author chose.
    pub path: String,
    /// Counted from 1.
    pub line: Option<u32>,
}

impl SourceLocation {
    /// The first line of a kernel's hover; empty without metadata.
    pub(crate) fn header(&self) -> RichText {
        let mut text = RichText::default();
        self.line().into_iter().for_each(|line| text.paragraph(line));
        text
    }

    /// The last lines of other hovers; empty without metadata.
    pub(crate) fn footer(&self) -> RichText {
        let mut text = RichText::default();
        if let Some(line) = self.line() {
            text.divider();
            text.line(line);
        }
        text.append(self.callers());
        text
    }

    /// The stack below the first line, as a list; empty if it has no more frames.
    pub(crate) fn callers(&self) -> RichText {
        let mut text = RichText::default();
        let entries = self.entries();
        if !entries.is_empty() {
            text.space();
            text.line("called from");
        }
        let (shown, hidden) = entries.split_at(entries.len().min(CALLERS_SHOWN));
        for entry in shown {
            text.item(entry.line());
        }
        match hidden.iter().map(Entry::frames).sum::<usize>() {
            0 => {}
            frames => text.item(counted(frames as u64, "more frame")),
        }
        if let Some(problem) = &self.problem {
            text.space();
            text.line(quoted(problem.clone()));
        }
        text
    }

    /// The frame of the first line.
    pub(crate) fn shown_frame(&self) -> Option<&SourceFrame> {
        self.frames.get(self.first_shown())
    }

    /// The same as a link.
    pub(crate) fn place(&self) -> Option<Inline> {
        self.shown_frame().map(SourceFrame::link)
    }

    fn line(&self) -> Option<Line> {
        let name = self.op_name.as_deref().map(|name| code(shorten(name, NAME_LIMIT)));
        let parts: Vec<Inline> = name.into_iter().chain(self.place()).collect();
        (!parts.is_empty()).then(|| Line::facts(parts))
    }

    /// The innermost frame outside of installed packages; the innermost one if all are in packages.
    fn first_shown(&self) -> usize {
        self.frames.iter().position(|frame| frame.package().is_none()).unwrap_or(0)
    }

    /// The frames below the first line. Neighbours in one package are one entry, unless the first line is in one too.
    fn entries(&self) -> Vec<Entry<'_>> {
        let first = self.first_shown();
        let is_folded = self.frames.get(first).is_some_and(|frame| frame.package().is_none());
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for frame in self.frames.iter().skip(first + 1) {
            match (frame.package().filter(|_| is_folded), entries.last_mut()) {
                (Some(package), Some(Entry::Package { name, frames })) if *name == package => *frames += 1,
                (Some(name), _) => entries.push(Entry::Package { name, frames: 1 }),
                (None, _) => entries.push(Entry::Frame(frame)),
            }
        }
        entries
    }
}

enum Entry<'a> {
    Frame(&'a SourceFrame),
    Package { name: &'a str, frames: usize },
}

impl Entry<'_> {
    fn frames(&self) -> usize {
        match self {
            Entry::Frame(_) => 1,
            Entry::Package { frames, .. } => *frames,
        }
    }

    /// `[model.py:12](…) in attention`, or `3 frames in jax`
    fn line(&self) -> Line {
        match self {
            Entry::Frame(frame) if frame.function.is_empty() => frame.link().into(),
            Entry::Frame(frame) => {
                parts![frame.link(), " in ", code(shorten(&frame.function, NAME_LIMIT))]
            }
            Entry::Package { name, frames } => {
                parts![counted(*frames as u64, "frame"), " in ", code(shorten(name, NAME_LIMIT))]
            }
        }
    }
}

impl SourceFrame {
    /// `model.py:12`
    pub fn short(&self) -> String {
        let short = self.path.rsplit('/').next().unwrap_or(&self.path);
        let at = self.line.map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{at}", shorten(short, NAME_LIMIT))
    }

    /// `[model.py:12](file:///src/model.py#L12)`; no link if the path is relative or names another machine.
    pub(crate) fn link(&self) -> Inline {
        let at = self.line.map_or_else(String::new, |line| format!(":{line}"));
        let link = file_link(self.short(), &self.path, self.line);
        link.unwrap_or_else(|| code(format!("{}{at}", shorten(&self.path, NAME_LIMIT))))
    }

    /// The installed Python package that the file belongs to.
    fn package(&self) -> Option<&str> {
        let (_, inside) =
            ["/site-packages/", "/dist-packages/"].iter().find_map(|folder| self.path.rsplit_once(folder))?;
        inside.split(['/', '.']).next().filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(frames: &[(&str, &str, u32)], expect: Expect) {
        let frame = |&(function, path, line): &(&str, &str, u32)| SourceFrame {
            function: function.to_owned(),
            path: path.to_owned(),
            line: Some(line),
        };
        let frames = frames.iter().map(frame).collect();
        let location = SourceLocation { op_name: Some("jit(f)/add".into()), frames, problem: None };
        expect.assert_eq(&location.footer().plain_text(""));
    }

    #[test]
    fn frames_of_packages_are_folded() {
        let library = "/usr/lib/python3/site-packages/flax/linen/module.py";
        check(
            &[
                ("dot", "/v/site-packages/jax/_src/lax.py", 1),
                ("attention", "/m/model.py", 61),
                ("wrapped", library, 7),
                ("call", library, 9),
                ("block", "/m/model.py", 81),
                ("step", "/v/dist-packages/six.py", 3),
                ("main", "/m/train.py", 5),
            ],
            expect![[r#"
                jit(f)/add · model.py:61

                called from
                - 2 frames in flax
                - model.py:81 in block
                - 1 frame in six
                - train.py:5 in main"#]],
        );
        check(
            &[("a", library, 1), ("b", library, 2)],
            expect![[r#"
            jit(f)/add · module.py:1

            called from
            - module.py:2 in b"#]],
        );
    }

    #[test]
    fn deep_stacks_are_counted() {
        let frames: Vec<_> = (0..20).map(|line| ("f", "m.py", line)).collect();
        check(
            &frames,
            expect![[r#"
            jit(f)/add · m.py:0

            called from
            - m.py:1 in f
            - m.py:2 in f
            - m.py:3 in f
            - m.py:4 in f
            - m.py:5 in f
            - m.py:6 in f
            - 13 more frames"#]],
        );
    }
}
