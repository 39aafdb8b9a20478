//! Python's iteration.

use std::cell::RefCell;
use std::rc::Rc;

use crate::budget;
use crate::fail::{self, Error};
use crate::ops;
use crate::value::{Dict, Value, View};
use crate::vm::Vm;

/// `range`: `len` numbers from `start`.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    pub fn len(&self) -> usize {
        let (start, stop, step) = (self.start as i128, self.stop as i128, self.step as i128);
        let span = if step > 0 { stop - start } else { start - stop };
        let step = step.abs().max(1);
        usize::try_from((span.max(0) + step - 1) / step).unwrap_or(usize::MAX)
    }

    pub fn get(&self, i: usize) -> Option<Value> {
        (i < self.len()).then(|| Value::Int(self.start + i as i64 * self.step))
    }
}

/// Yields values until it ends.
pub trait Source {
    fn next(&mut self, vm: &Vm) -> Result<Option<Value>, Error>;
}

/// An iterator over a value.
pub enum Iter {
    Items(Rc<Vec<Value>>, usize),
    Reversed(Vec<Value>),
    Chars(Rc<str>, usize),
    View(Rc<Dict>, View, usize),
    Range(Range, usize),
    Shared(Rc<RefCell<Iter>>),
    Source(Box<dyn Source>),
}

impl Iter {
    /// `iter(v)`
    pub fn of(v: &Value) -> Result<Iter, Error> {
        Ok(match v {
            Value::Undefined(_) | Value::Missing => Iter::Reversed(vec![]),
            Value::Str(s) | Value::Safe(s) => Iter::Chars(s.clone(), 0),
            Value::List(items) | Value::Tuple(items) | Value::Group(items) => Iter::Items(items.clone(), 0),
            Value::Dict(d) => Iter::View(d.clone(), View::Keys, 0),
            Value::View(d, view) => Iter::View(d.clone(), *view, 0),
            Value::Range(r) => Iter::Range(*r, 0),
            Value::Iter(i) => Iter::Shared(i.clone()),
            _ => return Err(fail::runtime(format!("'{}' object is not iterable", v.type_name()))),
        })
    }

    /// A generator value.
    pub fn generator(source: impl Source + 'static) -> Value {
        Value::Iter(Rc::new(RefCell::new(Iter::Source(Box::new(source)))))
    }

    /// A generator of values that are known already.
    pub fn ready(mut items: Vec<Value>) -> Value {
        items.reverse();
        Value::Iter(Rc::new(RefCell::new(Iter::Reversed(items))))
    }

    pub fn next(&mut self, vm: &Vm) -> Result<Option<Value>, Error> {
        Ok(match self {
            Iter::Items(items, i) => {
                *i += 1;
                items.get(*i - 1).cloned()
            }
            Iter::Reversed(items) => items.pop(),
            Iter::Chars(s, at) => s[*at..].chars().next().map(|c| {
                *at += c.len_utf8();
                Value::str(c.encode_utf8(&mut [0; 4]))
            }),
            Iter::View(d, view, i) => {
                *i += 1;
                d.get_index(*i - 1).map(|(k, v)| shown(*view, &k.0, v))
            }
            Iter::Range(r, i) => {
                *i += 1;
                r.get(*i - 1)
            }
            Iter::Shared(shared) => {
                let Ok(mut inner) = shared.try_borrow_mut() else {
                    return Err(fail::runtime("generator already executing"));
                };
                return inner.next(vm);
            }
            Iter::Source(source) => return source.next(vm),
        })
    }
}

/// What a view shows of an entry.
pub fn shown(view: View, key: &Value, value: &Value) -> Value {
    match view {
        View::Keys => key.clone(),
        View::Values => value.clone(),
        View::Items => Value::tuple(vec![key.clone(), value.clone()]),
    }
}

/// `list(v)`
pub fn collect(vm: &Vm, v: &Value) -> Result<Vec<Value>, Error> {
    if let Some(items) = v.as_items() {
        budget::charge(items.len().saturating_mul(16))?;
        return Ok(items.to_vec());
    }
    let mut iter = Iter::of(v)?;
    let mut items = Vec::new();
    while let Some(item) = iter.next(vm)? {
        budget::charge(16)?;
        items.push(item);
    }
    Ok(items)
}

/// Whether a value can be iterated over.
pub fn is_iterable(v: &Value) -> bool {
    !matches!(v, Value::Object(_)) && Iter::of(v).is_ok()
}

/// `needle in iterator`, which uses the iterator up to the needle.
pub fn contains(vm: &Vm, hay: &Value, needle: &Value) -> Result<bool, Error> {
    let mut iter = Iter::of(hay)?;
    while let Some(item) = iter.next(vm)? {
        budget::charge(16)?;
        if ops::equal(&item, needle)? {
            return Ok(true);
        }
    }
    Ok(false)
}
