//! Python's `str` and `repr` of template values.

use std::fmt::Write;

use minijinja::{Error, Value};

use crate::{budget, marks};
use crate::types::{Tuple, Type};

/// `str(v)`; an undefined value is the empty string, as jinja2 prints it.
pub fn str(v: &Value) -> Result<String, Error> {
    let mut out = String::new();
    write_str(&mut out, v)?;
    Ok(out)
}

/// Appends `str(v)`.
pub fn write_str(out: &mut String, v: &Value) -> Result<(), Error> {
    match v.as_str() {
        Some(s) => {
            budget::charge(s.len())?;
            out.push_str(s);
            Ok(())
        }
        None if v.is_undefined() => Ok(()),
        None => write_repr(out, v),
    }
}

/// Appends `repr(v)`.
pub fn write_repr(out: &mut String, v: &Value) -> Result<(), Error> {
    let before = out.len();
    match Type::of(v) {
        Type::Undefined => out.push_str("Undefined"),
        Type::None => out.push_str("None"),
        Type::Bool => out.push_str(if v.is_true() { "True" } else { "False" }),
        Type::Int | Type::Other => {
            let _ = write!(out, "{v}");
        }
        Type::Float => out.push_str(&float(f64::try_from(v.clone())?)),
        Type::Str => quote(out, v.as_str().unwrap_or_default()),
        Type::List => {
            let tuple = v.downcast_object_ref::<Tuple>().is_some();
            out.push(if tuple { '(' } else { '[' });
            for (i, item) in v.try_iter()?.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &item)?;
            }
            out.push(if tuple { ')' } else { ']' });
        }
        Type::Dict => {
            out.push('{');
            for (i, key) in v.try_iter()?.enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &key)?;
                out.push_str(": ");
                write_repr(out, &v.get_item(&key)?)?;
            }
            out.push('}');
        }
    }
    budget::charge(out.len() - before)
}

/// `repr(x)` of a float: the shortest digits that read back, with Python's choice of notation.
pub fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{x}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `repr(s)` of a string.
fn quote(out: &mut String, s: &str) {
    let plain = marks::unmark(s);
    let quote = if plain.contains('\'') && !plain.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in s.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if marks::plain(c) == '\\' || marks::plain(c) == quote => {
                out.push('\\');
                out.push(c);
            }
            c if printable(c) || marks::is_mark(c) => out.push(c),
            c => {
                let n = c as u32;
                let _ = match n {
                    0..=0xff => write!(out, "\\x{n:02x}"),
                    0x100..=0xffff => write!(out, "\\u{n:04x}"),
                    _ => write!(out, "\\U{n:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Python's str.isprintable for one character, without the tables of unassigned code points.
pub fn printable(c: char) -> bool {
    !matches!(c as u32,
        0..=0x1f | 0x7f..=0xa0 | 0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x1680 | 0x180e
        | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x3000 | 0xe000..=0xf8ff
        | 0xfeff | 0xfff0..=0xfffb | 0xe0000..=0xe0fff | 0xf0000..=0x10ffff)
}

/// Whether Python's str methods take `c` for white space.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// HTML escaping as markupsafe does it.
pub fn escape_html(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match marks::plain(c) {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            _ => out.push(c),
        }
    }
    out
}
