//! Python's `str.format`, with the sandbox's look-ups.

use std::rc::Rc;

use crate::access;
use crate::args::Args;
use crate::budget;
use crate::fail::{self, Error};
use crate::number::Number;
use crate::numeral;
use crate::text;
use crate::value::{Type, Value};
use crate::vm::Vm;

/// How deep formats may nest in formats, as in Python.
const MAX_DEPTH: usize = 2;

/// `format.format(*args)`
pub fn format(vm: &Vm, format: &str, args: &Args) -> Result<Value, Error> {
    let mut f = Formatter { vm, args, next: 0, numbered: false };
    Ok(f.text(format, MAX_DEPTH)?.into())
}

struct Formatter<'a> {
    vm: &'a Vm,
    args: &'a Args<'a>,
    /// The next argument without a number.
    next: usize,
    numbered: bool,
}

impl Formatter<'_> {
    fn text(&mut self, format: &str, depth: usize) -> Result<String, Error> {
        if depth == 0 {
            return Err(fail::runtime("Max string recursion exceeded"));
        }
        let mut out = String::new();
        let mut rest = format;
        while let Some(i) = rest.find(['{', '}']) {
            out.push_str(&rest[..i]);
            let c = &rest[i..i + 1];
            rest = &rest[i + 1..];
            if let Some(after) = rest.strip_prefix(c) {
                out.push_str(c);
                rest = after;
                continue;
            }
            if c == "}" {
                return Err(fail::runtime("Single '}' encountered in format string"));
            }
            let end = closing(rest).ok_or_else(|| fail::runtime("expected '}' before end of string"))?;
            out.push_str(&self.field(&rest[..end], depth)?);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        budget::charge(out.len())?;
        Ok(out)
    }

    fn field(&mut self, field: &str, depth: usize) -> Result<String, Error> {
        let mut end = field.len();
        let mut brackets = 0;
        for (i, c) in field.char_indices() {
            match c {
                '[' => brackets += 1,
                ']' => brackets -= 1,
                '!' | ':' if brackets <= 0 => {
                    end = i;
                    break;
                }
                _ => {}
            }
        }
        let (name, rest) = field.split_at(end);
        let mut v = self.lookup(name)?;
        let mut rest = rest;
        if let Some(after) = rest.strip_prefix('!') {
            let kind = after.chars().next().ok_or_else(|| fail::runtime("unmatched '{' in format spec"))?;
            rest = &after[kind.len_utf8()..];
            if !(rest.is_empty() || rest.starts_with(':')) {
                return Err(fail::runtime("expected ':' after conversion specifier"));
            }
            let mut out = String::new();
            match kind {
                's' => text::write_str(&mut out, &v)?,
                'r' | 'a' => text::write_repr(&mut out, &v)?,
                _ => return Err(fail::runtime(format!("Unknown conversion specifier {kind}"))),
            }
            v = if kind == 'a' { numeral::ascii(&out) } else { out }.into();
        }
        let spec = self.text(rest.strip_prefix(':').unwrap_or(""), depth - 1 + usize::from(rest.is_empty()))?;
        value(&v, &spec)
    }

    fn lookup(&mut self, name: &str) -> Result<Value, Error> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut rest) = name.split_at(end);
        let index = if first.is_empty() {
            if self.numbered {
                return Err(fail::runtime(
                    "cannot switch from manual field specification to automatic field numbering",
                ));
            }
            self.next += 1;
            Some(self.next - 1)
        } else if first.bytes().all(|b| b.is_ascii_digit()) {
            if self.next > 0 {
                return Err(fail::runtime(
                    "cannot switch from manual field specification to automatic field numbering",
                ));
            }
            self.numbered = true;
            Some(first.parse().unwrap_or(usize::MAX))
        } else {
            None
        };
        let found = match index {
            Some(i) => self.args.positional().get(i).cloned(),
            None => self.args.keywords().iter().find(|(k, _)| &**k == first).map(|(_, v)| v.clone()),
        };
        let mut v = found.ok_or_else(|| fail::runtime(format!("no argument for the field '{name}'")))?;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let end = after.find(['.', '[']).unwrap_or(after.len());
                v = access::attribute(self.vm, &v, &Rc::from(&after[..end]))?;
                rest = &after[end..];
            } else {
                let (key, after) =
                    rest[1..].split_once(']').ok_or_else(|| fail::runtime("Missing ']' in format string"))?;
                let number = key.parse::<i64>().ok().filter(|_| key.bytes().all(|b| b.is_ascii_digit()));
                v = access::item(self.vm, &v, &number.map_or_else(|| Value::str(key), Value::Int))?;
                rest = after;
            }
        }
        Ok(v)
    }
}

/// Where the brace of a field closes.
fn closing(s: &str) -> Option<usize> {
    let mut depth = 1;
    for (i, c) in s.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// Python's format specification.
struct Spec {
    fill: char,
    align: Option<char>,
    sign: char,
    /// Whether a zero is never negative.
    positive_zero: bool,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

fn parse(spec: &str) -> Result<Spec, Error> {
    let mut s = Spec {
        fill: ' ',
        align: None,
        sign: '-',
        positive_zero: false,
        alternate: false,
        width: 0,
        grouping: None,
        precision: None,
        kind: None,
    };
    let chars: Vec<char> = spec.chars().collect();
    let is_align = |i: usize| chars.get(i).is_some_and(|c| "<>=^".contains(*c));
    let mut at = 0;
    if is_align(1) {
        (s.fill, s.align, at) = (chars[0], Some(chars[1]), 2);
    } else if is_align(0) {
        (s.align, at) = (Some(chars[0]), 1);
    }
    let take = |set: &str, at: &mut usize| {
        let found = chars.get(*at).copied().filter(|c| set.contains(*c));
        *at += usize::from(found.is_some());
        found
    };
    s.sign = take("+- ", &mut at).unwrap_or('-');
    s.positive_zero = take("z", &mut at).is_some();
    s.alternate = take("#", &mut at).is_some();
    if take("0", &mut at).is_some() && s.align.is_none() {
        (s.fill, s.align) = ('0', Some('='));
    }
    let number = |at: &mut usize| {
        let digits: String = chars[*at..].iter().take_while(|c| c.is_ascii_digit()).collect();
        *at += digits.len();
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX))
    };
    s.width = number(&mut at).unwrap_or(0);
    s.grouping = take(",_", &mut at);
    if take(".", &mut at).is_some() {
        s.precision = Some(number(&mut at).ok_or_else(|| fail::runtime("Format specifier missing precision"))?);
    }
    s.kind = chars.get(at).copied();
    if at + usize::from(s.kind.is_some()) < chars.len() {
        return Err(fail::runtime("Invalid format specifier"));
    }
    budget::charge(s.width.saturating_add(s.precision.unwrap_or(0)))?;
    Ok(s)
}

/// `format(v, spec)`
fn value(v: &Value, spec: &str) -> Result<String, Error> {
    if spec.is_empty() {
        return text::str(v);
    }
    let s = parse(spec)?;
    let unknown =
        |kind: char| fail::runtime(format!("Unknown format code '{kind}' for object of type '{}'", v.type_name()));
    match (v.kind(), Number::of(v)) {
        (Type::Str, _) => {
            if let Some(kind) = s.kind.filter(|k| *k != 's') {
                return Err(unknown(kind));
            }
            if s.sign != '-'
                || s.positive_zero
                || s.alternate
                || s.align == Some('=') && s.fill != '0'
                || s.grouping.is_some()
            {
                return Err(fail::runtime("a sign, '#', '=' or ',' is not allowed in a string format specifier"));
            }
            let text = v.as_str().unwrap_or_default();
            let text = match s.precision {
                Some(n) => text.chars().take(n).collect(),
                None => text.to_string(),
            };
            let align = s.align.map_or('<', |a| if a == '=' { '<' } else { a });
            Ok(aligned("", &text, &s, align))
        }
        (Type::Int | Type::Bool, Some(Number::Int(n))) => match s.kind {
            None | Some('d' | 'n' | 'b' | 'o' | 'x' | 'X' | 'c') if s.positive_zero => {
                Err(fail::runtime("Negative zero coercion (z) not allowed in format specifier with integer"))
            }
            None | Some('d' | 'n' | 'b' | 'o' | 'x' | 'X') if s.precision.is_none() => Ok(whole(n, &s)),
            None | Some('d' | 'n' | 'b' | 'o' | 'x' | 'X') => {
                Err(fail::runtime("Precision not allowed in integer format specifier"))
            }
            Some('c') => match u32::try_from(n).ok().and_then(char::from_u32) {
                Some(c) => Ok(aligned("", &c.to_string(), &s, s.align.unwrap_or('<'))),
                None => Err(fail::runtime("%c arg not in range(0x110000)")),
            },
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => Ok(real(n as f64, &s)),
            Some(kind) => Err(unknown(kind)),
        },
        (Type::Float, Some(Number::Float(x))) => match s.kind {
            None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%') => Ok(real(x, &s)),
            Some(kind) => Err(unknown(kind)),
        },
        (Type::Undefined, _) => Err(fail::undefined("unsupported format string passed to an undefined value")),
        _ => Err(fail::runtime(format!("unsupported format string passed to {}.__format__", v.type_name()))),
    }
}

fn sign(negative: bool, s: &Spec) -> &'static str {
    match (negative, s.sign) {
        (true, _) => "-",
        (_, '+') => "+",
        (_, ' ') => " ",
        _ => "",
    }
}

fn whole(n: i128, s: &Spec) -> String {
    let kind = s.kind.unwrap_or('d');
    let prefix = match (s.alternate, kind) {
        (true, 'x') => "0x",
        (true, 'X') => "0X",
        (true, 'o') => "0o",
        (true, 'b') => "0b",
        _ => "",
    };
    let head = format!("{}{prefix}", sign(n < 0, s));
    let size = if matches!(kind, 'b' | 'o' | 'x' | 'X') { 4 } else { 3 };
    numeric(&head, numeral::digits(n, kind), s, size)
}

fn real(x: f64, s: &Spec) -> String {
    let mut negative = x.is_sign_negative() && !x.is_nan();
    let magnitude = x.abs();
    let body = match (s.kind, s.precision) {
        (Some('%'), p) => numeral::float(magnitude * 100.0, 'f', p.unwrap_or(6), s.alternate) + "%",
        (Some('n'), p) => numeral::float(magnitude, 'g', p.unwrap_or(6), s.alternate),
        (Some(kind), p) => numeral::float(magnitude, kind, p.unwrap_or(6), s.alternate),
        (None, None) => text::float(magnitude),
        (None, Some(p)) => {
            // Like 'g', but with at least one digit behind the point.
            let body = numeral::float(magnitude, 'g', p, s.alternate);
            if body.contains(['.', 'e', 'n', 'i']) {
                body
            } else if body.len() < p.max(1) {
                body + ".0"
            } else {
                let exponent = body.len() - 1;
                if exponent >= p.max(1) - 1 && p.max(1) <= body.len() {
                    scientific(magnitude, p.max(1))
                } else {
                    body + ".0"
                }
            }
        }
    };
    negative &= !s.positive_zero || body.contains(|c: char| ('1'..='9').contains(&c) || c == 'i' || c == 'I');
    numeric(sign(negative, s), body, s, 3)
}

/// Digits that need every place of the precision before the point, in the notation without a type.
fn scientific(x: f64, precision: usize) -> String {
    let body = numeral::float(x, 'e', precision - 1, false);
    let (digits, exponent) = body.split_once('e').unwrap_or((&body, "+00"));
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}e{exponent}")
}

fn numeric(head: &str, body: String, s: &Spec, size: usize) -> String {
    let Some(sep) = s.grouping else { return aligned(head, &body, s, s.align.unwrap_or('>')) };
    let mut body = body;
    let mut out = numeral::grouped(&body, sep, size);
    if s.align == Some('=') && s.fill == '0' {
        while head.len() + out.len() < s.width {
            body.insert(0, '0');
            out = numeral::grouped(&body, sep, size);
        }
    }
    aligned(head, &out, s, s.align.unwrap_or('>'))
}

fn aligned(head: &str, body: &str, s: &Spec, align: char) -> String {
    let missing = s.width.saturating_sub(head.chars().count() + body.chars().count());
    let fill = |n: usize| s.fill.to_string().repeat(n);
    match align {
        '<' => format!("{head}{body}{}", fill(missing)),
        '^' => format!("{}{head}{body}{}", fill(missing / 2), fill(missing - missing / 2)),
        '=' => format!("{head}{}{body}", fill(missing)),
        _ => format!("{}{head}{body}", fill(missing)),
    }
}
