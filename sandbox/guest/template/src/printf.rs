//! Python's `%` of texts.

use crate::budget;
use crate::fail::{self, Error};
use crate::number::{self, Number};
use crate::numeral;
use crate::ops;
use crate::text;
use crate::value::{Key, Value};

/// The values of one format.
struct Values<'a> {
    given: &'a Value,
    next: usize,
}

impl Values<'_> {
    fn next(&mut self) -> Result<Value, Error> {
        let i = self.next;
        self.next += 1;
        match self.given {
            Value::Tuple(items) | Value::Group(items) => items.get(i).cloned(),
            single => (i == 0).then(|| single.clone()),
        }
        .ok_or_else(|| fail::runtime("not enough arguments for format string"))
    }

    /// Whether all were used; what can be looked into by name need not be.
    fn done(&self) -> bool {
        match self.given {
            Value::Tuple(items) | Value::Group(items) => self.next >= items.len(),
            Value::Dict(_) | Value::List(_) | Value::Undefined(_) | Value::Range(_) => true,
            _ => self.next > 0,
        }
    }
}

/// What stands between `%` and the kind of a conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// `format % given`; the result is of the kind of `like`.
pub fn printf(format: &str, given: &Value, like: &Value) -> Result<Value, Error> {
    budget::charge(format.len())?;
    let mut values = Values { given, next: 0 };
    let mut out = String::new();
    let mut rest = format;
    while let Some(i) = rest.find('%') {
        out.push_str(&rest[..i]);
        rest = &rest[i + 1..];
        let mut named = None;
        if let Some(after) = rest.strip_prefix('(') {
            let end = closing(after).ok_or_else(|| fail::runtime("incomplete format key"))?;
            let Value::Dict(d) = given else { return Err(fail::runtime("format requires a mapping")) };
            let found = d.get(&Key::str(&after[..end])).cloned();
            named = Some(found.ok_or_else(|| fail::runtime(format!("KeyError: '{}'", &after[..end])))?);
            rest = &after[end + 1..];
        }
        let spec = parse(&mut rest, &mut values)?;
        let kind = rest.chars().next().ok_or_else(|| fail::runtime("incomplete format"))?;
        rest = &rest[kind.len_utf8()..];
        if kind == '%' {
            out.push('%');
            continue;
        }
        let value = match named {
            Some(v) => v,
            None => values.next()?,
        };
        budget::charge(spec.width.saturating_add(spec.precision.unwrap_or(0)))?;
        out.push_str(&convert(kind, &value, &spec)?);
    }
    out.push_str(rest);
    if !values.done() {
        return Err(fail::runtime("not all arguments converted during string formatting"));
    }
    Ok(if matches!(like, Value::Safe(_)) { Value::Safe(out.into()) } else { out.into() })
}

/// Where the parenthesis of a name closes.
fn closing(s: &str) -> Option<usize> {
    let mut depth = 1;
    for (i, c) in s.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

fn parse(rest: &mut &str, values: &mut Values) -> Result<Spec, Error> {
    let mut spec = Spec::default();
    while let Some(c) = rest.chars().next() {
        match c {
            '-' => spec.left = true,
            '0' => spec.zero = true,
            '+' => spec.sign = Some('+'),
            ' ' => spec.sign = spec.sign.or(Some(' ')),
            '#' => spec.alternate = true,
            _ => break,
        }
        *rest = &rest[1..];
    }
    let mut size = |rest: &mut &str| -> Result<Option<i64>, Error> {
        if let Some(after) = rest.strip_prefix('*') {
            *rest = after;
            return match values.next()? {
                Value::Int(n) => Ok(Some(n)),
                Value::Bool(b) => Ok(Some(b as i64)),
                _ => Err(fail::runtime("* wants int")),
            };
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[..end];
        *rest = &rest[end..];
        Ok(if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(i64::MAX)) })
    };
    if let Some(width) = size(rest)? {
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
    }
    if let Some(after) = rest.strip_prefix('.') {
        *rest = after;
        spec.precision = Some(ops::size(size(rest)?.unwrap_or(0)));
    }
    *rest = rest.strip_prefix(['h', 'l', 'L']).unwrap_or(rest);
    Ok(spec)
}

fn convert(kind: char, v: &Value, spec: &Spec) -> Result<String, Error> {
    let text = match kind {
        's' | 'r' | 'a' => {
            let mut out = String::new();
            match kind {
                's' => text::write_str(&mut out, v)?,
                _ => text::write_repr(&mut out, v)?,
            }
            if kind == 'a' {
                out = numeral::ascii(&out);
            }
            match spec.precision {
                Some(n) => out.chars().take(n).collect(),
                None => out,
            }
        }
        'c' => match v {
            Value::Str(s) | Value::Safe(s) if s.chars().count() == 1 => s.to_string(),
            Value::Bool(b) => char::from(*b as u8).to_string(),
            Value::Int(n) => match u32::try_from(*n).ok().and_then(char::from_u32) {
                Some(c) => c.to_string(),
                None => return Err(fail::runtime("%c arg not in range(0x110000)")),
            },
            _ => return Err(fail::runtime("%c requires int or char")),
        },
        'd' | 'i' | 'u' | 'o' | 'x' | 'X' => return whole(kind, v, spec),
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let x = match Number::of(v) {
                Some(n) => n.float(),
                None if v.is_undefined() => return Err(ops::undefined(v)),
                None => return Err(fail::runtime(format!("must be real number, not {}", v.type_name()))),
            };
            let text = numeral::float(x.abs(), kind, spec.precision.unwrap_or(6), spec.alternate);
            return Ok(signed(text, x.is_sign_negative() && !x.is_nan(), spec));
        }
        _ => return Err(fail::runtime(format!("unsupported format character '{kind}'"))),
    };
    Ok(padded(text, spec))
}

fn whole(kind: char, v: &Value, spec: &Spec) -> Result<String, Error> {
    let n = match (v, Number::of(v)) {
        (Value::Big(digits), None) if matches!(kind, 'd' | 'i' | 'u') => {
            let negative = digits.starts_with('-');
            return Ok(signed(digits.trim_start_matches('-').to_string(), negative, spec));
        }
        (_, Some(Number::Int(n))) => n,
        (_, Some(Number::Float(x))) if matches!(kind, 'd' | 'i' | 'u') => {
            match number::whole(x).as_ref().and_then(Number::of) {
                Some(Number::Int(n)) => n,
                _ => return Err(fail::runtime("cannot convert float to integer")),
            }
        }
        _ if v.is_undefined() => return Err(ops::undefined(v)),
        _ => return Err(fail::runtime(format!("%{kind} format: a number is required, not {}", v.type_name()))),
    };
    let mut text = numeral::digits(n, kind);
    if let Some(precision) = spec.precision {
        let missing = precision.saturating_sub(text.len());
        text = "0".repeat(missing) + &text;
    }
    if spec.alternate {
        let prefix = match kind {
            'o' => "0o",
            'x' => "0x",
            'X' => "0X",
            _ => "",
        };
        if spec.zero && !spec.left && !prefix.is_empty() {
            let missing = spec.width.saturating_sub(text.len() + 2 + usize::from(n < 0 || spec.sign.is_some()));
            text = "0".repeat(missing) + &text;
        }
        text = prefix.to_string() + &text;
    }
    Ok(signed(text, n < 0, spec))
}

/// A number with its sign, filled up to the width.
fn signed(text: String, negative: bool, spec: &Spec) -> String {
    let sign = if negative { Some('-') } else { spec.sign };
    let sign = sign.map_or(String::new(), String::from);
    if spec.zero && !spec.left {
        let missing = spec.width.saturating_sub(sign.len() + text.len());
        return sign + &"0".repeat(missing) + &text;
    }
    padded(sign + &text, spec)
}

fn padded(text: String, spec: &Spec) -> String {
    let fill = " ".repeat(spec.width.saturating_sub(text.chars().count()));
    if spec.left {
        text + &fill
    } else {
        fill + &text
    }
}
