//! Two compiles of a module side by side, for `diff` on the command line and in `query`.

pub mod json;
pub mod picture;
pub mod text;

use std::borrow::Cow;

use compile_diff::{Kernel, MeasuredModule, Module, Report};
use ide::{AnalysisHost, Device, Language};
use matching::Unreadable;

/// A text with its name and the device that its kernels target.
pub struct Source {
    pub name: String,
    pub text: String,
    pub device: &'static Device,
}

/// One of the two modules, as far as it can be read.
pub struct Side {
    pub name: String,
    pub device: &'static Device,
    /// HLO; converted if the source is StableHLO.
    pub text: String,
    /// Whether places in the text are places in the source.
    pub is_as_written: bool,
    pub heaviest: ide::HeaviestKernels,
    /// What is wrong, with the place in front.
    pub errors: Vec<String>,
    line_starts: Vec<usize>,
}

impl Side {
    /// Reads a source and estimates its kernels.
    pub fn new(source: Source) -> Result<Side, String> {
        let Source { name, text, device } = source;
        let mut host = AnalysisHost::of_this_computation();
        host.use_device(device);
        let mut errors = Vec::new();
        let (mut text, mut is_as_written) = (text, true);
        let mut file = host.open(&name, ide::language_of(&name, &text), &text);
        let uncancelled = "the analysis was cancelled";
        if ide::language_of(&name, &text) == Language::Mlir {
            let conversion = host.analysis().convert(file).map_err(|_| uncancelled)?;
            errors.extend(
                conversion.incomplete.iter().map(|one| format!("{name}: not compared: {}", one.what)),
            );
            (text, is_as_written) = (conversion.text, false);
            host.close(file);
            file = host.open(&name, Language::Hlo, &text);
        }
        let heaviest = host.analysis().heaviest_kernels(file, usize::MAX).map_err(|_| uncancelled)?;
        let line_starts =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let line_starts = line_starts.collect();
        Ok(Side { name, device, text, is_as_written, heaviest, errors, line_starts })
    }

    /// Line and column of an offset, both from 1; columns count bytes.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        (line, offset - self.line_starts[line - 1] + 1)
    }

    /// `PATH:LINE:COLUMN`, as terminals and editors link it.
    pub fn place(&self, offset: usize) -> String {
        match self.is_as_written {
            true => {
                let (line, column) = self.position(offset);
                format!("{}:{line}:{column}", self.name)
            }
            false => self.name.clone(),
        }
    }

    fn error(&self, error: &Unreadable) -> String {
        format!("{}: {}", self.place(error.offset), error.message)
    }

    fn kernels(&self, module: &Module<'_>) -> Vec<Kernel> {
        let kernel = |kernel: &ide::HeavyKernel| {
            let written = &self.text[kernel.range.clone()];
            let offset = kernel.range.start + (written.len() - written.trim_start_matches('%').len());
            Some(Kernel {
                instruction: module.instruction_at(offset)?,
                kind: kernel.kind.clone(),
                executions: kernel.executions,
                total_us: kernel.total_us,
                bytes: kernel.figures.bytes_moved.unwrap_or(kernel.figures.bytes_needed),
                sectors_per_request: kernel.figures.sectors_per_request,
            })
        };
        self.heaviest.kernels.iter().filter_map(kernel).collect()
    }
}

/// What two compiles of a module have different, with what is needed to show it.
pub struct Diff<'t> {
    pub sides: [&'t Side; 2],
    pub modules: [Module<'t>; 2],
    pub report: Report,
    /// What is wrong with either text. The rest is compared.
    pub errors: Vec<String>,
}

impl<'t> Diff<'t> {
    /// Compares two modules.
    ///
    /// # Errors
    /// What is wrong, if one of the texts holds no module.
    pub fn new(sides: [&'t Side; 2]) -> Result<Diff<'t>, Vec<String>> {
        let mut errors: Vec<String> = sides.iter().flat_map(|side| side.errors.clone()).collect();
        let read = sides.map(|side| Module::read(&side.text).map_err(|error| side.error(&error)));
        let modules = match read {
            [Ok(before), Ok(after)] => [before, after],
            read => {
                errors.extend(read.into_iter().filter_map(Result::err));
                return Err(errors);
            }
        };
        for (side, module) in sides.iter().zip(&modules) {
            errors.extend(module.errors.iter().map(|error| side.error(error)));
        }
        let kernels = [0, 1].map(|n| sides[n].kernels(&modules[n]));
        let measured = |n: usize| MeasuredModule {
            module: &modules[n],
            kernels: &kernels[n],
            device: sides[n].device.name,
        };
        let report = Report::of(&measured(0), &measured(1));
        Ok(Diff { sides, modules, report, errors })
    }

    /// The name of an instruction of one of the modules, and where it is.
    pub fn title_and_place(&self, side: usize, instruction: u32) -> (String, String) {
        let module = &self.modules[side];
        (module.title(instruction), self.sides[side].place(module.offset(instruction)))
    }
}

/// `+2.1 %`; `new` where there was nothing before.
pub fn percent(growth: Option<f64>) -> Cow<'static, str> {
    match growth {
        None => "new".into(),
        Some(growth) if growth.abs() < 0.0005 => "±0 %".into(),
        Some(growth) => format!("{:+.1} %", growth * 100.0).into(),
    }
}
