//! Texts that are parsed and printed, and instructions that are printed and parsed.

use ptx::{
    Comparison, ErrorKind, Guard, Instruction, Modifier, Module, Name, Opcode, Operand, Rounding, Shape,
    Space, Statement, Type, Word, parse,
};
use random::Rng;

const TEXT: &str = "// a comment
.version 8.8
.target sm_90a, debug
.address_size 64
.file 1 \"a.c\"
.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .f32 table[4] = {1.5, 0f40000000, -0.0};
.visible .const .u64 one = 7;
.func (.param .align 8 .b8 result[16]) helper(.param .b64 a, .param .f32 b);
.section .debug { .b8 1 }

.visible .entry kernel(
  .param .u64 .ptr .global .align 16 p0,
  .param .v2 .f32 p1
) .reqntid 64, 2 .maxnreg 255 .pragma \"x\"; .explicitcluster
{
  .reg .pred %p<3>; .reg .b32 %r<9>, single;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 tile[4][33];
  .loc 1 2 3
  ld.param.b64 %rd1, [p0]; cvta.to.global.u64 %rd2, %rd1;
  @!%p1 bra.uni $L; /* over
  lines */ setp.gt.or.u32 %p1|%p2, %r1, 0x10, !%p2;
$L: { .reg .b16 tmp; mov.b32 {tmp, _}, %r2; }
  ld.global.nc.L1::no_allocate.v4.b32 {%r1, %r2, %r3, %r4}, [%rd2+-16];
  st.shared.b32 [tile+4], 0f3F800000; st.global.b64 [16], 0dBFF0000000000000;
  fma.rn.f32 %r1, %r2, 1.5, -7; mov.b64 %rd3, 18446744073709551615;
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r1, %r2}, {%r1, %r2, %r3, %r4};
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [ %r3 + 0 ];
  @%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r7], [%rd1, {%r8, 4}], [%r6];
  call (r), helper, (a, b); bar.sync 0; ret;
}
";

#[test]
fn a_printed_text_is_the_same_when_it_is_parsed_again() {
    let module = parse(TEXT).unwrap();
    let printed = module.to_string();
    let again = parse(&printed).unwrap();
    assert_eq!(again.to_string(), printed);
    assert_eq!(structure(&again), structure(&module));
    for line in [
        ".target sm_90a, debug",
        ".extern .shared .align 16 .b8 dynamic[];",
        ".global .align 4 .f32 table[4] = {0f3FC00000, 0f40000000, 0f80000000};",
        ".visible .const .u64 one = 7;",
        "\t.param .u64 .ptr .global .align 16 p0,",
        "\t.param .v2 .f32 p1",
        ".reqntid 64, 2",
        "\t.reg .b32 \tsingle;",
        "\t@!%p1 bra.uni \t$L;",
        "\tsetp.gt.or.u32 \t%p1|%p2, %r1, 16, !%p2;",
        "\tld.global.nc.L1::no_allocate.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd2+-16];",
        "\tmov.b64 \t%rd3, -1;",
        "\tcall \t(r), helper, (a, b);",
        "\tldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 \t{%r1, %r2}, [%r3];",
        "\t@%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes \t[%r7], [%rd1, {%r8, 4}], [%r6];",
    ] {
        assert!(printed.lines().any(|own| own == line), "{line}\n{printed}");
    }
}

/// A module without positions.
fn structure<'a>(module: &Module<&'a str>) -> Module<&'a str> {
    let mut module = module.clone();
    let strip = |variables: &mut Vec<ptx::Variable<&'a str>>| {
        variables.iter_mut().for_each(|variable| variable.at = Default::default());
    };
    strip(&mut module.variables);
    for function in &mut module.functions {
        function.at = Default::default();
        function.positions.clear();
        strip(&mut function.parameters);
        strip(&mut function.results);
        for statement in function.body.iter_mut().flatten() {
            if let Statement::Variable(variable) = statement {
                variable.at = Default::default();
            }
        }
    }
    module
}

fn random_word(rng: &mut Rng, name: Name) -> Word {
    match rng.index(6) {
        0 => Word::Rounding(*rng.pick(Rounding::ALL)),
        1 => Word::Space(*rng.pick(Space::ALL)),
        2 if name == Name::Setp => Word::Comparison(*rng.pick(Comparison::ALL)),
        3 => match *rng.pick(Modifier::ALL) {
            // In a comparison these are comparisons.
            Modifier::Lo | Modifier::Hi if name == Name::Setp => Word::Modifier(Modifier::Ftz),
            modifier => Word::Modifier(modifier),
        },
        4 => {
            let extent = |rng: &mut Rng| 1 + rng.index(300) as u16;
            Word::Shape(Shape { m: extent(rng), n: extent(rng), k: rng.flag().then_some(8) })
        }
        _ => Word::Type(*rng.pick(Type::ALL)),
    }
}

const NAMES: [&str; 7] = ["%r1", "%rd22", "%p3", "$L__BB0_1", "_", "tile", "%tid.x"];

fn random_operand(rng: &mut Rng, depth: u32) -> Operand<&'static str> {
    let name = *rng.pick(&NAMES);
    let bits = rng.next_u64() >> rng.index(64);
    let list = |rng: &mut Rng| (0..rng.index(5)).map(|_| random_operand(rng, depth + 1)).collect();
    match rng.index(if depth < 2 { 11 } else { 8 }) {
        0 => Operand::Not(name),
        1 => Operand::Integer(bits as i64),
        2 => Operand::Single(bits as u32),
        3 => Operand::Double(bits),
        4 => Operand::Address { base: rng.flag().then_some(name), offset: bits as i64 },
        5 => Operand::Pair(name, NAMES[0]),
        6 | 7 => Operand::Name(name),
        8 => Operand::Vector(list(rng)),
        9 => Operand::Tensor { map: name, coordinates: list(rng) },
        _ => Operand::Arguments(list(rng)),
    }
}

#[test]
fn printed_instructions_parse_to_themselves() {
    let mut rng = Rng::new(7);
    for _ in 0..3000 {
        let name = *rng.pick(Name::ALL);
        let words: Vec<Word> = (0..rng.index(11)).map(|_| random_word(&mut rng, name)).collect();
        let opcode = words.iter().fold(Opcode::new(name), |opcode, &word| opcode.with(word));
        assert_eq!(opcode.words(), words);
        let guard = rng.flag().then(|| Guard { name: *rng.pick(&NAMES), is_negated: rng.flag() });
        let operands = (0..rng.index(6)).map(|_| random_operand(&mut rng, 0)).collect();
        let statement = Statement::Instruction(Instruction { guard, opcode, operands });
        let text = format!(".entry k(\n)\n{{\n{statement}\n}}\n");
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(module.functions[0].body, Some(vec![statement]), "{text}");
        assert_eq!(module.functions[0].to_string(), text);
    }
}

#[test]
fn malformed_texts_are_errors_with_their_position() {
    let syntax = ErrorKind::Syntax;
    let check = |text: &str, expect: (ErrorKind, u32, u32)| {
        let error = parse(text).expect_err(text);
        assert_eq!((error.kind, error.at.line, error.at.column), expect, "{text}: {error}");
    };
    check("foo", (syntax, 1, 1));
    check(".version x", (syntax, 1, 10));
    check(".version 8", (syntax, 1, 10));
    check(".target 7", (syntax, 1, 9));
    check(".address_size 32", (ErrorKind::Unsupported, 1, 1));
    check(".global .b8 a[3] = {x};", (ErrorKind::Unsupported, 1, 21));
    check(".global a;", (syntax, 1, 9));
    check(".global .align 3 .b8 a;", (syntax, 1, 22));
    check(".global .e4m3x2 a;", (syntax, 1, 9));
    check(".global .b8 a[18446744073709551615];", (syntax, 1, 35));
    check(".entry k() .maxnreg 4294967296 {}", (syntax, 1, 21));
    check(".entry k() {\n  add.s32 %r1, %r2\n}", (syntax, 3, 1));
    check(".entry k() {\n  ret; frobnicate.s32 %r1;\n}", (ErrorKind::Unsupported, 2, 8));
    check(".entry k() {\n  @%p1 add.s32.q %r1;\n}", (ErrorKind::Unsupported, 2, 3));
    check(".entry k() { .reg .q %r1; }", (ErrorKind::Unsupported, 1, 19));
    check(".entry k() { mov.b32 %r1, {{{1}}}; }", (syntax, 1, 29));
    check(".entry k() { /* ", (syntax, 1, 14));
    check(".entry k() { ret;", (syntax, 1, 18));
    check(&format!(".entry k() {}", "{".repeat(70)), (syntax, 1, 77));
}

#[test]
fn changed_texts_are_errors_or_print_themselves() {
    let mut rng = Rng::new(1);
    let words: Vec<&str> = TEXT.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
    let mut read = 0;
    for _ in 0..5000 {
        let mut changed = words.clone();
        for _ in 0..=rng.index(3) {
            let at = rng.index(changed.len());
            match rng.index(4) {
                0 => _ = changed.remove(at),
                1 => changed[at] = *rng.pick(&words),
                2 => changed.insert(at, *rng.pick(&["{", "}", "[", "4294967296", "-1", ".v4", "é", "\""])),
                _ => changed.truncate(at + 1),
            }
        }
        let changed = changed.concat();
        if let Ok(module) = parse(&changed) {
            read += 1;
            let printed = module.to_string();
            let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{changed}\n{printed}"));
            assert_eq!(again.to_string(), printed, "{changed}");
        }
    }
    assert!(read > 100, "{read} texts were read");
}

mod needs_shared {
    use super::*;

    /// The tokens of a text without what parsing drops: comments, pragmas, spellings of numbers, offsets of zero.
    fn tokens(text: &str) -> Vec<String> {
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with(".pragma"))
            .map(|line| line.split("//").next().unwrap_or_default());
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        let spaced = ["{", "}", "[", "]", ",", ";", "|", "+", "(", ")", "<", ">"]
            .iter()
            .fold(code.replace(":\n", " :\n"), |code, mark| code.replace(mark, &format!(" {mark} ")));
        let number = |word: &str| {
            let digits = word.strip_suffix('U').unwrap_or(word);
            let hex = digits.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            hex.map_or(word.to_owned(), |value| value.to_string())
        };
        let words: Vec<String> = spaced.split_whitespace().map(number).collect();
        let text = words.join(" ").replace(" + 0 ]", " ]").replace("; ;", ";");
        text.split(' ').map(str::to_owned).collect()
    }

    /// Every kernel that Triton compiled for the H100 parses, and prints the same tokens.
    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn kernels_of_triton_print_themselves() {
        let (mut kernels, mut failures) = (0, Vec::new());
        for set in ["pairs", "sweep"] {
            let path = test_files::needs::shared(&format!("conformance/triton/dev/{set}.jsonl.gz"));
            for line in test_files::gzip_lines(&path).unwrap() {
                let record: serde_json::Value = serde_json::from_str(&line).unwrap();
                let (id, text) = (&record["id"], record["ptx"].as_str().unwrap());
                kernels += 1;
                let printed = match parse(text) {
                    Ok(module) => module.to_string(),
                    Err(error) => {
                        failures.push(format!("{id}: {error}"));
                        continue;
                    }
                };
                assert_eq!(parse(&printed).unwrap().to_string(), printed, "{id}");
                let (own, theirs) = (tokens(&printed), tokens(text));
                if let Some(at) = (0..theirs.len()).find(|&n| own.get(n) != theirs.get(n)) {
                    let near =
                        |list: &[String]| list[at.saturating_sub(5)..(at + 5).min(list.len())].join(" ");
                    failures.push(format!("{id}: {} printed as {}", near(&theirs), near(&own)));
                }
            }
        }
        assert!(
            failures.is_empty() && kernels > 200,
            "{} of {kernels}: {}",
            failures.len(),
            failures.join("\n")
        );
    }
}
