//! Python's `str` and `repr` of template values.

use std::fmt::Write;

use crate::fail::Error;
use crate::value::{Object, Value, View};
use crate::{budget, iter, marks};

/// `str(v)`; an undefined value is the empty string, as jinja2 prints it.
pub fn str(v: &Value) -> Result<String, Error> {
    let mut out = String::new();
    write_str(&mut out, v)?;
    Ok(out)
}

/// Appends `str(v)`.
pub fn write_str(out: &mut String, v: &Value) -> Result<(), Error> {
    match v {
        Value::Str(s) | Value::Safe(s) => {
            budget::charge(s.len())?;
            out.push_str(s);
            Ok(())
        }
        Value::Undefined(_) => Ok(()),
        _ => write_repr(out, v),
    }
}

/// Appends `repr(v)`.
pub fn write_repr(out: &mut String, v: &Value) -> Result<(), Error> {
    let before = out.len();
    match v {
        Value::Undefined(_) | Value::Missing => out.push_str("Undefined"),
        Value::None => out.push_str("None"),
        Value::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Value::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Value::Big(digits) => out.push_str(digits),
        Value::Float(x) => out.push_str(&float(*x)),
        Value::Str(s) => quote(out, s),
        Value::Safe(s) => {
            out.push_str("Markup(");
            quote(out, s);
            out.push(')');
        }
        Value::List(items) => write_items(out, "[", items.iter(), "]")?,
        Value::Tuple(items) | Value::Group(items) => {
            write_items(out, "(", items.iter(), if items.len() == 1 { ",)" } else { ")" })?;
        }
        Value::Dict(d) => {
            out.push('{');
            for (i, (key, value)) in d.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &key.0)?;
                out.push_str(": ");
                write_repr(out, value)?;
            }
            out.push('}');
        }
        Value::View(d, view) => {
            let items: Vec<Value> = d.iter().map(|(k, v)| iter::shown(*view, &k.0, v)).collect();
            let start = match view {
                View::Keys => "dict_keys([",
                View::Values => "dict_values([",
                View::Items => "dict_items([",
            };
            write_items(out, start, items.iter(), "])")?;
        }
        Value::Range(r) => {
            let _ = match r.step {
                1 => write!(out, "range({}, {})", r.start, r.stop),
                step => write!(out, "range({}, {}, {step})", r.start, r.stop),
            };
        }
        Value::Iter(_) => out.push_str("<generator object>"),
        Value::Object(o) => write_object(out, o)?,
    }
    budget::charge(out.len() - before)
}

fn write_items<'a>(
    out: &mut String,
    start: &str,
    items: impl Iterator<Item = &'a Value>,
    end: &str,
) -> Result<(), Error> {
    out.push_str(start);
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_repr(out, item)?;
    }
    out.push_str(end);
    Ok(())
}

fn write_object(out: &mut String, o: &Object) -> Result<(), Error> {
    match o {
        Object::Namespace(items) => {
            out.push_str("<Namespace {");
            // A namespace may hold itself, which Python cannot print either.
            budget::charge(1024)?;
            let items = items.borrow().clone();
            for (i, (key, value)) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                quote(out, key);
                out.push_str(": ");
                write_repr(out, value)?;
            }
            out.push_str("}>");
        }
        Object::Macro(m) => match &m.def.name {
            Some(name) => {
                out.push_str("<Macro ");
                quote(out, name);
                out.push('>');
            }
            None => out.push_str("<Macro anonymous>"),
        },
        Object::Loop(_) => out.push_str("<LoopContext>"),
        Object::Method(v, name) => {
            let _ = write!(out, "<built-in method {name} of {} object>", v.type_name());
        }
        Object::Function(name) => {
            let _ = write!(out, "<built-in function {name}>");
        }
        Object::Cycler(..) => out.push_str("<Cycler>"),
        Object::Joiner(..) => out.push_str("<Joiner>"),
        Object::Blocks => out.push_str("<TemplateReference None>"),
        Object::Block(name) => {
            let _ = write!(out, "<BlockReference '{name}'>");
        }
    }
    Ok(())
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

/// The value of a decimal digit in any script.
pub fn decimal(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    // The scripts' digits lie in runs of ten, and these are where the runs start.
    const ZEROS: [u32; 24] = [
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
        0x1040, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0xa620, 0xff10,
    ];
    ZEROS.iter().find_map(|zero| (c as u32).checked_sub(*zero).filter(|n| *n < 10))
}

/// Whether a character is a digit that is none of decimal: raised, lowered or in a circle.
pub fn superscript(c: char) -> bool {
    matches!(c as u32, 0xb2 | 0xb3 | 0xb9 | 0x2070 | 0x2074..=0x2079 | 0x2080..=0x2089 | 0x2460..=0x2468)
}

/// Python's str.isalpha of one character: letters, without the marks and letter-like numbers that Unicode calls
/// alphabetic.
pub fn is_letter(c: char) -> bool {
    c.is_alphabetic()
        && !matches!(c as u32, 0x345 | 0x5b0..=0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670 | 0x900..=0x903 | 0x93a..=0x93b
            | 0x93e..=0x94f | 0x2160..=0x2188 | 0x24b6..=0x24e9)
}

/// Python's str.isupper.
pub fn is_upper(s: &str) -> bool {
    s.chars().any(char::is_uppercase) && !s.chars().any(char::is_lowercase)
}

/// Python's str.islower.
pub fn is_lower(s: &str) -> bool {
    s.chars().any(char::is_lowercase) && !s.chars().any(char::is_uppercase)
}
