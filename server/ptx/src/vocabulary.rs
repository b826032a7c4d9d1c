//! The words of opcodes: each enum is one kind of word, with its spelling.

use std::fmt;

macro_rules! words {
    ($(#[$about:meta])* $kind:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind { $($variant,)* }

        impl $kind {
            pub const ALL: &[$kind] = &[$($kind::$variant,)*];

            /// The spelling, without dots.
            pub const fn text(self) -> &'static str {
                match self { $($kind::$variant => $text,)* }
            }

            /// The word with a spelling.
            pub fn find(text: &str) -> Option<$kind> {
                match text { $($text => Some($kind::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// The first word of an opcode.
    Name {
        Abs = "abs", Activemask = "activemask", Add = "add", Addc = "addc", And = "and",
        Applypriority = "applypriority", Atom = "atom", Bar = "bar", Barrier = "barrier", Bfe = "bfe",
        Bfi = "bfi", Bfind = "bfind", Bmsk = "bmsk", Bra = "bra", Brev = "brev", Brkpt = "brkpt",
        Call = "call", Clz = "clz", Cnot = "cnot", Copysign = "copysign", Cos = "cos", Cp = "cp",
        Createpolicy = "createpolicy", Cvt = "cvt", Cvta = "cvta", Discard = "discard", Div = "div",
        Dp4a = "dp4a", Elect = "elect", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        Griddepcontrol = "griddepcontrol", Ld = "ld", Ldmatrix = "ldmatrix", Ldu = "ldu", Lg2 = "lg2",
        Lop3 = "lop3", Mad = "mad", Madc = "madc", Max = "max", Mbarrier = "mbarrier", Membar = "membar",
        Min = "min", Mma = "mma", Mov = "mov", Mul = "mul", Mul24 = "mul24", Nanosleep = "nanosleep", Neg = "neg", Not = "not", Or = "or", Popc = "popc",
        Prefetch = "prefetch", Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red",
        Redux = "redux", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp",
        Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin", Slct = "slct",
        Sqrt = "sqrt", St = "st", Stmatrix = "stmatrix", Sub = "sub", Subc = "subc", Szext = "szext", Tanh = "tanh",
        Testp = "testp", Trap = "trap", Vote = "vote", Wgmma = "wgmma", Xor = "xor",
    }
}

words! {
    /// The type of an operand.
    Type {
        Pred = "pred", B8 = "b8", U8 = "u8", S8 = "s8", B16 = "b16", U16 = "u16", S16 = "s16", F16 = "f16",
        Bf16 = "bf16", B32 = "b32", U32 = "u32", S32 = "s32", F32 = "f32", F16x2 = "f16x2",
        Bf16x2 = "bf16x2", Tf32 = "tf32", B64 = "b64", U64 = "u64", S64 = "s64", F64 = "f64",
        F32x2 = "f32x2", E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2", E2m1x2 = "e2m1x2", Ue8m0x2 = "ue8m0x2",
        S16x2 = "s16x2", U16x2 = "u16x2", B128 = "b128", E4m3 = "e4m3", E5m2 = "e5m2",
    }
}

words! {
    /// The direction of a rounding; `…i` rounds to an integer.
    Rounding {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        Rna = "rna", Rs = "rs",
    }
}

words! {
    /// The comparison of a `setp`. `lo`, `ls`, `hi` and `hs` are unsigned; `…u` holds if an operand is NaN.
    Comparison {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Lo = "lo", Ls = "ls", Hi = "hi",
        Hs = "hs", Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num",
        Nan = "nan",
    }
}

words! {
    /// A state space.
    Space {
        Global = "global", Const = "const", Shared = "shared", SharedCta = "shared::cta",
        SharedCluster = "shared::cluster", Local = "local", Param = "param", ParamEntry = "param::entry",
        ParamFunc = "param::func",
    }
}

words! {
    /// Any other word of an opcode.
    Modifier {
        // Arithmetic.
        Approx = "approx", Full = "full", Ftz = "ftz", Noftz = "noftz", Sat = "sat", Satfinite = "satfinite",
        Relu = "relu", Scaled = "scaled", Nan = "NaN", Xorsign = "xorsign", Abs = "abs", Lo = "lo",
        Hi = "hi", Wide = "wide", Cc = "cc", L = "l", R = "r", Wrap = "wrap", Clamp = "clamp",
        Shiftamt = "shiftamt", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal", To = "to",
        // Operations of `atom`, `red` and `redux`, and gates of `setp`.
        Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor", Exch = "exch",
        Cas = "cas", Inc = "inc", Dec = "dec",
        // Exchanges between lanes, and control flow.
        Sync = "sync", Aligned = "aligned", Arrive = "arrive", Red = "red", Popc = "popc", Warp = "warp",
        Up = "up", Down = "down", Bfly = "bfly", Idx = "idx", All = "all", Any = "any", Uni = "uni",
        Ballot = "ballot", Wait = "wait", LaunchDependents = "launch_dependents",
        // Matrices.
        Row = "row", Col = "col", X1 = "x1", X2 = "x2", X4 = "x4", Trans = "trans", MmaAsync = "mma_async",
        Fence = "fence",
        // Asynchronous copies, and barriers in memory.
        CommitGroup = "commit_group", WaitGroup = "wait_group", WaitAll = "wait_all", BulkGroup = "bulk_group",
        Read = "read", Tensor = "tensor", Tensor1d = "1d", Tensor2d = "2d", Tensor3d = "3d", Tensor4d = "4d",
        Tensor5d = "5d", CompleteTx = "mbarrier::complete_tx::bytes", Init = "init", Inval = "inval",
        ExpectTx = "expect_tx", TryWait = "try_wait", Parity = "parity",
        // Memory.
        V2 = "v2", V4 = "v4", V8 = "v8", Nc = "nc", Volatile = "volatile", Weak = "weak",
        Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel", Sc = "sc",
        Mmio = "mmio", Cta = "cta", Cluster = "cluster", Gpu = "gpu", Gl = "gl", Sys = "sys", Ca = "ca",
        Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", Async = "async", Bulk = "bulk",
        Proxy = "proxy", Fractional = "fractional", Level1 = "L1", Level2 = "L2",
        L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2EvictNormal = "L2::evict_normal", L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last",
        L2CacheHint = "L2::cache_hint", L2Bytes64 = "L2::64B", L2Bytes128 = "L2::128B",
        L2Bytes256 = "L2::256B",
    }
}

/// The extents of the matrices that an instruction works on: `m16n8k16`, `m8n8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Rows of the result.
    pub m: u16,
    /// Columns of the result.
    pub n: u16,
    /// The extent that is summed over, of a product.
    pub k: Option<u16>,
}

impl Shape {
    /// The shape with a spelling.
    pub fn find(text: &str) -> Option<Shape> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k').map_or((rest, None), |(n, k)| (n, Some(k)));
        let k = match k {
            Some(k) => Some(extent(k)?),
            None => None,
        };
        Some(Shape { m: extent(m)?, n: extent(n)?, k })
    }
}

/// A number without leading zeros and signs.
fn extent(digits: &str) -> Option<u16> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_number { digits.parse().ok() } else { None }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}n{}", self.m, self.n)?;
        self.k.map_or(Ok(()), |k| write!(f, "k{k}"))
    }
}

impl Type {
    /// The bits of a value; `None` for pairs that only conversions have, for elements that only matrices have,
    /// and for 128 bits.
    pub const fn bits(self) -> Option<u32> {
        Some(match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 | Type::Tf32 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 64,
            Type::E4m3x2 | Type::E5m2x2 | Type::E2m1x2 | Type::Ue8m0x2 => return None,
            Type::S16x2 | Type::U16x2 | Type::B128 | Type::E4m3 | Type::E5m2 => return None,
        })
    }

    /// The untyped bits of a width of 8, 16, 32 or 64 bits; other widths are rounded up.
    pub const fn b(bits: u32) -> Type {
        match bits {
            0..=8 => Type::B8,
            9..=16 => Type::B16,
            17..=32 => Type::B32,
            _ => Type::B64,
        }
    }

    /// The unsigned integers of a width, as [`Type::b`].
    pub const fn u(bits: u32) -> Type {
        match bits {
            0..=8 => Type::U8,
            9..=16 => Type::U16,
            17..=32 => Type::U32,
            _ => Type::U64,
        }
    }

    /// The signed integers of a width, as [`Type::b`].
    pub const fn s(bits: u32) -> Type {
        match bits {
            0..=8 => Type::S8,
            9..=16 => Type::S16,
            17..=32 => Type::S32,
            _ => Type::S64,
        }
    }

    /// The integers of a width, as [`Type::b`].
    pub const fn integer(is_signed: bool, bits: u32) -> Type {
        if is_signed { Type::s(bits) } else { Type::u(bits) }
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    pub const fn is_unsigned(self) -> bool {
        matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// Whether it is a single floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
    }
}
