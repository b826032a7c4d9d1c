//! Random programs: elements computed on demand equal those of the whole, and nothing panics.

use eval::{Arguments, Evaluator, Fill, Form, Target, evaluate};

#[test]
fn elements_are_those_of_the_whole() {
    let (mut evaluated, mut refused) = (0, 0);
    for seed in 0..150u64 {
        let mut random = random::Rng::new(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 99);
        let program = generators::hlo::random_graph(&mut random);
        let graph = &program.graph;
        let inputs = |number: u32, leaf: usize, positions: &[i64]| {
            program.input(graph, seed, (number, leaf), positions)
        };
        let callees = |name: &str| program.callee(name);
        let mut evaluator = Evaluator::new(graph.clone(), &callees, &inputs);
        for id in 0..graph.ops.len() as u32 {
            for leaf in 0..eval::leaves(&graph.ops[id as usize].shape).len() {
                let Ok(whole) = evaluator.whole(id, leaf) else {
                    refused += 1;
                    continue;
                };
                evaluated += 1;
                let len = whole.len() as i64;
                let positions: Vec<i64> = (0..len.min(5)).map(|i| (i * 7 + seed as i64) % len).collect();
                let mut fresh = Evaluator::new(graph.clone(), &callees, &inputs);
                let some = fresh.elements(id, leaf, &positions).expect("what the whole has");
                for (i, &p) in positions.iter().enumerate() {
                    let same = some.bits(i) == whole.bits(p as usize);
                    let nan = some.reals().get(i).is_some_and(|x| x.is_nan());
                    assert!(
                        same || nan,
                        "seed {seed}, op {id}: {:?} {:?}\n{}",
                        some.bits(i),
                        whole.bits(p as usize),
                        program.text
                    );
                }
            }
        }
    }
    eprintln!("{evaluated} ops evaluated, {refused} not");
    assert!(evaluated > 4 * refused);
}

#[test]
fn nothing_panics_on_spoilt_modules() {
    let mut rng = random::Rng::new(11);
    let mut next = |below: usize| rng.index(below);
    let words = [
        "0",
        "1",
        "-1",
        "7",
        "4294967296",
        "9223372036854775807",
        "f32",
        "s8",
        "pred",
        "{",
        "}",
        "[2,3]",
        "c64",
    ];
    for seed in 0..400u64 {
        let mut random = random::Rng::new(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 7);
        let program = generators::hlo::random_graph(&mut random);
        let mut parts: Vec<&str> =
            program.text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
        for _ in 0..=next(2) {
            let at = next(parts.len());
            match next(3) {
                0 => _ = parts.remove(at),
                1 => parts[at] = parts[next(parts.len())],
                _ => parts[at] = words[next(words.len())],
            }
        }
        let text: std::sync::Arc<str> = parts.concat().into();
        let parse = std::sync::Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
        let block = ir::lower(text.clone(), parse.clone());
        let named = parse.computations.iter().enumerate().filter_map(|(i, computation)| {
            let graph = ir::Graph::build(&[(&block, i as u32)])?;
            Some((computation.name.of(&text).trim_start_matches('%').to_owned(), std::sync::Arc::new(graph)))
        });
        let graphs: std::collections::HashMap<_, _> = named.collect();
        for (name, graph) in &graphs {
            let literals: Vec<String> = (0..8)
                .map_while(|number| {
                    let shape = &graph.ops[graph.parameter(number)? as usize].shape;
                    let count = shape.as_array()?.elements().filter(|n| (0..1000).contains(n))?;
                    Some(vec!["1"; count as usize].join(","))
                })
                .collect();
            let target = Target { graphs: &graphs, computation: name, op: None, devices: 1 };
            let given = Arguments { literals, fill: None };
            let filled = Arguments { literals: Vec::new(), fill: Some(Fill::Random { seed }) };
            let answers = [evaluate(target, &given, Form::Literal), evaluate(target, &filled, Form::Summary)];
            let is_panic =
                answers.iter().any(|a| a.as_ref().is_err_and(|why| why == "the evaluation did not end"));
            assert!(!is_panic, "{name} in\n{text}");
        }
    }
}
