//! Python-style arguments: positional or by name, with defaults.

use std::rc::Rc;

use crate::fail::{self, Error};
use crate::number::Number;
use crate::value::{Type, Value};
use crate::vm::Vm;

/// A filter or test: the value that it is applied to, and its arguments.
pub type Builtin = fn(&Vm, &Value, &Args) -> Result<Value, Error>;

/// Which of the two a builtin is.
#[derive(Clone, Copy)]
pub enum Kindred {
    Filter,
    Test,
}

impl Kindred {
    /// What is said of a name that there is not.
    pub fn unknown(self, name: &str) -> String {
        match self {
            Kindred::Filter => format!("No filter named '{name}'."),
            Kindred::Test => format!("No test named '{name}'."),
        }
    }
}

/// The arguments of one call of `function`.
pub struct Args<'a> {
    function: &'a str,
    positional: Vec<Value>,
    keywords: Vec<(Rc<str>, Value)>,
}

impl<'a> Args<'a> {
    pub fn new(function: &'a str, positional: Vec<Value>, keywords: Vec<(Rc<str>, Value)>) -> Args<'a> {
        Args { function, positional, keywords }
    }

    pub fn positional(&self) -> &[Value] {
        &self.positional
    }

    pub fn keywords(&self) -> &[(Rc<str>, Value)] {
        &self.keywords
    }

    /// The arguments after the first, for another function.
    pub fn rest<'b>(&self, function: &'b str) -> Args<'b> {
        Args::new(function, self.positional.iter().skip(1).cloned().collect(), self.keywords.clone())
    }

    /// Fails unless every argument has one of these names, in this order.
    pub fn expect(&self, names: &[&str]) -> Result<(), Error> {
        if self.positional.len() > names.len() {
            return Err(fail::runtime(format!(
                "{}() takes at most {} arguments ({} given)",
                self.function,
                names.len(),
                self.positional.len()
            )));
        }
        for (key, _) in &self.keywords {
            match names.iter().position(|n| *n == &**key) {
                None => return Err(self.unexpected(key)),
                Some(i) if i < self.positional.len() => {
                    return Err(fail::runtime(format!("{}() got two values for argument '{key}'", self.function)));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Fails when there are arguments by name.
    pub fn no_keywords(&self) -> Result<(), Error> {
        self.keywords.first().map_or(Ok(()), |(key, _)| Err(self.unexpected(key)))
    }

    fn unexpected(&self, key: &str) -> Error {
        fail::runtime(format!("{}() got an unexpected argument '{key}'", self.function))
    }

    /// The argument at position `i` or named `name`.
    pub fn get(&self, i: usize, name: &str) -> Option<&Value> {
        self.positional.get(i).or_else(|| self.keywords.iter().find(|(k, _)| &**k == name).map(|(_, v)| v))
    }

    pub fn need(&self, i: usize, name: &str) -> Result<&Value, Error> {
        self.get(i, name).ok_or_else(|| fail::runtime(format!("{}() needs argument '{name}'", self.function)))
    }

    /// A str that must be there.
    pub fn str(&self, i: usize, name: &str) -> Result<&str, Error> {
        let v = self.need(i, name)?;
        v.as_str().ok_or_else(|| self.wrong(name, "str", v))
    }

    /// A str, or none when absent or None.
    pub fn opt_str(&self, i: usize, name: &str) -> Result<Option<&str>, Error> {
        match self.get(i, name) {
            None | Some(Value::None) => Ok(None),
            Some(v) => v.as_str().map(Some).ok_or_else(|| self.wrong(name, "str", v)),
        }
    }

    /// An int, or none when absent.
    pub fn opt_int(&self, i: usize, name: &str) -> Result<Option<i64>, Error> {
        let Some(v) = self.get(i, name) else { return Ok(None) };
        match (v.kind(), Number::of(v)) {
            (Type::Int | Type::Bool, Some(Number::Int(n))) => {
                Ok(Some(n.clamp(i64::MIN as i128, i64::MAX as i128) as i64))
            }
            _ => Err(self.wrong(name, "int", v)),
        }
    }

    /// An int, or none when absent or None.
    pub fn maybe_int(&self, i: usize, name: &str) -> Result<Option<i64>, Error> {
        match self.get(i, name) {
            Some(Value::None) => Ok(None),
            _ => self.opt_int(i, name),
        }
    }

    /// A truth value, or `default` when absent.
    pub fn truth(&self, i: usize, name: &str, default: bool) -> bool {
        self.get(i, name).map_or(default, Value::is_true)
    }

    fn wrong(&self, name: &str, want: &str, got: &Value) -> Error {
        fail::runtime(format!("{}() argument '{name}' must be {want}, not {}", self.function, got.type_name()))
    }
}
