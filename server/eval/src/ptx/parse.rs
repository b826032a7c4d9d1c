//! Parses PTX text to functions, variables and instructions; names are not resolved yet.

use super::problem::{Place, Problem};
use super::tokens::{Token, Tokens};

/// Limits on the nesting and length of texts.
pub(crate) const MAX_DEPTH: u32 = 64;

#[derive(Debug, Default)]
pub(crate) struct Module<'a> {
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) variables: Vec<Variable<'a>>,
}

#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_entry: bool,
    pub(crate) parameters: Vec<Variable<'a>>,
    pub(crate) results: Vec<Variable<'a>>,
    pub(crate) threads: Option<[u32; 3]>,
    /// `None` for a declaration.
    pub(crate) body: Option<Vec<Statement<'a>>>,
    pub(crate) place: Place,
}

/// `.shared .align 4 .b8 name[4224]`, `.param .u64 name`.
#[derive(Debug, Clone)]
pub(crate) struct Variable<'a> {
    pub(crate) name: &'a str,
    /// `shared`, `local`, `param`, `global`, `const`.
    pub(crate) space: &'a str,
    pub(crate) align: u64,
    /// The bytes of one element.
    pub(crate) element: u64,
    /// The total bytes; 0 for `extern` arrays without a size.
    pub(crate) size: u64,
    pub(crate) initial: Vec<u64>,
    pub(crate) is_extern: bool,
    pub(crate) place: Place,
}

#[derive(Debug)]
pub(crate) enum Statement<'a> {
    Label(&'a str, Place),
    Instruction(Instruction<'a>),
    /// `.reg .b32 %r<12>;`: the names, or the stem and the number of them.
    Registers {
        kind: &'a str,
        name: &'a str,
        count: Option<u32>,
        place: Place,
    },
    Variable(Variable<'a>),
    Open,
    Close,
}

#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    /// `%p1` of `@!%p1`, and whether it is negated.
    pub(crate) guard: Option<(&'a str, bool)>,
    pub(crate) opcode: &'a str,
    pub(crate) operands: Vec<Operand<'a>>,
    pub(crate) place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand<'a> {
    Name(&'a str),
    /// `!%p1`.
    Not(&'a str),
    Integer(u64),
    Single(u32),
    Double(u64),
    /// `[%rd1+16]`, `[name]`; `None` if the address is a number.
    Address(Option<&'a str>, i64),
    /// `{%r1, %r2}`, and the parenthesised lists of a call.
    List(Vec<Operand<'a>>),
    /// `%r1|%p1`.
    Pair(&'a str, &'a str),
}

pub(crate) fn parse(text: &str) -> Result<Module<'_>, Problem> {
    let mut parser = Parser { tokens: Tokens::new(text)? };
    let mut module = Module::default();
    while parser.tokens.token != Token::End {
        parser.top_level(&mut module)?;
    }
    Ok(module)
}

pub(crate) struct Parser<'a> {
    pub(crate) tokens: Tokens<'a>,
}

pub(crate) type Parsed<T> = Result<T, Problem>;

impl<'a> Parser<'a> {
    pub(crate) fn eat(&mut self, mark: u8) -> Parsed<bool> {
        let found = self.tokens.token == Token::Mark(mark);
        if found {
            self.tokens.next()?;
        }
        Ok(found)
    }

    pub(crate) fn expect(&mut self, mark: u8) -> Parsed<()> {
        match self.eat(mark)? {
            true => Ok(()),
            false => Err(self.tokens.problem(format!("expected `{}`", mark as char))),
        }
    }

    pub(crate) fn name(&mut self) -> Parsed<&'a str> {
        match self.tokens.token {
            Token::Name(name) => self.tokens.next().map(|_| name),
            _ => Err(self.tokens.problem("expected a name")),
        }
    }

    pub(crate) fn integer(&mut self) -> Parsed<u64> {
        match self.tokens.token {
            Token::Integer(value) => self.tokens.next().map(|_| value),
            _ => Err(self.tokens.problem("expected a whole number")),
        }
    }

    fn top_level(&mut self, module: &mut Module<'a>) -> Parsed<()> {
        let place = self.tokens.place;
        match self.tokens.token {
            Token::Name(".version" | ".target") => {
                let line = place.line;
                while self.tokens.place.line == line && self.tokens.token != Token::End {
                    self.tokens.next()?;
                }
                Ok(())
            }
            Token::Name(".address_size") => {
                self.tokens.next()?;
                match self.integer()? {
                    64 => Ok(()),
                    _ => Err(Problem::new("ptx-unsupported", place, "only addresses of 64 bits are run")),
                }
            }
            Token::Name(".file" | ".pragma" | ".loc" | ".alias") => self.rest_of_line(place.line),
            Token::Name(".section") => {
                while !self.eat(b'{')? {
                    self.anything()?;
                }
                while !self.eat(b'}')? {
                    self.anything()?;
                }
                Ok(())
            }
            Token::Name(word) if word.starts_with('.') => self.declaration(module),
            Token::Mark(b';') => self.tokens.next().map(|_| ()),
            _ => Err(self.tokens.problem("expected a directive")),
        }
    }

    pub(crate) fn anything(&mut self) -> Parsed<()> {
        match self.tokens.next()? {
            Token::End => Err(self.tokens.problem("the text ends too early")),
            _ => Ok(()),
        }
    }

    pub(crate) fn rest_of_line(&mut self, line: u32) -> Parsed<()> {
        while self.tokens.place.line == line && self.tokens.token != Token::End {
            self.tokens.next()?;
        }
        Ok(())
    }

    fn declaration(&mut self, module: &mut Module<'a>) -> Parsed<()> {
        let mut is_extern = false;
        loop {
            match self.tokens.token {
                Token::Name(".visible" | ".weak" | ".common") => _ = self.tokens.next()?,
                Token::Name(".extern") => {
                    is_extern = true;
                    self.tokens.next()?;
                }
                Token::Name(word @ (".entry" | ".func")) => {
                    self.tokens.next()?;
                    let function = self.function(word == ".entry")?;
                    module.functions.push(function);
                    return Ok(());
                }
                Token::Name(".global" | ".shared" | ".const") => {
                    let mut variable = self.variable()?;
                    variable.is_extern = is_extern;
                    module.variables.push(variable);
                    return self.expect(b';');
                }
                _ => return Err(self.tokens.problem("this directive is not known")),
            }
        }
    }

    fn function(&mut self, is_entry: bool) -> Parsed<Function<'a>> {
        let results = if self.tokens.token == Token::Mark(b'(') { self.parameters()? } else { Vec::new() };
        let place = self.tokens.place;
        let name = self.name()?;
        let parameters = if self.tokens.token == Token::Mark(b'(') { self.parameters()? } else { Vec::new() };
        let mut function = Function { name, is_entry, parameters, results, threads: None, body: None, place };
        loop {
            match self.tokens.token {
                Token::Name(".reqntid") => {
                    self.tokens.next()?;
                    function.threads = Some(self.triple()?);
                }
                Token::Name(".maxntid" | ".minnctapersm" | ".maxnreg" | ".reqnctapercluster") => {
                    self.tokens.next()?;
                    self.triple()?;
                }
                Token::Name(".pragma") => {
                    self.tokens.next()?;
                    self.anything()?;
                    self.expect(b';')?;
                }
                Token::Name(".noreturn" | ".explicitcluster") => _ = self.tokens.next()?,
                Token::Mark(b';') => {
                    self.tokens.next()?;
                    return Ok(function);
                }
                Token::Mark(b'{') => {
                    self.tokens.next()?;
                    function.body = Some(self.body()?);
                    return Ok(function);
                }
                _ => return Err(self.tokens.problem("expected the body of the function")),
            }
        }
    }

    fn triple(&mut self) -> Parsed<[u32; 3]> {
        let mut sizes = [1; 3];
        for size in &mut sizes {
            let place = self.tokens.place;
            let given = u32::try_from(self.integer()?);
            *size = given.map_err(|_| Problem::new("ptx-syntax", place, "too large"))?;
            if !self.eat(b',')? {
                break;
            }
        }
        Ok(sizes)
    }

    fn parameters(&mut self) -> Parsed<Vec<Variable<'a>>> {
        self.expect(b'(')?;
        let mut list = Vec::new();
        while !self.eat(b')')? {
            list.push(self.variable()?);
            if self.tokens.token != Token::Mark(b')') {
                self.expect(b',')?;
            }
        }
        Ok(list)
    }
}

/// The bits of a fundamental type: `b32`, `f16x2`, `pred`.
pub(crate) fn bits_of(name: &str) -> Option<u64> {
    Some(match name {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 32,
        "b64" | "u64" | "s64" | "f64" | "f32x2" => 64,
        _ => return None,
    })
}
