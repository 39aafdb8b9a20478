//! Tokens to statements, as jinja2's parser does it.

use std::rc::Rc;

use crate::ast::{
    Block, BlockDef, Expr, For, Kind, MacroDef, Name, Scope, Slot, Stmt, StmtKind, Target, Template, Test,
};
use crate::fail::{self, Error};
use crate::lexer::{self, Token};

/// How deep tags and parentheses may nest; Python's own parser gives up about there.
const MAX_DEPTH: usize = 100;

/// Parses a template.
pub fn parse(source: &str) -> Result<Template, Error> {
    let mut parser = Parser { tokens: lexer::tokens(source)?, at: 0, depth: 0 };
    let body = parser.body(&[])?;
    Ok(Template { body, scope: Scope::default(), slots: 0, this: None })
}

pub struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    depth: usize,
}

/// A name whose place `scope` will find.
pub fn name(name: &str) -> Name {
    Name { name: Rc::from(name), slot: Slot::default() }
}

impl Parser {
    pub fn current(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.at].1
    }

    pub fn look(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    /// Takes the current token, which nothing looks at again.
    pub fn next(&mut self) -> Token {
        let token = std::mem::replace(&mut self.tokens[self.at].0, Token::End);
        self.skip();
        token
    }

    pub fn skip(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(self.current(), Token::Name(n) if n == name)
    }

    pub fn is_op(&self, op: &str) -> bool {
        matches!(self.current(), Token::Op(o) if *o == op)
    }

    pub fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.skip();
        }
        found
    }

    pub fn skip_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.skip();
        }
        found
    }

    pub fn expect_op(&mut self, op: &str) -> Result<(), Error> {
        if self.skip_op(op) {
            return Ok(());
        }
        Err(self.expected(&format!("'{op}'")))
    }

    pub fn expect_name(&mut self) -> Result<String, Error> {
        match self.next() {
            Token::Name(n) => Ok(n),
            other => Err(self.fail(format!("expected a name, got {}", describe(&other)))),
        }
    }

    fn expect_keyword(&mut self, keyword: &str) -> Result<(), Error> {
        if self.skip_name(keyword) {
            return Ok(());
        }
        Err(self.expected(&format!("'{keyword}'")))
    }

    fn expect(&mut self, token: Token) -> Result<(), Error> {
        if *self.current() == token {
            self.skip();
            return Ok(());
        }
        Err(self.expected(&describe(&token)))
    }

    fn expected(&self, what: &str) -> Error {
        self.fail(format!("expected {what}, got {}", describe(self.current())))
    }

    pub fn fail(&self, message: impl Into<String>) -> Error {
        fail::refused(message).at(self.line())
    }

    /// Counts one more level of nesting while `parse` runs.
    pub fn deeper<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fail("it is nested too deeply"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Statements up to one of the tags `ends`, which stays the current token; up to the end of the template without any.
    fn body(&mut self, ends: &[&str]) -> Result<Block, Error> {
        let mut body = Block::new();
        loop {
            let line = self.line();
            match self.next() {
                Token::Data(text) => body.push(Stmt { kind: StmtKind::Data(text.into()), line }),
                Token::VariableBegin => {
                    let value = self.tuple(true, false)?;
                    self.expect(Token::VariableEnd)?;
                    body.push(Stmt { kind: StmtKind::Print(vec![value]), line });
                }
                Token::BlockBegin => {
                    if ends.iter().any(|end| self.is_name(end)) {
                        return Ok(body);
                    }
                    let line = self.line();
                    let kind = self.deeper(Parser::statement)?;
                    body.push(Stmt { kind, line });
                    self.expect(Token::BlockEnd)?;
                }
                Token::End if ends.is_empty() => return Ok(body),
                _ => {
                    return Err(self.fail(format!("unexpected end of template, '{}' is missing", ends.join("' or '"))));
                }
            }
        }
    }

    /// The rest of a tag and the statements after it.
    fn statements(&mut self, ends: &[&str]) -> Result<Block, Error> {
        self.skip_op(":");
        self.expect(Token::BlockEnd)?;
        self.body(ends)
    }

    /// Like `statements`, with the tag at the end taken.
    fn until(&mut self, end: &str) -> Result<Block, Error> {
        let body = self.statements(&[end])?;
        self.skip();
        Ok(body)
    }

    fn statement(&mut self) -> Result<StmtKind, Error> {
        let line = self.line();
        let Token::Name(tag) = self.next() else {
            return Err(fail::refused("tag name expected").at(line));
        };
        match tag.as_str() {
            "for" => self.for_loop(),
            "if" => self.condition(),
            "set" => self.set(),
            "with" => self.with(),
            "macro" => self.macro_definition(),
            "call" => self.call_block(),
            "filter" => {
                let filter = self.filters(None, true)?.ok_or_else(|| self.fail("expected a filter"))?;
                let body = self.until("endfilter")?;
                Ok(StmtKind::Filter { filter, scope: Scope::default(), body })
            }
            "autoescape" => {
                let value = self.expression()?;
                let body = self.until("endautoescape")?;
                Ok(StmtKind::Autoescape { value, scope: Scope::default(), body })
            }
            "generation" => {
                let body = self.until("endgeneration")?;
                Ok(StmtKind::Generation(Rc::new(definition(None, vec![], vec![], body))))
            }
            "block" => self.block(),
            "print" => {
                let mut values = Vec::new();
                while *self.current() != Token::BlockEnd {
                    if !values.is_empty() {
                        self.expect_op(",")?;
                    }
                    values.push(self.expression()?);
                }
                Ok(StmtKind::Print(values))
            }
            "break" => Ok(StmtKind::Break),
            "continue" => Ok(StmtKind::Continue),
            "include" => self.loader("include"),
            "import" => self.loader("import"),
            "from" => self.loader("import"),
            "extends" => self.loader("extends"),
            _ => Err(fail::refused(format!("unknown tag '{tag}'")).at(line)),
        }
    }

    fn for_loop(&mut self) -> Result<StmtKind, Error> {
        let target = self.target(false)?;
        self.expect_keyword("in")?;
        let iter = self.tuple(false, false)?;
        let condition = if self.skip_name("if") { Some(self.expression()?) } else { None };
        let recursive = self.skip_name("recursive");
        let body = self.statements(&["endfor", "else"])?;
        let otherwise = if self.next() == Token::Name("endfor".into()) { vec![] } else { self.until("endfor")? };
        let test =
            condition.map(|condition| Test { target: copy(&target), condition, scope: Scope::default(), slots: 0 });
        Ok(StmtKind::For(Rc::new(For {
            target,
            iter,
            test,
            body,
            otherwise,
            recursive,
            extended: None,
            scope: Scope::default(),
            else_scope: Scope::default(),
            slots: 0,
        })))
    }

    fn condition(&mut self) -> Result<StmtKind, Error> {
        let mut branches = Vec::new();
        loop {
            let test = self.tuple(false, false)?;
            let body = self.statements(&["elif", "else", "endif"])?;
            branches.push((test, body));
            let otherwise = match self.next() {
                Token::Name(n) if n == "elif" => continue,
                Token::Name(n) if n == "else" => self.until("endif")?,
                _ => vec![],
            };
            return Ok(StmtKind::If { branches, otherwise });
        }
    }

    fn set(&mut self) -> Result<StmtKind, Error> {
        let target = self.target(true)?;
        if self.skip_op("=") {
            let value = self.tuple(true, false)?;
            return Ok(StmtKind::Set { target, value, exports: vec![] });
        }
        let filter = self.filters(None, false)?;
        let body = self.until("endset")?;
        Ok(StmtKind::SetBlock { target, filter, scope: Scope::default(), body, exports: vec![] })
    }

    fn with(&mut self) -> Result<StmtKind, Error> {
        let (mut targets, mut values) = (Vec::new(), Vec::new());
        while *self.current() != Token::BlockEnd {
            if !targets.is_empty() {
                self.expect_op(",")?;
            }
            targets.push(self.target(false)?);
            self.expect_op("=")?;
            values.push(self.expression()?);
        }
        let body = self.until("endwith")?;
        Ok(StmtKind::With { targets, values, scope: Scope::default(), body })
    }

    fn macro_definition(&mut self) -> Result<StmtKind, Error> {
        let macro_name = self.assignable()?;
        let (args, defaults) = self.signature()?;
        let body = self.until("endmacro")?;
        let def = Rc::new(definition(Some(macro_name.name.clone()), args, defaults, body));
        Ok(StmtKind::Macro { name: macro_name, def, export: false })
    }

    fn call_block(&mut self) -> Result<StmtKind, Error> {
        let (args, defaults) = if self.is_op("(") { self.signature()? } else { (vec![], vec![]) };
        let call = self.expression()?;
        if !matches!(call.kind, Kind::Call(..)) {
            return Err(self.fail("expected call"));
        }
        let body = self.until("endcall")?;
        Ok(StmtKind::Call { call, def: Rc::new(definition(None, args, defaults, body)) })
    }

    fn block(&mut self) -> Result<StmtKind, Error> {
        let block_name = self.expect_name()?;
        let scoped = self.skip_name("scoped");
        let required = self.skip_name("required");
        let body = self.until("endblock")?;
        if required && body.iter().any(|s| !matches!(&s.kind, StmtKind::Data(d) if d.trim().is_empty())) {
            return Err(self.fail("Required blocks can only contain comments or whitespace"));
        }
        self.skip_name(&block_name);
        Ok(StmtKind::Block(Rc::new(BlockDef {
            name: block_name.into(),
            scoped,
            required,
            body,
            scope: Scope::default(),
            slots: 0,
            this: None,
            parent: None,
            visible: vec![],
        })))
    }

    /// A tag that loads another template: its form is checked no further, for it fails when it is reached.
    fn loader(&mut self, tag: &'static str) -> Result<StmtKind, Error> {
        self.expression()?;
        while !matches!(self.current(), Token::BlockEnd | Token::End) {
            self.skip();
        }
        Ok(StmtKind::Loader(tag))
    }

    fn signature(&mut self) -> Result<(Vec<Name>, Vec<Expr>), Error> {
        let (mut args, mut defaults) = (Vec::new(), Vec::new());
        self.expect_op("(")?;
        while !self.is_op(")") {
            if !args.is_empty() {
                self.expect_op(",")?;
            }
            let arg = self.assignable()?;
            if self.skip_op("=") {
                defaults.push(self.expression()?);
            } else if !defaults.is_empty() {
                return Err(self.fail("non-default argument follows default argument"));
            }
            if args.iter().any(|a: &Name| a.name == arg.name) {
                return Err(self.fail(format!("duplicate argument '{}'", arg.name)));
            }
            args.push(arg);
        }
        self.expect_op(")")?;
        Ok((args, defaults))
    }

    /// One name that may be assigned to.
    fn assignable(&mut self) -> Result<Name, Error> {
        let found = self.expect_name()?;
        if constant(&found) {
            return Err(self.fail(format!("can't assign to '{found}'")));
        }
        Ok(name(&found))
    }

    /// What an assignment assigns to.
    fn target(&mut self, namespace: bool) -> Result<Target, Error> {
        let line = self.line();
        let expr = self.targets(namespace)?;
        as_target(expr).ok_or_else(|| fail::refused("can't assign to that").at(line))
    }
}

/// Whether a name is a constant of the language.
pub fn constant(name: &str) -> bool {
    matches!(name, "true" | "false" | "none" | "True" | "False" | "None")
}

fn definition(name: Option<Rc<str>>, args: Vec<Name>, defaults: Vec<Expr>, body: Block) -> MacroDef {
    MacroDef {
        name,
        explicit_caller: args.iter().any(|a| &*a.name == "caller"),
        args,
        defaults,
        body,
        scope: Scope::default(),
        slots: 0,
        caller: None,
        kwargs: None,
        varargs: None,
        closes: false,
    }
}

fn as_target(expr: Expr) -> Option<Target> {
    match expr.kind {
        Kind::Name(n) => Some(Target::Name(n)),
        Kind::NamespaceRef(n, attribute) => Some(Target::Attribute(n, attribute)),
        Kind::Tuple(items) => items.into_iter().map(as_target).collect::<Option<Vec<_>>>().map(Target::Tuple),
        _ => None,
    }
}

fn copy(target: &Target) -> Target {
    match target {
        Target::Name(n) => Target::Name(name(&n.name)),
        Target::Attribute(n, attribute) => Target::Attribute(name(&n.name), attribute.clone()),
        Target::Tuple(items) => Target::Tuple(items.iter().map(copy).collect()),
    }
}

/// A token in words.
pub fn describe(token: &Token) -> String {
    match token {
        Token::Data(_) => "text".into(),
        Token::BlockBegin => "'{%'".into(),
        Token::BlockEnd => "'%}'".into(),
        Token::VariableBegin => "'{{'".into(),
        Token::VariableEnd => "'}}'".into(),
        Token::Name(n) => format!("'{n}'"),
        Token::Str(_) => "a string".into(),
        Token::Number(_) => "a number".into(),
        Token::Op(op) => format!("'{op}'"),
        Token::End => "the end of the template".into(),
    }
}
