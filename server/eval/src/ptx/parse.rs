//! PTX text as functions, variables and instructions; names are not resolved yet.

use super::problem::{Place, Problem};
use super::tokens::{Token, Tokens};

/// Texts nest and repeat no deeper and no longer than this.
const MAX_DEPTH: u32 = 64;

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
    /// Nothing of a declaration.
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
    /// Bytes of one element.
    pub(crate) element: u64,
    /// Bytes of the whole; 0 for `extern` arrays without a size.
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
    /// `[%rd1+16]`, `[name]`; no name where the address is a number.
    Address(Option<&'a str>, i64),
    /// `{%r1, %r2}`, and the lists in parentheses of a call.
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

struct Parser<'a> {
    tokens: Tokens<'a>,
}

type Parsed<T> = Result<T, Problem>;

impl<'a> Parser<'a> {
    fn eat(&mut self, mark: u8) -> Parsed<bool> {
        let found = self.tokens.token == Token::Mark(mark);
        if found {
            self.tokens.next()?;
        }
        Ok(found)
    }

    fn expect(&mut self, mark: u8) -> Parsed<()> {
        match self.eat(mark)? {
            true => Ok(()),
            false => Err(self.tokens.problem(format!("expected `{}`", mark as char))),
        }
    }

    fn name(&mut self) -> Parsed<&'a str> {
        match self.tokens.token {
            Token::Name(name) => self.tokens.next().map(|_| name),
            _ => Err(self.tokens.problem("expected a name")),
        }
    }

    fn integer(&mut self) -> Parsed<u64> {
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

    fn anything(&mut self) -> Parsed<()> {
        match self.tokens.next()? {
            Token::End => Err(self.tokens.problem("the text ends too early")),
            _ => Ok(()),
        }
    }

    fn rest_of_line(&mut self, line: u32) -> Parsed<()> {
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
        for i in 0..3 {
            let place = self.tokens.place;
            let size = u32::try_from(self.integer()?);
            sizes[i] = size.map_err(|_| Problem::new("ptx-syntax", place, "too large"))?;
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

    /// From the space on: `.param .u64 .ptr .align 16 name`, `.global .align 4 .b8 name[8] = {1, 2}`.
    fn variable(&mut self) -> Parsed<Variable<'a>> {
        let space = self.name()?.trim_start_matches('.');
        let (mut align, mut element, mut vector) = (0, 0, 1u64);
        while let Token::Name(word) = self.tokens.token
            && word.starts_with('.')
        {
            self.tokens.next()?;
            match word {
                ".align" => align = self.integer()?,
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".ptr" | ".global" | ".shared" | ".const" | ".local" => (),
                _ => {
                    let bits = bits_of(&word[1..]);
                    element =
                        bits.ok_or_else(|| self.tokens.problem(format!("`{word}` is no type")))?.div_ceil(8);
                }
            }
        }
        let place = self.tokens.place;
        let name = self.name()?;
        let mut size = element.saturating_mul(vector);
        while self.eat(b'[')? {
            let count = if self.tokens.token == Token::Mark(b']') { 0 } else { self.integer()? };
            size = size.checked_mul(count).ok_or_else(|| self.tokens.problem("too large"))?;
            self.expect(b']')?;
        }
        let mut initial = Vec::new();
        if self.eat(b'=')? {
            let is_list = self.eat(b'{')?;
            loop {
                match self.tokens.next()? {
                    Token::Integer(value) | Token::Double(value) => initial.push(value),
                    Token::Single(bits) => initial.push(u64::from(bits)),
                    _ => {
                        return Err(Problem::new(
                            "ptx-unsupported",
                            place,
                            "an initial value that is no number",
                        ));
                    }
                }
                if !is_list || !self.eat(b',')? {
                    break;
                }
            }
            if is_list {
                self.expect(b'}')?;
            }
        }
        let align = if align == 0 { element.max(1) } else { align };
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(Problem::new("ptx-syntax", place, "an alignment is a power of two"));
        }
        Ok(Variable { name, space, align, element, size, initial, is_extern: false, place })
    }

    fn body(&mut self) -> Parsed<Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            let place = self.tokens.place;
            match self.tokens.token {
                Token::Mark(b'}') => {
                    self.tokens.next()?;
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Token::Mark(b'{') => {
                    self.tokens.next()?;
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.tokens.problem("blocks nest too deep"));
                    }
                    statements.push(Statement::Open);
                }
                Token::Mark(b';') => _ = self.tokens.next()?,
                Token::Name(".reg") => self.registers(&mut statements)?,
                Token::Name(".shared" | ".local" | ".param") => {
                    statements.push(Statement::Variable(self.variable()?));
                    self.expect(b';')?;
                }
                Token::Name(".pragma") => {
                    self.tokens.next()?;
                    self.anything()?;
                    self.expect(b';')?;
                }
                Token::Name(".loc") => self.rest_of_line(place.line)?,
                Token::Mark(b'@') => {
                    self.tokens.next()?;
                    let is_negated = self.eat(b'!')?;
                    let guard = Some((self.name()?, is_negated));
                    let opcode = self.name()?;
                    statements.push(Statement::Instruction(self.instruction(guard, opcode, place)?));
                }
                Token::Name(name) => {
                    self.tokens.next()?;
                    if self.eat(b':')? {
                        statements.push(Statement::Label(name, place));
                    } else {
                        statements.push(Statement::Instruction(self.instruction(None, name, place)?));
                    }
                }
                Token::End => return Err(self.tokens.problem("the function does not end")),
                _ => return Err(self.tokens.problem("expected an instruction")),
            }
        }
    }

    fn registers(&mut self, statements: &mut Vec<Statement<'a>>) -> Parsed<()> {
        self.tokens.next()?;
        let kind = self.name()?.trim_start_matches('.');
        loop {
            let place = self.tokens.place;
            let name = self.name()?;
            let mut count = None;
            if self.eat(b'<')? {
                let number = u32::try_from(self.integer()?).ok().filter(|&n| n <= 1 << 20);
                count = Some(number.ok_or_else(|| self.tokens.problem("too many registers"))?);
                self.expect(b'>')?;
            }
            statements.push(Statement::Registers { kind, name, count, place });
            if !self.eat(b',')? {
                return self.expect(b';');
            }
        }
    }

    fn instruction(
        &mut self,
        guard: Option<(&'a str, bool)>,
        opcode: &'a str,
        place: Place,
    ) -> Parsed<Instruction<'a>> {
        let mut operands = Vec::new();
        if !self.eat(b';')? {
            loop {
                operands.push(self.operand(0)?);
                if !self.eat(b',')? {
                    break;
                }
            }
            self.expect(b';')?;
        }
        Ok(Instruction { guard, opcode, operands, place })
    }

    fn operand(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        match self.tokens.token {
            Token::Mark(open @ (b'{' | b'(')) if depth < 2 => {
                self.tokens.next()?;
                let close = if open == b'{' { b'}' } else { b')' };
                let mut list = Vec::new();
                while !self.eat(close)? {
                    list.push(self.operand(depth + 1)?);
                    if self.tokens.token != Token::Mark(close) {
                        self.expect(b',')?;
                    }
                }
                Ok(Operand::List(list))
            }
            Token::Mark(b'[') => {
                self.tokens.next()?;
                let base = match self.tokens.token {
                    Token::Name(_) => Some(self.name()?),
                    _ => None,
                };
                let mut offset = if base.is_none() { self.integer()? as i64 } else { 0 };
                if self.eat(b'+')? {
                    offset = offset.wrapping_add(self.integer()? as i64);
                } else if let Token::Integer(value) = self.tokens.token {
                    self.tokens.next()?;
                    offset = offset.wrapping_add(value as i64);
                }
                self.expect(b']')?;
                Ok(Operand::Address(base, offset))
            }
            Token::Mark(b'!') => {
                self.tokens.next()?;
                Ok(Operand::Not(self.name()?))
            }
            Token::Name(name) => {
                self.tokens.next()?;
                match self.eat(b'|')? {
                    true => Ok(Operand::Pair(name, self.name()?)),
                    false => Ok(Operand::Name(name)),
                }
            }
            Token::Integer(value) => self.tokens.next().map(|_| Operand::Integer(value)),
            Token::Single(bits) => self.tokens.next().map(|_| Operand::Single(bits)),
            Token::Double(bits) => self.tokens.next().map(|_| Operand::Double(bits)),
            _ => Err(self.tokens.problem("expected an operand")),
        }
    }
}

/// Bits of a fundamental type: `b32`, `f16x2`, `pred`.
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
