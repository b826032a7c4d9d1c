//! "Show kernel": a kernel's code as a document, with a head that describes the launch and a mapping from its
//! lines to instructions. For kernels from other sources the document is a summary.

mod model;

use codegen::KernelText;
use db::KernelId;
use gpu::{Emitter, FusionAnalysis, Launch};
pub use model::{KernelCode, KernelDocument, KernelInstruction, KernelOrigin, KernelParam};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::elsewhere::{kernel_elsewhere, written_elsewhere};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::lens::sizes;
use crate::kernel::shown_kernel::queried_instruction;
use crate::kernel::tile_document::tile_document;
use crate::kernel::tilings::tilings_document;

/// The document of one kernel. The error is that there is no such instruction; the document itself reports
/// all other problems.
pub(crate) fn kernel_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
    language: KernelLanguage,
) -> Result<KernelDocument, FusionError> {
    if language == KernelLanguage::Tilings {
        return tilings_document(context, query);
    }
    let at = queried_instruction(context, query)?;
    let head = vec![format!("%{}", query.instruction)];
    if !language.is_for_triton()
        && let Some(who) = written_elsewhere(context, at)
    {
        let head = head.into_iter().chain([format!("no kernel of XLA's emitters: {who}")]).collect();
        let summary = kernel_elsewhere(context, at);
        let body = summary.iter().map(|line| format!("{line}\n")).collect();
        let document = KernelDocument::new(head, KernelOrigin::Elsewhere(who));
        return Ok(KernelDocument { body, lines: vec![None; summary.len()], ..document });
    }
    let id = context
        .kernel_id(at)
        .ok_or_else(|| FusionError::NotFound(format!("{} is in no computation", query.instruction)))?;
    let analysis = match context.kernel(id) {
        None => {
            let why = "the instruction has no known shape";
            let error = FusionError::NotFound(format!("{} has no known shape", query.instruction));
            return Ok(no_kernel(head, why, error));
        }
        Some(Err(reason)) => return Ok(not_emitted(head, reason)),
        Some(Ok(analysis)) => analysis,
    };
    let device = context.db.device_of(context.view.file).name;
    if language.is_for_triton() {
        let head = vec![format!("%{} · Triton · {device}", query.instruction)];
        return Ok(tile_document(context, at, id, head, analysis, language));
    }
    let head = vec![format!("%{} · {} · {device}", query.instruction, analysis.emitter.name())];
    Ok(code_of(context, id, head, analysis, language, |op| kernel_instruction(context, at, analysis, op)))
}

fn no_kernel(mut head: Vec<String>, reason: &str, error: FusionError) -> KernelDocument {
    head.push(format!("no kernel: {reason}"));
    KernelDocument::without_code(head, error)
}

/// The document of a kernel that no emitter takes.
pub(crate) fn not_emitted(head: Vec<String>, reason: &str) -> KernelDocument {
    no_kernel(head, reason, FusionError::NotEmitted(reason.to_owned()))
}

/// The code of a kernel; `of` gives the instruction of each op.
pub(crate) fn code_of<'a>(
    context: &FileContext<'a>,
    id: KernelId<'a>,
    mut head: Vec<String>,
    analysis: &FusionAnalysis,
    language: KernelLanguage,
    of: impl Fn(ir::OpId) -> KernelInstruction,
) -> KernelDocument {
    let (kernel, text) = match (context.kernel_code(id), context.kernel_text(id, language)) {
        (Some(Ok(kernel)), Some(Ok(text))) => (kernel, text),
        (Some(Err(reason)), _) | (_, Some(Err(reason))) => return not_emitted(head, reason),
        (None, _) | (_, None) => {
            let why = "the instruction has no known shape";
            return no_kernel(head, why, FusionError::NotFound(why.to_owned()));
        }
    };
    let steps = match &analysis.emitter {
        Emitter::Sort(sort) if sort.steps.len() > 1 => format!("{} kernels, the first: ", sort.steps.len()),
        _ => String::new(),
    };
    head.extend(analysis.launch().map(|launch| steps + &runs_as(&launch, text.shared_bytes)));
    if !text.missing.is_empty() {
        let names: Vec<String> = text.missing.iter().map(|m| format!("%{}", m.instruction)).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        head.push(format!("incomplete: {} {verb} not written", names.join(", ")));
    }
    document_of_text(head, text, KernelOrigin::Emitters(KernelCode::of(kernel, text)), of)
}

/// The document of a text whose lines belong to ops; `of` gives the instruction of each op.
pub(crate) fn document_of_text(
    head: Vec<String>,
    text: &KernelText,
    origin: KernelOrigin,
    of: impl Fn(ir::OpId) -> KernelInstruction,
) -> KernelDocument {
    let mut places: FxHashMap<ir::OpId, u32> = FxHashMap::default();
    let mut instructions = Vec::new();
    let lines = text.lines.iter().map(|origin| {
        let op = (*origin)?;
        Some(*places.entry(op).or_insert_with(|| {
            instructions.push(of(op));
            instructions.len() as u32 - 1
        }))
    });
    KernelDocument {
        head,
        body: text.text.clone(),
        lines: lines.collect(),
        accesses: text.accesses.clone(),
        instructions,
        origin,
    }
}

pub(crate) fn kernel_instruction(
    context: &FileContext<'_>,
    at: InstructionRef,
    analysis: &FusionAnalysis,
    op: ir::OpId,
) -> KernelInstruction {
    let name = analysis.fused.name(op);
    let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(ir::Opcode::Fusion);
    let own = match is_fusion {
        true => context.nested_instruction(at, name),
        false => (context.block(at.piece).name(at.id) == name).then_some(at),
    };
    let operand = analysis.fused.op(op).parameter.and_then(|n| context.definition(at, n as usize));
    let refs: Vec<InstructionRef> = own.into_iter().chain(operand).collect();
    let place = refs.first().map(|first| {
        let instruction = context.block(first.piece).instruction(first.id);
        (context.range(first.piece, instruction.span), context.range(first.piece, instruction.name))
    });
    let shown = refs.first().map_or(name, |first| context.block(first.piece).name(first.id));
    KernelInstruction { name: shown.to_owned(), fused_name: name.to_owned(), at: place, refs }
}

/// `grid 4 · block 128 · shared memory 4224 B`
pub(crate) fn runs_as(launch: &Launch, shared_bytes: i64) -> String {
    format!("grid {} · block {} · shared memory {shared_bytes} B", sizes(launch.grid), sizes(launch.block))
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::open;

    pub(crate) const MODULE: &str = "HloModule m

%fused {
  p = f32[64,66] parameter(0)
  q = f32[66] parameter(1)
  b = f32[64,66] broadcast(q), dimensions={1}
  ROOT $0s = f32[64,66] add(p, b)
}

%triton {
  p.1 = f32[64,66] parameter(0)
  ROOT n = f32[64,66] negate(p.1)
}

ENTRY %e {
  x = f32[64,66] parameter(0)
  y = f32[66] parameter(1)
  f = f32[64,66] fusion(x, y), kind=kLoop, calls=%fused
  c = f32[64,66] custom-call(f), custom_call_target=\"__cublas$gemm\", backend_config={\"alpha_real\":1,\"dims\":{\"m\":[\"0\"]}}
  h = f32[64,66] negate(c)
  ROOT g = f32[64,66] fusion(h), kind=kCustom, calls=%triton, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\",\"block_level_fusion_config\":{\"num_warps\":\"4\",\"output_tiles\":[{\"sizes\":[\"1\",\"128\"]}]}}}
}
";

    fn document(instruction: &str, language: KernelLanguage) -> KernelDocument {
        let (analysis, file, _) = open(MODULE);
        let query = FusionQuery { instruction: instruction.to_owned(), computation: Some("e".to_owned()) };
        let found = analysis.kernel_document(file, &query, language).expect("nobody cancels");
        found.expect("it is in the module")
    }

    #[test]
    fn lines_lead_to_instructions_and_back() {
        let text = MODULE.replace("$0", "");
        for language in [KernelLanguage::Mlir, KernelLanguage::Ptx] {
            let document = document("f", language);
            assert_eq!(document.head, ["%f · loop · h100-sxm", "grid 33 · block 128 · shared memory 0 B"]);
            let body: Vec<&str> = document.body.lines().collect();
            assert_eq!(body.len(), document.lines.len());
            for (n, line) in body.iter().enumerate() {
                let Some(instruction) = document.instruction_of(n) else { continue };
                let (whole, name) = instruction.at.clone().expect("it is in the text");
                assert_eq!(text[name], instruction.name);
                let opcode =
                    [("arith.addf", "add("), ("add.rn.f32", "add("), ("tensor.extract", "parameter(")];
                for (code, opcode) in opcode {
                    assert!(!line.contains(code) || text[whole.clone()].contains(opcode), "{line}");
                }
                let place = document.lines[n].expect("it has one");
                assert!(document.lines_of(&[place]).iter().any(|run| run.contains(&n)));
            }
        }
    }

    #[test]
    fn what_others_write_is_readable() {
        let shown = |instruction, expect: Expect| {
            expect.assert_eq(&document(instruction, KernelLanguage::Ptx).text(&[]).0);
        };
        shown(
            "c",
            expect![[r#"
                // %c
                // no kernel of XLA's emitters: a library or custom code runs this

                target: __cublas$gemm
                result: f32[64,66]
                operand 0: %f f32[64,66]

                backend_config:
                  alpha_real: 1
                  dims:
                    m: [0]
            "#]],
        );
        shown(
            "g",
            expect![[r#"
                // %g
                // no kernel of XLA's emitters: Triton writes this kernel

                kind: __triton
                launch: grid 64 × 128 threads
                blocks: tiles 1×128, 4 warps
                time: ≈ 0.012 µs on h100-sxm
                bytes: 33.8 kB needed, 43 kB moved
                result: f32[64,66]
                operand 0: %h f32[64,66]

                backend_config:
                  fusion_backend_config:
                    kind: __triton
                    block_level_fusion_config:
                      num_warps: 4
                      output_tiles:
                        -
                          sizes: [1, 128]
            "#]],
        );
    }

    /// An instruction of an unoptimised module has no code either.
    #[test]
    fn a_product_alone_has_no_code() {
        let text = "\
HloModule m

ENTRY %e {
  x = f32[64,66] parameter(0)
  ROOT $0d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
";
        let (analysis, file, offset) = open(text);
        let shown = analysis.shown_kernel(file, offset).expect("nobody cancels").expect("a kernel");
        assert!(!shown.has_code);
        let query = FusionQuery { instruction: shown.instruction, computation: Some(shown.computation) };
        let document = analysis.kernel_document(file, &query, KernelLanguage::Ptx).expect("nobody cancels");
        let document = document.expect("it is in the module");
        assert!(document.code().is_none());
        assert_eq!(
            document.head,
            ["%d", "no kernel of XLA's emitters: XLA gives it to cuBLAS or to a Triton gemm fusion"]
        );
    }

    #[test]
    fn what_is_not_written_is_named_at_its_place() {
        let text = "HloModule m

%fused {
  p = f32[64] parameter(0)
  u = f32[64] custom-call(p), custom_call_target=\"x\"
  ROOT s = f32[64] add(p, u)
}

ENTRY %e {
  x = f32[64] parameter(0)
  ROOT $0f = f32[64] fusion(x), kind=kLoop, calls=%fused
}
";
        let (analysis, file, _) = open(text);
        let query = FusionQuery { instruction: "f".to_owned(), computation: None };
        for (language, code) in [(KernelLanguage::Mlir, "arith.addf"), (KernelLanguage::Ptx, "st.global")] {
            let document = analysis.kernel_document(file, &query, language).expect("nobody cancels");
            let document = document.expect("it is in the module");
            assert!(document.is_incomplete());
            assert!(document.head.iter().any(|line| line == "incomplete: %u is not written"), "{document:?}");
            let place = document.body.lines().position(|line| line.contains("// not written: %u"));
            let place = place.expect("a comment at its place");
            assert_eq!(document.instruction_of(place).map(|i| i.name.as_str()), Some("u"));
            assert!(document.body.contains(code), "the rest is there");
        }
    }

    #[test]
    fn code_tells_its_arguments() {
        for language in [KernelLanguage::Ptx, KernelLanguage::Mlir] {
            let document = document("f", language);
            let code = document.code().expect("a loop");
            assert_eq!(code.missing, []);
            let lines: Vec<&str> = document.body.lines().collect();
            let sums = (0..lines.len()).filter(|&n| {
                document.instruction_of(n).is_some_and(|instruction| instruction.fused_name == "s")
                    && (lines[n].contains("add.rn.f32") || lines[n].contains("arith.addf"))
            });
            assert!(sums.count() > 0, "{}", document.body);
            let roles: Vec<_> = code.params.iter().map(|p| (p.is_result, p.number, p.bytes)).collect();
            assert_eq!(roles, [(false, 0, 16896), (false, 1, 264), (true, 0, 16896)]);
        }
    }

    #[test]
    fn a_fusion_for_triton_is_a_program_on_tiles() {
        let tiles = document("g", KernelLanguage::Tiles);
        assert_eq!(tiles.head[..2], ["%g · Triton · h100-sxm", "grid 64 × 128 threads"]);
        assert_eq!(tiles.body.lines().count(), tiles.lines.len());
        let negate =
            tiles.body.lines().position(|line| line.contains("stablehlo.negate")).expect("it negates");
        assert_eq!(tiles.instruction_of(negate).map(|of| of.name.as_str()), Some("n"));
        let read =
            tiles.body.lines().position(|line| line.contains("xtile.extract %arg0")).expect("it reads");
        assert_eq!(tiles.instruction_of(read).map(|of| of.name.as_str()), Some("p.1"));
        let lowered = document("g", KernelLanguage::Triton);
        assert_eq!(lowered.head, tiles.head);
        assert_eq!(lowered.body.lines().count(), lowered.lines.len());
        let negate = lowered.body.lines().position(|line| line.contains("arith.negf")).expect("it negates");
        assert_eq!(lowered.instruction_of(negate).map(|of| of.name.as_str()), Some("n"));
        // XLA's own emitters write no tiles.
        let none = document("f", KernelLanguage::Tiles);
        let why = "no kernel: only fusions for Triton are written as tiles";
        assert_eq!(none.head.last().map(String::as_str), Some(why));
    }

    #[test]
    fn code_of_xla_that_is_wrong_says_so() {
        let padded = "  z = f32[] constant(0)\n  ROOT n = f32[64,66] pad(p.1, z), padding=0_0x0_2";
        let text = MODULE
            .replace("  ROOT n = f32[64,66] negate(p.1)", padded)
            .replace("p.1 = f32[64,66]", "p.1 = f32[64,64]")
            .replace("h = f32[64,66] negate(c)", "h = f32[64,64] slice(c), slice={[0:64], [0:64]}")
            .replace("\"128\"", "\"64\"");
        let (analysis, file, _) = open(&text);
        let query = FusionQuery { instruction: "g".to_owned(), computation: Some("e".to_owned()) };
        let found = analysis.kernel_document(file, &query, KernelLanguage::Tiles).expect("nobody cancels");
        let doubt = found.expect("it is in the module").head.pop().expect("a doubt");
        assert!(doubt.starts_with("XLA's code may give wrong values: %n: XLA writes no mask"), "{doubt}");
    }

    #[test]
    fn others_say_who_writes_them() {
        let document = document("g", KernelLanguage::Ptx);
        assert!(matches!(&document.origin, KernelOrigin::Elsewhere(who) if who.starts_with("Triton writes")));
        assert!(document.body.starts_with("kind: __triton\n"), "{}", document.body);
    }
}
