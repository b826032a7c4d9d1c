//! "Show kernel": a kernel's code as a document, with a head that describes the launch and a mapping from its
//! lines to instructions. For kernels from other sources the document is a summary.

use std::ops::Range;

use codegen::kernel::Role;
use codegen::{Kernel, KernelText};
use db::KernelId;
use gpu::{Emitter, FusionAnalysis, Launch};
use rustc_hash::FxHashMap;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::elsewhere::{kernel_elsewhere, written_elsewhere};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::tile_document::{has_tiles, tile_document};
use crate::kernel::xla_kernel::KernelComparison;

/// A kernel that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownKernel {
    /// The fusion, or the instruction that XLA wraps in one, without `%`.
    pub instruction: String,
    pub computation: String,
    /// The instruction's name at its definition.
    pub range: TextRange,
    /// Whether XLA's own emitters generate it, so that there is code to show.
    pub has_code: bool,
    /// Whether it is a program on tiles, for Triton.
    pub has_tiles: bool,
}

/// A text and the instructions its lines come from. Holds no part of the database; as large as the text and
/// its instructions.
#[derive(Debug, Clone)]
pub struct KernelDocument {
    /// The lines above the code, without comment markers: the launch, and missing parts.
    pub head: Vec<String>,
    /// MLIR, PTX, or a summary.
    pub body: String,
    /// For each line of the body, the index in `instructions` of its origin.
    pub lines: Vec<Option<u32>>,
    /// Lines of the body that read or write an argument of the kernel, with the argument's number.
    pub accesses: Vec<(usize, usize)>,
    pub instructions: Vec<KernelInstruction>,
    pub origin: KernelOrigin,
}

/// Where the code of a kernel comes from.
#[derive(Debug, Clone)]
pub enum KernelOrigin {
    /// XLA's emitters, or Triton for the kernel of a dump; the body is code.
    Emitters(KernelCode),
    /// Another compiler or a library, in words; the body is a summary.
    Elsewhere(String),
    /// Nowhere: there is no code, for this reason.
    Nowhere(FusionError),
}

/// What a kernel's code needs to be launched.
#[derive(Debug, Clone)]
pub struct KernelCode {
    /// The kernel's name: letters, digits and `_`.
    pub name: String,
    /// `None` if it is not known how XLA launches its kernel.
    pub launch: Option<Launch>,
    pub params: Vec<KernelParam>,
    /// Instructions replaced by zero, and why.
    pub missing: Vec<(String, String)>,
    /// Of a kernel that XLA itself made: how it compares with ours.
    pub comparison: Option<Box<KernelComparison>>,
}

#[derive(Debug, Clone)]
pub struct KernelParam {
    pub is_result: bool,
    /// Number of the operand, or of the result.
    pub number: usize,
    pub bytes: u64,
    /// The number of its memory slice: arguments that share memory have the same.
    pub slice: usize,
}

impl KernelCode {
    fn of(kernel: &Kernel, text: &KernelText) -> KernelCode {
        let param = |(param, slice): (&codegen::kernel::Param, usize)| {
            let (is_result, number) = match param.role {
                Role::Operand(n) => (false, n),
                Role::Result(n) => (true, n),
            };
            KernelParam { is_result, number, bytes: param.bytes, slice }
        };
        let missing = text.missing.iter();
        KernelCode {
            name: kernel.name.clone(),
            launch: Some(kernel.launch),
            params: kernel.params.iter().zip(kernel.slices()).map(param).collect(),
            missing: missing.map(|missing| (missing.instruction.clone(), missing.reason.clone())).collect(),
            comparison: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct KernelInstruction {
    /// The name in the file, without `%`. A parameter has that of its operand where the file writes no
    /// parameter.
    pub name: String,
    /// The name in the kernel's computation.
    pub fused_name: String,
    /// The ranges of the instruction and of its name in the file; `None` if it no longer exists.
    pub at: Option<(TextRange, TextRange)>,
    /// The instruction and its aliases: the fusion's operand for a parameter.
    pub(crate) refs: Vec<InstructionRef>,
}

impl KernelDocument {
    /// A document that is a head alone.
    pub fn without_code(head: Vec<String>, why: FusionError) -> KernelDocument {
        KernelDocument::new(head, KernelOrigin::Nowhere(why))
    }

    pub(crate) fn new(head: Vec<String>, origin: KernelOrigin) -> KernelDocument {
        let (lines, accesses, instructions) = (Vec::new(), Vec::new(), Vec::new());
        KernelDocument { head, body: String::new(), lines, accesses, instructions, origin }
    }

    /// The head with no body.
    #[must_use]
    pub fn without_body(self) -> KernelDocument {
        KernelDocument::new(self.head, self.origin)
    }

    /// The code's facts; `None` if the body is not code.
    pub fn code(&self) -> Option<&KernelCode> {
        match &self.origin {
            KernelOrigin::Emitters(code) => Some(code),
            KernelOrigin::Elsewhere(_) | KernelOrigin::Nowhere(_) => None,
        }
    }

    /// Whether zero replaces some instruction.
    pub fn is_incomplete(&self) -> bool {
        self.code().is_some_and(|code| !code.missing.is_empty())
    }

    /// The whole text, with `notes` in the head, and the number of lines above the body.
    pub fn text(&self, notes: &[String]) -> (String, usize) {
        let mut text = String::with_capacity(self.body.len() + 256);
        let mut count = 0;
        for line in self.head.iter().chain(notes).flat_map(|part| part.lines()) {
            text.push_str("// ");
            match self.code().is_some() {
                true => text.extend(line.chars().map(ascii)),
                false => text.push_str(line),
            }
            text.push('\n');
            count += 1;
        }
        if !self.body.is_empty() {
            text.push('\n');
            count += 1;
        }
        text.push_str(&self.body);
        (text, count)
    }

    /// The document of an earlier revision, without links to instructions.
    pub fn without_source(&self) -> KernelDocument {
        KernelDocument { instructions: Vec::new(), ..self.clone() }
    }

    /// The instruction from which a line of the body originates.
    pub fn instruction_of(&self, line: usize) -> Option<&KernelInstruction> {
        self.instructions.get((*self.lines.get(line)?)? as usize)
    }

    /// Line ranges of the body that originate from one of `instructions`, given by index.
    pub fn lines_of(&self, instructions: &[u32]) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (n, origin) in self.lines.iter().enumerate() {
            if !origin.is_some_and(|origin| instructions.contains(&origin)) {
                continue;
            }
            match runs.last_mut().filter(|last| last.end == n) {
                Some(last) => last.end += 1,
                None => runs.push(n..n + 1),
            }
        }
        runs
    }
}

/// An ASCII replacement, because assemblers accept only ASCII, even in comments.
fn ascii(letter: char) -> char {
    match letter {
        '·' => '|',
        '×' => 'x',
        '≈' => '~',
        'µ' => 'u',
        _ if letter.is_ascii() => letter,
        _ => '?',
    }
}

/// The kernel that contains the instruction at `offset`: its own, or that of the enclosing fusion.
pub(crate) fn shown_kernel(context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
    let at = kernel_around(context, context.instruction_at(offset)?)?;
    let computation = context.computation_index(at)?;
    let block = context.block(at.piece);
    Some(ShownKernel {
        instruction: block.name(at.id).to_owned(),
        computation: context.module().computations[computation].name.to_string(),
        range: context.range(at.piece, block.instruction(at.id).name),
        has_code: written_elsewhere(context, at).is_none(),
        has_tiles: has_tiles(context, at),
    })
}

/// The innermost enclosing instruction that is a kernel.
pub(crate) fn kernel_around(context: &FileContext<'_>, at: InstructionRef) -> Option<InstructionRef> {
    /// Call cycles are errors, but the search must terminate for them too.
    const MAX_DEPTH: usize = 32;
    let mut at = at;
    for _ in 0..MAX_DEPTH {
        if context.may_be_kernel(at) {
            return Some(at);
        }
        at = context.caller(at)?;
        // Instructions run by a loop or a call have kernels of their own.
        let opcode = context.block(at.piece).instruction(at.id).opcode?;
        if !matches!(opcode, ir::Opcode::Fusion) && !gpu::is_wrapped(opcode) {
            return None;
        }
    }
    None
}

/// The instruction that a query names.
pub(crate) fn queried_instruction(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<InstructionRef, FusionError> {
    let found = context.find_instruction(query.computation.as_deref(), &query.instruction);
    found.ok_or_else(|| FusionError::NotFound(format!("{} is not in the module", query.instruction)))
}

/// The document of one kernel. The error is that there is no such instruction; the document itself reports
/// all other problems.
pub(crate) fn kernel_document(
    context: &FileContext<'_>,
    query: &FusionQuery,
    language: KernelLanguage,
) -> Result<KernelDocument, FusionError> {
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
    let sizes = |sizes: [i64; 3]| {
        let last = sizes.iter().rposition(|&n| n != 1).unwrap_or(0);
        sizes[..=last].iter().map(i64::to_string).collect::<Vec<_>>().join("×")
    };
    format!("grid {} · block {} · shared memory {shared_bytes} B", sizes(launch.grid), sizes(launch.block))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::open;

    const MODULE: &str = "HloModule m

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
    fn a_kernel_is_found_around_the_cursor() {
        #[track_caller]
        fn check(text: &str, expect: Option<(&str, bool)>) {
            let (analysis, file, offset) = open(text);
            let found = analysis.shown_kernel(file, offset).expect("nobody cancels");
            assert_eq!(found.as_ref().map(|k| (k.instruction.as_str(), k.has_code)), expect);
        }
        check(MODULE, Some(("f", true)));
        let at = |mark: &str| MODULE.replace("$0", "").replace(mark, &mark.replace('|', "$0"));
        let marked = |plain: &str| {
            let text = at(plain);
            text.replacen(plain, &format!("$0{plain}"), 1)
        };
        check(&marked("f = f32"), Some(("f", true)));
        check(&marked("h = f32"), Some(("h", true)));
        check(&marked("c = f32"), Some(("c", false)));
        check(&marked("n = f32"), Some(("g", false)));
        check(&marked("x = f32"), None);
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
                bytes: 33.8 kB needed
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
    fn others_say_who_writes_them() {
        let document = document("g", KernelLanguage::Ptx);
        assert!(matches!(&document.origin, KernelOrigin::Elsewhere(who) if who.starts_with("Triton writes")));
        assert!(document.body.starts_with("kind: __triton\n"), "{}", document.body);
    }
}
