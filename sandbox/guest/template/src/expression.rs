//! Tokens to expressions, with jinja2's precedence.

use std::rc::Rc;

use crate::ast::{Application, Arguments, Cond, Expr, Kind};
use crate::fail::{self, Error};
use crate::lexer::Token;
use crate::parser::{describe, name, Parser};
use crate::value::Value;

/// How many operators may stand in one row; Python's compiler allows as many parentheses.
const MAX_CHAIN: usize = 200;

/// Counts the operators of one row.
#[derive(Default)]
struct Chain(usize);

impl Chain {
    fn one_more(&mut self, line: u32) -> Result<(), Error> {
        self.0 += 1;
        if self.0 > MAX_CHAIN {
            return Err(fail::limit("it is nested too deeply").at(line));
        }
        Ok(())
    }
}

fn node(kind: Kind, line: u32) -> Expr {
    Expr { kind, line }
}

impl Parser {
    pub fn expression(&mut self) -> Result<Expr, Error> {
        self.deeper(Parser::conditional)
    }

    fn conditional(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        let mut expr = self.or()?;
        let mut chain = Chain::default();
        while self.skip_name("if") {
            chain.one_more(line)?;
            let test = self.or()?;
            let no = if self.skip_name("else") { Some(self.deeper(Parser::conditional)?) } else { None };
            expr = node(Kind::Cond(Box::new(Cond { test, yes: expr, no })), line);
        }
        Ok(expr)
    }

    fn or(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        let mut left = self.and()?;
        let mut chain = Chain::default();
        while self.skip_name("or") {
            chain.one_more(line)?;
            left = node(Kind::Or(Box::new(left), Box::new(self.and()?)), line);
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        let mut left = self.not()?;
        let mut chain = Chain::default();
        while self.skip_name("and") {
            chain.one_more(line)?;
            left = node(Kind::And(Box::new(left), Box::new(self.not()?)), line);
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        if self.skip_name("not") {
            let operand = self.deeper(Parser::not)?;
            return Ok(node(Kind::Not(Box::new(operand)), line));
        }
        self.compare()
    }

    fn compare(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        let first = self.sum()?;
        let mut more = Vec::new();
        loop {
            let op = match self.current() {
                Token::Op(op @ ("==" | "!=" | "<" | "<=" | ">" | ">=")) => *op,
                Token::Name(n) if n == "in" => "in",
                Token::Name(n) if n == "not" && *self.look() == Token::Name("in".into()) => {
                    self.skip();
                    "not in"
                }
                _ => break,
            };
            self.skip();
            more.push((op, self.sum()?));
        }
        Ok(if more.is_empty() { first } else { node(Kind::Compare(Box::new(first), more), line) })
    }

    fn binary(&mut self, ops: &[&'static str], operand: fn(&mut Parser) -> Result<Expr, Error>) -> Result<Expr, Error> {
        let line = self.line();
        let mut left = operand(self)?;
        let mut chain = Chain::default();
        while let Some(op) = ops.iter().find(|op| self.is_op(op)) {
            chain.one_more(line)?;
            self.skip();
            left = node(Kind::Binary(op, Box::new(left), Box::new(operand(self)?)), line);
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expr, Error> {
        self.binary(&["+", "-"], Parser::concat)
    }

    fn concat(&mut self) -> Result<Expr, Error> {
        let line = self.line();
        let mut parts = vec![self.product()?];
        while self.skip_op("~") {
            parts.push(self.product()?);
        }
        Ok(match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => node(Kind::Concat(parts.into_iter().chain(last).collect()), line),
        })
    }

    fn product(&mut self) -> Result<Expr, Error> {
        self.binary(&["*", "/", "//", "%"], Parser::power)
    }

    fn power(&mut self) -> Result<Expr, Error> {
        self.binary(&["**"], |p| p.unary(true))
    }

    fn unary(&mut self, with_filters: bool) -> Result<Expr, Error> {
        let line = self.line();
        let operand = if self.skip_op("-") {
            node(Kind::Neg(Box::new(self.deeper(|p| p.unary(false))?)), line)
        } else if self.skip_op("+") {
            node(Kind::Pos(Box::new(self.deeper(|p| p.unary(false))?)), line)
        } else {
            self.primary(false)?
        };
        let operand = self.postfix(operand)?;
        if with_filters {
            self.filtered(operand)
        } else {
            Ok(operand)
        }
    }

    fn primary(&mut self, namespace: bool) -> Result<Expr, Error> {
        let line = self.line();
        let kind = match self.next() {
            Token::Name(n) => match n.as_str() {
                "true" | "True" => Kind::Const(Value::Bool(true)),
                "false" | "False" => Kind::Const(Value::Bool(false)),
                "none" | "None" => Kind::Const(Value::None),
                _ if namespace && self.skip_op(".") => Kind::NamespaceRef(name(&n), self.expect_name()?.into()),
                _ => Kind::Name(name(&n)),
            },
            Token::Str(mut text) => {
                while let Token::Str(more) = self.current() {
                    text += more;
                    self.skip();
                }
                Kind::Const(text.into())
            }
            Token::Number(n) => Kind::Const(n.value()),
            Token::Op("(") => {
                let inner = self.deeper(|p| p.tuple(true, true))?;
                self.expect_op(")")?;
                return Ok(inner);
            }
            Token::Op("[") => Kind::List(self.items("]", Parser::expression)?),
            Token::Op("{") => Kind::Dict(self.items("}", |p| {
                let key = p.expression()?;
                p.expect_op(":")?;
                Ok((key, p.expression()?))
            })?),
            other => return Err(fail::refused(format!("unexpected {}", describe(&other))).at(line)),
        };
        Ok(node(kind, line))
    }

    /// Items between commas up to `end`, which is taken.
    fn items<T>(&mut self, end: &str, item: fn(&mut Parser) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let mut items = Vec::new();
        while !self.is_op(end) {
            if !items.is_empty() {
                self.expect_op(",")?;
                if self.is_op(end) {
                    break;
                }
            }
            items.push(item(self)?);
        }
        self.expect_op(end)?;
        Ok(items)
    }

    /// An expression, or a tuple of them without parentheses.
    pub fn tuple(&mut self, conditional: bool, parentheses: bool) -> Result<Expr, Error> {
        self.tuple_of(parentheses, |p| if conditional { p.expression() } else { p.deeper(Parser::or) })
    }

    /// Names and tuples to assign to.
    pub fn targets(&mut self, namespace: bool) -> Result<Expr, Error> {
        self.tuple_of(false, |p| p.primary(namespace))
    }

    fn tuple_of(
        &mut self,
        parentheses: bool,
        item: impl Fn(&mut Parser) -> Result<Expr, Error>,
    ) -> Result<Expr, Error> {
        let line = self.line();
        let mut items = Vec::new();
        let mut tuple = false;
        loop {
            if !items.is_empty() {
                self.expect_op(",")?;
            }
            if matches!(self.current(), Token::VariableEnd | Token::BlockEnd) || self.is_op(")") {
                break;
            }
            items.push(item(self)?);
            if !self.is_op(",") {
                break;
            }
            tuple = true;
        }
        match items.pop() {
            Some(only) if !tuple => Ok(only),
            None if !parentheses => Err(self.fail(format!("Expected an expression, got {}", describe(self.current())))),
            last => Ok(node(Kind::Tuple(items.into_iter().chain(last).collect()), line)),
        }
    }

    fn postfix(&mut self, mut expr: Expr) -> Result<Expr, Error> {
        let mut chain = Chain::default();
        loop {
            let line = self.line();
            chain.one_more(line)?;
            if self.skip_op(".") {
                expr = self.member(expr, line)?;
            } else if self.skip_op("[") {
                expr = self.subscript(expr, line)?;
            } else if self.is_op("(") {
                let args = self.arguments()?;
                expr = node(Kind::Call(Box::new(expr), args), line);
            } else {
                return Ok(expr);
            }
        }
    }

    fn member(&mut self, expr: Expr, line: u32) -> Result<Expr, Error> {
        match self.next() {
            Token::Name(attribute) => Ok(node(Kind::Attribute(Box::new(expr), attribute.into()), line)),
            Token::Number(n @ crate::lexer::Literal::Int(_)) => {
                Ok(node(Kind::Item(Box::new(expr), Box::new(node(Kind::Const(n.value()), line))), line))
            }
            _ => Err(self.fail("expected name or number")),
        }
    }

    fn subscript(&mut self, expr: Expr, line: u32) -> Result<Expr, Error> {
        let mut keys = Vec::new();
        while !self.is_op("]") {
            if !keys.is_empty() {
                self.expect_op(",")?;
            }
            let key = if self.is_op(":") { None } else { Some(self.expression()?) };
            if !self.is_op(":") {
                keys.extend(key);
                continue;
            }
            self.skip();
            let ends = |p: &Parser| p.is_op("]") || p.is_op(",");
            let stop = if self.is_op(":") || ends(self) { None } else { Some(self.expression()?) };
            let step = if self.skip_op(":") && !ends(self) { Some(self.expression()?) } else { None };
            if !keys.is_empty() || !self.is_op("]") {
                return Err(self.fail("a slice among several subscripts"));
            }
            self.skip();
            return Ok(node(Kind::Slice(Box::new(expr), Box::new([key, stop, step])), line));
        }
        self.skip();
        let key = match keys.pop() {
            Some(only) if keys.is_empty() => only,
            last => node(Kind::Tuple(keys.into_iter().chain(last).collect()), line),
        };
        Ok(node(Kind::Item(Box::new(expr), Box::new(key)), line))
    }

    fn arguments(&mut self) -> Result<Arguments, Error> {
        self.expect_op("(")?;
        let mut args = Arguments::default();
        let mut first = true;
        while !self.is_op(")") {
            if !first {
                self.expect_op(",")?;
                if self.is_op(")") {
                    break;
                }
            }
            first = false;
            let ended = args.more_keywords.is_some();
            let misplaced = if self.skip_op("*") {
                let misplaced = ended || args.more.is_some();
                args.more = Some(Box::new(self.expression()?));
                misplaced
            } else if self.skip_op("**") {
                args.more_keywords = Some(Box::new(self.expression()?));
                ended
            } else if matches!(self.current(), Token::Name(_)) && *self.look() == Token::Op("=") {
                let key: Rc<str> = self.expect_name()?.into();
                self.skip();
                let repeated = args.keywords.iter().any(|(k, _)| *k == key);
                args.keywords.push((key, self.expression()?));
                ended || repeated
            } else {
                let misplaced = ended || args.more.is_some() || !args.keywords.is_empty();
                args.positional.push(self.expression()?);
                misplaced
            };
            if misplaced {
                return Err(self.fail("invalid syntax for function call expression"));
            }
        }
        self.expect_op(")")?;
        Ok(args)
    }

    /// Filters, tests and calls after an operand.
    fn filtered(&mut self, mut expr: Expr) -> Result<Expr, Error> {
        let mut chain = Chain::default();
        loop {
            let line = self.line();
            chain.one_more(line)?;
            if self.is_op("|") {
                expr = self.filters(Some(expr), false)?.ok_or_else(|| self.fail("expected a filter"))?;
            } else if self.skip_name("is") {
                expr = self.test(expr, line)?;
            } else if self.is_op("(") {
                let args = self.arguments()?;
                expr = node(Kind::Call(Box::new(expr), args), line);
            } else {
                return Ok(expr);
            }
        }
    }

    /// A chain of filters; with `inline` the first has no `|` before it.
    pub fn filters(&mut self, mut expr: Option<Expr>, mut inline: bool) -> Result<Option<Expr>, Error> {
        let mut chain = Chain::default();
        while inline || self.skip_op("|") {
            inline = false;
            let line = self.line();
            chain.one_more(line)?;
            let name = self.dotted()?;
            let args = if self.is_op("(") { self.arguments()? } else { Arguments::default() };
            let filter = Application { name, input: expr.take(), args, function: None };
            expr = Some(node(Kind::Filter(Box::new(filter)), line));
        }
        Ok(expr)
    }

    fn dotted(&mut self) -> Result<Rc<str>, Error> {
        let mut name = self.expect_name()?;
        while self.skip_op(".") {
            name = name + "." + &self.expect_name()?;
        }
        Ok(name.into())
    }

    fn test(&mut self, expr: Expr, line: u32) -> Result<Expr, Error> {
        let negated = self.skip_name("not");
        let name = self.dotted()?;
        let mut args = Arguments::default();
        let operand = match self.current() {
            Token::Op("(") => {
                args = self.arguments()?;
                false
            }
            Token::Name(n) if n == "is" => return Err(self.fail("You cannot chain multiple tests with is")),
            Token::Name(n) => !matches!(n.as_str(), "else" | "or" | "and"),
            Token::Str(_) | Token::Number(_) => true,
            Token::Op(op) => matches!(*op, "[" | "{"),
            _ => false,
        };
        if operand {
            let arg = self.primary(false)?;
            args.positional.push(self.postfix(arg)?);
        }
        let test = node(Kind::Test(Box::new(Application { name, input: Some(expr), args, function: None })), line);
        Ok(if negated { node(Kind::Not(Box::new(test)), line) } else { test })
    }
}

/// The source of a simple expression, so that an error can say what is undefined.
pub fn description(e: &Expr) -> String {
    match &e.kind {
        Kind::Name(n) => n.name.to_string(),
        Kind::Attribute(of, name) => format!("{}.{name}", description(of)),
        Kind::Item(of, key) => match &key.kind {
            Kind::Const(Value::Str(s)) => format!("{}['{s}']", description(of)),
            Kind::Const(Value::Int(n)) => format!("{}[{n}]", description(of)),
            _ => format!("{}[…]", description(of)),
        },
        Kind::Call(of, _) => format!("{}(…)", description(of)),
        Kind::Filter(f) => format!("the result of the filter '{}'", f.name),
        _ => "a value".to_string(),
    }
}
