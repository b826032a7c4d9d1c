//! Prints the replacement of a slice of a reshape.

use indexing_map::Expr;

use crate::along::{Along, Coordinate};
use crate::code::{Code, SliceOfCollapse};
use crate::names::Names;
use crate::numbers::{Symbol, SymbolName};
use crate::write::{Variable, Writer, joined};
use mlir::ArrayType;

/// The name, attributes and location of the replaced op's result, for the op that defines it in the new code.
pub(crate) struct ResultText<'a> {
    pub(crate) name: &'a str,
    /// Includes a leading space.
    pub(crate) attributes: &'a str,
    /// Includes a leading space.
    pub(crate) location: &'a str,
}

/// The lines that define `result`, indented by `indent`.
pub(crate) fn text(
    slice: &SliceOfCollapse,
    code: &Code,
    result: &ResultText<'_>,
    indent: &str,
    names: &mut Names,
) -> String {
    let ivs: Vec<String> = (0..slice.rank())
        .map(|dim| match code.loops.iter().any(|l| l.dim == dim) {
            true => names.fresh("iv"),
            false => String::new(),
        })
        .collect();
    let mut writer = Writer::new(names, variables(slice, &ivs));
    note_names(slice, &mut writer);
    let text = SliceText { slice, code, result, writer };
    text.lines(&ivs, indent)
}

struct SliceText<'a, 'n> {
    slice: &'a SliceOfCollapse,
    code: &'a Code,
    result: &'a ResultText<'a>,
    writer: Writer<'n>,
}

impl SliceText<'_, '_> {
    fn lines(mut self, ivs: &[String], indent: &str) -> String {
        let ty = &self.slice.result_type;
        if self.code.loops.is_empty() && self.code.parts.len() == 1 {
            let (_, last) = self.box_of(&self.code.parts[0], true);
            self.writer.head.append(&mut self.writer.body);
            self.writer.head.push(format!("{last}{}", self.result.location));
            return joined(&self.writer.head, indent);
        }
        let init = self.empty();
        if self.code.loops.is_empty() {
            let mut into = init;
            let count = self.code.parts.len();
            for (nth, part) in self.code.parts.iter().enumerate() {
                let (name, attributes) = match nth + 1 == count {
                    true => (self.result.name.to_owned(), self.result.attributes),
                    false => (self.writer.names.fresh("inserted"), ""),
                };
                let insert = self.insert(part, &name, attributes, &into);
                self.writer.body.push(insert);
                into = name;
            }
            self.writer.head.append(&mut self.writer.body);
            return format!("{}{}", joined(&self.writer.head, indent), self.result.location);
        }
        // Values that all loops use are defined before the outermost.
        let zero = self.writer.constant(0);
        let one = self.writer.constant(1);
        let counts: Vec<String> = self.code.loops.iter().map(|l| self.writer.value(&l.count)).collect();
        let accumulators: Vec<String> =
            self.code.loops.iter().map(|_| self.writer.names.fresh("acc")).collect();
        let name = self.writer.names.fresh("inserted");
        let into = accumulators.last().cloned().unwrap_or_default();
        let insert = self.insert(&self.code.parts[0], &name, "", &into);
        let mut body = std::mem::take(&mut self.writer.body);
        body.push(insert);
        body.push(format!("scf.yield {name} : {}", ty));
        for (nth, turn) in self.code.loops.iter().enumerate().rev() {
            let inits = if nth == 0 { &init } else { &accumulators[nth - 1] };
            let name = match nth {
                0 => self.result.name.to_owned(),
                _ => self.writer.names.fresh("nested"),
            };
            let mut lines = vec![format!(
                "{name} = scf.for {} = {zero} to {} step {one} iter_args({} = {inits}) -> ({}) {{",
                ivs[turn.dim], counts[nth], accumulators[nth], ty
            )];
            lines.extend(body.iter().map(|line| format!("  {line}")));
            lines.push("}".to_owned());
            if nth > 0 {
                lines.push(format!("scf.yield {name} : {}", ty));
            }
            body = lines;
        }
        self.writer.head.append(&mut body);
        format!("{}{}{}", joined(&self.writer.head, indent), self.result.attributes, self.result.location)
    }

    /// The tensor that the boxes are inserted into.
    fn empty(&mut self) -> String {
        let slice = self.slice;
        let kept = (0..slice.rank()).filter(|&dim| !slice.is_dropped[dim]);
        let dynamic = kept.zip(&slice.result_type.extents).filter(|(_, extent)| extent.is_none());
        let sizes: Vec<String> = dynamic.map(|(dim, _)| slice.sizes[dim].text.clone()).collect();
        let name = self.writer.names.fresh("init");
        let line = format!("{name} = tensor.empty({}) : {}", sizes.join(", "), slice.result_type);
        self.writer.head.push(line);
        name
    }

    /// A slice of the source, collapsed if necessary: returns the name of the box and its defining line,
    /// which is not yet written; all other lines are. `is_result`: the box is the whole result.
    fn box_of(&mut self, part: &[Along], is_result: bool) -> (String, String) {
        let slice = self.slice;
        let rank = slice.extents.len();
        let [offsets, sizes, strides] = lists_of(slice, part, &mut self.writer);
        let shape = shape_of(slice, part);
        let kept = kept_axes(slice, part);
        let window = self.window_type(part);
        let kept_shape: Vec<Option<i64>> = kept.iter().flatten().map(|&axis| shape[axis]).collect();
        let is_collapsed = kept.iter().any(|axes| axes.len() > 1);
        let slice_type = match is_collapsed {
            // With the rank of the source its encoding applies; with another rank, that of the result.
            true if kept_shape.len() == rank => slice.source_type.with_extents(&kept_shape),
            true => slice.result_type.with_extents(&kept_shape),
            false => window.clone(),
        };
        let result = self.result;
        let box_name = |writer: &mut Writer<'_>, stem: &str| match is_result {
            true => result.name.to_owned(),
            false => writer.names.fresh(stem),
        };
        let attributes = if is_result { result.attributes } else { "" };
        let of_slice = if is_collapsed { "" } else { attributes };
        let taken = match is_collapsed {
            true => self.writer.names.fresh("slice"),
            false => box_name(&mut self.writer, "slice"),
        };
        let line = format!(
            "{taken} = tensor.extract_slice {}[{}] [{}] [{}]{of_slice} : {} to {}",
            slice.source,
            offsets.join(", "),
            sizes.join(", "),
            strides.join(", "),
            slice.source_type,
            slice_type
        );
        if !is_collapsed {
            return (taken, line);
        }
        self.writer.body.push(line);
        let groups = groups_text(kept.iter().map(Vec::len));
        let collapsed = box_name(&mut self.writer, "collapsed");
        let line = format!(
            "{collapsed} = tensor.collapse_shape {taken} {groups}{attributes} : {} into {}",
            slice_type, window
        );
        (collapsed, line)
    }

    /// The type of the window that a part writes.
    fn window_type(&self, part: &[Along]) -> ArrayType {
        let kept = part.iter().enumerate().filter(|(dim, _)| !self.slice.is_dropped[*dim]);
        let shape: Vec<Option<i64>> = kept.map(|(_, along)| along.size.as_const()).collect();
        self.slice.result_type.with_extents(&shape)
    }

    fn insert(&mut self, part: &[Along], name: &str, attributes: &str, into: &str) -> String {
        let (window, line) = self.box_of(part, false);
        self.writer.body.push(line);
        let slice = self.slice;
        let kept: Vec<&Along> = part
            .iter()
            .enumerate()
            .filter(|(dim, _)| !slice.is_dropped[*dim])
            .map(|(_, along)| along)
            .collect();
        let offsets: Vec<String> = kept.iter().map(|along| self.writer.entry(&along.start)).collect();
        let sizes: Vec<String> = kept.iter().map(|along| self.writer.entry(&along.size)).collect();
        let strides = vec!["1"; kept.len()].join(", ");
        format!(
            "{name} = tensor.insert_slice {window} into {into}[{}] [{}] [{strides}]{attributes} : {} into {}",
            offsets.join(", "),
            sizes.join(", "),
            self.window_type(part),
            slice.result_type
        )
    }
}

/// The variables of the code's expressions. `ivs` are the names of the loop variables, by dimension.
pub(crate) fn variables(slice: &SliceOfCollapse, ivs: &[String]) -> Vec<Variable> {
    let symbol = |symbol: &Symbol| match &symbol.name {
        SymbolName::Value(name) => Variable::Named(name.clone()),
        SymbolName::Extent(axis) => {
            Variable::Extent(slice.source.clone(), slice.source_type.to_string(), *axis)
        }
    };
    let loops = ivs.iter().map(|iv| Variable::Loop(iv.clone()));
    slice.symbols.0.iter().map(symbol).chain(loops).collect()
}

/// Registers the existing names of the slice's numbers.
pub(crate) fn note_names(slice: &SliceOfCollapse, writer: &mut Writer<'_>) {
    for number in slice.offsets.iter().chain(&slice.sizes).chain(&slice.strides) {
        writer.is_called(&number.expr, &number.text);
    }
}

/// The offsets, sizes and strides of a part's box in the source.
pub(crate) fn lists_of(slice: &SliceOfCollapse, part: &[Along], writer: &mut Writer<'_>) -> [Vec<String>; 3] {
    let mut lists = [(); 3].map(|()| vec![String::new(); slice.extents.len()]);
    for (dim, along) in part.iter().enumerate() {
        for (nth, &axis) in slice.groups[dim].iter().enumerate() {
            lists[0][axis] = match &along.offsets[nth] {
                Coordinate::Plain(expr) => writer.entry(expr),
                Coordinate::Digit { linear, basis, digit } => writer.digit(linear, basis, *digit),
            };
            lists[1][axis] = writer.entry(&along.sizes[nth]);
            lists[2][axis] = writer.entry(&along.strides[nth]);
        }
    }
    lists
}

/// The extents of the box that a part reads from the source.
pub(crate) fn shape_of(slice: &SliceOfCollapse, part: &[Along]) -> Vec<Option<i64>> {
    let mut shape = vec![None; slice.extents.len()];
    for (dim, along) in part.iter().enumerate() {
        for (nth, &axis) in slice.groups[dim].iter().enumerate() {
            shape[axis] = along.sizes[nth].as_const();
        }
    }
    shape
}

/// `[[0, 1], [2]]` for groups with these numbers of dimensions; empty groups are omitted.
pub(crate) fn groups_text(sizes: impl Iterator<Item = usize>) -> String {
    let mut next = 0;
    let group = |size: usize| {
        let places: Vec<String> = (next..next + size).map(|at| at.to_string()).collect();
        next += size;
        format!("[{}]", places.join(", "))
    };
    let groups: Vec<String> = sizes.filter(|&size| size > 0).map(group).collect();
    format!("[{}]", groups.join(", "))
}

/// For each dimension of the collapsed tensor, the dimensions that a slice of the source keeps: those of
/// extent other than 1, and at least one for each that the result has. All of them if dropping some would
/// need another encoding.
pub(crate) fn kept_axes(slice: &SliceOfCollapse, part: &[Along]) -> Vec<Vec<usize>> {
    let keeps_all = slice.source_type.rest != slice.result_type.rest;
    let mut kept = Vec::new();
    for (dim, along) in part.iter().enumerate() {
        let axes = &slice.groups[dim];
        if slice.is_dropped[dim] {
            kept.push(Vec::new());
            continue;
        }
        let is_large = |nth: &usize| keeps_all || along.sizes[*nth] != Expr::Const(1);
        let mut large: Vec<usize> = (0..axes.len()).filter(is_large).map(|nth| axes[nth]).collect();
        if large.is_empty() {
            large.extend(axes.last());
        }
        kept.push(large);
    }
    kept
}
