//! The parts of an opcode: `add.rn.ftz.f32` is `add`, modifiers, a type.

use super::parse::bits_of;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opcode<'a> {
    pub(crate) name: &'a str,
    /// The part between name and type, without the dots, and without `ftz`, `sat` and the
    /// [`Opcode::rounding`].
    modifiers: &'a str,
    /// The last type; for `cvt`, `slct`, `set`, `dp4a` the last two, separated by a dot.
    pub(crate) kind: &'a str,
    pub(crate) flushes: bool,
    pub(crate) saturates: bool,
    /// `rn`, `rz`, `rm`, `rp`, `rni` and so on.
    pub(crate) rounding: Option<&'a str>,
    rest: &'a str,
}

const ROUNDINGS: [&str; 10] = ["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna", "rs"];

fn is_type(word: &str) -> bool {
    bits_of(word).is_some()
        || matches!(word, "e4m3x2" | "e5m2x2" | "s16x2" | "u16x2" | "b128" | "e2m1x2" | "ue8m0x2")
}

impl<'a> Opcode<'a> {
    pub(crate) fn new(text: &'a str) -> Opcode<'a> {
        let (name, rest) = text.split_once('.').unwrap_or((text, ""));
        let mut opcode =
            Opcode { name, modifiers: "", kind: "", flushes: false, saturates: false, rounding: None, rest };
        let takes_two = matches!(name, "cvt" | "slct" | "set" | "dp4a" | "mma")
            || (matches!(name, "add" | "sub" | "fma") && rest.ends_with("f32.bf16"));
        // The types are the last words.
        let mut split = rest.len();
        for _ in 0..if takes_two { 2 } else { 1 } {
            let before = &rest[..split];
            let start = before.rfind('.').map_or(0, |dot| dot + 1);
            if !is_type(&before[start..]) {
                break;
            }
            opcode.kind = &rest[start..];
            split = start.saturating_sub(1);
        }
        let mut between = &rest[..split];
        // Removed from both ends: `rn.ftz.sat`, `lo`, `approx.ftz`, `noftz`.
        loop {
            let (first, after) = between.split_once('.').unwrap_or((between, ""));
            if !opcode.take(first) {
                break;
            }
            between = after;
        }
        while let (before, last) = between.rsplit_once('.').unwrap_or(("", between))
            && opcode.take(last)
        {
            between = before;
        }
        opcode.modifiers = between;
        opcode
    }

    fn take(&mut self, word: &'a str) -> bool {
        match word {
            "ftz" => self.flushes = true,
            "sat" if self.name != "add" && self.name != "sub" || self.kind.starts_with('f') => {
                self.saturates = true;
            }
            "satfinite" => self.saturates = true,
            _ if ROUNDINGS.contains(&word) => self.rounding = Some(word),
            _ => return false,
        }
        true
    }

    pub(crate) fn modifier(&self) -> &'a str {
        self.modifiers
    }

    /// All words after the name.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.rest.split('.').filter(|word| !word.is_empty())
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.words().any(|w| w == word)
    }

    /// The bits of the (last) type.
    pub(crate) fn bits(&self) -> Option<u64> {
        bits_of(self.kind.rsplit('.').next()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let check = |text, modifiers, kind, rounding, flushes, saturates| {
            let op = Opcode::new(text);
            assert_eq!(
                (op.modifiers, op.kind, op.rounding, op.flushes, op.saturates),
                (modifiers, kind, rounding, flushes, saturates),
                "{text}"
            );
        };
        check("add.s32", "", "s32", None, false, false);
        check("add.rn.ftz.sat.f32", "", "f32", Some("rn"), true, true);
        check("add.sat.s32", "sat", "s32", None, false, false);
        check("mul.wide.u32", "wide", "u32", None, false, false);
        check("ex2.approx.ftz.f32", "approx", "f32", None, true, false);
        check("cvt.rn.satfinite.e4m3x2.f32", "", "e4m3x2.f32", Some("rn"), false, true);
        check("setp.gt.or.u32", "gt.or", "u32", None, false, false);
        check("shf.l.wrap.b32", "l.wrap", "b32", None, false, false);
        check("ret", "", "", None, false, false);
        check("add.rn.f32.bf16", "", "f32.bf16", Some("rn"), false, false);
    }
}
