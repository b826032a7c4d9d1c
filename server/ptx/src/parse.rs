//! Parses modules and the heads of functions; names are not resolved yet.

use crate::tokens::{Token, Tokens};
use crate::{Attribute, Error, ErrorKind, Function, Linkage, Module, Position};

pub(crate) type Parsed<T> = Result<T, Error>;

/// The structure of a text. Stops at the first problem: a malformed text, or an opcode that the crate does not
/// know ([`ErrorKind::Unsupported`]).
pub fn parse(text: &str) -> Result<Module<&str>, Error> {
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
            false => Err(self.tokens.error(format!("expected `{}`", mark as char))),
        }
    }

    pub(crate) fn name(&mut self) -> Parsed<&'a str> {
        match self.tokens.token {
            Token::Name(name) => self.tokens.next().map(|_| name),
            _ => Err(self.tokens.error("expected a name")),
        }
    }

    pub(crate) fn integer(&mut self) -> Parsed<u64> {
        match self.tokens.token {
            Token::Integer(value) => self.tokens.next().map(|_| value),
            _ => Err(self.tokens.error("expected a whole number")),
        }
    }

    /// A whole number of 32 bits.
    fn small(&mut self) -> Parsed<u32> {
        let at = self.tokens.at;
        let value = u32::try_from(self.integer()?);
        value.map_err(|_| Error::new(ErrorKind::Syntax, at, "too large"))
    }

    fn top_level(&mut self, module: &mut Module<&'a str>) -> Parsed<()> {
        let at = self.tokens.at;
        match self.tokens.token {
            Token::Name(".version") => {
                self.tokens.next()?;
                let version = self.tokens.text().split_once('.');
                let version = version.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                module.version = Some(version.ok_or_else(|| self.tokens.error("expected a version"))?);
                self.tokens.next().map(|_| ())
            }
            Token::Name(".target") => {
                self.tokens.next()?;
                module.targets.push(self.name()?);
                while self.eat(b',')? {
                    module.targets.push(self.name()?);
                }
                Ok(())
            }
            Token::Name(".address_size") => {
                self.tokens.next()?;
                match self.small()? {
                    64 => module.address_size = Some(64),
                    size => return Err(unsupported(at, format!("addresses of {size} bits"))),
                }
                Ok(())
            }
            Token::Name(".file" | ".pragma" | ".loc" | ".alias") => self.rest_of_line(at.line),
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
            _ => Err(self.tokens.error("expected a directive")),
        }
    }

    pub(crate) fn anything(&mut self) -> Parsed<()> {
        match self.tokens.next()? {
            Token::End => Err(self.tokens.error("the text ends too early")),
            _ => Ok(()),
        }
    }

    pub(crate) fn rest_of_line(&mut self, line: u32) -> Parsed<()> {
        while self.tokens.at.line == line && self.tokens.token != Token::End {
            self.tokens.next()?;
        }
        Ok(())
    }

    fn declaration(&mut self, module: &mut Module<&'a str>) -> Parsed<()> {
        let mut linkage = None;
        loop {
            match self.tokens.token {
                Token::Name(word @ (".visible" | ".weak" | ".common" | ".extern")) => {
                    linkage = Linkage::find(word);
                    self.tokens.next()?;
                }
                Token::Name(word @ (".entry" | ".func")) => {
                    self.tokens.next()?;
                    let function = self.function(word == ".entry", linkage)?;
                    module.functions.push(function);
                    return Ok(());
                }
                Token::Name(".global" | ".shared" | ".const") => {
                    module.variables.push(self.variable(linkage)?);
                    return self.expect(b';');
                }
                _ => return Err(self.tokens.error("this directive is not known")),
            }
        }
    }

    fn function(&mut self, is_entry: bool, linkage: Option<Linkage>) -> Parsed<Function<&'a str>> {
        let results = self.parameters()?;
        let at = self.tokens.at;
        let name = self.name()?;
        let parameters = self.parameters()?;
        let (mut attributes, mut body, mut positions) = (Vec::new(), None, Vec::new());
        loop {
            match self.tokens.token {
                Token::Name(
                    name @ (".reqntid" | ".maxntid" | ".minnctapersm" | ".maxnreg" | ".reqnctapercluster"),
                ) => {
                    self.tokens.next()?;
                    attributes.push(Attribute { name, values: self.sizes()? });
                }
                Token::Name(name @ (".noreturn" | ".explicitcluster")) => {
                    self.tokens.next()?;
                    attributes.push(Attribute { name, values: Vec::new() });
                }
                Token::Name(".pragma") => self.pragma()?,
                Token::Mark(b';') => {
                    self.tokens.next()?;
                    break;
                }
                Token::Mark(b'{') => {
                    self.tokens.next()?;
                    let (statements, places) = self.body()?;
                    (body, positions) = (Some(statements), places);
                    break;
                }
                _ => return Err(self.tokens.error("expected the body of the function")),
            }
        }
        Ok(Function { name, linkage, is_entry, parameters, results, attributes, body, at, positions })
    }

    pub(crate) fn pragma(&mut self) -> Parsed<()> {
        self.tokens.next()?;
        self.anything()?;
        self.expect(b';')
    }

    /// One to three numbers.
    fn sizes(&mut self) -> Parsed<Vec<u32>> {
        let mut sizes = vec![self.small()?];
        while sizes.len() < 3 && self.eat(b',')? {
            sizes.push(self.small()?);
        }
        Ok(sizes)
    }

    /// A list in parentheses, if there is one.
    fn parameters(&mut self) -> Parsed<Vec<crate::Variable<&'a str>>> {
        let mut list = Vec::new();
        if !self.eat(b'(')? {
            return Ok(list);
        }
        while !self.eat(b')')? {
            list.push(self.variable(None)?);
            if self.tokens.token != Token::Mark(b')') {
                self.expect(b',')?;
            }
        }
        Ok(list)
    }
}

impl Linkage {
    pub(crate) const ALL: [(Linkage, &str); 4] = [
        (Linkage::Visible, ".visible"),
        (Linkage::Weak, ".weak"),
        (Linkage::Common, ".common"),
        (Linkage::Extern, ".extern"),
    ];

    fn find(word: &str) -> Option<Linkage> {
        Linkage::ALL.iter().find(|(_, text)| *text == word).map(|(linkage, _)| *linkage)
    }
}

pub(crate) fn unsupported(at: Position, message: String) -> Error {
    Error::new(ErrorKind::Unsupported, at, message)
}
