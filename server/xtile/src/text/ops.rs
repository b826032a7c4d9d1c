//! The text of each op.

use ir::{ElementTypeExt, Opcode};
use syntax::hlo::ElementType;

use super::{Writer, element_text, memory_text};
use crate::program::{Arithmetic, Block, Cast, DotDims, Kind, Op, Predicate, Triton, Type, ValueId};

impl Writer<'_> {
    pub(super) fn op(&mut self, op: &Op, depth: usize) {
        match &op.kind {
            Kind::For => return self.for_loop(op, depth),
            Kind::If => return self.condition(op, depth),
            Kind::Reduce { dims } => return self.reduce(op, dims, depth),
            Kind::Scan { dim, is_reverse } => return self.scan(op, *dim, *is_reverse, depth),
            Kind::Triton(Triton::Reduce { axis }) => {
                return self.triton_region(op, "reduce", &format!("axis = {axis} : i32"), depth);
            }
            Kind::Triton(Triton::Scan { axis, is_reverse }) => {
                let attributes = format!("axis = {axis} : i32, reverse = {is_reverse}");
                return self.triton_region(op, "scan", &attributes, depth);
            }
            _ => {}
        }
        let body = self.simple(op);
        let text = self.assigned(op) + &body;
        self.line(op.origin, depth, text);
    }

    /// An op without blocks.
    fn simple(&mut self, op: &Op) -> String {
        let operands = self.list(&op.operands);
        let ty = op.result().map(|result| self.type_of(result)).unwrap_or_default();
        let first = op.operands.first().map(|&value| self.type_of(value)).unwrap_or_default();
        let convert = |name: &str| format!("{name} {operands} : ({first}) -> {ty}");
        match &op.kind {
            Kind::IndexConstant(value) => format!("arith.constant {value} : index"),
            Kind::Constant(constant) => {
                let number = codegen::number_text(*constant);
                match op.result().map(|result| &self.program.values[result as usize]) {
                    Some(Type::Tile(..)) => format!("arith.constant dense<{number}> : {ty}"),
                    Some(Type::Scalar(ElementType::Pred)) => format!("arith.constant {number}"),
                    _ => format!("arith.constant {number} : {ty}"),
                }
            }
            Kind::Apply { map, range } => {
                let (dims, symbols) = op.operands.split_at(map.num_dims().min(op.operands.len()));
                let symbols = match symbols {
                    [] => String::new(),
                    _ => format!("[{}]", self.list(symbols)),
                };
                let dims = self.list(dims);
                let range = range.map_or_else(String::new, |range| {
                    format!(" {{xla.range = [{} : index, {} : index]}}", range.lower, range.upper)
                });
                format!("xla.apply_indexing {}({dims}){symbols}{range}", self.map(map))
            }
            Kind::Extract { argument, strides } => {
                let memory = &self.program.arguments[*argument];
                let sizes =
                    op.result().map_or(&[][..], |result| self.program.values[result as usize].sizes());
                format!(
                    "xtile.extract {}[{operands}] {} {} : {} -> {ty}",
                    self.name(*argument as ValueId),
                    list(sizes),
                    list(strides),
                    memory_text(memory)
                )
            }
            Kind::Insert { argument, strides } => {
                let memory = &self.program.arguments[*argument];
                let (value, offsets) = op.operands.split_at(1.min(op.operands.len()));
                let sizes = value.first().map_or(&[][..], |&v| self.program.values[v as usize].sizes());
                format!(
                    "xtile.insert {} into {}[{}] {} {} : {first} -> {}",
                    self.list(value),
                    self.name(*argument as ValueId),
                    self.list(offsets),
                    list(sizes),
                    list(strides),
                    memory_text(memory)
                )
            }
            Kind::Mask { bounds } => {
                let (value, neutral) = op.operands.split_at(1.min(op.operands.len()));
                let (value, neutral) = (self.list(value), self.list(neutral));
                format!("xtile.mask {value} bounds {}, {neutral} : {ty}", list(bounds))
            }
            Kind::Elementwise(opcode) => format!("{} {operands} : {ty}", elementwise_name(*opcode)),
            Kind::Arithmetic(arithmetic) => {
                let element = op.operands.first().and_then(|&v| self.program.values[v as usize].element());
                let name = arithmetic_name(*arithmetic, element);
                match arithmetic {
                    Arithmetic::Compare(predicate) => {
                        let is_float = element.is_some_and(ElementType::is_floating);
                        format!("{name} {}, {operands} : {first}", predicate_name(*predicate, is_float))
                    }
                    Arithmetic::CheckedDivide
                    | Arithmetic::CheckedDivideUnsigned
                    | Arithmetic::CheckedRemainder
                    | Arithmetic::CheckedRemainderUnsigned => {
                        format!("{name} {operands} {{xla.guard_ub}} : {first}")
                    }
                    _ => format!("{name} {operands} : {first}"),
                }
            }
            Kind::Compare(direction) => {
                let types: Vec<String> = op.operands.iter().map(|&value| self.type_of(value)).collect();
                format!("stablehlo.compare {direction}, {operands} : ({}) -> {ty}", types.join(", "))
            }
            Kind::Convert => convert("stablehlo.convert"),
            Kind::IndexCast => format!("arith.index_cast {operands} : {first} to {ty}"),
            Kind::Cast(cast) => format!("{} {operands} : {first} to {ty}", cast_name(*cast)),
            Kind::Math(name) => format!("math.{name} {operands} : {ty}"),
            Kind::Triton(triton) => self.triton(op, triton, &ty),
            Kind::Unsigned => format!("builtin.unrealized_conversion_cast {operands} : {first} to {ty}"),
            Kind::Bitcast => format!("tensor.bitcast {operands} : {first} to {ty}"),
            Kind::Select => format!("arith.select {operands} : {first}, {ty}"),
            Kind::Iota { dim } => format!("stablehlo.iota dim = {dim} : {ty}"),
            Kind::Broadcast { dims } => {
                format!("stablehlo.broadcast_in_dim {operands}, dims = {} : ({first}) -> {ty}", list(dims))
            }
            Kind::Reshape => convert("stablehlo.reshape"),
            Kind::Transpose { permutation } => {
                format!("stablehlo.transpose {operands}, dims = {} : ({first}) -> {ty}", list(permutation))
            }
            Kind::FromElement => format!("tensor.from_elements {operands} : {ty}"),
            Kind::ToElement => format!("tensor.extract {operands}[] : {first}"),
            Kind::Dot(dims) => {
                let types: Vec<String> = op.operands.iter().map(|&value| self.type_of(value)).collect();
                let dims = dot_dims(dims);
                format!("stablehlo.dot_general {operands}, {dims} : ({}) -> {ty}", types.join(", "))
            }
            Kind::ScaledDot { dims, has_scales, elements, is_packed_along_k } => {
                let [left, right] = elements.map(element_text);
                let dims = dimension_numbers(dims);
                let (values, types) = self.scaled_operands(op, *has_scales);
                format!(
                    "xtile.dot_scaled {values} <fastMath = true{}, lhs_elem_type = {left}, rhs_elem_type = {right}, \
                     dot_dimension_numbers = #stablehlo.dot<{dims}>> : {types} -> {ty}",
                    packing(*is_packed_along_k)
                )
            }
            Kind::For | Kind::If | Kind::Reduce { .. } | Kind::Scan { .. } => String::new(),
        }
    }

    /// `%5 scale %9, %11 scale %10`, and their types.
    pub(super) fn scaled_operands(&self, op: &Op, has_scales: [bool; 2]) -> (String, String) {
        let mut scales = op.operands.iter().skip(2);
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for (&operand, has_scale) in op.operands.iter().take(2).zip(has_scales) {
            let (mut value, mut operand_type) = (self.name(operand), self.type_of(operand));
            if has_scale && let Some(&scale) = scales.next() {
                value += &format!(" scale {}", self.name(scale));
                operand_type += &format!(", {}", self.type_of(scale));
            }
            values.push(value);
            types.push(operand_type);
        }
        (values.join(", "), types.join(" * "))
    }

    fn for_loop(&mut self, op: &Op, depth: usize) {
        let (Some(block), &[start, end, step, ref inits @ ..]) = (op.blocks.first(), &op.operands[..]) else {
            return;
        };
        let [start, end, step] = [start, end, step].map(|value| self.name(value));
        let inits: Vec<String> = inits.iter().map(|&init| self.name(init)).collect();
        let types: Vec<String> = op.results.iter().map(|&result| self.type_of(result)).collect();
        let assigned = self.assigned(op);
        let outer = self.names.enter();
        let arguments: Vec<String> =
            block.arguments.iter().map(|&argument| self.names.argument(argument)).collect();
        let Some((counter, carried)) = arguments.split_first() else { return };
        let carried: Vec<String> =
            carried.iter().zip(&inits).map(|(name, init)| format!("{name} = {init}")).collect();
        let carried = match &carried[..] {
            [] => String::new(),
            carried => format!(" iter_args({}) -> ({})", carried.join(", "), types.join(", ")),
        };
        let head = format!("{assigned}scf.for {counter} = {start} to {end} step {step}{carried} {{");
        self.line(op.origin, depth, head);
        self.nested(block, depth + 1, op.origin, "scf.yield");
        self.names.leave(outer);
        self.line(op.origin, depth, "}".to_owned());
    }

    fn condition(&mut self, op: &Op, depth: usize) {
        let [then, otherwise] = &op.blocks[..] else { return };
        let ty = op.result().map(|result| self.type_of(result)).unwrap_or_default();
        let head = format!("{}scf.if {} -> ({ty}) {{", self.assigned(op), self.list(&op.operands));
        self.line(op.origin, depth, head);
        self.scoped(then, depth + 1, op);
        self.line(op.origin, depth, "} else {".to_owned());
        self.scoped(otherwise, depth + 1, op);
        self.line(op.origin, depth, "}".to_owned());
    }

    fn scoped(&mut self, block: &Block, depth: usize, op: &Op) {
        let outer = self.names.enter();
        self.nested(block, depth, op.origin, "scf.yield");
        self.names.leave(outer);
    }

    /// The short form for a combiner of one op on both arguments in order.
    fn reduce(&mut self, op: &Op, dims: &[usize], depth: usize) {
        let (Some(combiner), &[input, init]) = (op.blocks.first(), &op.operands[..]) else { return };
        let types = [input, init].map(|value| self.type_of(value)).join(", ");
        let ty = op.result().map(|result| self.type_of(result)).unwrap_or_default();
        let head =
            format!("{}stablehlo.reduce({} init: {})", self.assigned(op), self.name(input), self.name(init));
        let tail = format!("across dimensions = {} : ({types}) -> {ty}", list(dims));
        if let Some(name) = self.only_op(combiner) {
            return self.line(op.origin, depth, format!("{head} applies {name} {tail}"));
        }
        self.line(op.origin, depth, format!("{head} {tail}"));
        let outer = self.names.enter();
        let arguments = self.arguments(combiner);
        self.line(op.origin, depth, format!(" reducer({arguments})  {{"));
        self.nested(combiner, depth + 1, op.origin, "stablehlo.return");
        self.names.leave(outer);
        self.line(op.origin, depth, "}".to_owned());
    }

    fn scan(&mut self, op: &Op, dim: usize, is_reverse: bool, depth: usize) {
        let (Some(combiner), &[input, init]) = (op.blocks.first(), &op.operands[..]) else { return };
        let &[outputs, carries] = &op.results[..] else { return };
        let size = self.program.values[input as usize].sizes().get(dim).copied().unwrap_or(0);
        let reverse = if is_reverse { ", is_reverse = true" } else { "" };
        let [from, start, to, last] = [input, init, outputs, carries].map(|value| self.type_of(value));
        let head = format!(
            "{}xtile.scan({}) inits({}) dimension = {dim} <scan_dim_size = {size}{reverse}> : ({from}), ({start}) -> \
             ({to}), ({last}) {{",
            self.assigned(op),
            self.name(input),
            self.name(init),
        );
        self.line(op.origin, depth, head);
        let outer = self.names.enter();
        let arguments = self.arguments(combiner);
        self.line(op.origin, depth, format!("^bb0({arguments}):"));
        self.nested(combiner, depth + 1, op.origin, "stablehlo.return");
        self.names.leave(outer);
        self.line(op.origin, depth, "}".to_owned());
    }

    /// The arguments of a combiner with their types. They are named here.
    pub(super) fn arguments(&mut self, combiner: &Block) -> String {
        let argument = |&value| {
            let name = self.names.argument(value);
            format!("{name}: {}", self.type_of(value))
        };
        let arguments: Vec<String> = combiner.arguments.iter().map(argument).collect();
        arguments.join(", ")
    }

    fn only_op(&self, combiner: &Block) -> Option<String> {
        let [only] = &combiner.ops[..] else { return None };
        let is_whole = only.operands == combiner.arguments && combiner.yields[..] == [only.result()?];
        match only.kind {
            Kind::Elementwise(opcode) if is_whole => {
                let name = elementwise_name(opcode);
                name.starts_with("stablehlo.").then_some(name)
            }
            _ => None,
        }
    }
}

/// `, lhs_k_pack = false` for an operand whose pairs are not along the contracted dimension.
pub(super) fn packing(is_packed_along_k: [bool; 2]) -> String {
    let sides = ["lhs", "rhs"].iter().zip(is_packed_along_k).filter(|(_, along_k)| !along_k);
    sides.map(|(side, _)| format!(", {side}_k_pack = false")).collect()
}

fn list<T: ToString>(numbers: &[T]) -> String {
    let numbers: Vec<String> = numbers.iter().map(T::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

fn elementwise_name(opcode: Opcode) -> String {
    use Opcode::*;
    let math = match opcode {
        Ceil | Floor | Acos | Acosh | Asin | Asinh | Atan2 | Atanh | Cosh | Erf | Log | Rsqrt | Sinh
        | Sqrt | Tan | Tanh | Cbrt => opcode.name(),
        RoundNearestEven => "roundeven",
        Cosine => "cos",
        Sine => "sin",
        Exponential => "exp",
        ExponentialMinusOne => "expm1",
        LogPlusOne => "log1p",
        _ => return format!("stablehlo.{}", opcode.name().replace('-', "_")),
    };
    format!("math.{math}")
}

fn arithmetic_name(op: Arithmetic, element: Option<ElementType>) -> &'static str {
    let is_float = element.is_some_and(ElementType::is_floating);
    match op {
        Arithmetic::Subtract if is_float => "arith.subf",
        Arithmetic::Multiply if is_float => "arith.mulf",
        Arithmetic::Divide if is_float => "arith.divf",
        Arithmetic::Minimum if is_float => "arith.minimumf",
        Arithmetic::Maximum if is_float => "arith.maximumf",
        Arithmetic::Add if is_float => "arith.addf",
        Arithmetic::Add => "arith.addi",
        Arithmetic::Subtract => "arith.subi",
        Arithmetic::Multiply => "arith.muli",
        Arithmetic::Divide => "arith.divsi",
        Arithmetic::Minimum => "arith.minsi",
        Arithmetic::Maximum => "arith.maxsi",
        Arithmetic::And => "arith.andi",
        Arithmetic::Or => "arith.ori",
        Arithmetic::MinimumUnsigned => "arith.minui",
        Arithmetic::MaximumUnsigned => "arith.maxui",
        Arithmetic::CheckedDivide => "arith.divsi",
        Arithmetic::CheckedDivideUnsigned => "arith.divui",
        Arithmetic::Remainder => "arith.remf",
        Arithmetic::CheckedRemainder => "arith.remsi",
        Arithmetic::CheckedRemainderUnsigned => "arith.remui",
        Arithmetic::Xor => "arith.xori",
        Arithmetic::ShiftRightUnsigned => "arith.shrui",
        Arithmetic::Negate => "arith.negf",
        Arithmetic::Compare(_) if is_float => "arith.cmpf",
        Arithmetic::Compare(_) => "arith.cmpi",
    }
}

fn predicate_name(predicate: Predicate, is_float: bool) -> &'static str {
    use Predicate::*;
    match predicate {
        Equal if is_float => "oeq",
        NotEqual if is_float => "une",
        Less if is_float => "olt",
        AtMost if is_float => "ole",
        Greater if is_float => "ogt",
        AtLeast if is_float => "oge",
        Equal => "eq",
        NotEqual => "ne",
        Less => "slt",
        AtMost => "sle",
        Greater => "sgt",
        AtLeast => "sge",
        LessUnsigned => "ult",
        AtMostUnsigned => "ule",
        GreaterUnsigned => "ugt",
        AtLeastUnsigned => "uge",
        Unordered => "uno",
    }
}

fn cast_name(cast: Cast) -> &'static str {
    match cast {
        Cast::ExtendFloat => "arith.extf",
        Cast::TruncateFloat => "arith.truncf",
        Cast::ExtendSigned => "arith.extsi",
        Cast::ExtendUnsigned => "arith.extui",
        Cast::Truncate => "arith.trunci",
        Cast::SignedToFloat => "arith.sitofp",
        Cast::UnsignedToFloat => "arith.uitofp",
        Cast::FloatToSigned => "arith.fptosi",
        Cast::FloatToUnsigned => "arith.fptoui",
        Cast::Bits => "arith.bitcast",
    }
}

/// `lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]`
fn dimension_numbers(dims: &DotDims) -> String {
    let named = [("batching", &dims.batch), ("contracting", &dims.contracted)];
    let named = named.into_iter().filter(|(_, [left, _])| !left.is_empty());
    let both = |(name, [left, right]): (&str, &[Vec<i64>; 2])| {
        format!("lhs_{name}_dimensions = {}, rhs_{name}_dimensions = {}", list(left), list(right))
    };
    named.map(both).collect::<Vec<_>>().join(", ")
}

fn dot_dims(dims: &DotDims) -> String {
    let mut text = String::new();
    let [left, right] = &dims.batch;
    if !left.is_empty() {
        text += &format!("batching_dims = {} x {}, ", list(left), list(right));
    }
    let [left, right] = &dims.contracted;
    let [of_left, of_right] = dims.precision;
    text +=
        &format!("contracting_dims = {} x {}, precision = [{of_left}, {of_right}]", list(left), list(right));
    if let Some(fields) = dims.algorithm.as_deref().and_then(mlir_hlo::dot_algorithm_fields) {
        text += &format!(", algorithm = <{fields}>");
    }
    text
}
