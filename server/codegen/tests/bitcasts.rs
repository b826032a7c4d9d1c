//! Kernels in which a bitcast changes the type of a number: later ops compute in the type after the bitcast.

mod agreeing;
mod written;

use agreeing::agrees_calling;
use random::Rng;

/// Types of one width, the parameters' first.
const WIDTHS: [&[&str]; 4] =
    [&["f32", "s32", "u32"], &["f64", "s64", "u64"], &["bf16", "s16", "u16", "f16"], &["s8", "u8"]];

/// A computation on two numbers of the type `own` that returns one, or whether they are in order. Each step
/// has another type of the same width.
fn body(random: &mut Rng, name: &str, types: &[&str], is_order: bool) -> String {
    let own = types[0];
    let mut text = format!("{name} {{\n  a = {own}[] parameter(0)\n  b = {own}[] parameter(1)\n");
    // Names and types of the available values.
    let mut values: Vec<(String, &str)> = vec![("a".to_owned(), own), ("b".to_owned(), own)];
    let mut seen = 0;
    let mut push = |text: &mut String, ty: &str, op: String| {
        seen += 1;
        *text += &format!("  v{seen} = {ty}[] {op}\n");
        format!("v{seen}")
    };
    let steps = 2 + random.index(5);
    for _ in 0..steps {
        let ty = types[random.index(types.len())];
        let mut operands = Vec::new();
        for _ in 0..2 {
            let (value, of) = values[random.index(values.len())].clone();
            let cast = if random.index(2) == 0 { "bitcast" } else { "bitcast-convert" };
            operands.push(match of == ty {
                true => value,
                false => push(&mut text, ty, format!("{cast}({value})")),
            });
        }
        let [x, y] = [&operands[0], &operands[1]];
        let is_whole = ty.starts_with(['s', 'u']);
        let result = match random.index(6) {
            0 => push(&mut text, ty, format!("minimum({x}, {y})")),
            1 => push(&mut text, ty, format!("maximum({x}, {y})")),
            2 => {
                let direction = ["LT", "GE", "EQ"][random.index(3)];
                let c = push(&mut text, "pred", format!("compare({x}, {y}), direction={direction}"));
                push(&mut text, ty, format!("select({c}, {x}, {y})"))
            }
            3 => {
                let k = push(&mut text, ty, "constant(5)".to_owned());
                let c = push(&mut text, "pred", format!("compare({x}, {k}), direction=LT"));
                push(&mut text, ty, format!("select({c}, {y}, {k})"))
            }
            4 if is_whole => push(&mut text, ty, format!("xor({x}, {y})")),
            5 if is_whole => push(&mut text, ty, format!("add({x}, {y})")),
            _ => push(&mut text, ty, format!("negate({x})")),
        };
        values.push((result, ty));
    }
    let (last, ty) = values[values.len() - 1].clone();
    match is_order {
        true => {
            // Compares the values computed from each by one type, so that the order is total.
            let whole = types[1];
            text = format!("{name} {{\n  a = {own}[] parameter(0)\n  b = {own}[] parameter(1)\n");
            let pair = ["a", "b"].map(|value| {
                let cast = match own == whole {
                    true => value.to_owned(),
                    false => push(&mut text, whole, format!("bitcast({value})")),
                };
                let zero = push(&mut text, whole, "constant(0)".to_owned());
                let below = push(&mut text, "pred", format!("compare({cast}, {zero}), direction=LT"));
                let not = push(&mut text, whole, format!("not({cast})"));
                push(&mut text, whole, format!("select({below}, {not}, {cast})"))
            });
            text += &format!("  ROOT r = pred[] compare({}, {}), direction=LT\n}}", pair[0], pair[1]);
        }
        false if ty == own => text += &format!("  ROOT r = {own}[] maximum({last}, {last})\n}}"),
        false => text += &format!("  ROOT r = {own}[] bitcast({last})\n}}"),
    }
    text
}

/// The ops that call a computation.
const USES: [(&str, &str); 5] = [
    ("  ROOT r = @[30] reduce(p0, p1), dimensions={1}, to_apply=f", "@[30]"),
    ("  ROOT r = @[70] reduce(p0, p1), dimensions={0}, to_apply=f", "@[70]"),
    (
        "  ROOT r = @[30,35] reduce-window(p0, p1), window={size=1x3 stride=1x2 pad=0_0x0_1}, to_apply=f",
        "@[30,35]",
    ),
    (
        "  b = @[30,70] broadcast(p1), dimensions={}\n  ROOT r = @[30,70] map(p0, b), dimensions={0,1}, to_apply=f",
        "@[30,70]",
    ),
    (
        "  i = s32[4,1] constant({{5},{9},{20},{29}})\n  s = @[4,70] slice(p0), slice={[0:4],[0:70]}
  u = @[4,1,70] reshape(s)
  ROOT r = @[30,70] scatter(p0, i, u), update_window_dims={1,2}, inserted_window_dims={}, \
         scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
        "@[30,70]",
    ),
];

/// The result of a random body depends on the order of evaluation, which a reduction does not keep, so these
/// ops call it once per element.
#[test]
fn random_bodies_compute_in_the_types_behind_their_bitcasts() {
    let mut random = Rng::new(15);
    for round in 0..24 {
        let types = WIDTHS[round % WIDTHS.len()];
        let (instructions, result) = USES[3 + round / WIDTHS.len() % 2];
        let called = body(&mut random, "f", types, false);
        run(types[0], &called, instructions, result);
    }
}

fn run(own: &str, called: &str, instructions: &str, result: &str) {
    let of = |text: &str| text.replace('@', own);
    agrees_calling(called, &[&of("@[30,70]"), &of("@[]")], &of(instructions), &of(result));
}

/// Sums, minima and maxima in another type than that of the parameters: the order does not matter.
#[test]
fn combiners_of_another_type() {
    for types in WIDTHS {
        for ty in types.iter().filter(|ty| ty.starts_with(['s', 'u'])) {
            let own = types[0];
            let cast = |to: &str, from: &str, name: &str, value: &str| match to == from {
                true => format!("  {name} = {to}[] copy({value})\n"),
                false => format!("  {name} = {to}[] bitcast({value})\n"),
            };
            for op in ["add", "minimum", "maximum", "xor"] {
                let called = format!(
                    "\
f {{
  a = {own}[] parameter(0)
  b = {own}[] parameter(1)
{}{}  n = {ty}[] {op}(x, y)
{}}}",
                    cast(ty, own, "x", "a"),
                    cast(ty, own, "y", "b"),
                    cast(own, ty, "ROOT r", "n"),
                );
                for (instructions, result) in &USES[..3] {
                    run(own, &called, instructions, result);
                }
            }
            let called = format!(
                "\
f {{
  a = {own}[] parameter(0)
  b = {own}[] parameter(1)
{}{}  n = pred[] compare(x, y), direction=LT
  ROOT s = {own}[] select(n, a, b)
}}",
                cast(ty, own, "x", "a"),
                cast(ty, own, "y", "b"),
            );
            for (instructions, result) in &USES[..2] {
                run(own, &called, instructions, result);
            }
        }
    }
}

#[test]
fn comparisons_of_sorts() {
    let mut random = Rng::new(7);
    for types in WIDTHS {
        let called = body(&mut random, "f", types, true);
        for (shape, dim) in [("@[3,20,20]", 0), ("@[700]", 0), ("@[2,4200]", 1)] {
            let shape = shape.replace('@', types[0]);
            let sort = format!("  ROOT r = {shape} sort(p0), dimensions={{{dim}}}, to_apply=f");
            agrees_calling(&called, &[&shape], &sort, &shape);
        }
    }
}

/// Arrays outside of computations on scalars; layouts and sizes may change with the type.
#[test]
fn arrays() {
    for types in WIDTHS {
        let (own, whole) = (types[0], types[1]);
        let instructions = format!(
            "  x = {whole}[70,30] bitcast(p0)\n  k = {whole}[] constant(5)\n  \
             b = {whole}[70,30] broadcast(k), dimensions={{}}\n  \
             c = pred[70,30] compare(x, b), direction=LT\n  n = {whole}[70,30] not(x)\n  \
             s = {whole}[70,30] select(c, n, x)\n  lo = {own}[] bitcast(k)\n  \
             l = {own}[70,30] bitcast(s)\n  m = {own}[70,30] broadcast(lo), dimensions={{}}\n  \
             ROOT r = {own}[70,30] maximum(l, m)"
        );
        let own = |text: &str| text.replace('@', own);
        agrees_calling("", &[&own("@[30,70]")], &instructions, &own("@[70,30]"));
    }
}
