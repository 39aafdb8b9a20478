//! Python's values, as far as a template can have them. Nothing but a namespace changes once it is made, for the
//! sandbox of transformers refuses the methods that change lists and dicts.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::ast::MacroDef;
use crate::frame::Frame;
use crate::iter::{Iter, Range};
use crate::looping::Loop;
use crate::number::Number;
use crate::{marks, ops};

/// A dict, in the order in which its keys came.
pub type Dict = IndexMap<Key, Value>;

/// A value.
#[derive(Clone)]
pub enum Value {
    /// A variable that has not been set; only frames hold it.
    Missing,
    Undefined(Hint),
    None,
    Bool(bool),
    Int(i64),
    /// A whole number beyond 64 bits, in decimal.
    Big(Rc<str>),
    Float(f64),
    Str(Rc<str>),
    /// Text that needs no escaping (markupsafe.Markup).
    Safe(Rc<str>),
    List(Rc<Vec<Value>>),
    Tuple(Rc<Vec<Value>>),
    /// A named tuple of `groupby`: grouper and list.
    Group(Rc<Vec<Value>>),
    Dict(Rc<Dict>),
    /// What `keys`, `values` and `items` of a dict return.
    View(Rc<Dict>, View),
    Range(Range),
    /// A generator or another iterator: it is used up by iterating.
    Iter(Rc<RefCell<Iter>>),
    Object(Rc<Object>),
}

/// Which part of a dict a view shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum View {
    Keys,
    Values,
    Items,
}

/// What is known of an undefined value.
#[derive(Clone)]
pub enum Hint {
    /// A variable of this name.
    Name(Rc<str>),
    /// An attribute or item of this name, of a value of this type.
    Member(Rc<str>, Type),
    /// An attribute that the sandbox hides.
    Unsafe(Rc<str>, Type),
    /// Anything else, in words.
    Words(&'static str),
}

/// Objects with behaviour of their own.
pub enum Object {
    Namespace(RefCell<IndexMap<Rc<str>, Value>>),
    Macro(Macro),
    Loop(Loop),
    /// A method that was looked up but not called.
    Method(Value, &'static str),
    Function(&'static str),
    Cycler(Rc<Vec<Value>>, Cell<usize>),
    Joiner(Value, Cell<bool>),
    /// `self` in a template with blocks.
    Blocks,
    Block(Rc<str>),
}

/// A macro with the variables around it.
pub struct Macro {
    pub def: Rc<MacroDef>,
    pub frame: Rc<Frame>,
}

/// The Python type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Undefined,
    None,
    Bool,
    Int,
    Float,
    Str,
    List,
    Tuple,
    Dict,
    View,
    Range,
    Iter,
    Object,
}

impl Type {
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
            Type::Tuple => "tuple",
            Type::Dict => "dict",
            Type::View => "dict view",
            Type::Range => "range",
            Type::Iter => "generator",
            Type::Object => "object",
        }
    }
}

impl Value {
    /// The value's type.
    pub fn kind(&self) -> Type {
        match self {
            Value::Missing | Value::Undefined(_) => Type::Undefined,
            Value::None => Type::None,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) | Value::Big(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Str(_) | Value::Safe(_) => Type::Str,
            Value::List(_) => Type::List,
            Value::Tuple(_) | Value::Group(_) => Type::Tuple,
            Value::Dict(_) => Type::Dict,
            Value::View(..) => Type::View,
            Value::Range(_) => Type::Range,
            Value::Iter(_) => Type::Iter,
            Value::Object(_) => Type::Object,
        }
    }

    /// Python's name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Safe(_) => "Markup",
            Value::Object(o) => match &**o {
                Object::Namespace(_) => "Namespace",
                Object::Macro(_) => "Macro",
                Object::Loop(_) => "LoopContext",
                Object::Cycler(..) => "Cycler",
                Object::Joiner(..) => "Joiner",
                Object::Method(..) | Object::Function(_) => "builtin_function_or_method",
                Object::Blocks => "TemplateReference",
                Object::Block(_) => "BlockReference",
            },
            other => other.kind().name(),
        }
    }

    pub fn str(s: &str) -> Value {
        Value::Str(Rc::from(s))
    }

    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(items))
    }

    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(items))
    }

    pub fn object(o: Object) -> Value {
        Value::Object(Rc::new(o))
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined(_) | Value::Missing)
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// The text of a str.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) | Value::Safe(s) => Some(s),
            _ => None,
        }
    }

    /// The items of a list or tuple.
    pub fn as_items(&self) -> Option<&Rc<Vec<Value>>> {
        match self {
            Value::List(v) | Value::Tuple(v) | Value::Group(v) => Some(v),
            _ => None,
        }
    }

    /// What `len` says, where a value has a length.
    pub fn len(&self) -> Option<usize> {
        Some(match self {
            Value::Undefined(_) | Value::Missing => 0,
            Value::Str(s) | Value::Safe(s) => s.chars().count(),
            Value::List(v) | Value::Tuple(v) | Value::Group(v) => v.len(),
            Value::Dict(d) | Value::View(d, _) => d.len(),
            Value::Range(r) => r.len(),
            _ => return None,
        })
    }

    /// Python's truth of the value.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Undefined(_) | Value::Missing | Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(n) => *n != 0,
            Value::Float(x) => *x != 0.0,
            Value::Str(s) | Value::Safe(s) => !s.is_empty(),
            Value::List(v) | Value::Tuple(v) | Value::Group(v) => !v.is_empty(),
            Value::Dict(d) | Value::View(d, _) => !d.is_empty(),
            Value::Range(r) => r.len() != 0,
            Value::Big(_) | Value::Iter(_) | Value::Object(_) => true,
        }
    }

    /// Whether `a is b` in Python, as far as a template can tell.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Undefined(_), Value::Undefined(_)) => false,
            (Value::List(a), Value::List(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Group(a), Value::Group(b)) => Rc::ptr_eq(a, b),
            (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
            (Value::Iter(a), Value::Iter(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            (Value::View(..), _) | (Value::Range(_), _) => false,
            (a, b) => a.kind() == b.kind() && ops::equal(a, b).unwrap_or(false),
        }
    }

    /// The first member of a value that a dict cannot have as a key.
    pub fn unhashable(&self) -> Option<&'static str> {
        match self {
            Value::List(_) | Value::Dict(_) | Value::View(..) => Some(self.type_name()),
            Value::Tuple(v) | Value::Group(v) => v.iter().find_map(Value::unhashable),
            _ => None,
        }
    }
}

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::Str(s.into())
    }
}

impl From<usize> for Value {
    fn from(n: usize) -> Value {
        Value::Int(n as i64)
    }
}

/// The key of a dict: numbers of the same value are one key, and marked text is its plain text.
#[derive(Clone)]
pub struct Key(pub Value);

impl Key {
    pub fn str(s: &str) -> Key {
        Key(Value::str(s))
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Value::Str(s) | Value::Safe(s) => marks::unmark(s).hash(state),
            Value::Tuple(v) | Value::Group(v) => {
                for item in v.iter() {
                    Key(item.clone()).hash(state);
                }
            }
            v => match Number::of(v) {
                Some(Number::Int(n)) => (n as f64).to_bits().hash(state),
                Some(Number::Float(x)) => (x + 0.0).to_bits().hash(state),
                None => (v.kind() as u8).hash(state),
            },
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        match (&self.0, &other.0) {
            (Value::Str(a) | Value::Safe(a), Value::Str(b) | Value::Safe(b)) => {
                a == b
                    || !a.is_ascii() && marks::unmark(a) == marks::unmark(b)
                    || !b.is_ascii() && marks::unmark(b) == **a
            }
            (a, b) => ops::equal(a, b).unwrap_or(false),
        }
    }
}

impl Eq for Key {}

/// A str as a key to look up, without making a value of it.
pub struct StrKey<'a>(pub &'a str);

impl Hash for StrKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        marks::unmark(self.0).hash(state);
    }
}

impl indexmap::Equivalent<Key> for StrKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        key.0.as_str().is_some_and(|s| s == self.0 || marks::unmark(s) == marks::unmark(self.0))
    }
}
