//! Members of a backend config whose value is the default: a pass that sets one member makes XLA write all of them.

use std::ops::Range;

/// What of a backend config says nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Defaults {
    All,
    /// Ranges of the text, in order, with the commas that separate them from what is kept.
    Some(Vec<Range<usize>>),
}

/// The values that protocol buffers give members that are not set.
const VALUES: [&str; 6] = ["false", "0", "\"0\"", "\"\"", "[]", "\"DEVICE_TYPE_INVALID\""];

#[derive(Default)]
struct Object {
    members: Vec<Member>,
    /// Where the member starts that is being read, and its value.
    open: Option<(usize, Option<usize>)>,
}

struct Member {
    range: Range<usize>,
    is_default: bool,
}

/// Reads JSON as XLA writes it. A text of another form, such as a string, is kept.
pub(crate) fn defaults(config: &str) -> Defaults {
    let mut left_out = Vec::new();
    // `None` for a list.
    let mut open: Vec<Option<Object>> = Vec::new();
    let bytes = config.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let object = open.last_mut().and_then(Option::as_mut);
        match (byte, object) {
            (b'"', object) => {
                if let Some(object) = object {
                    object.open.get_or_insert((at, None));
                }
                at = behind_string(bytes, at);
                continue;
            }
            (b':', Some(Object { open: Some((_, value @ None)), .. })) => *value = Some(at + 1),
            (b',', Some(object)) => object.close_member(config, at),
            (b'{', _) => open.push(Some(Object::default())),
            (b'[', _) => open.push(None),
            (b'}', Some(object)) => {
                object.close_member(config, at);
                let is_empty = object.members.iter().all(|member| member.is_default);
                if open.len() == 1 && is_empty && config[at + 1..].trim().is_empty() {
                    return Defaults::All;
                }
                left_out.extend(open.pop().flatten().into_iter().flat_map(|object| object.left_out()));
            }
            (b']', None) => _ = open.pop(),
            _ => (),
        }
        at += 1;
    }
    left_out.sort_unstable_by_key(|range| range.start);
    Defaults::Some(left_out)
}

fn behind_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'\\' => 2,
            b'"' => return at + 1,
            _ => 1,
        };
    }
    bytes.len()
}

impl Object {
    fn close_member(&mut self, config: &str, end: usize) {
        if let Some((start, Some(value))) = self.open.take() {
            let is_default = VALUES.contains(&config[value..end].trim());
            self.members.push(Member { range: start..end, is_default });
        }
    }

    fn left_out(&self) -> Vec<Range<usize>> {
        let last_kept = self.members.iter().rposition(|member| !member.is_default);
        let mut ranges = Vec::new();
        for (at, pair) in self.members.windows(2).enumerate() {
            if pair[0].is_default && last_kept.is_some_and(|last| at < last) {
                ranges.push(pair[0].range.start..pair[1].range.start);
            }
        }
        let start = match last_kept {
            Some(last) => self.members[last].range.end,
            None => self.members.first().map_or(0, |first| first.range.start),
        };
        let end = self.members.last().map_or(0, |last| last.range.end);
        ranges.extend((start < end).then_some(start..end));
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(config: &str, expect: &str) {
        let kept = match defaults(config) {
            Defaults::All => String::new(),
            Defaults::Some(ranges) => {
                let mut kept = config.to_owned();
                ranges.into_iter().rev().for_each(|range| kept.replace_range(range, ""));
                kept
            }
        };
        assert_eq!(kept, expect, "{config}");
    }

    #[test]
    fn members_with_default_values_are_left_out() {
        check(r#"{"a":false,"b":1}"#, r#"{"b":1}"#);
        check(r#"{"a":1,"b":0,"c":[]}"#, r#"{"a":1}"#);
        check(r#"{"a":1,"b":"0","c":2,"d":""}"#, r#"{"a":1,"c":2}"#);
        check(r#"{"a":{"b":0},"c":"DEVICE_TYPE_INVALID"}"#, r#"{"a":{}}"#);
        check(r#"{"a":[{"b":0,"c":"4"}],"d":false}"#, r#"{"a":[{"c":"4"}]}"#);
        check(r#"{"a":false,"b":[]}"#, "");
        check("{}", "");
    }

    #[test]
    fn other_values_stay() {
        for config in [
            r#"{"a":true}"#,
            r#"{"a":["0"]}"#,
            r#"{"a":"x,\"b\":0"}"#,
            r#""{\"a\":0}""#,
            "f32",
            "",
            "{",
            "}",
            "]",
            "\"",
            r#"{"a":0"#,
            r#"{"a""#,
            "{:0,",
            "\"\\",
        ] {
            check(config, config);
        }
    }
}
