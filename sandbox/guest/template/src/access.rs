//! Attributes, items and slices, as jinja2's sandbox gives them.

use std::rc::Rc;

use crate::budget;
use crate::fail::{self, Error};
use crate::iter;
use crate::looping;
use crate::methods;
use crate::number::Number;
use crate::ops;
use crate::value::{Hint, Key, Object, StrKey, Type, Value, View};
use crate::vm::Vm;

/// What there is not.
fn missing(v: &Value, name: &str) -> Value {
    Value::Undefined(Hint::Member(Rc::from(name), v.kind()))
}

/// `v.name`: an attribute first, then an item.
pub fn attribute(vm: &Vm, v: &Value, name: &Rc<str>) -> Result<Value, Error> {
    if let Some(found) = own(vm, v, name)? {
        return Ok(found);
    }
    Ok(match v {
        Value::Undefined(_) => return Err(ops::undefined(v)),
        Value::Dict(d) => match d.get(&StrKey(name)) {
            Some(found) => found.clone(),
            None => Value::Undefined(Hint::Member(name.clone(), Type::Dict)),
        },
        _ => Value::Undefined(Hint::Member(name.clone(), v.kind())),
    })
}

/// An attribute in Python's sense: a method, or a field of an object.
pub fn own(vm: &Vm, v: &Value, name: &str) -> Result<Option<Value>, Error> {
    if name.starts_with("__") && name.ends_with("__") && !v.is_undefined() {
        return Ok(Some(Value::Undefined(Hint::Unsafe(Rc::from(name), v.kind()))));
    }
    if let Some(method) = methods::find(v, name) {
        return Ok(Some(Value::object(Object::Method(v.clone(), method))));
    }
    if methods::changes(v, name) {
        return Ok(Some(Value::Undefined(Hint::Unsafe(Rc::from(name), v.kind()))));
    }
    Ok(match (v, name) {
        (Value::Group(items), "grouper") => items.first().cloned(),
        (Value::Group(items), "list") => items.get(1).cloned(),
        (Value::Range(r), "start") => Some(Value::Int(r.start)),
        (Value::Range(r), "stop") => Some(Value::Int(r.stop)),
        (Value::Range(r), "step") => Some(Value::Int(r.step)),
        (Value::Int(_) | Value::Big(_) | Value::Float(_), "real") => Some(v.clone()),
        (Value::Int(_) | Value::Big(_), "numerator") => Some(v.clone()),
        (Value::Int(_) | Value::Big(_), "imag") => Some(Value::Int(0)),
        (Value::Int(_) | Value::Big(_), "denominator") => Some(Value::Int(1)),
        (Value::Float(_), "imag") => Some(Value::Float(0.0)),
        (Value::Bool(b), "real" | "numerator") => Some(Value::Int(*b as i64)),
        (Value::Object(o), _) => return field(vm, v, o, name),
        _ => None,
    })
}

fn field(vm: &Vm, v: &Value, o: &Object, name: &str) -> Result<Option<Value>, Error> {
    let method = |name: &'static str| Some(Value::object(Object::Method(v.clone(), name)));
    Ok(match (o, name) {
        (Object::Namespace(items), _) => match items.borrow().get(name) {
            Some(_) if name.starts_with('_') => Some(Value::Undefined(Hint::Unsafe(Rc::from(name), Type::Object))),
            found => found.cloned(),
        },
        (Object::Loop(l), _) => match looping::method(name) {
            Some(found) => method(found),
            None => l.attribute(vm, name)?,
        },
        (Object::Macro(m), "name") => Some(m.def.name.clone().map_or(Value::None, Value::Str)),
        (Object::Macro(m), "arguments") => {
            Some(Value::tuple(m.def.args.iter().map(|a| Value::Str(a.name.clone())).collect()))
        }
        (Object::Macro(m), "catch_kwargs") => Some(Value::Bool(m.def.kwargs.is_some())),
        (Object::Macro(m), "catch_varargs") => Some(Value::Bool(m.def.varargs.is_some())),
        (Object::Macro(m), "caller") => Some(Value::Bool(m.def.caller.is_some())),
        (Object::Macro(m), "explicit_caller") => Some(Value::Bool(m.def.explicit_caller)),
        (Object::Cycler(items, at), "current") => items.get(at.get()).cloned(),
        (Object::Cycler(items, _), "items") => Some(Value::Tuple(items.clone())),
        (Object::Cycler(_, at), "pos") => Some(at.get().into()),
        (Object::Cycler(..), "next") => method("next"),
        (Object::Cycler(..), "reset") => method("reset"),
        (Object::Joiner(sep, _), "sep") => Some(sep.clone()),
        (Object::Joiner(_, used), "used") => Some(Value::Bool(used.get())),
        (Object::Blocks, _) if vm.blocks.contains_key(name) => Some(Value::object(Object::Block(Rc::from(name)))),
        _ => None,
    })
}

/// `v[key]`: an item first, then an attribute.
pub fn item(vm: &Vm, v: &Value, key: &Value) -> Result<Value, Error> {
    let found = match v {
        Value::Undefined(_) => return Err(ops::undefined(v)),
        Value::Dict(d) if key.unhashable().is_none() => match key.as_str() {
            Some(key) => d.get(&StrKey(key)).cloned(),
            None => d.get(&Key(key.clone())).cloned(),
        },
        _ => match place(key) {
            Some(i) => nth(v, i)?,
            None => None,
        },
    };
    if let Some(found) = found {
        return Ok(found);
    }
    match key.as_str() {
        Some(name) => Ok(own(vm, v, name)?.unwrap_or_else(|| missing(v, name))),
        None => Ok(missing(v, &crate::text::str(key)?)),
    }
}

/// An index.
fn place(v: &Value) -> Option<i64> {
    match (v.kind(), Number::of(v)) {
        (Type::Int | Type::Bool, Some(Number::Int(n))) => i64::try_from(n).ok(),
        _ => None,
    }
}

/// The item at an index, which may count from the end.
fn nth(v: &Value, i: i64) -> Result<Option<Value>, Error> {
    if let Value::Str(s) | Value::Safe(s) = v {
        budget::charge(s.len())?;
        let nth = if i < 0 { s.chars().rev().nth((-1 - i) as usize) } else { s.chars().nth(i as usize) };
        return Ok(nth.map(|c| Value::str(c.encode_utf8(&mut [0; 4]))));
    }
    let (Some(len), false) = (v.len(), matches!(v, Value::View(..) | Value::Dict(_))) else { return Ok(None) };
    let Ok(i) = usize::try_from(if i < 0 { i.saturating_add(len as i64) } else { i }) else { return Ok(None) };
    Ok(match v {
        Value::Range(r) => r.get(i),
        _ => v.as_items().and_then(|items| items.get(i).cloned()),
    })
}

/// `v[start:stop:step]`
pub fn slice(v: &Value, bounds: [Value; 3]) -> Result<Value, Error> {
    if v.is_undefined() {
        return Err(ops::undefined(v));
    }
    let bound = |b: &Value| match b {
        Value::None => Ok(None),
        Value::Big(digits) => Ok(Some(if digits.starts_with('-') { i64::MIN } else { i64::MAX })),
        _ => place(b).map(Some).ok_or_else(|| fail::runtime("slice indices must be integers or None")),
    };
    let [start, stop, step] = [bound(&bounds[0])?, bound(&bounds[1])?, bound(&bounds[2])?];
    let step = step.unwrap_or(1);
    let cut = |len: usize| {
        if step == 0 {
            return Err(fail::runtime("slice step cannot be zero"));
        }
        Ok(positions(len, start, stop, step))
    };
    match v {
        Value::Str(s) | Value::Safe(s) => {
            budget::charge(s.len())?;
            let text: String = if s.is_ascii() {
                let bytes = s.as_bytes();
                cut(s.len())?.map(|i| bytes[i] as char).collect()
            } else {
                let chars: Vec<char> = s.chars().collect();
                cut(chars.len())?.map(|i| chars[i]).collect()
            };
            Ok(if matches!(v, Value::Safe(_)) { Value::Safe(text.into()) } else { text.into() })
        }
        Value::List(items) | Value::Tuple(items) | Value::Group(items) => {
            budget::charge(items.len().saturating_mul(16))?;
            let taken: Vec<Value> = cut(items.len())?.map(|i| items[i].clone()).collect();
            Ok(if matches!(v, Value::List(_)) { Value::list(taken) } else { Value::tuple(taken) })
        }
        Value::Range(r) => {
            if step == 0 {
                return Err(fail::runtime("slice step cannot be zero"));
            }
            let (low, high) = ends(r.len(), start, stop, step);
            let at = |i: i64| r.start.saturating_add(i.saturating_mul(r.step));
            Ok(Value::Range(iter::Range { start: at(low), stop: at(high), step: r.step.saturating_mul(step) }))
        }
        _ => Err(fail::runtime(format!("'{}' object is not subscriptable", v.type_name()))),
    }
}

/// The first and the last bound of a slice, as indices.
fn ends(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> (i64, i64) {
    let len = len as i64;
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamp = |i: i64| (if i < 0 { i.saturating_add(len) } else { i }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    (start.map_or(first, clamp), stop.map_or(last, clamp))
}

/// The indices that Python's slice of a sequence of `len` items takes.
fn positions(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = usize> {
    let (start, stop) = ends(len, start, stop, step);
    std::iter::successors(Some(start), move |i| i.checked_add(step))
        .take_while(move |&i| if step > 0 { i < stop } else { i > stop })
        .map(|i| i as usize)
}

/// Follows a dotted path of attributes and items, as the argument `attribute` of a filter gives it.
pub fn follow(vm: &Vm, v: &Value, path: &[Value], default: Option<&Value>) -> Result<Value, Error> {
    let mut v = v.clone();
    for part in path {
        v = item(vm, &v, part)?;
        if let (true, Some(default)) = (v.is_undefined(), default) {
            v = default.clone();
        }
    }
    Ok(v)
}

/// The parts of a path: digits are indices.
pub fn path(attribute: &Value) -> Vec<Value> {
    let Some(text) = attribute.as_str() else {
        return if attribute.is_none() { vec![] } else { vec![attribute.clone()] };
    };
    let part = |s: &str| match s.parse::<i64>() {
        Ok(n) if s.bytes().all(|b| b.is_ascii_digit()) => Value::Int(n),
        _ => Value::str(s),
    };
    text.split('.').map(part).collect()
}

/// A view of a dict.
pub fn view(v: &Value, view: View) -> Option<Value> {
    match v {
        Value::Dict(d) => Some(Value::View(d.clone(), view)),
        _ => None,
    }
}
