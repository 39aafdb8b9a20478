//! Filters for HTML and addresses.

use crate::args::Args;
use crate::fail::{self, Error};
use crate::iter;
use crate::ops;
use crate::text;
use crate::value::Value;
use crate::vm::Vm;
use crate::wording;

pub fn escape(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    if matches!(v, Value::Safe(_)) {
        return Ok(v.clone());
    }
    Ok(Value::Safe(text::escape_html(&text::str(v)?).into()))
}

pub fn force_escape(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    Ok(Value::Safe(text::escape_html(&text::str(v)?).into()))
}

pub fn safe(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    Ok(Value::Safe(text::str(v)?.into()))
}

/// Source: markupsafe, Markup.striptags.
pub fn strip_tags(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    let mut s = text::str(v)?;
    for (start, end) in [("<!--", "-->"), ("<", ">")] {
        let mut kept = String::with_capacity(s.len());
        let mut rest = s.as_str();
        while let Some((i, j)) = rest.find(start).and_then(|i| Some((i, i + rest[i..].find(end)?))) {
            kept.push_str(&rest[..i]);
            rest = &rest[j + end.len()..];
        }
        kept.push_str(rest);
        s = kept;
    }
    let words: Vec<&str> = s.split(text::is_space).filter(|w| !w.is_empty()).collect();
    Ok(unescape(&words.join(" ")).into())
}

/// The characters of the commonest entities.
fn unescape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some(i) = rest.find('&') {
        out.push_str(&rest[..i]);
        rest = &rest[i..];
        let entity = rest.find(';').map(|end| &rest[1..end]).filter(|e| e.len() < 10);
        let c = entity.and_then(|e| match e {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "nbsp" => Some('\u{a0}'),
            _ => {
                let digits = e.strip_prefix('#')?;
                let n = match digits.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                    None => digits.parse().ok()?,
                };
                char::from_u32(n)
            }
        });
        match (entity, c) {
            (Some(entity), Some(c)) => {
                out.push(c);
                rest = &rest[entity.len() + 2..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn quote(v: &Value, query: bool) -> Result<String, Error> {
    let mut out = String::new();
    for b in crate::marks::unmark(&text::str(v)?).bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => out.push(b as char),
            b'/' if !query => out.push('/'),
            b' ' if query => out.push('+'),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    Ok(out)
}

pub fn url_encode(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    if v.as_str().is_some() || !iter::is_iterable(v) {
        return Ok(quote(v, false)?.into());
    }
    let mut parts = Vec::new();
    let mut push = |k: &Value, v: &Value| -> Result<(), Error> {
        parts.push(format!("{}={}", quote(k, true)?, quote(v, true)?));
        Ok(())
    };
    if let Value::Dict(d) = v {
        d.iter().try_for_each(|(k, v)| push(&k.0, v))?;
    } else {
        for pair in iter::collect(vm, v)? {
            match &iter::collect(vm, &pair)?[..] {
                [k, v] => push(k, v)?,
                _ => return Err(fail::runtime("urlencode needs pairs")),
            }
        }
    }
    Ok(parts.join("&").into())
}

pub fn attributes(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["autospace"])?;
    let Value::Dict(d) = v else {
        return Err(if v.is_undefined() { ops::undefined(v) } else { fail::runtime("xmlattr needs a mapping") });
    };
    let mut parts = Vec::new();
    for (key, value) in d.iter().filter(|(_, v)| !v.is_none() && !v.is_undefined()) {
        let Some(name) = key.0.as_str() else { return Err(fail::runtime("attribute names must be strings")) };
        if name.contains(|c: char| c.is_ascii_whitespace() || matches!(c, '\x0b' | '/' | '>' | '=')) {
            return Err(fail::runtime(format!("Invalid character in attribute name: {name:?}")));
        }
        let value = match value {
            Value::Safe(s) => s.to_string(),
            other => text::escape_html(&text::str(&wording::soft(other)?)?),
        };
        parts.push(format!("{}=\"{value}\"", text::escape_html(name)));
    }
    let mut out = parts.join(" ");
    if args.truth(0, "autospace", true) && !out.is_empty() {
        out.insert(0, ' ');
    }
    Ok(if vm.autoescape.get() { Value::Safe(out.into()) } else { out.into() })
}
