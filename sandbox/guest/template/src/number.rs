//! Python's arithmetic. Whole numbers are exact up to 127 bits; beyond, a template fails.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::fail::{self, Error};
use crate::value::{Type, Value};

/// A number; a boolean is one, too.
#[derive(Clone, Copy)]
pub enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    /// The number that `v` is, unless it is none or has more than 127 bits.
    pub fn of(v: &Value) -> Option<Number> {
        Some(match v {
            Value::Bool(b) => Number::Int(*b as i128),
            Value::Int(n) => Number::Int(*n as i128),
            Value::Big(digits) => Number::Int(digits.parse().ok()?),
            Value::Float(x) => Number::Float(*x),
            _ => return None,
        })
    }

    pub fn float(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }

    /// Compares by value; None where one is not a number (nan).
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => mixed(a, b),
            (Number::Float(a), Number::Int(b)) => mixed(b, a).map(Ordering::reverse),
        }
    }
}

/// Compares exactly, for a float64 does not hold every whole number.
fn mixed(a: i128, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    if b.abs() >= 1e38 {
        return Some(if b > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = b.trunc();
    Some(a.cmp(&(whole as i128)).then_with(|| 0.0f64.partial_cmp(&(b - whole)).unwrap_or(Ordering::Equal)))
}

/// A whole number as a value.
pub fn int(n: i128) -> Value {
    match i64::try_from(n) {
        Ok(small) => Value::Int(small),
        Err(_) => Value::Big(n.to_string().into()),
    }
}

/// A whole number in decimal as a value.
pub fn parse(digits: &str) -> Value {
    match (digits.parse::<i64>(), digits.parse::<i128>()) {
        (Ok(n), _) => Value::Int(n),
        (_, Ok(n)) => int(n),
        _ => Value::Big(Rc::from(digits)),
    }
}

/// A float cut to a whole number, if it has one that is small enough.
pub fn whole(x: f64) -> Option<Value> {
    (x.is_finite() && x.abs() < 1e38).then(|| int(x.trunc() as i128))
}

/// Compares whole numbers of any size.
pub fn compare_big(a: &str, b: &str) -> Ordering {
    let parts = |s: &str| match s.strip_prefix('-') {
        Some(digits) => (true, digits.to_string()),
        None => (false, s.to_string()),
    };
    let ((a_negative, a), (b_negative, b)) = (parts(a), parts(b));
    let size = a.len().cmp(&b.len()).then_with(|| a.cmp(&b));
    match (a_negative, b_negative) {
        (false, false) => size,
        (true, true) => size.reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

fn too_large(op: &str) -> Error {
    fail::runtime(format!("the result of {op} is too large"))
}

/// `a op b` of two numbers; None where one is no number.
pub fn arithmetic(op: &str, a: &Value, b: &Value) -> Option<Result<Value, Error>> {
    if a.kind() == Type::Int || b.kind() == Type::Int {
        let huge = |v: &Value| matches!(v, Value::Big(d) if d.parse::<i128>().is_err());
        let number = |v: &Value| matches!(v.kind(), Type::Int | Type::Bool | Type::Float);
        if number(a) && number(b) && (huge(a) || huge(b)) {
            return Some(Err(too_large(op)));
        }
    }
    let (a, b) = (Number::of(a)?, Number::of(b)?);
    Some(match (a, b) {
        (Number::Int(x), Number::Int(y)) => whole_arithmetic(op, x, y),
        _ => float_arithmetic(op, a.float(), b.float()),
    })
}

fn whole_arithmetic(op: &str, x: i128, y: i128) -> Result<Value, Error> {
    if y == 0 && matches!(op, "/" | "//" | "%") {
        return Err(fail::runtime("division by zero"));
    }
    let result = match op {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        "/" => return Ok(Value::Float(x as f64 / y as f64)),
        "//" => x.checked_div(y).map(|q| if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q }),
        "%" => x.checked_rem(y).map(|r| if r != 0 && (r < 0) != (y < 0) { r + y } else { r }),
        _ if y < 0 => return float_arithmetic(op, x as f64, y as f64),
        _ => match x {
            0 | 1 => Some(if y == 0 { 1 } else { x }),
            -1 => Some(if y % 2 == 0 { 1 } else { -1 }),
            _ => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        },
    };
    result.map(int).ok_or_else(|| too_large(op))
}

fn float_arithmetic(op: &str, x: f64, y: f64) -> Result<Value, Error> {
    if y == 0.0 && matches!(op, "/" | "//" | "%") {
        return Err(fail::runtime("float division by zero"));
    }
    Ok(Value::Float(match op {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "//" => divmod(x, y).0,
        "%" => divmod(x, y).1,
        _ => return power(x, y),
    }))
}

/// Source: CPython, Objects/floatobject.c, _float_div_mod.
fn divmod(x: f64, y: f64) -> (f64, f64) {
    let mut rest = x % y;
    let mut div = (x - rest) / y;
    if rest != 0.0 {
        if (y < 0.0) != (rest < 0.0) {
            rest += y;
            div -= 1.0;
        }
    } else {
        rest = 0f64.copysign(y);
    }
    let floor = if div != 0.0 {
        let floor = div.floor();
        if div - floor > 0.5 {
            floor + 1.0
        } else {
            floor
        }
    } else {
        0f64.copysign(x / y)
    };
    (floor, rest)
}

fn power(x: f64, y: f64) -> Result<Value, Error> {
    if x == 0.0 && y < 0.0 {
        return Err(fail::runtime("0.0 cannot be raised to a negative power"));
    }
    if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 {
        return Err(fail::runtime("the result of ** is a complex number"));
    }
    let result = x.powf(y);
    if result.is_infinite() && x.is_finite() && y.is_finite() {
        return Err(too_large("**"));
    }
    Ok(Value::Float(result))
}

/// `round(x, digits)` of a whole number with digits below zero: ties go to the even one.
pub fn round_whole(n: i128, digits: u32) -> Result<Value, Error> {
    let Some(unit) = 10i128.checked_pow(digits) else { return Ok(Value::Int(0)) };
    let (down, rest) = (n.div_euclid(unit), n.rem_euclid(unit));
    let up = rest * 2 > unit || rest * 2 == unit && down % 2 != 0;
    (down + up as i128).checked_mul(unit).map(int).ok_or_else(|| too_large("round"))
}
