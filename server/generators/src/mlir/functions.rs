//! Functions of many ops, which use values defined above, near and far.

use random::Rng;

/// The lines of a function, an op each; its result is `%` and the number of the op.
#[derive(Default)]
struct Body {
    text: String,
    count: usize,
}

impl Body {
    fn next(&self) -> usize {
        self.count
    }

    /// Appends an op and returns the name of its result.
    fn push(&mut self, op: &str) -> String {
        let name = format!("%{}", self.count);
        self.text += &format!("  {name} = {op}\n");
        self.count += 1;
        name
    }

    fn function(&self, parameters: &str) -> String {
        format!("func.func @f({parameters}) {{\n{}  return\n}}\n", self.text)
    }
}

/// A function of ops of several dialects on indices, and on arrays of static and of dynamic extents.
pub fn mixed_function(random: &mut Rng, ops: usize) -> String {
    let mut next = |below: usize| random.index(below);
    // Names by their types: indices, `tensor<8x4xf32>`, `tensor<?x4xf32>`.
    let mut names = [vec!["%i".to_owned()], vec!["%a".to_owned()], vec!["%d".to_owned()]];
    let (known, unknown) = ("tensor<8x4xf32>", "tensor<?x4xf32>");
    let mut body = Body::default();
    for _ in 0..ops {
        let mut of = |kind: usize, names: &[Vec<String>; 3]| {
            let far = next(names[kind].len());
            let near = names[kind].len() - 1 - far / 4;
            names[kind][if next(2) == 0 { far } else { near }].clone()
        };
        let (i, j) = (of(0, &names), of(0, &names));
        let (x, y) = (of(1, &names), of(1, &names));
        let (d, e) = (of(2, &names), of(2, &names));
        let (kind, op) = match next(11) {
            0 => (0, format!("arith.constant {} : index", next(5))),
            1 => (0, format!("affine.apply affine_map<(d0)[s0] -> (d0 * {} + s0)>({i})[{j}]", next(4))),
            2 => (0, format!("arith.addi {i}, {j} : index")),
            3 => (0, format!("tensor.dim {d}, {i} : {unknown}")),
            4 => (1, format!("stablehlo.add {x}, {y} : {known}")),
            5 => (1, format!("stablehlo.reverse {x}, dims = [{}] : {known}", next(2))),
            6 => {
                let window = format!("[{i}, 0] [8, 4] [{}, 1]", 1 + next(2));
                (1, format!("tensor.extract_slice {d}{window} : {unknown} to {known}"))
            }
            7 => {
                let window = "[0, 0] [8, 4] [1, 1]";
                (1, format!("tensor.insert_slice {x} into {y}{window} : {known} into {known}"))
            }
            8 => {
                let window = format!("[{i}, 0] [{j}, 4] [1, 1]");
                (2, format!("tensor.extract_slice {e}{window} : {unknown} to {unknown}"))
            }
            9 => {
                let ins = format!("ins({d}, {e} : {unknown}, {unknown})");
                (2, format!("linalg.add {ins} outs({d} : {unknown}) -> {unknown}"))
            }
            _ => (2, format!("tensor.empty({i}) : {unknown}")),
        };
        names[kind].push(body.push(&op));
    }
    let range = "{xla.range = [0 : index, 3 : index]}";
    body.function(&format!("%a: {known}, %d: {unknown}, %i: index {range}"))
}

/// A function of ops of StableHLO, each of which reads values at most 60 ops above. If `is_short`, the ways back to
/// arguments and constants are mostly short.
pub fn stablehlo_function(random: &mut Rng, ops: usize, is_short: bool) -> String {
    let t = "tensor<6x6xf32>";
    let mut values = vec!["%a".to_owned(), "%b".to_owned()];
    let mut body = Body::default();
    for _ in 0..ops {
        let mut near = || {
            if is_short && random.one_in(3) {
                return (*random.pick(&["%a", "%b"])).to_owned();
            }
            let last = values.len() - 1;
            values[last - random.index(values.len().min(60))].clone()
        };
        let (left, right) = (near(), near());
        let op = match random.index(8).max(if is_short { 0 } else { 3 }) {
            0 => format!("stablehlo.constant dense<{}.0> : {t}", body.next()),
            1 => format!("stablehlo.transpose {left}, dims = [1, 0] : ({t}) -> {t}"),
            2 => format!("stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<6xf32>) -> {t}"),
            3 => {
                let dims = "contracting_dims = [1] x [0]";
                format!("stablehlo.dot_general {left}, {right}, {dims} : ({t}, {t}) -> {t}")
            }
            _ => format!("stablehlo.add {left}, {right} : {t}"),
        };
        values.push(body.push(&op));
    }
    body.function(&format!("%a: {t}, %b: {t}, %c: tensor<6xf32>"))
}
