//! What the plan leaves out, in words.

/// Problems that are told; the rest are counted.
const MOST: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    lines: Vec<String>,
    more: usize,
}

impl Problems {
    pub(crate) fn add(&mut self, line: impl FnOnce() -> String) {
        match self.lines.len() < MOST {
            true => self.lines.push(line()),
            false => self.more += 1,
        }
    }

    pub(crate) fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more like these", self.more));
        }
        self.lines
    }
}
