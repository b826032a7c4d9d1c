//! The instruction of HLO that an op is: a module of it alone, whose operands are parameters. What is known of the instruction
//! is then known of the op.

use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::rc::Rc;

use mlir::{Definition, OpId, Parse, TypeRef};

use crate::environment::{Environment, Slice};
use crate::op_row::{Dialect, Form, How, OpRow, Pretty, Special};
use crate::op_table::{mnemonic, row_of};
use crate::other_dialects::{other_op, other_twin};
use crate::to_hlo::{Operand, Writer, pack_index};
use crate::types::static_hlo_shape;

/// The module, as text, and what in it stands for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// The root of ENTRY is the op. Its operands are `p0`, `p1` and so on, by their first place among them.
    pub text: String,
    /// The names of the operands in the text of MLIR, in the order of the instruction's.
    pub operands: Vec<String>,
    /// How many results the op has; more than one are a tuple.
    pub results: usize,
}

/// Names beyond this many operands are not worth a module.
const MAX_OPERANDS: usize = 1024;

/// Nothing where HLO has no instruction that reads as the op does, else the module or the reason why there is none.
pub fn twin(slice: Slice<'_>, environment: &Environment, id: OpId) -> Option<Result<Twin, String>> {
    let name = slice.parse.name(id, slice.text);
    if let Some(mnemonic) = mnemonic(name) {
        let row = row_of(mnemonic).filter(|row| !is_opaque(row))?;
        return Some(of_row(slice, environment, id, row));
    }
    let (opcode, recipe, operands) = other_op(name)?;
    // Scalars, indices and buffers are not HLO's: nothing is missed where there is no twin.
    other_twin(slice, environment, id, opcode, recipe, operands).ok().map(Ok)
}

/// Ops whose maps are those of other ops, or nobody's.
fn is_opaque(row: &OpRow) -> bool {
    let How::Special(special) = row.how else { return false };
    matches!(
        special,
        Special::AsyncDone
            | Special::AsyncStart
            | Special::Call
            | Special::Case
            | Special::Composite
            | Special::CreateToken
            | Special::CustomCall
            | Special::If
            | Special::Infeed
            | Special::Outfeed
            | Special::Recv
            | Special::Send
            | Special::While
    )
}

/// Whether what HLO's verifier says of the twin of an op is true of the op. Ops whose operands and results are of one type
/// have nothing to be wrong; exchanges between devices depend on how many there are.
pub fn is_checked_as_hlo(parse: &Parse, text: &str, id: OpId) -> bool {
    let Some(row) = mnemonic(parse.name(id, text)).and_then(row_of).filter(|row| !is_opaque(row)) else {
        return false;
    };
    let is_between_devices =
        |form: Form| matches!(form, Form::Groups | Form::Pairs | Form::Channel | Form::RaggedNumbers);
    if row.how == How::Special(Special::Constant)
        || row.name.starts_with("batch_norm")
        || row.name.starts_with("rng")
        || row.dialect == Dialect::Mhlo && !matches!(row.name, "copy" | "erf" | "bitcast")
        || row.attributes.iter().any(|a| is_between_devices(a.form))
    {
        return false;
    }
    let op = parse.op(id);
    let types = parse.types(&op.operand_types).iter().chain(parse.types(&op.result_types));
    let mut written = types.map(|&ty| parse.type_text(ty, text));
    let first = written.next();
    let is_one = written.all(|ty| Some(ty) == first);
    let is_plain = row.how == How::Row
        && row.regions.is_empty()
        && row.attributes.iter().all(|a| a.form == Form::Accuracy)
        && matches!(row.pretty, Pretty::Same | Pretty::Functional | Pretty::Select | Pretty::No);
    !(is_plain && is_one)
}

fn of_row(slice: Slice<'_>, environment: &Environment, id: OpId, row: &OpRow) -> Result<Twin, String> {
    let (parse, text) = (slice.parse, slice.text);
    let op = parse.op(id);
    if row.name == "optimization_barrier" && parse.operands_of(id).count() != 1 {
        return Err("each of its results is the operand of the same number".to_owned());
    }
    if op.results.is_empty() {
        return Err("it has no result".to_owned());
    }
    for &ty in parse.types(&op.result_types) {
        let ty = parse.type_text(ty, text).ok_or("the type of a result is not known")?;
        static_hlo_shape(environment.resolved(&ty))?;
    }
    let mut writer = Writer::alone(slice, environment);
    let mut given = Vec::new();
    for (n, operand) in parse.operands_of(id).enumerate() {
        if n == MAX_OPERANDS {
            return Err("it has too many operands".to_owned());
        }
        let name = operand.span.of(text);
        let index = pack_index(name);
        let Some(value) = operand.value else { return Err(format!("the type of {name} is not known")) };
        let ty = parse.type_of(value, index as usize, text);
        let ty = ty.ok_or_else(|| format!("the type of {name} is not known"))?;
        let shape: Rc<str> = static_hlo_shape(environment.resolved(&ty))?.into();
        let known = scalar_constant(slice, environment, value);
        if let Entry::Vacant(free) = writer.body().values.entry((value, index)) {
            // The names are replaced when the order of the operands is known.
            let own = format!("q{}q", given.len());
            free.insert(Operand { name: own.as_str().into(), shape: shape.clone() });
            given.push((own, name, shape, known));
        }
    }
    writer.try_op(id)?;
    let results = parse.op(id).results.clone().map(|v| parse.values[v as usize].count as usize).sum();
    let mut lines: Vec<_> = std::mem::take(&mut writer.body().lines);
    // Elements of the tuple that several results are.
    lines.retain(|line| results == 1 || !line.text.contains(" get-tuple-element("));
    let root = lines.pop().ok_or("it has no instruction")?;
    let callees: String = writer.finished.iter().map(|c| format!("{}\n", c.text)).collect();
    let mut module = format!("HloModule m\n\n{callees}");
    let order = match lines.is_empty() {
        true => operands_in(&root.text, given.len()),
        false => (0..given.len()).collect(),
    };
    let mut entry = String::new();
    let mut parameters = 0;
    let mut names: Vec<(usize, usize)> = Vec::new();
    for (place, &at) in order.iter().enumerate() {
        if names.iter().any(|&(known, _)| known == at) {
            continue;
        }
        names.push((at, place));
        let (_, _, shape, known) = &given[at];
        _ = match known.as_ref().filter(|_| lines.is_empty()) {
            // What is known of an index makes the map exact.
            Some(number) => writeln!(entry, "  p{place} = {shape} constant({number})"),
            None => {
                parameters += 1;
                writeln!(entry, "  p{place} = {shape} parameter({})", parameters - 1)
            }
        };
    }
    let renamed = |text: &str| {
        names
            .iter()
            .fold(text.to_owned(), |text, &(at, place)| text.replace(&given[at].0, &format!("p{place}")))
    };
    if lines.is_empty() {
        _ = write!(module, "ENTRY e {{\n{entry}  ROOT r = {}\n}}\n", renamed(&root.text));
    } else {
        let mut fused = String::new();
        for (n, &at) in order.iter().enumerate() {
            _ = writeln!(fused, "  {} = {} parameter({n})", given[at].0, given[at].2);
        }
        for line in &lines {
            _ = writeln!(fused, "  {} = {}", line.name, line.text);
        }
        let shape = root.text.split(' ').next().unwrap_or_default();
        let operands: Vec<_> = (0..order.len()).map(|n| format!("p{n}")).collect();
        _ = write!(
            module,
            "fused {{\n{fused}  ROOT {} = {}\n}}\n\nENTRY e {{\n{entry}  ROOT r = {shape} fusion({}), kind=kLoop, calls=fused\n}}\n",
            root.name,
            root.text,
            operands.join(", ")
        );
    }
    let operands = order.iter().map(|&at| given[at].1.to_owned()).collect();
    Ok(Twin { text: module, operands, results })
}

/// Which of the given operands an instruction has, in its order.
fn operands_in(line: &str, count: usize) -> Vec<usize> {
    let inside = line.split_once('(').map_or("", |(_, rest)| rest);
    // Shapes of tuples have brackets, too: operands are told by their names.
    let words = inside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let number =
        |word: &str| word.strip_prefix('q')?.strip_suffix('q')?.parse().ok().filter(|&n: &usize| n < count);
    words.filter_map(number).collect()
}

/// The number of a constant without dimensions.
fn scalar_constant(slice: Slice<'_>, environment: &Environment, value: mlir::ValueId) -> Option<String> {
    let Definition::Result(op) = slice.parse.values[value as usize].definition else { return None };
    if mnemonic(slice.parse.name(op, slice.text))? != "constant" {
        return None;
    }
    let types = slice.parse.types(&slice.parse.op(op).result_types);
    let [TypeRef::Written(ty)] = types else { return None };
    if !mlir::shaped(ty.of(slice.text))?.dimensions?.is_empty() {
        return None;
    }
    let mut writer = Writer::alone(slice, environment);
    writer.try_op(op).ok()?;
    let line = writer.body().lines.pop()?;
    let number = line.text.split_once("constant(")?.1.split_once(')')?.0;
    number.parse::<f64>().is_ok().then(|| number.to_owned())
}
