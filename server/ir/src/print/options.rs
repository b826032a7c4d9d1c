/// How a module is written. Source of the presets: XLA `hlo/ir/hlo_print_options.h`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintOptions {
    /// `%` before names.
    pub percent: bool,
    pub operand_shapes: bool,
    pub operand_names: bool,
    /// `/*index=5*/` before every fifth operand.
    pub index_comments: bool,
    /// Metadata of instructions, and the header's tables that it refers to.
    pub metadata: bool,
    pub backend_config: bool,
    /// Parameters and result in the header of a computation.
    pub program_shape: bool,
    pub control_dependencies: bool,
    /// Constants of more than ten elements in full; else `{...}`.
    pub large_constants: bool,
    /// Instructions are called `tmp_0`, `tmp_1`, … in each computation.
    pub canonical_names: bool,
    /// Called computations are written where they are called.
    pub full_bodies: bool,
    /// `%t#0` where an element of a tuple is used, instead of a `get-tuple-element` of its own.
    pub compact_gte: bool,
}

impl PrintOptions {
    /// As XLA's `HloPrintOptions()`: what dumps look like.
    pub fn dump() -> PrintOptions {
        PrintOptions {
            percent: true,
            operand_shapes: false,
            operand_names: true,
            index_comments: true,
            metadata: true,
            backend_config: true,
            program_shape: true,
            control_dependencies: true,
            large_constants: false,
            canonical_names: false,
            full_bodies: false,
            compact_gte: false,
        }
    }

    /// As a dump, with nothing left out: it reads back to the same module.
    pub fn lossless() -> PrintOptions {
        PrintOptions { large_constants: true, ..PrintOptions::dump() }
    }

    pub fn short_parsable() -> PrintOptions {
        PrintOptions {
            percent: false,
            index_comments: false,
            metadata: false,
            program_shape: false,
            control_dependencies: false,
            large_constants: true,
            ..PrintOptions::dump()
        }
    }

    /// What does not matter for the meaning is left out, what may differ is made the same.
    pub fn canonical() -> PrintOptions {
        PrintOptions {
            percent: false,
            operand_shapes: true,
            operand_names: false,
            index_comments: false,
            metadata: false,
            backend_config: false,
            program_shape: false,
            control_dependencies: false,
            canonical_names: true,
            full_bodies: true,
            ..PrintOptions::dump()
        }
    }
}
