//! The text of a function: its arguments with their attributes, and its body.

use rustc_hash::FxHashMap;

use super::Printer;
use super::names::{Names, range, type_text};
use crate::kernel::{Function, Type, ValueId};

impl<'k> Printer<'k> {
    pub(super) fn function(&mut self, number: usize, function: &'k Function) {
        let mut names = Names {
            function,
            values: FxHashMap::default(),
            vars: vec![None; function.index_vars.len()],
            next: 0,
            indices: vec![FxHashMap::default()],
        };
        let is_entry = number == 0;
        // Tensors, indices, numbers.
        let is_number = |arg: &&ValueId| matches!(function.ty(**arg), Type::Scalar(_) | Type::Vector { .. });
        let tensors = function.args.iter().take_while(|arg| !is_number(arg)).count();
        let mut args = Vec::new();
        let slices = if is_entry { self.kernel.slices() } else { Vec::new() };
        for (n, &arg) in function.args[..tensors].iter().enumerate() {
            let name = format!("%arg{n}");
            let attributes = match self.kernel.params.get(n).filter(|_| is_entry) {
                Some(param) => {
                    let slice = slices[n];
                    let (align, bytes) = (param.align, param.bytes);
                    let is_aliased =
                        param.is_result() || self.kernel.params.iter().any(|other| other.aliases == Some(n));
                    let invariant = match param.is_changing {
                        _ if is_aliased => "",
                        true => "xla.not_invariant, ",
                        false => "xla.invariant, ",
                    };
                    format!(
                        " {{llvm.align = {align} : index, llvm.dereferenceable = {bytes} : index, {invariant}xla.slice_index = {slice} : index}}"
                    )
                }
                None => String::new(),
            };
            args.push(format!("{name}: {}{attributes}", type_text(function.ty(arg))));
            names.values.insert(arg, name);
        }
        if !is_entry {
            for (n, var) in function.index_vars.iter().take(function.index_args).enumerate() {
                let name = format!("%arg{}", tensors + n);
                args.push(format!("{name}: index {{{}}}", range(var.bounds)));
                names.vars[n] = Some(name);
            }
        }
        for &arg in &function.args[tensors..] {
            let name = format!("%arg{}", args.len());
            args.push(format!("{name}: {}", type_text(function.ty(arg))));
            names.values.insert(arg, name);
        }
        let results = names.types(&function.body.yields);
        let results = if function.body.yields.len() == 1 { results } else { format!("({results})") };
        let (visibility, attributes) = match is_entry {
            true => ("", "xla.backend_kind = #xla.backend_kind<gpu>, xla.entry"),
            false => ("private ", "llvm.linkage = #llvm.linkage<internal>"),
        };
        self.line(
            function.root,
            format!(
                "func.func {visibility}@{}({}) -> {results} attributes {{{attributes}}} {{",
                function.name,
                args.join(", ")
            ),
        );
        self.indent += 1;
        if is_entry {
            let kinds = ["gpu.thread_id", "gpu.block_id"];
            for (n, var) in function.index_vars.iter().take(function.index_args).enumerate() {
                let (kind, axis) = (kinds[n / 3 % 2], ["x", "y", "z"][n % 3]);
                let name = format!("%{}_{axis}", kind.trim_start_matches("gpu."));
                self.line(None, format!("{name} = {kind} {axis} {{{}}}", range(var.bounds)));
                names.vars[n] = Some(name);
            }
        }
        self.ops(&mut names, &function.body);
        let yields = &function.body.yields;
        self.line(function.root, format!("return {} : {}", names.list(yields), names.types(yields)));
        self.indent -= 1;
        self.line(None, "}".to_owned());
    }
}
