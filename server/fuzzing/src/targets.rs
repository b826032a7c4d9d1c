//! The targets, one per file.

mod bytecode;
mod conversions;
mod framing;
mod hlo;
mod kernels;
mod maps;
mod messages;
mod mlir;
mod passes;
mod ptx;
mod queries;
mod verifier;

use crate::{Input, Target};

pub const TARGETS: &[Target] = &[
    Target {
        name: "hlo",
        property: "text of HLO has findings inside it and an answer to each request of an editor, and what is printed reads back",
        input: Input::Content,
        fixtures: &[("server", ".hlo"), ("tests", ".hlo")],
        run: hlo::run,
    },
    Target {
        name: "mlir",
        property: "text of MLIR has findings inside it and an answer to each request of an editor",
        input: Input::Content,
        fixtures: &[("server", ".mlir"), ("tests", ".mlir")],
        run: mlir::run,
    },
    Target {
        name: "verifier",
        property: "valid instructions have no finding, and spoilt ones have one",
        input: Input::Decisions,
        fixtures: &[],
        run: verifier::run,
    },
    Target {
        name: "maps",
        property: "a simplified map is the same function on the same domain, and a printed map reads back",
        input: Input::Content,
        fixtures: &[],
        run: maps::run,
    },
    Target {
        name: "ptx",
        property: "text of PTX that is printed reads back, and runs within its limits",
        input: Input::Content,
        fixtures: &[("server/test-files", ".ptx")],
        run: ptx::run,
    },
    Target {
        name: "messages",
        property: "a message of XLA becomes a text that becomes the same message",
        input: Input::Content,
        fixtures: &[("server/hlo-proto/tests/fixtures", ".pb")],
        run: messages::run,
    },
    Target {
        name: "bytecode",
        property: "bytecode of MLIR becomes text that is read, or is refused",
        input: Input::Content,
        fixtures: &[
            ("server/mlir-bytecode/tests/fixtures", ".mlirbc"),
            ("server/hlo-proto/tests/fixtures", ".mlirbc"),
        ],
        run: bytecode::run,
    },
    Target {
        name: "framing",
        property: "on any bytes from a client the server answers each request once, in frames, and ends",
        input: Input::Content,
        fixtures: &[],
        run: framing::run,
    },
    Target {
        name: "queries",
        property: "each method of query answers, and never with an internal error",
        input: Input::Content,
        fixtures: &[],
        run: queries::run,
    },
    Target {
        name: "conversions",
        property: "HLO as StableHLO and back computes the same",
        input: Input::Decisions,
        fixtures: &[],
        run: conversions::run,
    },
    Target {
        name: "kernels",
        property: "the PTX of a fusion computes what the interpreter computes",
        input: Input::Decisions,
        fixtures: &[],
        run: kernels::run,
    },
    Target {
        name: "passes",
        property: "a module computes the same after a pass of the optimizer",
        input: Input::Decisions,
        fixtures: &[],
        run: passes::run,
    },
];
