//! Python-style arguments: positional or by name, with defaults.

use minijinja::value::Kwargs;
use minijinja::{Error, Value};

use crate::fail;
use crate::types::{self, Type};

/// The arguments of one call of `function`.
pub struct Args<'a> {
    function: &'a str,
    positional: &'a [Value],
    keywords: Vec<(String, Value)>,
}

impl<'a> Args<'a> {
    pub fn new(function: &'a str, args: &'a [Value]) -> Args<'a> {
        let (positional, keywords) = match args.split_last() {
            Some((last, rest)) if last.is_kwargs() => {
                let kwargs = Kwargs::try_from(last.clone()).ok();
                let pairs = kwargs.iter().flat_map(|k| {
                    k.args().filter_map(|n| Some((n.to_string(), k.peek::<Value>(n).ok()?))).collect::<Vec<_>>()
                });
                (rest, pairs.collect())
            }
            _ => (args, Vec::new()),
        };
        Args { function, positional, keywords }
    }

    pub fn positional(&self) -> &'a [Value] {
        self.positional
    }

    pub fn keywords(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.keywords.iter().map(|(k, v)| (k.as_str(), v))
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
            match names.iter().position(|n| n == key) {
                None => {
                    return Err(fail::runtime(format!("{}() got an unexpected argument '{key}'", self.function)));
                }
                Some(i) if i < self.positional.len() => {
                    return Err(fail::runtime(format!("{}() got two values for argument '{key}'", self.function)));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The argument at position `i` or named `name`.
    pub fn get(&self, i: usize, name: &str) -> Option<&Value> {
        self.positional.get(i).or_else(|| self.keywords.iter().find(|(k, _)| k == name).map(|(_, v)| v))
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
            None => Ok(None),
            Some(v) if v.is_none() => Ok(None),
            Some(v) => v.as_str().map(Some).ok_or_else(|| self.wrong(name, "str", v)),
        }
    }

    /// An int, or none when absent or None.
    pub fn opt_int(&self, i: usize, name: &str) -> Result<Option<i64>, Error> {
        match self.get(i, name) {
            None => Ok(None),
            Some(v) if v.is_none() => Ok(None),
            Some(v) => match Type::of(v) {
                Type::Int => v.as_i64().map(Some).ok_or_else(|| self.wrong(name, "small int", v)),
                Type::Bool => Ok(Some(v.is_true() as i64)),
                _ => Err(self.wrong(name, "int", v)),
            },
        }
    }

    /// A truth value, or `default` when absent.
    pub fn truth(&self, i: usize, name: &str, default: bool) -> bool {
        self.get(i, name).map_or(default, |v| v.is_true())
    }

    fn wrong(&self, name: &str, want: &str, got: &Value) -> Error {
        fail::runtime(format!("{}() argument '{name}' must be {want}, not {}", self.function, types::name(got)))
    }
}
