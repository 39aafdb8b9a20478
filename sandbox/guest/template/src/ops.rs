//! Python's operators, attribute lookup and iteration on template values.

use std::cmp::Ordering;

use minijinja::value::Rest;
use minijinja::{Environment, Error, State, Value};

use crate::types::{self, BoundMethod, Namespace, Type};
use crate::{budget, fail, marks, methods, text};

/// Registers the functions that `rewrite` calls.
pub fn register(env: &mut Environment) {
    env.add_filter("$iter", iterable);
    env.add_filter("$iterlater", |v: Value| if v.is_true() { iterable(v) } else { Ok(Vec::<Value>::new().into()) });
    env.add_filter("$attribute", attribute);
    env.add_filter("attr", |v: Value, name: &str| match Type::of(&v) {
        Type::Dict if !methods::known(&v, name) => Ok(Value::UNDEFINED),
        _ => attribute(v, name, "it"),
    });
    env.add_filter("$item", item);
    env.add_filter("$slice", slice);
    env.add_filter("$call", call);
    env.add_filter("$assign", assign);
    env.add_filter("$neg", neg);
    env.add_filter("$add", add);
    env.add_filter("$sub", |a: Value, b: Value| arithmetic("-", a, b));
    env.add_filter("$mul", mul);
    env.add_filter("$div", |a: Value, b: Value| arithmetic("/", a, b));
    env.add_filter("$floordiv", |a: Value, b: Value| arithmetic("//", a, b));
    env.add_filter("$rem", rem);
    env.add_filter("$pow", |a: Value, b: Value| arithmetic("**", a, b));
    env.add_filter("$concat", concat);
    env.add_filter("$eq", |a: Value, b: Value| equal(&a, &b));
    env.add_filter("$ne", |a: Value, b: Value| equal(&a, &b).map(|eq| !eq));
    env.add_filter("$lt", |a: Value, b: Value| order("<", &a, &b).map(|o| o == Some(Ordering::Less)));
    env.add_filter("$lte", |a: Value, b: Value| order("<=", &a, &b).map(|o| o.is_some_and(Ordering::is_le)));
    env.add_filter("$gt", |a: Value, b: Value| order(">", &a, &b).map(|o| o == Some(Ordering::Greater)));
    env.add_filter("$gte", |a: Value, b: Value| order(">=", &a, &b).map(|o| o.is_some_and(Ordering::is_ge)));
    env.add_filter("$in", |a: Value, b: Value| contains(&b, &a));
    env.add_filter("$notin", |a: Value, b: Value| contains(&b, &a).map(|found| !found));
}

/// Passes on what Python can iterate over.
fn iterable(v: Value) -> Result<Value, Error> {
    match Type::of(&v) {
        Type::Undefined | Type::Str | Type::List | Type::Dict => Ok(v),
        Type::Other if v.try_iter().is_ok() => Ok(v),
        _ => Err(fail::runtime(format!("'{}' object is not iterable", types::name(&v)))),
    }
}

/// `v.name`: a method of the type first, then an item, as jinja2 looks it up.
fn attribute(v: Value, name: &str, source: &str) -> Result<Value, Error> {
    if v.is_undefined() {
        return Err(fail::undefined(format!("'{source}' is undefined, so it has no attribute '{name}'")));
    }
    if methods::known(&v, name) {
        return Ok(Value::from_object(BoundMethod { receiver: v, name: name.to_string() }));
    }
    match Type::of(&v) {
        Type::Str | Type::List => Ok(Value::UNDEFINED),
        _ => Ok(v.get_attr(name).unwrap_or(Value::UNDEFINED)),
    }
}

/// `v[key]`: an item first, then a method.
fn item(v: Value, key: Value, source: &str) -> Result<Value, Error> {
    if v.is_undefined() {
        let key = text::str(&key)?;
        return Err(fail::undefined(format!("'{source}' is undefined, so it has no item '{key}'")));
    }
    let found = match (Type::of(&v), Type::of(&key)) {
        (Type::Str, Type::Int | Type::Bool) => {
            let s = v.as_str().unwrap_or_default();
            budget::charge(s.len())?;
            let i = index(&key);
            let nth = if i < 0 { s.chars().rev().nth((-i - 1) as usize) } else { s.chars().nth(i as usize) };
            nth.map(|c| Value::from(c.to_string()))
        }
        (Type::List, Type::Int) => v.get_item(&key).ok(),
        (Type::List, Type::Bool) => v.get_item(&Value::from(key.is_true() as i64)).ok(),
        (Type::Dict | Type::Other, _) => get(&v, &key),
        _ => None,
    };
    match (found, key.as_str()) {
        (Some(found), _) if !found.is_undefined() => Ok(found),
        (_, Some(name)) if methods::known(&v, name) => {
            Ok(Value::from_object(BoundMethod { receiver: v.clone(), name: name.to_string() }))
        }
        _ => Ok(Value::UNDEFINED),
    }
}

/// The item of a dict or object; a key made of marked text is the same key.
pub fn get(v: &Value, key: &Value) -> Option<Value> {
    let found = |key: &Value| v.get_item(key).ok().filter(|v| !v.is_undefined());
    found(key).or_else(|| match marks::unmark(key.as_str()?) {
        std::borrow::Cow::Owned(plain) => found(&plain.into()),
        std::borrow::Cow::Borrowed(_) => None,
    })
}

fn index(v: &Value) -> i64 {
    match Type::of(v) {
        Type::Bool => v.is_true() as i64,
        _ => v.as_i64().unwrap_or(i64::MAX),
    }
}

/// `v[start:stop:step]`.
fn slice(v: Value, start: Value, stop: Value, step: Value, source: &str) -> Result<Value, Error> {
    let kind = Type::of(&v);
    let bound = |b: &Value| match Type::of(b) {
        Type::None => Ok(None),
        Type::Int | Type::Bool => Ok(Some(index(b))),
        _ => Err(fail::runtime("slice indices must be integers or None")),
    };
    match kind {
        Type::Undefined => return Err(fail::undefined(format!("'{source}' is undefined, so it cannot be sliced"))),
        Type::Str | Type::List => {}
        _ => return Err(fail::runtime(format!("'{}' object cannot be sliced", kind.name()))),
    }
    let (start, stop, step) = (bound(&start)?, bound(&stop)?, bound(&step)?);
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(fail::runtime("slice step cannot be zero"));
    }
    budget::charge(v.len().unwrap_or(0))?;
    if let Some(s) = v.as_str() {
        let chars: Vec<char> = s.chars().collect();
        return Ok(positions(chars.len(), start, stop, step).map(|i| chars[i]).collect::<String>().into());
    }
    let items: Vec<Value> = v.try_iter()?.collect();
    Ok(positions(items.len(), start, stop, step).map(|i| items[i].clone()).collect::<Vec<_>>().into())
}

/// The indices that Python's slice of a sequence of `len` items takes.
fn positions(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = usize> {
    let len = len as i64;
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let clamp = |i: i64| (if i < 0 { i.saturating_add(len) } else { i }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let start = start.map_or(first, clamp);
    let stop = stop.map_or(last, clamp);
    std::iter::successors(Some(start), move |i| i.checked_add(step))
        .take_while(move |&i| if step > 0 { i < stop } else { i > stop })
        .map(|i| i as usize)
}

/// `v.name(…)`.
fn call(state: &State, v: Value, name: &str, source: &str, args: Rest<Value>) -> Result<Value, Error> {
    if v.is_undefined() {
        return Err(fail::undefined(format!("'{source}' is undefined, so it has no method '{name}'")));
    }
    if methods::known(&v, name) {
        return methods::call(&v, name, &args);
    }
    if methods::changes(&v, name) {
        return Err(fail::refused(format!("a template may not change a {}: {name} is refused", types::name(&v))));
    }
    match Type::of(&v) {
        Type::Dict | Type::Other => match v.get_attr(name) {
            Ok(found) if !found.is_undefined() => found.call(state, &args),
            _ if Type::of(&v) == Type::Other => v.call_method(state, name, &args),
            _ => Err(no_method(&v, name)),
        },
        _ => Err(no_method(&v, name)),
    }
}

fn no_method(v: &Value, name: &str) -> Error {
    let what = if v.is_none() { "'None'".to_string() } else { format!("'{} object'", types::name(v)) };
    fail::undefined(format!("{what} has no attribute '{name}'"))
}

/// `{% set ns.name = value %}`.
fn assign(v: Value, name: &str, value: Value) -> Result<Value, Error> {
    let Some(ns) = v.downcast_object_ref::<Namespace>() else {
        return Err(fail::refused("cannot assign attribute on non-namespace object"));
    };
    ns.set(name, value);
    Ok("".into())
}

/// Whether `needle` is in `hay`.
pub fn contains(hay: &Value, needle: &Value) -> Result<bool, Error> {
    match Type::of(hay) {
        Type::Str => {
            let s = hay.as_str().unwrap_or_default();
            budget::charge(s.len())?;
            match needle.as_str() {
                Some(part) => Ok(marks::contains(s, part)),
                None => Err(fail::runtime(format!(
                    "'in <string>' requires string as left operand, not {}",
                    types::name(needle)
                ))),
            }
        }
        Type::List => {
            budget::charge(hay.len().unwrap_or(0))?;
            for v in hay.try_iter()? {
                if equal(&v, needle)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Type::Dict => {
            if matches!(Type::of(needle), Type::List | Type::Dict) {
                return Err(fail::runtime(format!("unhashable type: '{}'", types::name(needle))));
            }
            Ok(get(hay, needle).is_some())
        }
        Type::Undefined => Ok(false),
        _ => Err(fail::runtime(format!("argument of type '{}' is not iterable", types::name(hay)))),
    }
}

/// Python's `==`, in which booleans are numbers.
pub fn equal(a: &Value, b: &Value) -> Result<bool, Error> {
    let (kind_a, kind_b) = (Type::of(a), Type::of(b));
    match (kind_a, kind_b) {
        (Type::Str, Type::Str) => {
            let (x, y) = (a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default());
            budget::charge(x.len().min(y.len()))?;
            return Ok(x == y || marks::unmark(x) == marks::unmark(y));
        }
        (Type::List, Type::List) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            budget::charge(a.len().unwrap_or(0))?;
            for (x, y) in a.try_iter()?.zip(b.try_iter()?) {
                if !equal(&x, &y)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        (Type::Dict, Type::Dict) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            budget::charge(a.len().unwrap_or(0))?;
            for key in a.try_iter()? {
                if !equal(&a.get_item(&key)?, &b.get_item(&key)?)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        _ => {}
    }
    Ok(match (number(a, kind_a), number(b, kind_b)) {
        (Some(x), Some(y)) => x == y,
        (None, None) => kind_a == kind_b && (kind_a != Type::Other || a.to_string() == b.to_string()) && a == b,
        _ => false,
    })
}

/// A number as itself, a boolean as 0 or 1.
fn number(v: &Value, kind: Type) -> Option<Value> {
    match kind {
        Type::Bool => Some(Value::from(v.is_true() as i64)),
        Type::Int | Type::Float => Some(v.clone()),
        _ => None,
    }
}

/// Compares as Python's `<` and its kin do; None where neither holds (a nan).
pub fn order(op: &str, a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    let (kind_a, kind_b) = (Type::of(a), Type::of(b));
    if kind_a == Type::Undefined || kind_b == Type::Undefined {
        return Err(fail::undefined(format!("'{op}' on an undefined value")));
    }
    match (kind_a, kind_b) {
        (Type::Str, Type::Str) => {
            let (x, y) = (a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default());
            budget::charge(x.len().min(y.len()))?;
            Ok(Some(marks::unmark(x).cmp(&marks::unmark(y))))
        }
        (Type::List, Type::List) => {
            budget::charge(a.len().unwrap_or(0))?;
            let (mut xs, mut ys) = (a.try_iter()?, b.try_iter()?);
            loop {
                match (xs.next(), ys.next()) {
                    (None, None) => return Ok(Some(Ordering::Equal)),
                    (None, Some(_)) => return Ok(Some(Ordering::Less)),
                    (Some(_), None) => return Ok(Some(Ordering::Greater)),
                    (Some(x), Some(y)) if !equal(&x, &y)? => return order(op, &x, &y),
                    _ => {}
                }
            }
        }
        _ => match (number(a, kind_a), number(b, kind_b)) {
            (Some(x), Some(y)) if kind_a == Type::Float || kind_b == Type::Float => {
                Ok(f64::try_from(x)?.partial_cmp(&f64::try_from(y)?))
            }
            (Some(x), Some(y)) => Ok(Some(x.cmp(&y))),
            _ => Err(fail::runtime(format!(
                "'{op}' not supported between instances of '{}' and '{}'",
                kind_a.name(),
                kind_b.name()
            ))),
        },
    }
}

fn neg(v: Value) -> Result<Value, Error> {
    match Type::of(&v) {
        Type::Undefined => Err(fail::undefined("'-' on an undefined value")),
        Type::Int | Type::Bool => arithmetic("-", Value::from(0), v),
        Type::Float => Ok(Value::from(-f64::try_from(v)?)),
        kind => Err(fail::runtime(format!("bad operand type for unary -: '{}'", kind.name()))),
    }
}

fn unsupported(op: &str, a: Type, b: Type) -> Error {
    if a == Type::Undefined || b == Type::Undefined {
        return fail::undefined(format!("'{op}' on an undefined value"));
    }
    fail::runtime(format!("unsupported operand type(s) for {op}: '{}' and '{}'", a.name(), b.name()))
}

/// `+`.
pub fn add(a: Value, b: Value) -> Result<Value, Error> {
    match (Type::of(&a), Type::of(&b)) {
        (_, Type::Undefined) | (Type::Undefined, _) => Err(fail::undefined("'+' on an undefined value")),
        (Type::Str, Type::Str) => joined(&a, &b),
        (Type::List, Type::List) => {
            budget::charge(16 * (a.len().unwrap_or(0) + b.len().unwrap_or(0)))?;
            Ok(a.try_iter()?.chain(b.try_iter()?).collect::<Vec<_>>().into())
        }
        (kind @ (Type::Str | Type::List), other) => Err(fail::runtime(format!(
            "can only concatenate {} (not \"{}\") to {}",
            kind.name(),
            other.name(),
            kind.name()
        ))),
        _ => arithmetic("+", a, b),
    }
}

/// `~`: both sides become plain text.
fn concat(a: Value, b: Value) -> Result<Value, Error> {
    let mut out = text::str(&a)?;
    text::write_str(&mut out, &b)?;
    Ok(out.into())
}

/// Two strings in one; text marked safe stays so and escapes what it meets, as markupsafe has it.
fn joined(a: &Value, b: &Value) -> Result<Value, Error> {
    let (x, y) = (a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default());
    budget::charge(x.len() + y.len())?;
    Ok(match (a.is_safe(), b.is_safe()) {
        (false, false) => [x, y].concat().into(),
        (true, true) => Value::from_safe_string([x, y].concat()),
        (true, false) => Value::from_safe_string([x, &text::escape_html(y)].concat()),
        (false, true) => Value::from_safe_string([&text::escape_html(x), y].concat()),
    })
}

fn mul(a: Value, b: Value) -> Result<Value, Error> {
    let (sequence, times) = match (Type::of(&a), Type::of(&b)) {
        (Type::Str | Type::List, Type::Int | Type::Bool) => (&a, index(&b)),
        (Type::Int | Type::Bool, Type::Str | Type::List) => (&b, index(&a)),
        _ => return arithmetic("*", a, b),
    };
    let times = size(times);
    let weight = if sequence.as_str().is_some() { 1 } else { 16 };
    budget::charge(sequence.len().unwrap_or(0).saturating_mul(times).saturating_mul(weight))?;
    match sequence.as_str() {
        Some(s) => Ok(s.repeat(times).into()),
        None => {
            let items: Vec<Value> = sequence.try_iter()?.collect();
            Ok(std::iter::repeat_n(items, times).flatten().collect::<Vec<_>>().into())
        }
    }
}

/// A count that Python takes as an int: negative is none, too large is the largest.
pub fn size(n: i64) -> usize {
    usize::try_from(n.max(0)).unwrap_or(usize::MAX)
}

/// `%` of numbers, or printf formatting when the left side is a string.
fn rem(a: Value, b: Value) -> Result<Value, Error> {
    let Some(format) = a.as_str() else { return arithmetic("%", a, b) };
    let args = match Type::of(&b) {
        Type::List => b.try_iter()?.collect(),
        _ => vec![b],
    };
    methods::printf(format, &args)
}

fn arithmetic(op: &str, a: Value, b: Value) -> Result<Value, Error> {
    let (kind_a, kind_b) = (Type::of(&a), Type::of(&b));
    let (Some(x), Some(y)) = (number(&a, kind_a), number(&b, kind_b)) else {
        return Err(unsupported(op, kind_a, kind_b));
    };
    let whole = kind_a != Type::Float && kind_b != Type::Float;
    if whole && op != "/" {
        let (x, y) = (i128::try_from(x)?, i128::try_from(y)?);
        let division = matches!(op, "//" | "%");
        if division && y == 0 {
            return Err(fail::runtime("integer modulo by zero"));
        }
        let result = match op {
            "+" => x.checked_add(y),
            "-" => x.checked_sub(y),
            "*" => x.checked_mul(y),
            "//" => x.checked_rem(y).and_then(|r| {
                let q = x.checked_div(y)?;
                Some(if r != 0 && (r < 0) != (y < 0) { q - 1 } else { q })
            }),
            "%" => x.checked_rem(y).map(|r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }),
            _ if y < 0 => return Ok(Value::from((x as f64).powf(y as f64))),
            _ => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        };
        let result = result.ok_or_else(|| fail::runtime(format!("the result of {op} is too large")))?;
        return Ok(match i64::try_from(result) {
            Ok(small) => Value::from(small),
            Err(_) => Value::from(result),
        });
    }
    let (x, y) = (f64::try_from(x)?, f64::try_from(y)?);
    if y == 0.0 && matches!(op, "/" | "//" | "%") {
        return Err(fail::runtime("division by zero"));
    }
    let remainder = |x: f64, y: f64| {
        let r = x % y;
        if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
    };
    Ok(Value::from(match op {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "//" => (x / y).floor(),
        "%" => remainder(x, y),
        _ => x.powf(y),
    }))
}
