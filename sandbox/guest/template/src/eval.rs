//! Evaluates expressions.

use std::rc::Rc;

use crate::access;
use crate::args::{Args, Kindred};
use crate::ast::{Application, Arguments, Expr, Kind};
use crate::expression::description;
use crate::fail::{self, Error};
use crate::frame::Frame;
use crate::iter;
use crate::methods;
use crate::ops;
use crate::value::{Dict, Hint, Key, Value};
use crate::vm::Vm;

impl Vm {
    /// The value of an expression.
    pub fn eval(&self, e: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        self.step()?;
        match &e.kind {
            Kind::Const(v) => Ok(v.clone()),
            Kind::Name(n) => Ok(match frame.get(n.slot) {
                Value::Missing => Value::Undefined(Hint::Name(n.name.clone())),
                v => v,
            }),
            _ => self.deeper(|| self.compound(e, frame)).map_err(|err| err.at(e.line)),
        }
    }

    fn compound(&self, e: &Expr, frame: &Rc<Frame>) -> Result<Value, Error> {
        match &e.kind {
            Kind::Const(_) | Kind::Name(_) => self.eval(e, frame),
            Kind::NamespaceRef(..) => Err(fail::refused("a namespace's attribute cannot stand here")),
            Kind::Tuple(items) => Ok(Value::tuple(self.all(items, frame)?)),
            Kind::List(items) => Ok(Value::list(self.all(items, frame)?)),
            Kind::Dict(pairs) => self.dict(pairs, frame),
            Kind::Not(e) => Ok(Value::Bool(!self.eval(e, frame)?.is_true())),
            Kind::Neg(e) => ops::sign("-", &self.eval(e, frame)?),
            Kind::Pos(e) => ops::sign("+", &self.eval(e, frame)?),
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.eval(a, frame)?, self.eval(b, frame)?);
                ops::binary(op, &a, &b)
            }
            Kind::And(a, b) => {
                let a = self.eval(a, frame)?;
                if a.is_true() {
                    self.eval(b, frame)
                } else {
                    Ok(a)
                }
            }
            Kind::Or(a, b) => {
                let a = self.eval(a, frame)?;
                if a.is_true() {
                    Ok(a)
                } else {
                    self.eval(b, frame)
                }
            }
            Kind::Compare(first, more) => {
                let mut left = self.eval(first, frame)?;
                for (op, right) in more {
                    let right = self.eval(right, frame)?;
                    if !ops::compare(self, op, &left, &right)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Ok(Value::Bool(true))
            }
            Kind::Concat(parts) => ops::concat(&self.all(parts, frame)?, self.autoescape.get()),
            Kind::Cond(c) => match (self.eval(&c.test, frame)?.is_true(), &c.no) {
                (true, _) => self.eval(&c.yes, frame),
                (false, Some(no)) => self.eval(no, frame),
                (false, None) => Ok(Value::Undefined(Hint::Words(
                    "the inline if-expression evaluated to false and no else section was defined",
                ))),
            },
            Kind::Filter(f) => {
                let input = match &f.input {
                    Some(input) => self.eval(input, frame)?,
                    None => return Err(fail::refused("a filter without input")),
                };
                self.apply(f, &input, frame, Kindred::Filter)
            }
            Kind::Test(t) => {
                let input = match &t.input {
                    Some(input) => self.eval(input, frame)?,
                    None => Value::None,
                };
                self.apply(t, &input, frame, Kindred::Test)
            }
            Kind::Attribute(of, name) => {
                let v = self.eval(of, frame)?;
                if v.is_undefined() {
                    if matches!(&**name, "__class__" | "__doc__" | "__init__" | "__module__" | "__str__") {
                        return Ok(Value::Undefined(Hint::Unsafe(name.clone(), v.kind())));
                    }
                    return Err(member_of_undefined(of, &v, "attribute", name));
                }
                access::attribute(self, &v, name)
            }
            Kind::Item(of, key) => {
                let v = self.eval(of, frame)?;
                let key = self.eval(key, frame)?;
                if v.is_undefined() {
                    return Err(member_of_undefined(of, &v, "item", &crate::text::str(&key)?));
                }
                access::item(self, &v, &key)
            }
            Kind::Slice(of, bounds) => {
                let v = self.eval(of, frame)?;
                let bound = |b: &Option<Expr>| b.as_ref().map_or(Ok(Value::None), |b| self.eval(b, frame));
                let bounds = [bound(&bounds[0])?, bound(&bounds[1])?, bound(&bounds[2])?];
                match access::slice(&v, bounds) {
                    Err(_) if constant(e) => Ok(Value::Undefined(Hint::Words("the item of a constant is undefined"))),
                    result => result,
                }
            }
            Kind::Call(..) => self.eval_call(e, frame, None),
        }
    }

    fn all(&self, items: &[Expr], frame: &Rc<Frame>) -> Result<Vec<Value>, Error> {
        items.iter().map(|e| self.eval(e, frame)).collect()
    }

    fn dict(&self, pairs: &[(Expr, Expr)], frame: &Rc<Frame>) -> Result<Value, Error> {
        let mut dict = Dict::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key = self.eval(key, frame)?;
            if let Some(kind) = key.unhashable() {
                return Err(fail::runtime(format!("unhashable type: '{kind}'")));
            }
            let value = self.eval(value, frame)?;
            dict.insert(Key(key), value);
        }
        Ok(Value::Dict(Rc::new(dict)))
    }

    /// Applies a chain of filters whose innermost has no input to `text`.
    pub fn filtered(&self, e: &Expr, text: &Value, frame: &Rc<Frame>) -> Result<Value, Error> {
        let Kind::Filter(f) = &e.kind else { return self.eval(e, frame) };
        let input = match &f.input {
            Some(inner) => self.filtered(inner, text, frame)?,
            None => text.clone(),
        };
        self.apply(f, &input, frame, Kindred::Filter).map_err(|err| err.at(e.line))
    }

    fn apply(&self, a: &Application, input: &Value, frame: &Rc<Frame>, kindred: Kindred) -> Result<Value, Error> {
        let function = a.function.ok_or_else(|| fail::refused(kindred.unknown(&a.name)))?;
        let args = self.arguments(&a.name, &a.args, frame, None)?;
        function(self, input, &args)
    }

    /// A call; with `caller`, that of a call block.
    pub fn eval_call(&self, e: &Expr, frame: &Rc<Frame>, caller: Option<Value>) -> Result<Value, Error> {
        let Kind::Call(callee, arguments) = &e.kind else { return self.eval(e, frame) };
        if let Kind::Attribute(of, name) = &callee.kind {
            let v = self.eval(of, frame)?;
            if v.is_undefined() {
                return Err(member_of_undefined(of, &v, "method", name));
            }
            if let Some(method) = methods::find(&v, name) {
                let args = self.arguments(method, arguments, frame, caller)?;
                return methods::call(self, &v, method, &args);
            }
            let found = access::attribute(self, &v, name)?;
            let args = self.arguments(name, arguments, frame, caller)?;
            return self.call(&found, &args);
        }
        let found = self.eval(callee, frame)?;
        let name = description(callee);
        let args = self.arguments(&name, arguments, frame, caller)?;
        self.call(&found, &args)
    }

    fn arguments<'a>(
        &self,
        function: &'a str,
        a: &Arguments,
        frame: &Rc<Frame>,
        caller: Option<Value>,
    ) -> Result<Args<'a>, Error> {
        let mut positional = self.all(&a.positional, frame)?;
        if let Some(more) = &a.more {
            let more = self.eval(more, frame)?;
            positional.extend(iter::collect(self, &more)?);
        }
        let mut keywords = Vec::with_capacity(a.keywords.len());
        for (key, value) in &a.keywords {
            keywords.push((key.clone(), self.eval(value, frame)?));
        }
        if let Some(more) = &a.more_keywords {
            let more = self.eval(more, frame)?;
            let Value::Dict(more) = &more else {
                return Err(fail::runtime(format!("argument after ** must be a mapping, not {}", more.type_name())));
            };
            for (key, value) in more.iter() {
                let Some(name) = key.0.as_str() else { return Err(fail::runtime("keywords must be strings")) };
                let name: Rc<str> = crate::marks::unmark(name).into();
                if keywords.iter().any(|(k, _)| *k == name) {
                    return Err(fail::runtime(format!(
                        "{function}() got multiple values for keyword argument '{name}'"
                    )));
                }
                keywords.push((name, value.clone()));
            }
        }
        if let Some(caller) = caller {
            if keywords.iter().any(|(k, _)| &**k == "caller") {
                return Err(fail::runtime(format!("{function}() got multiple values for keyword argument 'caller'")));
            }
            keywords.push(("caller".into(), caller));
        }
        Ok(Args::new(function, positional, keywords))
    }
}

/// Whether jinja2 computes an expression before the template runs: then a slice of it that fails is undefined.
fn constant(e: &Expr) -> bool {
    match &e.kind {
        Kind::Const(_) => true,
        Kind::Not(e) | Kind::Neg(e) | Kind::Pos(e) => constant(e),
        Kind::List(items) | Kind::Tuple(items) => items.iter().all(constant),
        Kind::Dict(pairs) => pairs.iter().all(|(k, v)| constant(k) && constant(v)),
        Kind::Slice(of, bounds) => constant(of) && bounds.iter().flatten().all(constant),
        _ => false,
    }
}

/// The error of asking an undefined value for something.
fn member_of_undefined(of: &Expr, v: &Value, what: &str, name: &str) -> Error {
    match v {
        Value::Undefined(Hint::Unsafe(..) | Hint::Words(_)) => ops::undefined(v),
        _ => fail::undefined(format!("'{}' is undefined, so it has no {what} '{name}'", description(of))),
    }
}
