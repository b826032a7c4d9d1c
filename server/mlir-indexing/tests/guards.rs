//! Accesses under conditions, compared with running the loops.

use mlir_indexing::Symbol;
use op_reads::*;

/// A comparison of two expressions: as a set constraint, as an `arith.cmpi` predicate, and as a function.
const COMPARISONS: [(&str, &str, Compare); 3] =
    [(">=", "sge", |a, b| a >= b), ("<=", "sle", |a, b| a <= b), ("==", "eq", |a, b| a == b)];

type Compare = fn(i64, i64) -> bool;
type Condition = Box<dyn Fn(&dyn Fn(&str) -> i64) -> bool>;

/// An access is in the domain exactly in the iterations in which its enclosing conditions hold.
#[test]
fn conditions_narrow_the_domain() {
    let mut random = Rng::new(91);
    let names = ["%i", "%j", "%n"];
    for round in 0..400 {
        let (rows, columns) = (random.below(1..7), random.below(1..7));
        let in_set = |text: &str| text.replace("%i", "d0").replace("%j", "d1").replace("%n", "s0");
        // The negation of several constraints gives no bounds.
        let count = 1 + random.below(0..2) as usize;
        let mut texts = Vec::new();
        let mut ops = String::new();
        let mut holds: Vec<Condition> = Vec::new();
        for nth in 0..count {
            let (x, f) = expression(&mut random, &names, 2);
            let (y, g) = expression(&mut random, &names, 1);
            let (sign, predicate, compare) = COMPARISONS[random.below(0..3) as usize];
            texts.push(format!("{} {sign} {}", in_set(&x), in_set(&y)));
            ops += &format!(
                "      %x{nth} = affine.apply affine_map<(d0, d1)[s0] -> ({})>(%i, %j)[%n]\n      %y{nth} = affine.apply affine_map<(d0, d1)[s0] -> ({})>(%i, %j)[%n]\n      %c{nth} = arith.cmpi {predicate}, %x{nth}, %y{nth} : index\n",
                in_set(&x),
                in_set(&y)
            );
            holds.push(Box::new(move |v| compare(f(v), g(v))));
        }
        let (is_affine, is_else) = (round % 2 == 0, random.below(0..3) == 0);
        let joined = if count == 2 {
            ops += "      %c = arith.andi %c0, %c1 : i1\n";
            "%c"
        } else {
            "%c0"
        };
        let head = match is_affine {
            true => format!("affine.if affine_set<(d0, d1)[s0] : ({})>(%i, %j)[%n]", texts.join(", ")),
            false => format!("{ops}      scf.if {joined}"),
        };
        let body = "        %0 = affine.load %m[%i, %j] : memref<7x7xf32>\n";
        let regions = match is_else {
            true => format!("{{\n      }} else {{\n{body}      }}"),
            false => format!("{{\n{body}      }}"),
        };
        let read = Read::of(format!(
            "\
func.func @f(%m: memref<7x7xf32>, %n: index) {{
  affine.for %i = 0 to {rows} {{
    affine.for %j = 0 to {columns} {{
      {head} {regions}
    }}
  }}
  return
}}
"
        ));
        let maps = read.maps("affine.load");
        let access = &maps.accesses[0];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            for n in [-3, 0, 1, 4] {
                let values = |name: &str| match name {
                    "%i" => i,
                    "%j" => j,
                    "%n" => n,
                    other => panic!("{other} in {}", read.text),
                };
                let is_reached = match is_else {
                    false => holds.iter().all(|c| c(&values)),
                    true => count == 2 || !holds[0](&values),
                };
                if access.map.is_known_empty() {
                    assert!(!is_reached, "{}", read.text);
                    continue;
                }
                let at = point(access, &access.map, &values);
                let found = access.map.evaluate(&at);
                assert_eq!(
                    found,
                    is_reached.then(|| vec![i, j]),
                    "{at:?} {} {:?} of {}",
                    access.map,
                    access.symbols.iter().map(|s: &Symbol| s.name.clone()).collect::<Vec<_>>(),
                    read.text
                );
            }
        }
    }
}
