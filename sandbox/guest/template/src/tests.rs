//! jinja2's tests where Python's types matter.

use minijinja::{Environment, Error, Value};

use crate::ops;
use crate::types::{BigInt, BoundMethod, Namespace, Type};

/// Registers the tests.
pub fn register(env: &mut Environment) {
    env.add_test("boolean", |v: Value| Type::of(&v) == Type::Bool);
    env.add_test("callable", |v: Value| Type::of(&v) == Type::Other && callable(&v));
    env.add_test("float", |v: Value| Type::of(&v) == Type::Float);
    env.add_test("integer", |v: Value| Type::of(&v) == Type::Int || big(&v));
    env.add_test("number", |v: Value| matches!(Type::of(&v), Type::Int | Type::Float | Type::Bool) || big(&v));
    env.add_test("iterable", |v: Value| match Type::of(&v) {
        Type::Undefined | Type::Str | Type::List | Type::Dict => true,
        Type::Other => v.try_iter().is_ok(),
        _ => false,
    });
    env.add_test("sequence", |v: Value| {
        matches!(Type::of(&v), Type::Undefined | Type::Str | Type::List | Type::Dict)
    });
    env.add_test("mapping", |v: Value| Type::of(&v) == Type::Dict);
    env.add_test("string", |v: Value| Type::of(&v) == Type::Str);
    env.add_test("true", |v: Value| Type::of(&v) == Type::Bool && v.is_true());
    env.add_test("false", |v: Value| Type::of(&v) == Type::Bool && !v.is_true());
    env.add_test("odd", |v: Value| remainder(&v, 2).map(|r| r == 1));
    env.add_test("even", |v: Value| remainder(&v, 2).map(|r| r == 0));
    env.add_test("divisibleby", |v: Value, by: i64| remainder(&v, by).map(|r| r == 0));
    env.add_test("lower", |v: &str| v.chars().any(char::is_lowercase) && !v.chars().any(char::is_uppercase));
    env.add_test("upper", |v: &str| v.chars().any(char::is_uppercase) && !v.chars().any(char::is_lowercase));
    env.add_test("in", |v: Value, hay: Value| ops::contains(&hay, &v));
    env.add_test("sameas", |a: Value, b: Value| Type::of(&a) == Type::of(&b) && a == b);
    for name in ["eq", "equalto", "=="] {
        env.add_test(name, |a: Value, b: Value| ops::equal(&a, &b));
    }
    for name in ["ne", "!="] {
        env.add_test(name, |a: Value, b: Value| ops::equal(&a, &b).map(|eq| !eq));
    }
    for name in ["lt", "lessthan", "<"] {
        env.add_test(name, |a: Value, b: Value| ops::order("<", &a, &b).map(|o| o.is_some_and(|o| o.is_lt())));
    }
    for name in ["le", "<="] {
        env.add_test(name, |a: Value, b: Value| ops::order("<=", &a, &b).map(|o| o.is_some_and(|o| o.is_le())));
    }
    for name in ["gt", "greaterthan", ">"] {
        env.add_test(name, |a: Value, b: Value| ops::order(">", &a, &b).map(|o| o.is_some_and(|o| o.is_gt())));
    }
    for name in ["ge", ">="] {
        env.add_test(name, |a: Value, b: Value| ops::order(">=", &a, &b).map(|o| o.is_some_and(|o| o.is_ge())));
    }
}

fn callable(v: &Value) -> bool {
    v.downcast_object_ref::<Namespace>().is_none()
        && (v.downcast_object_ref::<BoundMethod>().is_some() || v.get_attr("index0").map_or(true, |i| i.is_undefined()))
}

fn big(v: &Value) -> bool {
    v.downcast_object_ref::<BigInt>().is_some()
}

fn remainder(v: &Value, by: i64) -> Result<i64, Error> {
    match (Type::of(v), v.as_i64()) {
        (Type::Bool, _) => Ok((v.is_true() as i64).rem_euclid(by.max(1))),
        (Type::Int, Some(n)) if by != 0 => Ok(n.rem_euclid(by)),
        (Type::Float, _) if by != 0 => {
            let r = f64::try_from(v.clone())?.rem_euclid(by as f64);
            Ok(if r == r.trunc() { r as i64 } else { -1 })
        }
        _ => Err(crate::fail::runtime("not all arguments converted to a number")),
    }
}
