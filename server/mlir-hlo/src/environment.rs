//! What the ops of one part of a text refer to elsewhere in it: aliases, functions, resources, and the module around them.

use std::sync::Arc;

use mlir::{Form, OpId, Parse, is_function_like};
use mlir_ops::Aliases;
use rustc_hash::FxHashMap;

use crate::names::sanitized;
use crate::piece_names::{PieceFunction, PieceNames};
use crate::shardy::Meshes;

/// A piece of text, read, and where in it the part starts and ends.
#[derive(Clone, Copy)]
pub struct Slice<'a> {
    pub parse: &'a Parse,
    pub text: &'a str,
    pub from: u32,
    pub to: u32,
}

impl<'a> Slice<'a> {
    pub fn whole(parse: &'a Parse, text: &'a str) -> Slice<'a> {
        Slice { parse, text, from: 0, to: u32::MAX }
    }

    /// The parts of a piece: they are separated by `// -----` lines.
    pub fn parts(parse: &'a Parse, text: &'a str) -> Vec<Slice<'a>> {
        let starts = std::iter::once(0).chain(parse.splits.iter().copied());
        let ends = parse.splits.iter().copied().chain([u32::MAX]);
        starts.zip(ends).map(|(from, to)| Slice { parse, text, from, to }).collect()
    }

    pub(crate) fn holds(&self, at: u32) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// The functions of the slice, in the order of the text.
    pub fn functions(self) -> impl Iterator<Item = OpId> + 'a {
        let ops = (0..self.parse.ops.len() as OpId).filter(move |&id| {
            let op = self.parse.op(id);
            matches!(op.form, Form::Custom | Form::Generic)
                && self.holds(op.span.start)
                && is_function_like(self.parse.name(id, self.text))
        });
        ops.filter(move |&id| self.symbol(id).is_some())
    }

    /// The symbol that an op defines, without `@` and quotes.
    pub fn symbol(self, id: OpId) -> Option<&'a str> {
        let symbols = &self.parse.symbols;
        let op = self.parse.op(id);
        let first = symbols.partition_point(|s| s.span.start < op.span.start);
        let found = symbols[first..].iter().take_while(|s| s.span.start < op.head.end);
        let found = found.into_iter().find(|s| s.op == id && s.is_definition)?;
        Some(bare(found.span.of(self.text)))
    }
}

/// A symbol without `@` and quotes.
pub(crate) fn bare(symbol: &str) -> &str {
    symbol.trim().trim_start_matches('@').trim_matches('"')
}

/// A function as its callers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The name of its computation.
    pub computation: Box<str>,
    /// It has a body.
    pub is_defined: bool,
    pub is_public: bool,
}

/// Owner: the memo of its file. Size: the text of all aliases and resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    aliases: FxHashMap<Box<str>, Box<str>>,
    functions: FxHashMap<Box<str>, Declared>,
    /// Symbols, in the order of the text.
    pub order: Vec<Box<str>>,
    resources: FxHashMap<Box<str>, Arc<str>>,
    meshes: Meshes,
    /// The symbol of the module; empty where it has none.
    pub name: Box<str>,
    /// The attributes of the module: names and values.
    pub attributes: Vec<(Box<str>, Box<str>)>,
}

impl Aliases for Environment {
    fn value(&self, name: &str, _: u32) -> Option<&str> {
        self.aliases.get(name).map(|value| &**value)
    }
}

/// Aliases of aliases beyond this depth are no values.
const MAX_ALIASES: usize = 16;

impl Environment {
    /// Of one part of a text, from the names of its pieces.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a PieceNames>) -> Environment {
        let mut environment = Environment::default();
        let mut computations: FxHashMap<String, usize> = FxHashMap::default();
        let mut has_module = false;
        for names in pieces {
            environment.aliases.extend(names.aliases.iter().cloned());
            environment.resources.extend(names.resources.iter().cloned());
            environment.meshes.extend(names.meshes.iter().cloned());
            if let Some(module) = names.module.as_ref().filter(|_| !has_module) {
                has_module = true;
                environment.name = module.name.clone();
                environment.attributes = module.attributes.clone();
            }
            for function in &names.functions {
                let mut computation = sanitized(&function.symbol);
                // Those of regions are named like this.
                if computation.starts_with("region_") {
                    computation.insert_str(0, "function_");
                }
                // Equal names get a number, which is never used twice.
                let mut next = computations.get(&computation).copied().unwrap_or(0);
                if next > 0 {
                    let name = |next: usize| format!("{computation}_{next}");
                    while computations.contains_key(&name(next)) {
                        next += 1;
                    }
                    let unique = name(next);
                    computations.insert(std::mem::replace(&mut computation, unique), next + 1);
                }
                computations.insert(computation.clone(), 1);
                let PieceFunction { is_defined, is_public, .. } = *function;
                let declared = Declared { computation: computation.into(), is_defined, is_public };
                if environment.functions.insert(function.symbol.clone(), declared).is_none() {
                    environment.order.push(function.symbol.clone());
                }
            }
        }
        environment
    }

    /// The value of an alias; other text as it is.
    pub(crate) fn resolved<'s>(&'s self, value: &'s str) -> &'s str {
        let mut value = value.trim();
        for _ in 0..MAX_ALIASES {
            if !value.starts_with(['#', '!']) {
                break;
            }
            match self.value(value, 0) {
                Some(found) => value = found,
                None => break,
            }
        }
        value
    }

    pub(crate) fn meshes(&self) -> &Meshes {
        &self.meshes
    }

    /// The computation that a function becomes, by its symbol.
    pub fn computation(&self, symbol: &str) -> Option<&str> {
        self.function(symbol).filter(|f| f.is_defined).map(|f| &*f.computation)
    }

    pub(crate) fn function(&self, symbol: &str) -> Option<&Declared> {
        self.functions.get(bare(symbol))
    }

    pub(crate) fn resource(&self, key: &str) -> Option<&str> {
        self.resources.get(key).map(|hex| &**hex)
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| &**own == name).map(|(_, value)| self.resolved(value))
    }

    /// The function that the module starts with: `main`, else the only public one, else the last.
    pub fn entry(&self) -> Option<&str> {
        let is_defined = |symbol: &&str| self.functions.get(*symbol).is_some_and(|f| f.is_defined);
        let mut defined = self.order.iter().map(|symbol| &**symbol).filter(is_defined);
        let main = defined.clone().find(|symbol| *symbol == "main");
        let mut public = defined.clone().filter(|symbol| self.functions[*symbol].is_public);
        let only = match (public.next(), public.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        };
        main.or(only).or_else(|| defined.next_back())
    }
}
