//! jinja2's tests.

use crate::args::{Args, Builtin};
use crate::fail::{self, Error};
use crate::filters;
use crate::iter;
use crate::ops;
use crate::text;
use crate::value::{Object, Type, Value};
use crate::vm::Vm;

/// The test of this name.
pub fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "boolean" => |_, v, args| plain(v, args, |v| v.kind() == Type::Bool),
        "callable" => |_, v, args| plain(v, args, callable),
        "defined" => |_, v, args| plain(v, args, |v| !v.is_undefined()),
        "undefined" => |_, v, args| plain(v, args, Value::is_undefined),
        "none" => |_, v, args| plain(v, args, Value::is_none),
        "escaped" => |_, v, args| plain(v, args, |v| matches!(v, Value::Safe(_))),
        "float" => |_, v, args| plain(v, args, |v| v.kind() == Type::Float),
        "integer" => |_, v, args| plain(v, args, |v| v.kind() == Type::Int),
        "number" => |_, v, args| plain(v, args, |v| matches!(v.kind(), Type::Int | Type::Float | Type::Bool)),
        "iterable" => |_, v, args| plain(v, args, iter::is_iterable),
        "sequence" => |_, v, args| plain(v, args, |v| v.len().is_some() && v.kind() != Type::View),
        "mapping" => |_, v, args| plain(v, args, |v| v.kind() == Type::Dict),
        "string" => |_, v, args| plain(v, args, |v| v.kind() == Type::Str),
        "true" => |_, v, args| plain(v, args, |v| matches!(v, Value::Bool(true))),
        "false" => |_, v, args| plain(v, args, |v| matches!(v, Value::Bool(false))),
        "filter" => |_, v, args| named(v, args, |s| filters::find(s).is_some()),
        "test" => |_, v, args| named(v, args, |s| find(s).is_some()),
        "odd" => |_, v, args| remainder(v, args, &Value::Int(2), 1),
        "even" => |_, v, args| remainder(v, args, &Value::Int(2), 0),
        "divisibleby" => |_, v, args| {
            args.expect(&["num"])?;
            remainder(v, &args.rest("divisibleby"), args.need(0, "num")?, 0)
        },
        "lower" => |_, v, args| cased(v, args, text::is_lower),
        "upper" => |_, v, args| cased(v, args, text::is_upper),
        "sameas" => |_, v, args| {
            args.expect(&["other"])?;
            Ok(Value::Bool(v.same(args.need(0, "other")?)))
        },
        "in" => |vm, v, args| compare(vm, "in", v, args),
        "eq" | "equalto" | "==" => |vm, v, args| compare(vm, "==", v, args),
        "ne" | "!=" => |vm, v, args| compare(vm, "!=", v, args),
        "lt" | "lessthan" | "<" => |vm, v, args| compare(vm, "<", v, args),
        "le" | "<=" => |vm, v, args| compare(vm, "<=", v, args),
        "gt" | "greaterthan" | ">" => |vm, v, args| compare(vm, ">", v, args),
        "ge" | ">=" => |vm, v, args| compare(vm, ">=", v, args),
        _ => return None,
    })
}

fn plain(v: &Value, args: &Args, test: fn(&Value) -> bool) -> Result<Value, Error> {
    args.expect(&[])?;
    Ok(Value::Bool(test(v)))
}

/// Whether a table has this name; Python looks it up, so it must be something that a dict can hold.
fn named(v: &Value, args: &Args, test: fn(&str) -> bool) -> Result<Value, Error> {
    args.expect(&[])?;
    match v.unhashable() {
        Some(kind) => Err(fail::runtime(format!("unhashable type: '{kind}'"))),
        None => Ok(Value::Bool(v.as_str().is_some_and(test))),
    }
}

fn cased(v: &Value, args: &Args, test: fn(&str) -> bool) -> Result<Value, Error> {
    args.expect(&[])?;
    Ok(Value::Bool(test(&text::str(v)?)))
}

fn compare(vm: &Vm, op: &'static str, v: &Value, args: &Args) -> Result<Value, Error> {
    args.no_keywords()?;
    args.expect(&["other"])?;
    Ok(Value::Bool(ops::compare(vm, op, v, args.need(0, "other")?)?))
}

/// Whether `v % by` is `rest`.
fn remainder(v: &Value, args: &Args, by: &Value, rest: i64) -> Result<Value, Error> {
    args.positional().iter().try_for_each(|_| args.expect(&[]))?;
    let found = ops::binary("%", v, by)?;
    Ok(Value::Bool(ops::equal(&found, &Value::Int(rest))?))
}

fn callable(v: &Value) -> bool {
    match v {
        Value::Undefined(_) => true,
        Value::Object(o) => !matches!(**o, Object::Namespace(_) | Object::Cycler(..) | Object::Blocks),
        _ => false,
    }
}
