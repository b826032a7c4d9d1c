//! Opcodes as words: `add.rn.ftz.f32` is a name, a rounding, a modifier and a type.

use std::fmt;

use crate::vocabulary::{Comparison, Modifier, Name, Rounding, Shape, Space, Type};

/// A word after the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    Type(Type),
    Rounding(Rounding),
    Comparison(Comparison),
    Space(Space),
    Shape(Shape),
    Modifier(Modifier),
}

/// The largest number of words after the name.
const MAX_WORDS: usize = 10;

/// What fills the unused words, so that equal opcodes have equal bytes.
const UNUSED: Word = Word::Type(Type::Pred);

/// An opcode, with its words in the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Opcode {
    pub name: Name,
    count: u8,
    words: [Word; MAX_WORDS],
}

impl Opcode {
    /// The opcode with a spelling. `None` if a word is not known, or if there are too many.
    pub fn find(text: &str) -> Option<Opcode> {
        let mut words = text.split('.');
        let name = Name::find(words.next()?)?;
        let mut opcode = Opcode::new(name);
        for word in words {
            if opcode.words().len() == MAX_WORDS {
                return None;
            }
            opcode = opcode.with(Word::find(name, word)?);
        }
        Some(opcode)
    }

    pub const fn new(name: Name) -> Opcode {
        Opcode { name, count: 0, words: [UNUSED; MAX_WORDS] }
    }

    /// The opcode with one more word. Words beyond the tenth are dropped; no instruction has as many.
    #[must_use]
    pub fn with(mut self, word: impl Into<Word>) -> Opcode {
        if let Some(free) = self.words.get_mut(usize::from(self.count)) {
            *free = word.into();
            self.count += 1;
        }
        self
    }

    pub fn words(&self) -> &[Word] {
        &self.words[..usize::from(self.count)]
    }

    pub fn has(&self, modifier: Modifier) -> bool {
        self.words().contains(&Word::Modifier(modifier))
    }

    pub fn modifiers(&self) -> impl Iterator<Item = Modifier> {
        self.words().iter().filter_map(|word| match word {
            Word::Modifier(modifier) => Some(*modifier),
            _ => None,
        })
    }

    /// The state space, the first if it names several.
    pub fn space(&self) -> Option<Space> {
        self.words().iter().find_map(|word| match word {
            Word::Space(space) => Some(*space),
            _ => None,
        })
    }

    /// The extents of its matrices, if it names them.
    pub fn shape(&self) -> Option<Shape> {
        self.words().iter().find_map(|word| match word {
            Word::Shape(shape) => Some(*shape),
            _ => None,
        })
    }

    pub fn comparison(&self) -> Option<Comparison> {
        self.words().iter().find_map(|word| match word {
            Word::Comparison(comparison) => Some(*comparison),
            _ => None,
        })
    }

    /// The types, wherever they stand: `atom.global.v4.f32.add` has it in the middle.
    pub fn types(&self) -> impl Iterator<Item = Type> {
        self.words().iter().filter_map(|word| match word {
            Word::Type(ty) => Some(*ty),
            _ => None,
        })
    }

    /// The last word, if it is a type.
    pub fn ty(&self) -> Option<Type> {
        match self.words().last()? {
            Word::Type(ty) => Some(*ty),
            _ => None,
        }
    }
}

impl Name {
    /// The opcode of this name and a type: `add.s32`.
    pub fn of(self, ty: Type) -> Opcode {
        Opcode::new(self).with(ty)
    }

    /// With a modifier before the type: `mul.lo.s32`.
    pub fn with(self, modifier: Modifier, ty: Type) -> Opcode {
        Opcode::new(self).with(modifier).with(ty)
    }

    /// Rounded to nearest: `add.rn.f32`.
    pub fn rn(self, ty: Type) -> Opcode {
        Opcode::new(self).with(Rounding::Rn).with(ty)
    }
}

impl From<Name> for Opcode {
    fn from(name: Name) -> Opcode {
        Opcode::new(name)
    }
}

/// A conversion: `cvt.u32.u16`.
pub fn cvt(to: Type, from: Type) -> Opcode {
    Opcode::new(Name::Cvt).with(to).with(from)
}

/// A conversion that rounds: `cvt.rn.f16.f32`.
pub fn rounding_cvt(rounding: Rounding, to: Type, from: Type) -> Opcode {
    Opcode::new(Name::Cvt).with(rounding).with(to).with(from)
}

/// A comparison: `setp.lt.s32`.
pub fn setp(comparison: Comparison, ty: Type) -> Opcode {
    Opcode::new(Name::Setp).with(comparison).with(ty)
}

macro_rules! into_word {
    ($($kind:ident)*) => {$(
        impl From<$kind> for Word {
            fn from(word: $kind) -> Word {
                Word::$kind(word)
            }
        }
    )*};
}

into_word! { Type Rounding Comparison Space Shape Modifier }

impl Word {
    fn find(name: Name, text: &str) -> Option<Word> {
        // `lo` and `hi` are comparisons and halves of products.
        if name == Name::Setp
            && let Some(comparison) = Comparison::find(text)
        {
            return Some(Word::Comparison(comparison));
        }
        Type::find(text)
            .map(Word::Type)
            .or_else(|| Rounding::find(text).map(Word::Rounding))
            .or_else(|| Space::find(text).map(Word::Space))
            .or_else(|| Modifier::find(text).map(Word::Modifier))
            .or_else(|| Shape::find(text).map(Word::Shape))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Type(word) => f.write_str(word.text()),
            Word::Rounding(word) => f.write_str(word.text()),
            Word::Comparison(word) => f.write_str(word.text()),
            Word::Space(word) => f.write_str(word.text()),
            Word::Shape(shape) => shape.fmt(f),
            Word::Modifier(word) => f.write_str(word.text()),
        }
    }
}

impl fmt::Debug for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The words of an arithmetic opcode by what they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arithmetic {
    pub name: Name,
    modifiers: [Modifier; 3],
    count: u8,
    pub rounding: Option<Rounding>,
    /// Whether subnormal operands and results become zero.
    pub flushes: bool,
    /// Whether the result is clamped to the range of its type; for floats, to that from 0 to 1.
    pub saturates: bool,
    /// The type, or that of the result if there are two.
    pub ty: Type,
    /// The type of the operands, if it is another one: that of `cvt.ty.from`, of `slct.ty.from`.
    pub from: Option<Type>,
}

impl Arithmetic {
    /// `None` if a word is none of arithmetic, or if the types are not its last words.
    pub fn of(opcode: &Opcode) -> Option<Arithmetic> {
        let is_type = |word: &&Word| matches!(word, Word::Type(_));
        let types = opcode.words().iter().rev().take_while(is_type).count();
        let (words, types) = opcode.words().split_at(opcode.words().len() - types);
        let (ty, from) = match *types {
            [Word::Type(ty)] => (ty, None),
            [Word::Type(ty), Word::Type(from)] => (ty, Some(from)),
            _ => return None,
        };
        let name = opcode.name;
        let (modifiers, count) = ([Modifier::Approx; 3], 0);
        let mut parts =
            Arithmetic { name, modifiers, count, rounding: None, flushes: false, saturates: false, ty, from };
        for &word in words {
            match word {
                Word::Modifier(Modifier::Ftz) => parts.flushes = true,
                Word::Modifier(Modifier::Satfinite) => parts.saturates = true,
                // A sum of integers is clamped to the range of its type, which is another instruction.
                Word::Modifier(Modifier::Sat) if !matches!(name, Name::Add | Name::Sub) || ty.is_float() => {
                    parts.saturates = true;
                }
                Word::Modifier(modifier) => {
                    *parts.modifiers.get_mut(usize::from(parts.count))? = modifier;
                    parts.count += 1;
                }
                Word::Rounding(rounding) if parts.rounding.is_none() => parts.rounding = Some(rounding),
                _ => return None,
            }
        }
        Some(parts)
    }

    /// The other modifiers, in order.
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        text: &str,
        modifiers: &[Modifier],
        types: (Type, Option<Type>),
        rounding: Option<Rounding>,
        (flushes, saturates): (bool, bool),
    ) {
        let opcode = Opcode::find(text).expect(text);
        assert_eq!(opcode.to_string(), text);
        let of = Arithmetic::of(&opcode).expect(text);
        assert_eq!(
            (of.modifiers(), (of.ty, of.from), of.rounding, (of.flushes, of.saturates)),
            (modifiers, types, rounding, (flushes, saturates)),
            "{text}"
        );
    }

    #[test]
    fn parts_of_arithmetic() {
        use Modifier::{Approx, L, Sat, Wide, Wrap};
        let (rn, plain) = (Some(Rounding::Rn), (false, false));
        check("add.s32", &[], (Type::S32, None), None, plain);
        check("add.rn.ftz.sat.f32", &[], (Type::F32, None), rn, (true, true));
        check("add.sat.s32", &[Sat], (Type::S32, None), None, plain);
        check("mul.wide.u32", &[Wide], (Type::U32, None), None, plain);
        check("ex2.approx.ftz.f32", &[Approx], (Type::F32, None), None, (true, false));
        check("cvt.rn.satfinite.e4m3x2.f32", &[], (Type::E4m3x2, Some(Type::F32)), rn, (false, true));
        check("shf.l.wrap.b32", &[L, Wrap], (Type::B32, None), None, plain);
        check("add.rn.f32.bf16", &[], (Type::F32, Some(Type::Bf16)), rn, plain);
    }

    #[test]
    fn words_by_their_place() {
        let setp = Opcode::find("setp.lo.or.u32").unwrap();
        assert_eq!((setp.comparison(), setp.ty()), (Some(Comparison::Lo), Some(Type::U32)));
        assert!(setp.has(Modifier::Or));
        assert!(Opcode::find("mul.lo.s32").unwrap().has(Modifier::Lo));
        assert_eq!(Opcode::find("atom.global.v4.f32.add").unwrap().types().next(), Some(Type::F32));
        assert_eq!(Opcode::find("ld.param::entry.b64").unwrap().space(), Some(Space::ParamEntry));
        let shape = |text| Opcode::find(text).and_then(|opcode| opcode.shape());
        let product = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
        assert_eq!(shape(product), Some(Shape { m: 16, n: 8, k: Some(16) }));
        let matrices = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";
        assert_eq!(shape(matrices), Some(Shape { m: 8, n: 8, k: None }));
        let odd = [
            "",
            ".f32",
            "add.",
            "add..f32",
            "add.f32.x",
            "foo.s32",
            "mma.sync.m16n08k16",
            "mma.sync.m16nk16",
        ];
        for text in odd {
            assert_eq!(Opcode::find(text), None, "{text}");
        }
        assert_eq!(Opcode::find(&format!("add{}", ".s32".repeat(11))), None);
        let none = ["ret", "add.s32.rn", "mul.global.f32", "cvt.rn.rz.f32.f64", "add.f32.f32.f32"];
        for text in none {
            assert_eq!(Arithmetic::of(&Opcode::find(text).unwrap()), None, "{text}");
        }
    }
}
