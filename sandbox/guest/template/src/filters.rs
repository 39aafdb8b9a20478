//! jinja2's filters, those of transformers among them. What is random or made for web pages alone is left out:
//! `random`, `urlize` and `wordwrap`.

use std::rc::Rc;

use crate::access;
use crate::args::{Args, Builtin};
use crate::fail::{self, Error};
use crate::html;
use crate::json;
use crate::number::{self, Number};
use crate::printf;
use crate::sequences;
use crate::text;
use crate::value::{Hint, Type, Value};
use crate::vm::Vm;
use crate::{marks, methods, ops, wording};

/// The filter of this name.
pub fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "abs" => abs,
        "attr" => attr,
        "batch" => sequences::batch,
        "capitalize" => |_, v, args| wording::simple(v, args, methods::capitalize),
        "center" => wording::center,
        "count" | "length" => length,
        "d" | "default" => default,
        "dictsort" => sequences::dictsort,
        "e" | "escape" => html::escape,
        "filesizeformat" => filesize,
        "first" => sequences::first,
        "float" => float,
        "forceescape" => html::force_escape,
        "format" => format,
        "groupby" => sequences::groupby,
        "indent" => wording::indent,
        "int" => int,
        "items" => sequences::items,
        "join" => sequences::join,
        "last" => sequences::last,
        "list" => sequences::list,
        "lower" => |_, v, args| wording::simple(v, args, |s| marks::change_text(s, false)),
        "map" => sequences::map,
        "max" => |vm, v, args| sequences::extreme(vm, v, args, ">"),
        "min" => |vm, v, args| sequences::extreme(vm, v, args, "<"),
        "pprint" => pprint,
        "reject" => |_, v, args| sequences::pick(v, args, false, false),
        "rejectattr" => |_, v, args| sequences::pick(v, args, false, true),
        "replace" => wording::replace,
        "reverse" => sequences::reverse,
        "round" => round,
        "safe" => html::safe,
        "select" => |_, v, args| sequences::pick(v, args, true, false),
        "selectattr" => |_, v, args| sequences::pick(v, args, true, true),
        "slice" => sequences::slice,
        "sort" => sequences::sort,
        "string" => |_, v, args| {
            args.expect(&[])?;
            wording::soft(v)
        },
        "striptags" => html::strip_tags,
        "sum" => sequences::sum,
        "title" => |_, v, args| wording::simple(v, args, wording::title),
        "tojson" => json::tojson,
        "trim" => wording::trim,
        "truncate" => wording::truncate,
        "unique" => sequences::unique,
        "upper" => |_, v, args| wording::simple(v, args, |s| marks::change_text(s, true)),
        "urlencode" => html::url_encode,
        "wordcount" => wording::count,
        "xmlattr" => html::attributes,
        _ => return None,
    })
}

fn abs(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    match (v, Number::of(v)) {
        (Value::Big(digits), None) => Ok(Value::Big(digits.trim_start_matches('-').into())),
        (_, Some(Number::Int(n))) => Ok(number::int(n.abs())),
        (_, Some(Number::Float(x))) => Ok(Value::Float(x.abs())),
        _ => Err(fail::runtime(format!("bad operand type for abs(): '{}'", v.type_name()))),
    }
}

fn attr(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["name"])?;
    let name = args.str(0, "name")?;
    if v.is_undefined() {
        return Err(ops::undefined(v));
    }
    Ok(access::own(vm, v, name)?.unwrap_or_else(|| Value::Undefined(Hint::Member(Rc::from(name), v.kind()))))
}

fn length(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    if let Value::Object(o) = v {
        if let crate::value::Object::Loop(l) = &**o {
            return l.length(vm).map(Value::from);
        }
    }
    match v.len() {
        Some(n) => Ok(n.into()),
        None => Err(fail::runtime(format!("object of type '{}' has no len()", v.type_name()))),
    }
}

fn default(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["default_value", "boolean"])?;
    let missing = v.is_undefined() || args.truth(1, "boolean", false) && !v.is_true();
    Ok(if missing { args.get(0, "default_value").cloned().unwrap_or_else(|| Value::str("")) } else { v.clone() })
}

fn format(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    let format = wording::soft(v)?;
    let keywords = args.keywords();
    if !keywords.is_empty() && !args.positional().is_empty() {
        return Err(fail::runtime("can't handle positional and keyword arguments at the same time"));
    }
    let given = if keywords.is_empty() {
        Value::tuple(args.positional().to_vec())
    } else {
        Value::Dict(Rc::new(
            keywords.iter().map(|(k, v)| (crate::value::Key(Value::Str(k.clone())), v.clone())).collect(),
        ))
    };
    printf::printf(format.as_str().unwrap_or_default(), &given, &format)
}

fn pprint(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    let mut out = String::new();
    text::write_repr(&mut out, &sorted(v)?)?;
    Ok(out.into())
}

/// The value with the keys of its dicts in order, as pprint prints them.
fn sorted(v: &Value) -> Result<Value, Error> {
    let all = |items: &[Value]| items.iter().map(sorted).collect::<Result<Vec<_>, _>>();
    Ok(match v {
        Value::List(items) => Value::list(all(items)?),
        Value::Tuple(items) => Value::tuple(all(items)?),
        Value::Dict(d) => {
            let mut pairs = d.iter().map(|(k, v)| Ok((k.clone(), sorted(v)?))).collect::<Result<Vec<_>, Error>>()?;
            ops::sort(&mut pairs, |(k, _)| &k.0)?;
            Value::Dict(Rc::new(pairs.into_iter().collect()))
        }
        _ => v.clone(),
    })
}

fn round(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["precision", "method"])?;
    let precision = args.opt_int(0, "precision")?.unwrap_or(0).clamp(-300, 300) as i32;
    let method = args.opt_str(1, "method")?.unwrap_or("common");
    if v.is_undefined() {
        return Err(ops::undefined(v));
    }
    let Some(n) = Number::of(v) else {
        return Err(fail::runtime(format!("type {} doesn't define __round__ method", v.type_name())));
    };
    let scale = 10f64.powi(precision);
    let x = n.float();
    Ok(match (method, n) {
        ("common", Number::Int(n)) if precision >= 0 => number::int(n),
        ("common", Number::Int(n)) => number::round_whole(n, precision.unsigned_abs())?,
        ("common", Number::Float(x)) if !x.is_finite() => v.clone(),
        // Rust's formatting rounds the exact value, ties to even, as Python's round does.
        ("common", _) if precision >= 0 => Value::Float(format!("{x:.*}", precision as usize).parse().unwrap_or(x)),
        ("common", _) => Value::Float((x * scale).round_ties_even() / scale),
        ("ceil" | "floor", _) if !x.is_finite() => {
            return Err(fail::runtime("cannot convert float infinity or nan to integer"));
        }
        ("ceil", _) => Value::Float((x * scale).ceil() / scale),
        ("floor", _) => Value::Float((x * scale).floor() / scale),
        _ => return Err(fail::runtime("method must be common, ceil or floor")),
    })
}

/// Python's `float(s)`.
pub fn parse_float(s: &str) -> Option<f64> {
    let s = marks::unmark(s);
    let s = s.trim_matches(text::is_space);
    let bytes = s.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let misplaced = |i: usize| bytes[i] == b'_' && !(digit(i.checked_sub(1)) && digit(Some(i + 1)));
    if (0..bytes.len()).any(misplaced) {
        return None;
    }
    s.replace('_', "").parse().ok()
}

/// Python's `int(s, base)`.
fn parse_int(s: &str, base: u32) -> Option<Value> {
    let s = marks::unmark(s);
    let s = s.trim_matches(text::is_space).to_lowercase();
    let (negative, digits) = match s.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, s.strip_prefix('+').unwrap_or(&s)),
    };
    let prefix = |p: &str| digits.strip_prefix(p).map(|d| d.strip_prefix('_').unwrap_or(d));
    let (base, digits) = match (base, prefix("0x"), prefix("0o"), prefix("0b")) {
        (0 | 16, Some(d), _, _) => (16, d),
        (0 | 8, _, Some(d), _) => (8, d),
        (0 | 2, _, _, Some(d)) => (2, d),
        (0, ..) if digits.starts_with('0') && !digits.trim_matches(['0', '_']).is_empty() => return None,
        (0, ..) => (10, digits),
        _ => (base, digits),
    };
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    let digits: String = digits
        .chars()
        .filter(|c| *c != '_')
        .map(|c| match text::decimal(c) {
            Some(d) => char::from_digit(d, 10).unwrap_or(c),
            None => c,
        })
        .collect();
    if !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    match i128::from_str_radix(&digits, base) {
        Ok(n) => Some(number::int(if negative { -n } else { n })),
        Err(_) if base == 10 => {
            let digits = digits.trim_start_matches('0');
            Some(Value::Big(if negative { format!("-{digits}") } else { digits.to_string() }.into()))
        }
        Err(_) => None,
    }
}

fn int(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["default", "base"])?;
    let fallback = || args.get(0, "default").cloned().unwrap_or(Value::Int(0));
    Ok(match v {
        Value::Undefined(_) => return Err(ops::undefined(v)),
        Value::Int(_) | Value::Big(_) => v.clone(),
        Value::Bool(b) => Value::Int(*b as i64),
        Value::Float(x) if x.is_infinite() => return Err(fail::runtime("cannot convert float infinity to integer")),
        Value::Float(x) if x.is_nan() => fallback(),
        Value::Float(x) => number::whole(*x).ok_or_else(|| fail::runtime("the result of int is too large"))?,
        Value::Str(s) | Value::Safe(s) => {
            let base = args.opt_int(1, "base")?.unwrap_or(10);
            let whole = match u32::try_from(base) {
                Ok(base) if base == 0 || (2..=36).contains(&base) => parse_int(s, base),
                _ => None,
            };
            whole.or_else(|| parse_float(s).and_then(number::whole)).unwrap_or_else(fallback)
        }
        _ => fallback(),
    })
}

fn float(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["default"])?;
    let fallback = || args.get(0, "default").cloned().unwrap_or(Value::Float(0.0));
    Ok(match v {
        Value::Undefined(_) => return Err(ops::undefined(v)),
        Value::Str(s) | Value::Safe(s) => parse_float(s).map_or_else(fallback, Value::Float),
        Value::Big(digits) => digits.parse().map_or_else(|_| fallback(), Value::Float),
        _ => Number::of(v).map_or_else(fallback, |n| Value::Float(n.float())),
    })
}

fn filesize(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["binary"])?;
    let bytes = match (v.as_str(), Number::of(v)) {
        (Some(s), _) => parse_float(s),
        (_, n) => n.map(Number::float),
    };
    let Some(bytes) = bytes else {
        return Err(if v.kind() == Type::Undefined {
            ops::undefined(v)
        } else {
            fail::runtime("not a number of bytes")
        });
    };
    let (base, units): (f64, [&str; 8]) = if args.truth(0, "binary", false) {
        (1024.0, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"])
    } else {
        (1000.0, ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"])
    };
    if bytes == 1.0 {
        return Ok(Value::str("1 Byte"));
    }
    if bytes < base {
        return Ok(format!("{} Bytes", bytes.trunc()).into());
    }
    let i = (0..8).find(|i| bytes < base.powi(*i as i32 + 2)).unwrap_or(7);
    Ok(format!("{:.1} {}", base * bytes / base.powi(i as i32 + 2), units[i]).into())
}
