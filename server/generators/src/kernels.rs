//! Random computations with one op of each kind that kernels are made of, in realistic sizes.

use std::sync::Arc;

use ir::Graph;
use random::Rng;

use crate::value::{Value, list, shape};

const CALLED: &str = "\
HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT less = pred[] compare(a, b), direction=LT
}
";

/// A module of some computations.
pub struct Random {
    pub text: String,
    pub graphs: Vec<(String, Arc<Graph>)>,
}

impl Random {
    fn of(text: String) -> Random {
        let graphs = ir::graphs_of_text(&text);
        Random { text, graphs }
    }

    /// A fusion `f` in the entry, of one to three steps.
    pub fn fusion(rng: &mut Rng) -> Random {
        let mut body = Body::new(rng);
        let start = body.array();
        let before = if body.rng.one_in(3) { start } else { body.elementwise(start) };
        let hero = body.step(before);
        let last = match body.rng.one_in(3) {
            true => hero.clone(),
            false => body.elementwise(hero.clone()),
        };
        let result = match body.rng.one_in(6) {
            true => {
                let shapes = [&last, &hero].map(Value::shape).join(", ");
                let name = body.line(format!("({shapes}) tuple({}, {})", last.name, hero.name));
                (name, format!("({shapes})"))
            }
            false => (last.name.clone(), last.shape()),
        };
        let config = match body.rng.range(0, 4) {
            0 => {
                let tile: Vec<String> =
                    last.dims.iter().map(|_| format!("\"{}\"", 1 << body.rng.range(0, 7))).collect();
                let warps = 1 << body.rng.range(0, 3);
                format!(
                    ", backend_config={{\"fusion_backend_config\":{{\"kind\":\"__triton\",\"block_level_fusion_config\":\
                     {{\"num_warps\":\"{warps}\",\"output_tiles\":[{{\"sizes\":[{}]}}],\"num_ctas\":1,\"num_stages\":1}}}}}}",
                    tile.join(",")
                )
            }
            _ => String::new(),
        };
        let Body { lines, parameters, .. } = body;
        let names: Vec<String> = (0..parameters.len()).map(|i| format!("p{i}")).collect();
        let text = format!(
            "{CALLED}\nfused {{\n{}}}\n\nENTRY e {{\n{}  ROOT f = {} fusion({}), kind=kLoop, calls=fused{config}\n}}\n",
            with_root(&lines, &result.0),
            parameters.concat(),
            result.1,
            names.join(", ")
        );
        Random::of(text)
    }

    /// Some steps in the entry, one after the other, of which later ones also read earlier results.
    pub fn computation(rng: &mut Rng) -> Random {
        let steps = rng.range(3, 7);
        let mut body = Body::new(rng);
        let mut values = vec![body.array()];
        for _ in 0..steps {
            let from = match body.rng.one_in(4) {
                true => body.rng.pick(&values).clone(),
                false => values[values.len() - 1].clone(),
            };
            let made = if body.rng.flag() { body.elementwise(from) } else { body.step(from) };
            values.push(made);
        }
        let unused = body.unused();
        let root = match unused.as_slice() {
            [only] => only.name.clone(),
            all => {
                let shapes: Vec<String> = all.iter().map(Value::shape).collect();
                let names: Vec<&str> = all.iter().map(|value| value.name.as_str()).collect();
                let line = format!("({}) tuple({})", shapes.join(", "), names.join(", "));
                body.line(line)
            }
        };
        Random::of(format!("{CALLED}\nENTRY e {{\n{}}}\n", with_root(&body.lines, &root)))
    }

    pub fn callee(&self, name: &str) -> Option<Arc<Graph>> {
        self.graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone())
    }

    pub fn entry(&self) -> Arc<Graph> {
        self.callee("e").expect("the entry")
    }
}

fn with_root(lines: &[String], root: &str) -> String {
    let start = format!("  {root} = ");
    lines
        .iter()
        .map(|line| if line.starts_with(&start) { format!("  ROOT{}", &line[1..]) } else { line.clone() })
        .collect()
}

struct Body<'r> {
    rng: &'r mut Rng,
    lines: Vec<String>,
    parameters: Vec<String>,
    values: Vec<Value>,
}

impl Body<'_> {
    fn new(rng: &mut Rng) -> Body<'_> {
        Body { rng, lines: Vec::new(), parameters: Vec::new(), values: Vec::new() }
    }

    fn line(&mut self, right: String) -> String {
        let name = format!("v{}", self.lines.len());
        self.lines.push(format!("  {name} = {right}\n"));
        name
    }

    fn push(&mut self, element: &'static str, dims: &[i64], right: &str) -> Value {
        let name = self.line(format!("{} {right}", shape(element, dims)));
        let value = Value { name, element, dims: dims.to_vec() };
        self.values.push(value.clone());
        value
    }

    fn parameter(&mut self, element: &'static str, dims: &[i64]) -> Value {
        let number = self.parameters.len();
        let line = format!("  p{number} = {} parameter({number})\n", shape(element, dims));
        self.parameters.push(line.clone());
        self.lines.push(line);
        Value { name: format!("p{number}"), element, dims: dims.to_vec() }
    }

    /// The values that nothing reads.
    fn unused(&self) -> Vec<Value> {
        let is_read = |value: &&Value| {
            let reads = |line: &String| {
                let operands = line.split_once('(').map_or("", |(_, operands)| operands);
                operands.split([',', ' ', ')']).any(|word| word == value.name)
            };
            !self.lines.iter().any(reads)
        };
        self.values.iter().filter(is_read).cloned().collect()
    }

    fn size(&mut self) -> i64 {
        *self.rng.pick(&[1, 2, 3, 4, 7, 16, 32, 33, 64, 100, 128, 256, 512, 1000, 1024])
    }

    fn array(&mut self) -> Value {
        let rank = self.rng.range(1, 3) as usize;
        let mut dims: Vec<i64> = (0..rank).map(|_| self.size()).collect();
        while dims.iter().product::<i64>() > 1 << 21 {
            let dim = self.rng.index(rank);
            dims[dim] = (dims[dim] / 4).max(1);
        }
        let element = *self.rng.pick(&["f32", "f32", "f32", "bf16", "f16", "s8", "f64"]);
        self.parameter(element, &dims)
    }

    /// The start indices of a slice at the origin.
    fn zeros(&mut self, rank: usize) -> String {
        let zero = self.push("s32", &[], "constant(0)");
        vec![zero.name; rank].join(", ")
    }

    /// One to three elementwise ops on a value, with constants, other arrays and rows.
    fn elementwise(&mut self, from: Value) -> Value {
        let mut value = from;
        for _ in 0..self.rng.range(1, 3) {
            let (name, element, dims) = (value.name.clone(), value.element, value.dims.clone());
            value = match self.rng.range(0, 5) {
                0 => {
                    let to = *self.rng.pick(&["f32", "bf16", "f16"]);
                    self.push(to, &dims, &format!("convert({name})"))
                }
                1 if element != "s8" => {
                    let opcode = *self.rng.pick(&["exponential", "tanh", "sqrt", "logistic", "log"]);
                    self.push(element, &dims, &format!("{opcode}({name})"))
                }
                2 => {
                    let c = self.push(element, &[], "constant(2)");
                    let all = self.push(element, &dims, &format!("broadcast({}), dimensions={{}}", c.name));
                    self.push(element, &dims, &format!("multiply({name}, {})", all.name))
                }
                3 if !dims.is_empty() => {
                    let dim = self.rng.index(dims.len());
                    let row = self.parameter(element, &[dims[dim]]);
                    let all =
                        self.push(element, &dims, &format!("broadcast({}), dimensions={{{dim}}}", row.name));
                    self.push(element, &dims, &format!("add({name}, {})", all.name))
                }
                4 => {
                    let other = self.parameter(element, &dims);
                    let opcode = *self.rng.pick(&["add", "subtract", "maximum", "divide"]);
                    self.push(element, &dims, &format!("{opcode}({name}, {})", other.name))
                }
                _ => self.push(element, &dims, &format!("negate({name})")),
            };
        }
        value
    }

    /// An op that decides how a kernel is made.
    fn step(&mut self, from: Value) -> Value {
        let (name, element, dims) = (from.name.clone(), from.element, from.dims.clone());
        let rank = dims.len();
        if rank == 0 {
            return self.elementwise(from);
        }
        let at = self.rng.index(rank);
        match self.rng.range(0, 12) {
            0 | 1 => {
                let order: Vec<i64> = self.rng.permutation(rank).iter().map(|&dim| dim as i64).collect();
                let to: Vec<i64> = order.iter().map(|&dim| dims[dim as usize]).collect();
                self.push(element, &to, &format!("transpose({name}), dimensions={{{}}}", list(&order)))
            }
            2..=4 => {
                let (first, last) = if rank > 1 && self.rng.one_in(4) { (at, rank - 1) } else { (at, at) };
                let reduced: Vec<i64> = (first..=last).map(|dim| dim as i64).collect();
                let kept: Vec<i64> =
                    (0..rank).filter(|dim| !(first..=last).contains(dim)).map(|dim| dims[dim]).collect();
                let zero = self.push(element, &[], "constant(0)");
                let right =
                    format!("reduce({name}, {}), dimensions={{{}}}, to_apply=add", zero.name, list(&reduced));
                self.push(element, &kept, &right)
            }
            5 => {
                let mut other = dims.clone();
                other[at] = self.rng.range(1, 8);
                let beside = self.parameter(element, &other);
                let mut both = dims.clone();
                both[at] += other[at];
                self.push(
                    element,
                    &both,
                    &format!("concatenate({name}, {}), dimensions={{{at}}}", beside.name),
                )
            }
            6 => {
                let sizes: Vec<i64> = dims.iter().map(|&size| (size / 2).max(1)).collect();
                let starts: Vec<String> = (0..rank).map(|_| self.parameter("s32", &[]).name).collect();
                let starts = starts.join(", ");
                let update = match self.rng.one_in(3) {
                    true => self.parameter(element, &sizes),
                    false => {
                        // Of the same place, or of another one.
                        let from = if self.rng.one_in(3) { self.zeros(rank) } else { starts.clone() };
                        let right = format!(
                            "dynamic-slice({name}, {from}), dynamic_slice_sizes={{{}}}",
                            list(&sizes)
                        );
                        let part = self.push(element, &sizes, &right);
                        self.elementwise(part)
                    }
                };
                let update = match update.element == element {
                    true => update,
                    false => self.push(element, &sizes, &format!("convert({})", update.name)),
                };
                self.push(element, &dims, &format!("dynamic-update-slice({name}, {}, {starts})", update.name))
            }
            7 => {
                let count = self.rng.range(1, 300);
                let indices = self.parameter("s32", &[count, 1]);
                let window: Vec<i64> =
                    [count].into_iter().chain([1]).chain(dims[1..].iter().copied()).collect();
                let updates = self.parameter(element, &window);
                let dims_of_window: Vec<i64> = (1..=rank as i64).collect();
                let right = format!(
                    "scatter({name}, {}, {}), update_window_dims={{{}}}, inserted_window_dims={{}}, \
                     scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add",
                    indices.name,
                    updates.name,
                    list(&dims_of_window)
                );
                self.push(element, &dims, &right)
            }
            8 => {
                let count = self.rng.range(1, 300);
                let indices = self.parameter("s32", &[count, 1]);
                let sizes: Vec<i64> = [1].into_iter().chain(dims[1..].iter().copied()).collect();
                let result: Vec<i64> = [count].into_iter().chain(dims[1..].iter().copied()).collect();
                let offsets: Vec<i64> = (1..rank as i64).collect();
                let right = format!(
                    "gather({name}, {}), offset_dims={{{}}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, \
                     index_vector_dim=1, slice_sizes={{{}}}",
                    indices.name,
                    list(&offsets),
                    list(&sizes)
                );
                self.push(element, &result, &right)
            }
            9 => {
                let step = self.rng.range(1, 3);
                let to: Vec<i64> = dims.iter().map(|&size| (size + step - 1) / step).collect();
                let parts: Vec<String> = dims.iter().map(|&size| format!("[0:{size}:{step}]")).collect();
                self.push(element, &to, &format!("slice({name}), slice={{{}}}", parts.join(", ")))
            }
            10 => {
                let [low, high] = [self.rng.range(0, 2), self.rng.range(0, 3)];
                let to: Vec<i64> = dims.iter().map(|&size| size + low + high).collect();
                let zero = self.push(element, &[], "constant(0)");
                let padding = vec![format!("{low}_{high}"); rank].join("x");
                self.push(element, &to, &format!("pad({name}, {}), padding={padding}", zero.name))
            }
            11 => {
                let flat = [dims.iter().product()];
                self.push(element, &flat, &format!("reshape({name})"))
            }
            _ if rank == 2 && element != "s8" => {
                let n = self.size();
                let other = self.parameter(element, &[dims[1], n]);
                let right = format!(
                    "dot({name}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                    other.name
                );
                self.push(element, &[dims[0], n], &right)
            }
            _ => self.push(element, &dims, &format!("sort({name}), dimensions={{{at}}}, to_apply=less")),
        }
    }
}
