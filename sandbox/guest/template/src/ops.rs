//! Python's operators on template values.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::budget;
use crate::fail::{self, Error};
use crate::iter;
use crate::marks;
use crate::number::{self, Number};
use crate::text;
use crate::value::{Hint, Key, Type, Value, View};
use crate::vm::Vm;

/// The error of an operation on an undefined value.
pub fn undefined(v: &Value) -> Error {
    match v {
        Value::Undefined(Hint::Name(name)) => fail::undefined(format!("'{name}' is undefined")),
        Value::Undefined(Hint::Member(name, Type::None)) => {
            fail::undefined(format!("'None' has no attribute '{name}'"))
        }
        Value::Undefined(Hint::Member(name, kind)) => {
            fail::undefined(format!("'{} object' has no attribute '{name}'", kind.name()))
        }
        Value::Undefined(Hint::Unsafe(name, kind)) => {
            fail::refused(format!("a template may not use '{name}' of a {}", kind.name()))
        }
        Value::Undefined(Hint::Words(words)) => fail::undefined(*words),
        _ => fail::undefined("the value is undefined"),
    }
}

/// Fails when one of the operands is undefined.
fn defined(a: &Value, b: &Value) -> Result<(), Error> {
    match [a, b].into_iter().find(|v| v.is_undefined()) {
        Some(v) => Err(undefined(v)),
        None => Ok(()),
    }
}

/// `a op b`
pub fn binary(op: &'static str, a: &Value, b: &Value) -> Result<Value, Error> {
    if let (Value::Int(x), Value::Int(y)) = (a, b) {
        let quick = match op {
            "+" => x.checked_add(*y),
            "-" => x.checked_sub(*y),
            "*" => x.checked_mul(*y),
            _ => None,
        };
        if let Some(n) = quick {
            return Ok(Value::Int(n));
        }
    }
    match (op, a.as_str()) {
        ("%", Some(format)) => return crate::printf::printf(format, b, a),
        _ => defined(a, b)?,
    }
    let special = match op {
        "+" => add(a, b)?,
        "*" => repeat(a, b)?,
        _ => None,
    };
    if let Some(result) = special {
        return Ok(result);
    }
    number::arithmetic(op, a, b).unwrap_or_else(|| {
        let (a, b) = (a.type_name(), b.type_name());
        Err(fail::runtime(match op {
            "+" if matches!(a, "str" | "list" | "tuple") => format!("can only concatenate {a} (not \"{b}\") to {a}"),
            _ => format!("unsupported operand type(s) for {op}: '{a}' and '{b}'"),
        }))
    })
}

/// `+` of texts and sequences.
pub fn add(a: &Value, b: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(match (a, b) {
        (Value::Str(_) | Value::Safe(_), Value::Str(_) | Value::Safe(_)) => joined(a, b)?,
        (Value::List(x), Value::List(y)) => Value::list(chained(x, y)?),
        (Value::Tuple(x) | Value::Group(x), Value::Tuple(y) | Value::Group(y)) => Value::tuple(chained(x, y)?),
        _ => return Ok(None),
    }))
}

fn chained(x: &[Value], y: &[Value]) -> Result<Vec<Value>, Error> {
    budget::charge((x.len() + y.len()).saturating_mul(16))?;
    Ok([x, y].concat())
}

/// Two strings in one; text marked safe stays so and escapes what it meets, as markupsafe has it.
fn joined(a: &Value, b: &Value) -> Result<Value, Error> {
    let (x, y) = (a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default());
    budget::charge(x.len() + y.len())?;
    Ok(match (a, b) {
        (Value::Safe(_), Value::Safe(_)) => Value::Safe([x, y].concat().into()),
        (Value::Safe(_), _) => Value::Safe([x, &text::escape_html(y)].concat().into()),
        (_, Value::Safe(_)) => Value::Safe([&text::escape_html(x), y].concat().into()),
        _ => [x, y].concat().into(),
    })
}

/// `*` of a text or sequence with a count.
fn repeat(a: &Value, b: &Value) -> Result<Option<Value>, Error> {
    let (sequence, times) = match (count(a), count(b)) {
        (None, Some(times)) => (a, times),
        (Some(times), None) => (b, times),
        _ => return Ok(None),
    };
    if matches!(a, Value::Big(_)) || matches!(b, Value::Big(_)) {
        return match sequence.as_str().is_some() || sequence.as_items().is_some() {
            true => Err(fail::runtime("cannot fit 'int' into an index-sized integer")),
            false => Ok(None),
        };
    }
    let times = size(times);
    match sequence {
        Value::Str(s) | Value::Safe(s) => {
            budget::charge(s.len().saturating_mul(times))?;
            let repeated = s.repeat(times).into();
            Ok(Some(if matches!(sequence, Value::Safe(_)) { Value::Safe(repeated) } else { Value::Str(repeated) }))
        }
        _ => {
            let Some(items) = sequence.as_items() else { return Ok(None) };
            budget::charge(items.len().saturating_mul(times).saturating_mul(16))?;
            let repeated = std::iter::repeat_n(&items[..], times).flatten().cloned().collect();
            Ok(Some(if matches!(sequence, Value::List(_)) { Value::list(repeated) } else { Value::tuple(repeated) }))
        }
    }
}

fn count(v: &Value) -> Option<i64> {
    match v {
        Value::Int(n) => Some(*n),
        Value::Bool(b) => Some(*b as i64),
        Value::Big(_) => Some(i64::MAX),
        _ => None,
    }
}

/// A count that Python takes as an int: negative is none, too large is the largest.
pub fn size(n: i64) -> usize {
    usize::try_from(n.max(0)).unwrap_or(usize::MAX)
}

/// Unary `-` and `+`.
pub fn sign(op: &'static str, v: &Value) -> Result<Value, Error> {
    match v {
        Value::Undefined(_) => Err(undefined(v)),
        Value::Float(x) => Ok(Value::Float(if op == "-" { -x } else { *x })),
        _ => match number::arithmetic(op, &Value::Int(0), v) {
            Some(result) => result,
            None => Err(fail::runtime(format!("bad operand type for unary {op}: '{}'", v.type_name()))),
        },
    }
}

/// `needle in hay`
pub fn contains(vm: &Vm, hay: &Value, needle: &Value) -> Result<bool, Error> {
    let hashable = || match needle.unhashable() {
        Some(kind) => Err(fail::runtime(format!("unhashable type: '{kind}'"))),
        None => Ok(()),
    };
    match hay {
        Value::Str(s) | Value::Safe(s) => {
            budget::charge(s.len())?;
            match needle.as_str() {
                Some(part) => Ok(marks::contains(s, part)),
                None => Err(fail::runtime(format!(
                    "'in <string>' requires string as left operand, not {}",
                    needle.type_name()
                ))),
            }
        }
        Value::Dict(d) | Value::View(d, View::Keys) => {
            hashable()?;
            Ok(d.contains_key(&Key(needle.clone())))
        }
        Value::Object(_) | Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
            Err(fail::runtime(format!("argument of type '{}' is not iterable", hay.type_name())))
        }
        _ => iter::contains(vm, hay, needle),
    }
}

/// Python's `==`, in which booleans are numbers.
pub fn equal(a: &Value, b: &Value) -> Result<bool, Error> {
    match (a, b) {
        (Value::Str(x) | Value::Safe(x), Value::Str(y) | Value::Safe(y)) => {
            budget::charge(x.len().min(y.len()))?;
            return Ok(x == y || marks::unmark(x) == marks::unmark(y));
        }
        (Value::List(x), Value::List(y)) => return equal_items(x, y),
        (Value::Tuple(x) | Value::Group(x), Value::Tuple(y) | Value::Group(y)) => return equal_items(x, y),
        (Value::Dict(x), Value::Dict(y)) => {
            if x.len() != y.len() {
                return Ok(false);
            }
            budget::charge(x.len())?;
            for (key, value) in x.iter() {
                match y.get(key) {
                    Some(other) if equal(value, other)? => {}
                    _ => return Ok(false),
                }
            }
            return Ok(true);
        }
        (Value::View(x, View::Keys), Value::View(y, View::Keys)) => {
            budget::charge(x.len())?;
            return Ok(x.len() == y.len() && x.keys().all(|k| y.contains_key(k)));
        }
        (Value::Range(x), Value::Range(y)) => {
            let n = x.len();
            return Ok(n == y.len() && (n == 0 || x.start == y.start && (n == 1 || x.step == y.step)));
        }
        (Value::Undefined(_), Value::Undefined(_)) | (Value::None, Value::None) => return Ok(true),
        (Value::Iter(x), Value::Iter(y)) => return Ok(Rc::ptr_eq(x, y)),
        (Value::Object(x), Value::Object(y)) => return Ok(Rc::ptr_eq(x, y)),
        (Value::Big(x), Value::Big(y)) => return Ok(x == y),
        _ => {}
    }
    Ok(match (Number::of(a), Number::of(b)) {
        (Some(x), Some(y)) => x.compare(y) == Some(Ordering::Equal),
        _ => false,
    })
}

/// Whether two sequences have equal items.
pub fn equal_items(x: &[Value], y: &[Value]) -> Result<bool, Error> {
    if x.len() != y.len() {
        return Ok(false);
    }
    budget::charge(x.len())?;
    for (x, y) in x.iter().zip(y.iter()) {
        if !equal(x, y)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `a op b` of `==`, `<`, `in` and their kin.
pub fn compare(vm: &Vm, op: &'static str, a: &Value, b: &Value) -> Result<bool, Error> {
    Ok(match op {
        "==" => equal(a, b)?,
        "!=" => !equal(a, b)?,
        "in" => contains(vm, b, a)?,
        "not in" => !contains(vm, b, a)?,
        _ => {
            let found = order(op, a, b)?;
            match op {
                "<" => found == Some(Ordering::Less),
                "<=" => found.is_some_and(Ordering::is_le),
                ">" => found == Some(Ordering::Greater),
                _ => found.is_some_and(Ordering::is_ge),
            }
        }
    })
}

/// Compares as Python's `<` and its kin do; None where neither holds (a nan).
pub fn order(op: &str, a: &Value, b: &Value) -> Result<Option<Ordering>, Error> {
    defined(a, b)?;
    match (a, b) {
        (Value::Str(x) | Value::Safe(x), Value::Str(y) | Value::Safe(y)) => {
            budget::charge(x.len().min(y.len()))?;
            Ok(Some(marks::unmark(x).cmp(&marks::unmark(y))))
        }
        (Value::List(x), Value::List(y)) => order_items(op, x, y),
        (Value::Tuple(x) | Value::Group(x), Value::Tuple(y) | Value::Group(y)) => order_items(op, x, y),
        (Value::Big(x), Value::Big(y)) => Ok(Some(number::compare_big(x, y))),
        _ => match (Number::of(a), Number::of(b)) {
            (Some(x), Some(y)) => Ok(x.compare(y)),
            _ => Err(fail::runtime(format!(
                "'{op}' not supported between instances of '{}' and '{}'",
                a.type_name(),
                b.type_name()
            ))),
        },
    }
}

fn order_items(op: &str, x: &[Value], y: &[Value]) -> Result<Option<Ordering>, Error> {
    budget::charge(x.len().min(y.len()))?;
    for (x, y) in x.iter().zip(y.iter()) {
        if !equal(x, y)? {
            return order(op, x, y);
        }
    }
    Ok(Some(x.len().cmp(&y.len())))
}

/// `a ~ b ~ …`: everything becomes plain text.
pub fn concat(parts: &[Value], escape: bool) -> Result<Value, Error> {
    let mut out = String::new();
    for part in parts {
        match part {
            Value::Safe(s) if escape => out.push_str(s),
            _ if escape => out.push_str(&text::escape_html(&text::str(part)?)),
            _ => text::write_str(&mut out, part)?,
        }
    }
    Ok(if escape { Value::Safe(out.into()) } else { out.into() })
}

/// Sorts by a key with Python's `<`; equal ones keep their order. The standard sort would panic where `<` is no order (a nan).
pub fn sort<T: Clone>(items: &mut Vec<T>, key: impl Fn(&T) -> &Value) -> Result<(), Error> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for run in items.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some(a), Some(b)) = (left.first(), right.first()) {
                if order("<", key(b), key(a))? == Some(Ordering::Less) {
                    merged.push(b.clone());
                    right = &right[1..];
                } else {
                    merged.push(a.clone());
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        *items = merged;
        width *= 2;
    }
    Ok(())
}
