//! Python's types of template values, and the objects that this crate adds.

use std::fmt;
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, State, Value};

use crate::args::Args;
use crate::{fail, methods, text};

/// The Python type that a value stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Undefined,
    None,
    Bool,
    Int,
    Float,
    Str,
    List,
    Dict,
    /// Macros, namespaces, loops and the like.
    Other,
}

impl Type {
    pub fn of(v: &Value) -> Type {
        match v.kind() {
            ValueKind::Undefined => Type::Undefined,
            ValueKind::None => Type::None,
            ValueKind::Bool => Type::Bool,
            ValueKind::Number if v.is_integer() => Type::Int,
            ValueKind::Number => Type::Float,
            ValueKind::String => Type::Str,
            ValueKind::Seq | ValueKind::Iterable => Type::List,
            ValueKind::Map if v.downcast_object_ref::<IndexMap<Value, Value>>().is_some() => Type::Dict,
            _ => Type::Other,
        }
    }

    /// Python's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Type::Undefined => "Undefined",
            Type::None => "NoneType",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Float => "float",
            Type::Str => "str",
            Type::List => "list",
            Type::Dict => "dict",
            Type::Other => "object",
        }
    }
}

/// Python's name of a value's type.
pub fn name(v: &Value) -> &'static str {
    Type::of(v).name()
}

/// `namespace()`: the one object that templates may assign to.
#[derive(Debug, Default)]
pub struct Namespace {
    items: Mutex<Vec<(Arc<str>, Value)>>,
}

impl Namespace {
    pub fn set(&self, name: &str, value: Value) {
        let mut items = self.items.lock().unwrap();
        match items.iter_mut().find(|(k, _)| &**k == name) {
            Some(slot) => slot.1 = value,
            None => items.push((name.into(), value)),
        }
    }
}

impl Object for Namespace {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        let items = self.items.lock().unwrap();
        items.iter().find(|(k, _)| &**k == key).map(|(_, v)| v.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.items.lock().unwrap().clone();
        let dict: Value = items.into_iter().map(|(k, v)| (Value::from(k), v)).collect();
        let mut text = String::new();
        text::write_repr(&mut text, &dict).map_err(|_| fmt::Error)?;
        write!(f, "<Namespace {text}>")
    }
}

/// The `namespace` function: positional dicts first, then keywords.
pub fn namespace(args: minijinja::value::Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("namespace", &args);
    let ns = Namespace::default();
    for dict in args.positional() {
        if Type::of(dict) != Type::Dict {
            return Err(fail::runtime(format!("'{}' object is not iterable", name(dict))));
        }
        for key in dict.try_iter()? {
            let value = dict.get_item(&key)?;
            ns.set(&key.to_string(), value);
        }
    }
    for (key, value) in args.keywords() {
        ns.set(key, value.clone());
    }
    Ok(Value::from_object(ns))
}

/// A tuple: a list that prints with parentheses.
#[derive(Debug)]
pub struct Tuple(pub Vec<Value>);

impl Object for Tuple {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// A method of a str, list or dict that was looked up but not called.
#[derive(Debug)]
pub struct BoundMethod {
    pub receiver: Value,
    pub name: String,
}

impl Object for BoundMethod {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        methods::call(&self.receiver, &self.name, args)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<built-in method {} of {} object>", self.name, name(&self.receiver))
    }
}

/// An integer too large for the virtual machine: it can be printed and compared, not computed with.
#[derive(Debug)]
pub struct BigInt(pub String);

impl Object for BigInt {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
