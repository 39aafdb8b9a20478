//! Filters over text.

use crate::args::Args;
use crate::fail::{self, Error};
use crate::ops;
use crate::text;
use crate::value::Value;
use crate::vm::Vm;
use crate::{budget, marks, methods};

/// The value as text; text stays as it is.
pub fn soft(v: &Value) -> Result<Value, Error> {
    match v {
        Value::Str(_) | Value::Safe(_) => Ok(v.clone()),
        _ => text::str(v).map(Value::from),
    }
}

/// `text`, safe if `like` is.
fn alike(like: &Value, text: String) -> Value {
    if matches!(like, Value::Safe(_)) {
        Value::Safe(text.into())
    } else {
        text.into()
    }
}

/// A filter that changes text and takes no arguments.
pub fn simple(v: &Value, args: &Args, change: fn(&str) -> String) -> Result<Value, Error> {
    args.expect(&[])?;
    let s = soft(v)?;
    let changed = change(s.as_str().unwrap_or_default());
    budget::charge(changed.len())?;
    Ok(alike(&s, changed))
}

/// Capitalises every word, where words begin after white space, hyphens and opening brackets.
pub fn title(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut start = true;
    for c in s.chars() {
        out.extend(marks::change_case(c, start));
        start = text::is_space(c) || "-({[<".contains(marks::plain(c));
    }
    out
}

pub fn trim(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["chars"])?;
    let s = soft(v)?;
    let text = s.as_str().unwrap_or_default();
    budget::charge(text.len())?;
    Ok(alike(&s, methods::strip(text, "strip", args.opt_str(0, "chars")?).to_string()))
}

pub fn replace(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["old", "new", "count"])?;
    let (old, new) = (soft(args.need(0, "old")?)?, soft(args.need(1, "new")?)?);
    let count = args.maybe_int(2, "count")?;
    if !vm.autoescape.get() {
        return Ok(methods::replace(&text::str(v)?, &text::str(&old)?, &text::str(&new)?, count)?.into());
    }
    let safe = |v: &Value| matches!(v, Value::Safe(_));
    let escaped = |v: &Value| if safe(v) { text::str(v) } else { Ok(text::escape_html(&text::str(v)?)) };
    if !(safe(v) || safe(&old) || safe(&new)) {
        return Ok(methods::replace(&text::str(v)?, &text::str(&old)?, &text::str(&new)?, count)?.into());
    }
    Ok(Value::Safe(methods::replace(&escaped(v)?, &text::str(&old)?, &escaped(&new)?, count)?.into()))
}

pub fn center(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["width"])?;
    let s = soft(v)?;
    let width = args.get(0, "width").cloned().unwrap_or(Value::Int(80));
    let width = Args::new("center", vec![width], vec![]);
    Ok(alike(&s, methods::pad(s.as_str().unwrap_or_default(), "center", &width)?))
}

pub fn count(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    let s = text::str(v)?;
    let word = |c: char| c.is_alphanumeric() || c == '_';
    Ok(s.split(|c| !word(c)).filter(|w| !w.is_empty()).count().into())
}

pub fn indent(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["width", "first", "blank"])?;
    let pad = match args.get(0, "width") {
        Some(w) if w.as_str().is_some() => w.as_str().unwrap_or_default().to_string(),
        _ => {
            let width = ops::size(args.opt_int(0, "width")?.unwrap_or(4));
            budget::charge(width)?;
            " ".repeat(width)
        }
    };
    let Some(s) = v.as_str() else {
        return Err(if v.is_undefined() {
            ops::undefined(v)
        } else {
            fail::runtime(format!("unsupported operand type(s) for +=: '{}' and 'str'", v.type_name()))
        });
    };
    let (first, blank) = (args.truth(1, "first", false), args.truth(2, "blank", false));
    let mut out = String::new();
    for (i, line) in methods::splitlines(&format!("{s}\n"), false).into_iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        if if i == 0 { first } else { !line.is_empty() || blank } {
            out.push_str(&pad);
        }
        out.push_str(&line);
        budget::charge(pad.len() + line.len())?;
    }
    Ok(alike(v, out))
}

pub fn truncate(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["length", "killwords", "end", "leeway"])?;
    let length = args.opt_int(0, "length")?.unwrap_or(255);
    let end = args.opt_str(2, "end")?.unwrap_or("...");
    let leeway = args.maybe_int(3, "leeway")?.unwrap_or(5);
    let wide = end.chars().count() as i64;
    if length < wide || leeway < 0 {
        return Err(fail::runtime(format!("expected length >= {wide} and leeway >= 0")));
    }
    let Some(s) = v.as_str() else {
        return match v.len() {
            Some(n) if n as i64 <= length.saturating_add(leeway) => Ok(v.clone()),
            _ => Err(fail::runtime(format!("a {} cannot be truncated", v.type_name()))),
        };
    };
    budget::charge(s.len())?;
    if s.chars().count() as i64 <= length.saturating_add(leeway) {
        return Ok(v.clone());
    }
    let mut kept: String = s.chars().take(ops::size(length - wide)).collect();
    if !args.truth(1, "killwords", false) {
        kept.truncate(kept.rfind(' ').unwrap_or(kept.len()));
    }
    Ok(alike(v, kept + end))
}
