//! The tile programs of Triton fusions, compared with the interpreter: ours of small fusions, and ours and XLA's of the
//! kernels of its compiler.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all kernels is for")]

use agreement::{Flavour, TileEffort, TileOutcome, check_tiles};
use gpu::{Device, Fused, FusionAnalysis};
use ir::AttributeKey;

/// The number of elements that the blocks of one kernel compute before the next block is not started.
const WORK: u64 = 1 << 20;

/// Our program of the fusion that is the root of a module's entry.
fn emitted(hlo: &str) -> Result<String, String> {
    Ok(xtile::text(&program(hlo)?).text)
}

/// The same in Triton's operations.
fn lowered(hlo: &str) -> Result<String, String> {
    let lowered = xtile::lower(&program(hlo)?).map_err(|why| why.to_string())?;
    Ok(xtile::text(&lowered).text)
}

fn program(hlo: &str) -> Result<xtile::Program, String> {
    let graphs = agreement::Graphs::new(hlo);
    let entry = graphs.entry().ok_or("no fusion in the text")?;
    let fusion = &entry.ops[entry.root as usize];
    let callee = |name: &str| graphs.get(name);
    let called =
        fusion.attributes.computation(AttributeKey::Calls).and_then(callee).ok_or("it calls nothing")?;
    let mut fused = Fused::of_fusion(fusion, &called, &callee).map_err(|why| why.to_string())?;
    fused.has_several_results_flag = hlo.contains(xtile::SEVERAL_RESULTS_FLAG);
    let device = Device::find("h100-sxm").map_err(|_| "no such device")?;
    let analysis = FusionAnalysis::new(fused, device).map_err(|why| why.to_string())?;
    xtile::emit("tiles", &analysis, &callee).map_err(|why| why.to_string())
}

fn checked(hlo: &str, program: &str, work: u64) -> Result<[TileOutcome; 2], String> {
    let effort = |flavour| TileEffort { seed: 3, flavour, work, elements: 512 };
    let check = |flavour| check_tiles(hlo, program, effort(flavour)).map_err(|why| why.into_owned());
    Ok([check(Flavour::Plain)?, check(Flavour::Special)?])
}

/// What was compared, of several programs.
#[derive(Debug, Default)]
struct Tally {
    equal: usize,
    /// Those of which all blocks were run.
    whole: usize,
    wrong: Vec<String>,
    /// Programs that say that XLA's code is wrong, and those of them that are.
    doubted: usize,
    doubted_and_wrong: usize,
    refused: Vec<String>,
    compared: u64,
    open: u64,
    /// Of those compared and open, with ordinary inputs.
    ordinary: [u64; 2],
    blocks: u64,
}

impl Tally {
    /// Checks a program, or notes why there is none.
    fn add(&mut self, name: &str, hlo: &str, program: Result<String, String>, work: u64) {
        let program = match program {
            Ok(program) => program,
            Err(why) => return self.refused.push(format!("{name}: {why}")),
        };
        let found = match checked(hlo, &program, work) {
            Ok(found) => found,
            Err(why) => return self.wrong.push(format!("{name}: {why}")),
        };
        self.whole += usize::from(found[0].is_whole);
        self.ordinary[0] += found[0].compared;
        self.ordinary[1] += found[0].open;
        for outcome in &found {
            self.compared += outcome.compared;
            self.open += outcome.open;
            self.blocks += outcome.blocks;
        }
        match found.iter().find_map(|outcome| Some((outcome, outcome.wrong.first()?))) {
            None => self.equal += 1,
            Some((outcome, first)) => {
                self.wrong.push(format!("{name}: {} of {}: {first}", outcome.wrong.len(), outcome.compared));
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally {
            equal,
            whole,
            wrong,
            doubted,
            doubted_and_wrong,
            refused,
            compared,
            open,
            ordinary,
            blocks,
        } = self;
        write!(
            f,
            "{equal} equal, {} wrong, {doubted_and_wrong} of {doubted} doubted ones, {} refused; {whole} whole; {blocks} blocks, {compared} elements compared, {open} open \
             (of ordinary inputs {} of {})",
            wrong.len(),
            refused.len(),
            ordinary[1],
            ordinary[0]
        )
    }
}

/// A module whose only fusion has this body, and the tile of a block.
fn module(result: &str, operands: &str, body: &str, tile: &str) -> String {
    let named = operands.split(';').filter_map(|operand| operand.trim().split_once('='));
    let (names, parameters): (Vec<&str>, Vec<String>) = (named.enumerate())
        .map(|(n, (name, shape))| (name.trim(), format!("  {name} = {shape} parameter({n})\n")))
        .unzip();
    let parameters = parameters.concat();
    format!(
        "HloModule m\n%add {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n\n\
         %max {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}}\n\n\
         %fused {{\n{parameters}{body}\n}}\n\nENTRY %e {{\n{parameters}  ROOT tiles = {result} fusion({}), kind=kCustom, \
         calls=%fused, backend_config={{\"fusion_backend_config\":{{\"kind\":\"__triton\",\
         \"block_level_fusion_config\":{{\"num_warps\":\"4\",\"output_tiles\":[{{\"sizes\":[{tile}]}}]}}}}}}\n}}\n",
        names.join(", "),
    )
}

/// Small fusions with ragged ends: softmax, a dot in steps, a concatenation, a slice that starts anywhere, a transpose.
fn fusions() -> [(&'static str, String); 5] {
    let softmax = "  n = f32[] constant(-inf)
  m = f32[5] reduce(p, n), dimensions={1}, to_apply=%max
  bm = f32[5,100] broadcast(m), dimensions={0}
  d = f32[5,100] subtract(p, bm)
  e = f32[5,100] exponential(d)
  z = f32[] constant(0)
  s = f32[5] reduce(e, z), dimensions={1}, to_apply=%add
  bs = f32[5,100] broadcast(s), dimensions={0}
  ROOT r = f32[5,100] divide(e, bs)";
    let dot = "  b = bf16[33,40] broadcast(s), dimensions={0}
  m = bf16[33,40] multiply(p, b)
  ROOT d = f32[33,19] dot(m, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}, backend_config={\"sizes\":[\"16\"]}";
    let slice =
        "  d = s32[5,8] dynamic-slice(p, at, z), dynamic_slice_sizes={5,8}\n  ROOT n = s32[5,8] negate(d)";
    [
        ("softmax", module("f32[5,100]", "p = f32[5,100]", softmax, "\"2\",\"128\"")),
        ("dot", module("f32[33,19]", "p = bf16[33,40]; q = bf16[40,19]; s = bf16[33]", dot, "\"16\",\"16\"")),
        (
            "concatenate",
            module(
                "f32[21]",
                "p = f32[8]; q = f32[13]",
                "  ROOT c = f32[21] concatenate(p, q), dimensions={0}",
                "\"4\"",
            ),
        ),
        ("slice", module("s32[5,8]", "p = s32[16,9]; at = s32[]; z = s32[]", slice, "\"2\",\"8\"")),
        (
            "transpose",
            module(
                "f32[7,5]",
                "p = f32[5,7]",
                "  ROOT t = f32[7,5] transpose(p), dimensions={1,0}",
                "\"4\",\"4\"",
            ),
        ),
    ]
}

#[test]
fn small_fusions_answer_what_the_interpreter_does() {
    for (name, hlo) in fusions() {
        for program in [emitted(&hlo), lowered(&hlo)] {
            for outcome in checked(&hlo, &program.expect(name), WORK).expect(name) {
                assert!(outcome.is_whole && outcome.compared > 20, "{name}: {outcome:?}");
                assert_eq!(outcome.wrong, Vec::<String>::new(), "{name}");
            }
        }
    }
}

/// A change of each program's text, and what the check says of it.
#[test]
fn spoilt_programs_are_found_out() {
    let spoilt = [
        ("softmax", "bounds [2, 100]", "bounds [2, 101]", "element "),
        ("softmax", "math.exp", "math.log", "element "),
        ("dot", "arith.cmpi slt", "arith.cmpi sge", "element "),
        ("dot", "to %c3 step", "to %c1 step", "element "),
        ("dot", "dense<40>", "dense<41>", "element "),
        ("dot", "[16, 16] [1, 1] : tensor<16x16xf32>", "[16, 16] [2, 1] : tensor<16x16xf32>", "two values"),
        ("concatenate", "constant 8 : index", "constant 4 : index", "element "),
        ("concatenate", "into %arg2[%3]", "into %arg2[%c8]", "two values"),
        ("slice", "arith.maxsi", "arith.minsi", "element "),
        ("transpose", "dims = [1, 0]", "dims = [0, 1]", "element "),
        ("transpose", "[4, 4] [1, 1] : tensor", "[4, 4] [2, 1] : tensor", "two values"),
    ];
    let fusions = fusions();
    for (name, from, to, what) in spoilt {
        let (_, hlo) = fusions.iter().find(|(known, _)| *known == name).expect(name);
        let program = emitted(hlo).expect(name);
        assert!(program.contains(from), "{name} has no {from}:\n{program}");
        let found = match checked(hlo, &program.replace(from, to), WORK) {
            Ok(found) => found.iter().flat_map(|outcome| outcome.wrong.clone()).next().unwrap_or_default(),
            Err(why) => why,
        };
        assert!(found.contains(what), "{name}: {from} -> {to}: {found:?}");
    }
}

/// How many random fusions are tried, times `HLO_ANALYZER_CASES` where it is set.
const CASES: u64 = 300;

#[test]
fn random_fusions_answer_what_the_interpreter_does() {
    let [mut tally, mut in_triton] = [Tally::default(), Tally::default()];
    let cases = generators::cases(CASES);
    for case in 0..cases {
        let mut rng = random::Rng::new(generators::seed(case));
        let fusion = generators::tiles::random_tiled_fusion(&mut rng);
        let name = format!("seed {}\n{}", fusion.seed, fusion.text);
        let is_doubted = program(&fusion.text).is_ok_and(|program| !program.doubts.is_empty());
        for (tally, program) in [(&mut tally, emitted(&fusion.text)), (&mut in_triton, lowered(&fusion.text))]
        {
            let before = tally.wrong.len();
            tally.add(&name, &fusion.text, program, 1 << 17);
            if is_doubted {
                // XLA's code is wrong there for some tiles, and the program says so.
                tally.doubted += 1;
                tally.doubted_and_wrong += tally.wrong.drain(before..).count();
            }
        }
    }
    for tally in [tally, in_triton] {
        println!("{tally}");
        let wrong = tally.wrong.len();
        assert!(wrong == 0, "{wrong} of {cases} are wrong, the first: {}", tally.wrong[0]);
        assert!(tally.equal as u64 * 2 > cases && tally.whole as u64 * 2 > cases, "few are run: {tally}");
        let [compared, open] = tally.ordinary;
        assert!(open * 50 <= compared, "too much is left open: {tally}");
    }
}

/// XLA masks a padded dimension unless the operand has as many elements as a tile has, whatever the number of tiles: the
/// others are not padded. What they are instead depends on what a read outside of an array is.
#[test]
fn a_pad_of_whole_tiles_is_not_masked_as_in_xla() {
    let body = "  h = f32[] constant(0.5)\n  ROOT r = f32[12] pad(p, h), padding=0_4";
    for (tile, is_right) in [("\"4\"", true), ("\"8\"", false), ("\"16\"", true)] {
        let hlo = module("f32[12]", "p = f32[8]", body, tile);
        check_doubts(&hlo, is_right);
    }
}

/// XLA's mask of a pad, and its choice of an operand of a concatenation, take the elements of a tile for neighbours, be they
/// apart.
#[test]
fn masks_and_choices_ignore_strides_as_in_xla() {
    let pad = "  h = f32[] constant(0.5)\n  w = f32[12] pad(p, h), padding=0_6\n  \
               ROOT r = f32[6] slice(w), slice={[0:12:2]}";
    for (tile, is_right) in [("\"1\"", true), ("\"4\"", false)] {
        check_doubts(&module("f32[6]", "p = f32[6]", pad, tile), is_right);
    }
    let concatenate = "  n = f32[8] negate(p)\n  c = f32[16] concatenate(p, n), dimensions={0}\n  \
                       ROOT r = f32[8] slice(c), slice={[0:16:2]}";
    for (tile, is_right) in [("\"4\"", true), ("\"8\"", false)] {
        check_doubts(&module("f32[8]", "p = f32[8]", concatenate, tile), is_right);
    }
}

/// Where XLA's code is wrong, and only there, the program says so.
#[track_caller]
fn check_doubts(hlo: &str, is_right: bool) {
    let program = program(hlo).expect("a program");
    let [ordinary, _] = checked(hlo, &xtile::text(&program).text, WORK).expect("it is run");
    assert_eq!(ordinary.wrong.is_empty(), is_right, "{ordinary:?}");
    assert_eq!(program.doubts.is_empty(), is_right, "{:?}", program.doubts);
}

/// The fusions whose texts are compared with XLA's: what these programs compute is right.
#[test]
fn programs_that_are_as_xla_writes_them_are_right() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtile/tests/triton");
    let mut tally = Tally::default();
    for path in test_files::below(folder, ".hlo") {
        let hlo = std::fs::read_to_string(&path).expect("a module");
        // Scaled dots are not evaluated.
        if hlo.contains(" scaled-dot(") {
            continue;
        }
        for (how, program) in [("emitted", emitted(&hlo)), ("lowered", lowered(&hlo))] {
            tally.add(&format!("{} {how}", path.display()), &hlo, program, WORK);
        }
    }
    println!("{tally}");
    assert!(tally.wrong.is_empty() && tally.refused.is_empty(), "{:#?} {:#?}", tally.wrong, tally.refused);
}

mod needs_shared {
    use super::*;

    /// A kernel of XLA's compiler.
    struct Kernel {
        name: String,
        hlo: String,
        /// XLA's program as emitted, and in Triton's operations.
        programs: [String; 2],
    }

    fn kernels() -> Vec<Kernel> {
        let folder = test_files::needs::shared("conformance/triton/dev");
        let mut found = Vec::new();
        for set in ["pairs", "sweep"] {
            let lines = test_files::gzip_lines(&folder.join(format!("{set}.jsonl.gz"))).expect("it is there");
            for line in lines {
                let record: serde_json::Value = serde_json::from_str(&line).expect("a record");
                let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
                let programs = ["ttir_before_validation", "ttir"].map(text);
                found.push(Kernel { name: text("id"), hlo: text("hlo"), programs });
            }
        }
        found
    }

    /// A fusion of one buffer, which XLA passes once. In the module of the kernel these are two parameters.
    const ONE_BUFFER: &str = "linalg/gemm_fusion_dot.1";

    /// One of this many kernels is run, unless `HLO_ANALYZER_KERNELS` is `all` or a part of their names.
    const SAMPLE: u64 = 8;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn tile_programs_of_xla_kernels_answer_what_the_interpreter_does() {
        let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
        let is_chosen = |name: &str| match which.as_str() {
            "" => agreement::xla_kernels::hash(name).is_multiple_of(SAMPLE),
            "all" => true,
            part => name.contains(part),
        };
        let mut kernels = kernels();
        kernels.retain(|kernel| is_chosen(&kernel.name));
        let sides = ["ours", "ours, lowered", "XLA's", "XLA's, lowered"];
        let tallies = generators::on_all_cores(sides.len() as u64, |side| {
            let whose = sides[side as usize];
            let mut tally = Tally::default();
            for Kernel { name, hlo, programs: [first, second] } in &kernels {
                let program = match whose {
                    "ours" => emitted(hlo),
                    "ours, lowered" => lowered(hlo),
                    _ if name == ONE_BUFFER => continue,
                    "XLA's" => Ok(first.clone()),
                    _ => Ok(second.clone()),
                };
                tally.add(name, hlo, program, WORK);
            }
            tally
        });
        for (whose, tally) in sides.into_iter().zip(&tallies) {
            println!("{whose}: {tally}");
            let bad: Vec<&String> = tally.wrong.iter().chain(&tally.refused).collect();
            assert!(bad.is_empty(), "{whose}: {bad:?}");
            assert!(tally.equal > 0 && tally.ordinary[1] * 100 <= tally.ordinary[0], "{whose}: {tally}");
        }
    }
}
