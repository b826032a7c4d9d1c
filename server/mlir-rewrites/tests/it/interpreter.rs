//! An interpreter of the few ops that rewrites read and write, on tensors of numbers. It shares only the
//! parser with the rewriting code.

use std::collections::HashMap;

use generators::mlir::Argument;
use mlir::{
    ArrayType, BlockId, Definition, Form, OpId, Parse, PieceState, Token, TokenKind, ValueId, integers,
    parse, tokens,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    pub shape: Vec<i64>,
    pub data: Vec<i64>,
}

/// A value that occurs in no tensor of indices.
const NOTHING: i64 = i64::MIN;

impl Tensor {
    /// A tensor whose elements are their own linear indices.
    pub fn of_indices(shape: &[i64]) -> Tensor {
        Tensor { shape: shape.to_vec(), data: (0..shape.iter().product()).collect() }
    }

    fn place(&self, index: &[i64]) -> Result<usize, String> {
        let mut at = 0;
        for (i, n) in index.iter().zip(&self.shape) {
            if !(0..*n).contains(i) {
                return Err(format!("{index:?} is not in {:?}", self.shape));
            }
            at = at * n + i;
        }
        Ok(at as usize)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Index(i64),
    Tensor(Tensor),
}

impl From<&Argument> for Value {
    fn from(argument: &Argument) -> Value {
        match argument {
            Argument::Index(i) => Value::Index(*i),
            Argument::Tensor { shape, first } => {
                let mut tensor = Tensor::of_indices(shape);
                tensor.data.iter_mut().for_each(|n| *n += first);
                Value::Tensor(tensor)
            }
        }
    }
}

/// The values that the first function returns, and those passed to `test.use` ops, in order.
pub fn run(text: &str, arguments: &[Value]) -> Result<Vec<Value>, String> {
    let parse = parse(text, PieceState::default());
    if let Some(error) = parse.errors.first() {
        return Err(format!("{}: {}", error.message, error.span.of(text)));
    }
    if let Some(finding) = mlir::check(&parse, text).first() {
        return Err(format!("{}: {}", finding.code, finding.span.of(text)));
    }
    let function = (0..parse.ops.len() as OpId).find(|&op| parse.name(op, text) == "func.func");
    let function = function.ok_or("there is no function")?;
    let mut machine = Machine { parse: &parse, text, values: HashMap::new(), used: Vec::new() };
    machine.bind(function, arguments);
    let body = machine.body(function)?;
    let returned = machine.block(body)?;
    machine.used.extend(returned);
    Ok(machine.used)
}

struct Machine<'a> {
    parse: &'a Parse,
    text: &'a str,
    values: HashMap<ValueId, Vec<Value>>,
    used: Vec<Value>,
}

type Answer<T> = Result<T, String>;

impl<'a> Machine<'a> {
    /// Binds the names that an op introduces for its body.
    fn bind(&mut self, op: OpId, to: &[Value]) {
        let binders = (0..self.parse.values.len() as ValueId)
            .filter(|&v| self.parse.values[v as usize].definition == Definition::Binder(op));
        for (value, bound) in binders.zip(to) {
            self.values.insert(value, vec![bound.clone()]);
        }
    }

    fn body(&self, op: OpId) -> Answer<BlockId> {
        let region = self.parse.regions_of(op).next().ok_or("a body is missing")?;
        self.parse.blocks_of(region).next().ok_or_else(|| "a block is missing".to_owned())
    }

    /// Runs a block and returns the operands of its terminator.
    fn block(&mut self, block: BlockId) -> Answer<Vec<Value>> {
        for op in self.parse.ops_of(block) {
            let name = self.parse.name(op, self.text);
            if matches!(name, "return" | "func.return" | "scf.yield") {
                return self.operands(op);
            }
            let results = self.op(op, name).map_err(|e| format!("{name}: {e}"))?;
            let mut results = results.into_iter();
            for value in self.parse.op(op).results.clone() {
                let count = self.parse.values[value as usize].count as usize;
                let taken: Vec<Value> = results.by_ref().take(count).collect();
                if taken.len() != count {
                    return Err(format!("{name} has too few results"));
                }
                self.values.insert(value, taken);
            }
        }
        Ok(Vec::new())
    }

    fn operands(&self, op: OpId) -> Answer<Vec<Value>> {
        self.parse.operands_of(op).map(|u| self.named(op, u.span.start)).collect()
    }

    /// The value whose name starts at an offset.
    fn named(&self, op: OpId, start: u32) -> Answer<Value> {
        let found = self.parse.uses_of(op).iter().find(|u| u.span.start == start).ok_or("no value")?;
        let name = found.span.of(self.text);
        let nth = name.split_once('#').map_or(0, |(_, n)| n.parse().unwrap_or(usize::MAX));
        let value = found.value.ok_or_else(|| format!("{name} is not defined"))?;
        let values = self.values.get(&value).ok_or_else(|| format!("{name} has no value"))?;
        values.get(nth).cloned().ok_or_else(|| format!("{name} has no such result"))
    }

    fn index(&self, op: OpId, token: &Token) -> Answer<i64> {
        match token.kind {
            TokenKind::Number => token.span.of(self.text).parse().map_err(|_| "no number".to_owned()),
            _ => match self.named(op, token.span.start)? {
                Value::Index(i) => Ok(i),
                Value::Tensor(_) => Err("a tensor is no index".to_owned()),
            },
        }
    }

    fn tokens(&self, op: OpId) -> Vec<Token> {
        let op = self.parse.op(op);
        tokens(self.text, op.name.end as usize, op.head.end as usize, false).0
    }

    /// The top-level lists in square brackets before the types.
    fn lists(&self, op: OpId) -> Vec<Vec<Token>> {
        let mut found: Vec<Vec<Token>> = Vec::new();
        let mut depth = 0;
        for token in self.tokens(op) {
            match token.kind {
                TokenKind::Colon if depth == 0 => break,
                TokenKind::OpenSquare => {
                    depth += 1;
                    if depth == 1 {
                        found.push(Vec::new());
                    }
                }
                TokenKind::CloseSquare => depth -= 1,
                TokenKind::Number | TokenKind::Value if depth == 1 => {
                    found.last_mut().expect("a list is open").push(token);
                }
                _ => {}
            }
        }
        found
    }

    /// The offsets, sizes and strides.
    fn slice(&self, op: OpId, tensors: usize) -> Answer<[Vec<i64>; 3]> {
        let lists: Vec<Vec<i64>> = match self.parse.op(op).form {
            Form::Generic => {
                let mut operands = self.operands(op)?.into_iter().skip(tensors);
                let mut lists = Vec::new();
                for name in ["static_offsets", "static_sizes", "static_strides"] {
                    let list =
                        self.parse.attribute(op, name, self.text).and_then(integers).ok_or("no list")?;
                    let entry = |n: i64| match n {
                        i64::MIN => match operands.next() {
                            Some(Value::Index(i)) => Ok(i),
                            _ => Err("an index is missing".to_owned()),
                        },
                        n => Ok(n),
                    };
                    lists.push(list.into_iter().map(entry).collect::<Answer<_>>()?);
                }
                lists
            }
            _ => {
                let list = |list: &Vec<Token>| list.iter().map(|t| self.index(op, t)).collect::<Answer<_>>();
                self.lists(op).iter().map(list).collect::<Answer<_>>()?
            }
        };
        <[Vec<i64>; 3]>::try_from(lists).map_err(|_| "there are three lists in a slice".to_owned())
    }

    /// The shape of a type, with `dynamic` for each `?`.
    fn shape(&self, written: &str, dynamic: &mut dyn FnMut(usize) -> Answer<i64>) -> Answer<Vec<i64>> {
        let alias = (0..self.parse.ops.len() as OpId).find_map(|op| {
            let op = self.parse.op(op);
            let (name, ty) = op.span.of(self.text).split_once('=')?;
            (op.form == Form::Alias && name.trim() == written).then(|| ty.trim())
        });
        let ty = alias.unwrap_or(written);
        let ty = ArrayType::parse(ty).map_err(|why| why.to_string())?;
        let extent = |(nth, e): (usize, Option<i64>)| e.map_or_else(|| dynamic(nth), Ok);
        ty.extents.into_iter().enumerate().map(extent).collect()
    }

    fn result_type(&self, op: OpId) -> Answer<String> {
        let value = self.parse.op(op).results.start;
        self.parse.type_of(value, 0, self.text).map(Into::into).ok_or_else(|| "no type".to_owned())
    }

    /// Checks that the shape of the result matches its type; `actual` gives the dynamic extents.
    fn agrees(&self, op: OpId, actual: &[i64]) -> Answer<()> {
        let mut dynamic = |nth: usize| actual.get(nth).copied().ok_or_else(|| "another rank".to_owned());
        let says = self.shape(&self.result_type(op)?, &mut dynamic)?;
        if says == actual { Ok(()) } else { Err(format!("{says:?} is written, {actual:?} it is")) }
    }

    fn tensor(&self, op: OpId, nth: usize) -> Answer<Tensor> {
        match self.operands(op)?.into_iter().nth(nth) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err("a tensor is missing".to_owned()),
        }
    }

    fn op(&mut self, op: OpId, name: &str) -> Answer<Vec<Value>> {
        let tensor = |t: Tensor| Ok(vec![Value::Tensor(t)]);
        match name {
            "arith.constant" => {
                let number = self.tokens(op).first().map(|t| t.span.of(self.text).parse());
                Ok(vec![Value::Index(number.and_then(Result::ok).ok_or("no number")?)])
            }
            "affine.apply" => Ok(vec![Value::Index(self.affine(op)?[0])]),
            "affine.min" => Ok(vec![Value::Index(self.affine(op)?.into_iter().min().ok_or("no result")?)]),
            "affine.delinearize_index" => {
                let numbers: Vec<i64> = self
                    .operands(op)?
                    .into_iter()
                    .map(|v| if let Value::Index(i) = v { Ok(i) } else { Err("no index") })
                    .collect::<Result<_, _>>()?;
                let (&linear, basis) = numbers.split_first().ok_or("no index")?;
                let mut left = linear;
                let mut digits = Vec::new();
                for &n in basis.iter().skip(1).rev() {
                    digits.push(left.rem_euclid(n));
                    left = left.div_euclid(n);
                }
                digits.push(left);
                Ok(digits.into_iter().rev().map(Value::Index).collect())
            }
            "tensor.dim" => {
                let source = self.tensor(op, 0)?;
                match self.operands(op)?.get(1) {
                    Some(Value::Index(axis)) => Ok(vec![Value::Index(source.shape[*axis as usize])]),
                    _ => Err("no axis".to_owned()),
                }
            }
            "tensor.empty" => {
                let mut sizes = self.operands(op)?.into_iter();
                let shape = self.shape(&self.result_type(op)?, &mut |_| match sizes.next() {
                    Some(Value::Index(n)) => Ok(n),
                    _ => Err("a size is missing".to_owned()),
                })?;
                let len = shape.iter().product::<i64>() as usize;
                tensor(Tensor { shape, data: vec![NOTHING; len] })
            }
            "tensor.collapse_shape" => {
                let source = self.tensor(op, 0)?;
                let shape: Vec<i64> =
                    self.groups(op)?.iter().map(|g| g.iter().map(|&a| source.shape[a]).product()).collect();
                self.agrees(op, &shape)?;
                tensor(Tensor { shape, data: source.data })
            }
            "tensor.expand_shape" => {
                let source = self.tensor(op, 0)?;
                let mut sizes = self.expanded_shape(op)?.into_iter();
                let shape: Vec<i64> = sizes.by_ref().collect();
                self.agrees(op, &shape)?;
                let of_group = |g: &Vec<usize>| g.iter().map(|&a| shape[a]).product::<i64>();
                if !self.groups(op)?.iter().map(of_group).eq(source.shape.iter().copied()) {
                    return Err(format!("{:?} does not expand to {shape:?}", source.shape));
                }
                tensor(Tensor { shape, data: source.data })
            }
            "tensor.extract_slice" => {
                let source = self.tensor(op, 0)?;
                let [offsets, sizes, strides] = self.slice(op, 1)?;
                let data: Answer<Vec<i64>> = places(&sizes)
                    .map(|p| Ok(source.data[source.place(&at(&p, &offsets, &strides))?]))
                    .collect();
                let shape = self.reduced(op, &self.result_type(op)?, &sizes)?;
                tensor(Tensor { shape, data: data? })
            }
            "tensor.insert_slice" => {
                let (source, mut into) = (self.tensor(op, 0)?, self.tensor(op, 1)?);
                let [offsets, sizes, strides] = self.slice(op, 2)?;
                if source.data.len() as i64 != sizes.iter().product::<i64>() {
                    return Err(format!("{:?} is inserted as {sizes:?}", source.shape));
                }
                for (nth, place) in places(&sizes).enumerate() {
                    let place = into.place(&at(&place, &offsets, &strides))?;
                    into.data[place] = source.data[nth];
                }
                self.agrees(op, &into.shape)?;
                tensor(into)
            }
            "stablehlo.reshape" => {
                let source = self.tensor(op, 0)?;
                let shape =
                    self.shape(&self.result_type(op)?, &mut |_| Err("an extent is missing".to_owned()))?;
                if shape.iter().product::<i64>() != source.data.len() as i64 {
                    return Err(format!("{:?} is no {shape:?}", source.shape));
                }
                tensor(Tensor { shape, data: source.data })
            }
            "stablehlo.slice" => {
                let source = self.tensor(op, 0)?;
                let [starts, limits, strides] = self.bounds(op)?;
                let sizes: Vec<i64> = (0..starts.len())
                    .map(|i| (limits[i] - starts[i] + strides[i] - 1) / strides[i])
                    .collect();
                self.agrees(op, &sizes)?;
                let data: Answer<Vec<i64>> = places(&sizes)
                    .map(|p| Ok(source.data[source.place(&at(&p, &starts, &strides))?]))
                    .collect();
                tensor(Tensor { shape: sizes, data: data? })
            }
            "scf.for" => {
                let operands = self.operands(op)?;
                let [Value::Index(from), Value::Index(to), Value::Index(step), carried @ ..] =
                    operands.as_slice()
                else {
                    return Err("no bounds".to_owned());
                };
                let (mut at, mut carried) = (*from, carried.to_vec());
                let body = self.body(op)?;
                while at < *to {
                    let bound: Vec<Value> = std::iter::once(Value::Index(at)).chain(carried).collect();
                    self.bind(op, &bound);
                    carried = self.block(body)?;
                    at += *step;
                }
                Ok(carried)
            }
            "test.use" => {
                let operands = self.operands(op)?;
                self.used.extend(operands);
                Ok(Vec::new())
            }
            _ => Err("this op is not known here".to_owned()),
        }
    }

    /// The sizes without those of 1 that the type drops.
    fn reduced(&self, op: OpId, ty: &str, sizes: &[i64]) -> Answer<Vec<i64>> {
        // Only a static size can be dropped.
        let is_written: Vec<bool> =
            match self.parse.attribute(op, "static_sizes", self.text).and_then(integers) {
                Some(list) => list.into_iter().map(|n| n != i64::MIN).collect(),
                None => self.lists(op)[1].iter().map(|t| t.kind == TokenKind::Number).collect(),
            };
        let mut dynamic =
            sizes.iter().zip(&is_written).filter(|(_, written)| !**written).map(|(&size, _)| size);
        let says =
            self.shape(ty, &mut |_| dynamic.next().ok_or_else(|| "an extent is missing".to_owned()))?;
        let large = |shape: &[i64]| shape.iter().copied().filter(|&n| n != 1).collect::<Vec<_>>();
        // It does not matter which of several extents of 1 are dropped.
        let spare = sizes.iter().zip(&is_written).filter(|(size, written)| **written && **size == 1).count();
        let fits = sizes.len() >= says.len() && sizes.len() - says.len() <= spare;
        if fits && large(&says) == large(sizes) { Ok(says) } else { Err(format!("{sizes:?} is no {ty}")) }
    }

    /// The bounds in `[0:8:2, 1:4]`, or in the attributes.
    fn bounds(&self, op: OpId) -> Answer<[Vec<i64>; 3]> {
        if self.parse.op(op).form == Form::Generic {
            let list =
                |name: &str| self.parse.attribute(op, name, self.text).and_then(integers).ok_or("no list");
            return Ok([list("start_indices")?, list("limit_indices")?, list("strides")?]);
        }
        let head = self.parse.op(op).head.of(self.text);
        let list = head.split(['[', ']']).nth(1).ok_or("no list")?;
        let mut bounds = [Vec::new(), Vec::new(), Vec::new()];
        for entry in list.split(", ") {
            let numbers: Vec<i64> = entry.split(':').filter_map(|n| n.parse().ok()).collect();
            bounds[0].push(numbers[0]);
            bounds[1].push(numbers[1]);
            bounds[2].push(*numbers.get(2).unwrap_or(&1));
        }
        Ok(bounds)
    }

    fn groups(&self, op: OpId) -> Answer<Vec<Vec<usize>>> {
        let head = self.parse.op(op).head.of(self.text);
        let from = head.find("[[").ok_or("no groups")?;
        let to = head[from..].find("]]").ok_or("no groups")? + from;
        let group = |g: &str| -> Answer<Vec<usize>> {
            g.split(',').map(|n| n.trim().parse().map_err(|_| "no axis".to_owned())).collect()
        };
        head[from + 2..to].split("], [").map(group).collect()
    }

    fn expanded_shape(&self, op: OpId) -> Answer<Vec<i64>> {
        let all = self.tokens(op);
        let at = all.iter().position(|t| t.span.of(self.text) == "output_shape").ok_or("no output_shape")?;
        let list = all[at + 2..].iter().take_while(|t| t.kind != TokenKind::CloseSquare);
        list.filter(|t| t.kind != TokenKind::Comma).map(|t| self.index(op, t)).collect()
    }

    /// `affine_map<(d0)[s0] -> (…, …)>(%a)[%b]`
    fn affine(&self, op: OpId) -> Answer<Vec<i64>> {
        let all = self.tokens(op);
        let words: Vec<&str> = all.iter().map(|t| t.span.of(self.text)).collect();
        let arrow = words.iter().position(|w| *w == "->").ok_or("no map")?;
        let is_name = |w: &&&str| w.starts_with(|c: char| c.is_ascii_alphabetic()) && **w != "affine_map";
        let names: Vec<&str> = words[..arrow].iter().filter(is_name).copied().collect();
        let mut given = Vec::new();
        for token in all.iter().filter(|t| t.kind == TokenKind::Value) {
            given.push(self.index(op, token)?);
        }
        if names.len() != given.len() {
            return Err(format!("{names:?} are given {given:?}"));
        }
        let known: HashMap<&str, i64> = names.into_iter().zip(given).collect();
        let mut reader = Affine { words: &words, at: arrow + 2, known: &known };
        let mut results = vec![reader.sum()?];
        while reader.eat(",") {
            results.push(reader.sum()?);
        }
        Ok(results)
    }
}

/// Every index of a shape, last dimension fastest.
fn places(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + '_ {
    (0..shape.iter().product::<i64>()).map(move |mut n| {
        let mut place = vec![0; shape.len()];
        for (i, extent) in place.iter_mut().zip(shape).rev() {
            (*i, n) = (n % extent, n / extent);
        }
        place
    })
}

fn at(place: &[i64], offsets: &[i64], strides: &[i64]) -> Vec<i64> {
    place.iter().zip(offsets).zip(strides).map(|((p, o), s)| o + p * s).collect()
}

struct Affine<'a> {
    words: &'a [&'a str],
    at: usize,
    known: &'a HashMap<&'a str, i64>,
}

impl Affine<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Answer<i64> {
        let mut left = self.product()?;
        loop {
            left = match () {
                () if self.eat("+") => left + self.product()?,
                () if self.eat("-") => left - self.product()?,
                () => return Ok(left),
            };
        }
    }

    fn product(&mut self) -> Answer<i64> {
        let mut left = self.atom()?;
        loop {
            left = match () {
                () if self.eat("*") => left * self.atom()?,
                () if self.eat("mod") => left.rem_euclid(self.atom()?),
                () if self.eat("floordiv") => left.div_euclid(self.atom()?),
                () if self.eat("ceildiv") => -(-left).div_euclid(self.atom()?),
                () => return Ok(left),
            };
        }
    }

    fn atom(&mut self) -> Answer<i64> {
        if self.eat("(") {
            let inner = self.sum()?;
            return if self.eat(")") { Ok(inner) } else { Err("a bracket is open".to_owned()) };
        }
        if self.eat("-") {
            return Ok(-self.atom()?);
        }
        let word = self.words.get(self.at).ok_or("the map ends")?;
        self.at += 1;
        word.parse()
            .ok()
            .or_else(|| self.known.get(word).copied())
            .ok_or_else(|| format!("{word} is not known"))
    }
}

#[test]
fn the_interpreter_knows_what_the_ops_do() {
    let text = "func.func @f(%x: tensor<2x3xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %z = tensor.extract_slice %y[%n] [2] [3] : tensor<6xf32> to tensor<2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %e) -> (tensor<2x2xf32>) {
    %k = affine.apply affine_map<(d0)[s0] -> (-(d0 - s0) mod 2)>(%i)[%c1]
    %u = tensor.insert_slice %z into %a[%k, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<2x2xf32>
    scf.yield %u : tensor<2x2xf32>
  }
  return %z, %r : tensor<2xf32>, tensor<2x2xf32>
}
";
    let arguments = [Value::Tensor(Tensor::of_indices(&[2, 3])), Value::Index(1)];
    let expect = [
        Value::Tensor(Tensor { shape: vec![2], data: vec![1, 4] }),
        Value::Tensor(Tensor { shape: vec![2, 2], data: vec![1, 4, 1, 4] }),
    ];
    assert_eq!(run(text, &arguments), Ok(expect.to_vec()));
    let outside = run(&text.replace("[3]", "[5]"), &arguments);
    assert_eq!(outside, Err("tensor.extract_slice: [6] is not in [6]".to_owned()));
}
