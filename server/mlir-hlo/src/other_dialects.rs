//! Ops of other dialects that read their operands as an instruction of HLO does.
//!
//! Facts: the documentation of the dialects, mlir.llvm.org/docs/Dialects.

use std::fmt::Write as _;

use mlir::{OpId, Use, integer, integers};

use crate::environment::{Environment, Slice};
use crate::lists::braces;
use crate::op_text::OpText;
use crate::twin::Twin;
use crate::types::{array, dimensions, element, extents, number, static_hlo_shape};

/// What an op takes from its attributes and text, beside its operands and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// Nothing: told by its shapes alone.
    Plain,
    /// `permutation = [1, 0]`
    Permutation,
    /// `%x[0, 1] [4, 4] [1, 1]`
    ExtractSlice,
    /// `low[1, 0] high[0, 2]`
    TensorPad,
    /// `dim(0) %a, %b`
    TensorConcat,
    /// Its list names the dimensions that are added.
    LinalgBroadcast,
    LinalgReduce,
    /// A product: dimensions of both sides that are batches, and those of the left and of the right that are contracted.
    Contraction(&'static [i64], [i64; 2]),
    /// Each element from those at the same place: which op it is makes no difference to what is read.
    Pointwise,
}

/// The opcode, the recipe, and how many of the operands are read.
pub(crate) fn other_op(name: &str) -> Option<(&'static str, Recipe, usize)> {
    use Recipe::*;
    let (dialect, op) = name.split_once('.')?;
    Some(match (dialect, op) {
        ("tensor", "collapse_shape" | "expand_shape" | "reshape") => ("reshape", Plain, 1),
        ("tensor", "cast") => ("copy", Plain, 1),
        ("tensor", "extract_slice") => ("slice", ExtractSlice, 1),
        ("tensor", "pad") => ("pad", TensorPad, 1),
        ("tensor", "concat") => ("concatenate", TensorConcat, usize::MAX),
        ("linalg", "transpose") => ("transpose", Permutation, 1),
        ("linalg", "broadcast") => ("broadcast", LinalgBroadcast, 1),
        ("linalg", "reduce") => ("reduce", LinalgReduce, 1),
        ("linalg", "matmul") => ("dot", Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matmul") => ("dot", Contraction(&[0], [2, 1]), 2),
        ("linalg", "matvec") => ("dot", Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matvec") => ("dot", Contraction(&[0], [2, 1]), 2),
        ("linalg", "vecmat" | "dot") => ("dot", Contraction(&[], [0, 0]), 2),
        (
            "linalg",
            "abs" | "ceil" | "copy" | "erf" | "exp" | "floor" | "log" | "negf" | "reciprocal" | "round"
            | "rsqrt" | "sqrt" | "square" | "tanh",
        ) => ("", Pointwise, 1),
        ("linalg", "add" | "div" | "div_unsigned" | "max" | "min" | "mul" | "powf" | "sub") => {
            ("", Pointwise, 2)
        }
        ("arith", "constant") => return None,
        ("arith" | "math", _) => ("", Pointwise, usize::MAX),
        ("chlo", "constant" | "constant_like" | "top_k" | "scan" | "ragged_dot") => return None,
        ("chlo", _) if !op.starts_with("dynamic") => ("", Pointwise, usize::MAX),
        ("sdy", "sharding_constraint" | "reshard") => ("copy", Plain, 1),
        _ => return None,
    })
}

struct Other<'t> {
    op: OpText<'t>,
    /// Computations that the instruction calls.
    callees: String,
}

pub(crate) fn other_twin(
    slice: Slice<'_>,
    environment: &Environment,
    id: OpId,
    opcode: &str,
    recipe: Recipe,
    read: usize,
) -> Result<Twin, String> {
    let other = Other { op: OpText::new(slice, environment, id), callees: String::new() };
    other.module(opcode, recipe, read)
}

/// An op of another dialect as an instruction that computes the same, and does not only read alike.
pub(crate) struct Exact {
    pub opcode: &'static str,
    /// How many of the operands the instruction takes, the first ones.
    pub operands: usize,
    /// Each with a comma in front.
    pub attributes: String,
    /// Extents before dimensions of one element are dropped, where some are.
    pub before: Option<Vec<i64>>,
}

/// Nothing where there is no such instruction. `shapes` are those of the operands, as HLO has them.
pub(crate) fn exact(op: OpText<'_>, shapes: &[&str], result: &str) -> Option<Result<Exact, String>> {
    let (opcode, recipe, operands) = other_op(op.parse.name(op.id, op.text))?;
    let operands = operands.min(shapes.len());
    let other = Other { op, callees: String::new() };
    let found = match recipe {
        Recipe::Plain if !opcode.is_empty() => Ok((String::new(), None)),
        Recipe::Permutation | Recipe::TensorConcat | Recipe::LinalgBroadcast => {
            other.attributes(recipe, result).map(|attributes| (attributes, None))
        }
        Recipe::ExtractSlice if shapes.len() == 1 => other.bounds().map(|(slices, sizes)| {
            (
                format!(", slice={{{slices}}}"),
                Some(sizes).filter(|sizes| extents(result).as_ref() != Ok(sizes)),
            )
        }),
        Recipe::ExtractSlice => Err("an offset, a size or a stride is not known".to_owned()),
        _ => return None,
    };
    Some(found.map(|(attributes, before)| Exact { opcode, operands, attributes, before }))
}

impl Other<'_> {
    fn module(mut self, opcode: &str, recipe: Recipe, read: usize) -> Result<Twin, String> {
        let OpText { parse, text, id, environment } = self.op;
        let mut operands: Vec<&Use> = parse.operands_of(id).collect();
        if recipe == Recipe::ExtractSlice && operands.len() > 1 {
            return Err("an offset, a size or a stride is not known".to_owned());
        }
        operands.truncate(read);
        let shape_of = |operand: &&Use| {
            let name = operand.span.of(text);
            let index = crate::to_hlo::pack_index(name) as usize;
            let ty = operand.value.and_then(|value| parse.type_of(value, index, text));
            let ty = ty.ok_or_else(|| format!("the type of {name} is not known"))?;
            static_hlo_shape(environment.resolved(&ty))
        };
        let shapes: Vec<String> = operands.iter().map(shape_of).collect::<Result<_, _>>()?;
        let types = parse.types(&parse.op(id).result_types);
        let [ty] = types else { return Err("it has not one result".to_owned()) };
        let ty = parse.type_text(*ty, text).ok_or("the type of a result is not known")?;
        let result = static_hlo_shape(environment.resolved(&ty))?;
        let line = match recipe {
            Recipe::ExtractSlice => self.extract_slice(&shapes, &result)?,
            Recipe::TensorPad => self.tensor_pad(&result)?,
            Recipe::LinalgReduce => self.linalg_reduce(&shapes, &result)?,
            Recipe::Pointwise => pointwise(&shapes, &result)?,
            _ => {
                let names: Vec<_> = (0..shapes.len()).map(|n| format!("p{n}")).collect();
                format!("{result} {opcode}({}){}", names.join(", "), self.attributes(recipe, &result)?)
            }
        };
        let mut module = format!("HloModule m\n\n{}ENTRY e {{\n", self.callees);
        for (n, shape) in shapes.iter().enumerate() {
            _ = writeln!(module, "  p{n} = {shape} parameter({n})");
        }
        // What is in front of the root stands on lines of its own.
        let (front, root) = line.rsplit_once('\n').map_or(("", line.as_str()), |(front, root)| (front, root));
        let newline = if front.is_empty() { "" } else { "\n" };
        _ = write!(module, "{front}{newline}  ROOT r = {root}\n}}\n");
        let operands = operands.iter().map(|o| o.span.of(text).to_owned()).collect();
        Ok(Twin { text: module, operands, results: 1 })
    }

    fn attributes(&self, recipe: Recipe, result: &str) -> Result<String, String> {
        Ok(match recipe {
            Recipe::Permutation => format!(", dimensions={}", braces(&self.op.needed(&["permutation"])?)),
            Recipe::TensorConcat => {
                let custom = || self.op.body().split_once("dim(")?.1.split_once(')')?.0.trim().parse().ok();
                let dimension = self.op.attribute(&["dim"]).and_then(integer).or_else(custom);
                format!(", dimensions={}", braces(&[dimension.ok_or("its dimension is not read")?]))
            }
            Recipe::LinalgBroadcast => {
                let added = self.op.needed(&["dimensions"])?;
                let rank = dimensions(result).len() as i64;
                let kept: Vec<i64> = (0..rank).filter(|d| !added.contains(d)).collect();
                format!(", dimensions={}", braces(&kept))
            }
            Recipe::Contraction(batch, [left, right]) => {
                let batches = match batch.is_empty() {
                    true => String::new(),
                    false => format!(", lhs_batch_dims={0}, rhs_batch_dims={0}", braces(batch)),
                };
                format!("{batches}, lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}")
            }
            _ => String::new(),
        })
    }

    /// `[0:4:1], [1:3:1]`, and the sizes.
    fn bounds(&self) -> Result<(String, Vec<i64>), String> {
        let body = self.op.body();
        let clauses = body.split_once(':').map_or(body, |(front, _)| front);
        let mut lists = clauses.split('[').skip(1).filter_map(|part| integers(&format!("[{part}")));
        let (offsets, sizes, strides) = match self.op.ints(&["static_offsets"]) {
            Some(offsets) => {
                (offsets, self.op.needed(&["static_sizes"])?, self.op.needed(&["static_strides"])?)
            }
            None => match (lists.next(), lists.next(), lists.next()) {
                (Some(offsets), Some(sizes), Some(strides)) => (offsets, sizes, strides),
                _ => return Err("an offset, a size or a stride is not known".to_owned()),
            },
        };
        let mut each = Vec::new();
        for ((&from, &size), &by) in offsets.iter().zip(&sizes).zip(&strides) {
            let last = size.checked_sub(1).and_then(|n| n.checked_mul(by)).and_then(|n| n.checked_add(from));
            let limit = if size == 0 { Some(from) } else { last.and_then(|n| n.checked_add(1)) };
            each.push(format!("[{from}:{}:{by}]", limit.ok_or("its bounds are too large")?));
        }
        Ok((each.join(", "), sizes))
    }

    /// Dimensions of one element that the result does not have are dropped behind the slice.
    fn extract_slice(&mut self, shapes: &[String], result: &str) -> Result<String, String> {
        let operand = shapes.first().ok_or("it has no operand")?.clone();
        let (slices, sizes) = self.bounds()?;
        if extents(result)? == sizes {
            return Ok(format!("{result} slice(p0), slice={{{slices}}}"));
        }
        let whole = array(element(result), &sizes);
        self.callees = format!(
            "f {{\n  a = {operand} parameter(0)\n  b = {whole} slice(a), slice={{{slices}}}\n  ROOT c = {result} reshape(b)\n}}\n\n"
        );
        Ok(format!("{result} fusion(p0), kind=kLoop, calls=f"))
    }

    /// The value that is padded with is the body's: any one does.
    fn tensor_pad(&self, result: &str) -> Result<String, String> {
        let body = self.op.body();
        let list = |key: &str| {
            let (_, rest) = body.split_once(key)?;
            integers(&format!("[{}]", rest.trim_start().strip_prefix('[')?.split_once(']')?.0))
        };
        let missing = "its padding is not known";
        let low = self.op.ints(&["static_low"]).or_else(|| list("low")).ok_or(missing)?;
        let high = self.op.ints(&["static_high"]).or_else(|| list("high")).ok_or(missing)?;
        let each: Vec<_> = low.iter().zip(&high).map(|(l, h)| format!("{l}_{h}")).collect();
        let e = element(result);
        Ok(format!(
            "  z = {e}[] constant({})\n{result} pad(p0, z), padding={}",
            number(e, "0"),
            each.join("x")
        ))
    }

    fn linalg_reduce(&mut self, shapes: &[String], result: &str) -> Result<String, String> {
        let e = element(shapes.first().ok_or("it has no operand")?);
        let dimensions = braces(&self.op.needed(&["dimensions"])?);
        let opcode = if e == "pred" { "or" } else { "add" };
        self.callees = format!(
            "f {{\n  a = {e}[] parameter(0)\n  b = {e}[] parameter(1)\n  ROOT c = {e}[] {opcode}(a, b)\n}}\n\n"
        );
        Ok(format!(
            "  z = {e}[] constant({})\n{result} reduce(p0, z), dimensions={dimensions}, to_apply=f",
            number(e, "0")
        ))
    }
}

/// An instruction that reads its operands place by place, whatever it makes of them.
fn pointwise(shapes: &[String], result: &str) -> Result<String, String> {
    let e = element(result);
    if shapes.is_empty() || shapes.iter().any(|s| dimensions(s) != dimensions(result)) {
        return Err("its operands are not of one shape".to_owned());
    }
    let same = shapes.iter().all(|s| element(s) == e);
    Ok(match shapes {
        [_] if same => format!("{result} copy(p0)"),
        [_] => format!("{result} convert(p0)"),
        [_, _] if same && e == "pred" => format!("{result} and(p0, p1)"),
        [_, _] if same => format!("{result} add(p0, p1)"),
        [a, b] if a == b && e == "pred" => format!("{result} compare(p0, p1), direction=EQ"),
        [p, a, b] if element(p) == "pred" && a == b && a == result => {
            format!("{result} select(p0, p1, p2)")
        }
        [_, _, _] if same => format!("{result} clamp(p0, p1, p2)"),
        _ => return Err("its operands are of several types".to_owned()),
    })
}
