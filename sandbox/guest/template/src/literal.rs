//! Numbers and strings in a template.

use crate::lexer::Literal;

/// The length of `(\d+_)*\d+` at the start of `s`.
fn digits(s: &str) -> usize {
    run(s, |b| b.is_ascii_digit())
}

/// The length of digits at the start of `s` that single underscores may part.
fn run(s: &str, digit: fn(u8) -> bool) -> usize {
    let bytes = s.as_bytes();
    let mut len = 0;
    while len < bytes.len() {
        if digit(bytes[len]) {
            len += 1;
        } else if bytes[len] == b'_' && len > 0 && bytes.get(len + 1).is_some_and(|&b| digit(b)) {
            len += 2;
        } else {
            break;
        }
    }
    len
}

/// The number at the start of `s` and its length; after a dot it can only be a whole one.
pub fn number(s: &str, after_dot: bool) -> Option<(Literal, usize)> {
    let whole = digits(s);
    if !after_dot {
        let mut len = whole;
        if s[len..].starts_with('.') && digits(&s[len + 1..]) > 0 {
            len += 1 + digits(&s[len + 1..]);
        }
        if let Some(rest) = s[len..].strip_prefix(['e', 'E']) {
            let sign = usize::from(rest.starts_with(['+', '-']));
            let exponent = digits(&rest[sign..]);
            if exponent > 0 {
                len += 1 + sign + exponent;
            }
        }
        if len > whole {
            return Some((Literal::Float(s[..len].replace('_', "").parse().ok()?), len));
        }
    }
    let prefix = s.get(..2).unwrap_or("").to_ascii_lowercase();
    let (radix, digit): (u32, fn(u8) -> bool) = match prefix.as_str() {
        "0x" => (16, |b| b.is_ascii_hexdigit()),
        "0o" => (8, |b| matches!(b, b'0'..=b'7')),
        "0b" => (2, |b| matches!(b, b'0' | b'1')),
        _ => {
            let len = if s.starts_with('0') { run(s, |b| b == b'0') } else { whole };
            let text = s[..len].replace('_', "");
            let trimmed = text.trim_start_matches('0');
            return Some((Literal::Int(if trimmed.is_empty() { "0" } else { trimmed }.to_string()), len));
        }
    };
    let lead = usize::from(s[2..].starts_with('_'));
    let len = run(&s[2 + lead..], digit);
    if len == 0 {
        return Some((Literal::Int("0".into()), 1));
    }
    let end = 2 + lead + len;
    let value = i128::from_str_radix(&s[2 + lead..end].replace('_', ""), radix).ok()?;
    Some((Literal::Int(value.to_string()), end))
}

/// The length of the string literal at the start of `s`, its quotes included.
pub fn string_len(s: &str) -> Option<usize> {
    let bytes = s.as_bytes();
    let mut i = 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b if b == bytes[0] => return Some(i + 1),
            _ => i += 1,
        }
    }
    None
}

/// What Python's codec `unicode-escape` makes of text between quotes.
pub fn unescape(s: &str) -> Result<String, String> {
    if !s.contains('\\') {
        return Ok(s.to_string());
    }
    let mut out = String::with_capacity(s.len());
    let mut chars = s.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let c = chars.next().ok_or("\\ at end of string")?;
        let simple = match c {
            '\n' => continue,
            '\\' | '\'' | '"' => c,
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '0'..='7' => {
                let mut n = c as u32 - '0' as u32;
                for _ in 0..2 {
                    if let Some(d) = chars.peek().and_then(|c| c.to_digit(8)) {
                        n = n * 8 + d;
                        chars.next();
                    }
                }
                character(n)?
            }
            'x' | 'u' | 'U' => {
                let width = match c {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let mut n: u32 = 0;
                for _ in 0..width {
                    let d = chars.next().and_then(|c| c.to_digit(16)).ok_or(format!("truncated \\{c} escape"))?;
                    n = n.wrapping_mul(16).wrapping_add(d);
                }
                character(n)?
            }
            'N' => return Err("names of characters (\\N) are not known".into()),
            // jinja2 replaces other characters by escapes first, which leaves the escape's text behind a backslash.
            c if !c.is_ascii() => {
                let n = c as u32;
                out.push('\\');
                out += &match n {
                    0..=0xff => format!("x{n:02x}"),
                    0x100..=0xffff => format!("u{n:04x}"),
                    _ => format!("U{n:08x}"),
                };
                continue;
            }
            c => {
                out.push('\\');
                c
            }
        };
        out.push(simple);
    }
    Ok(out)
}

fn character(n: u32) -> Result<char, String> {
    char::from_u32(n).ok_or_else(|| format!("\\U{n:08x} is not a character"))
}

#[cfg(test)]
mod test {
    use super::{number, unescape};
    use crate::lexer::Literal;

    #[test]
    fn numbers() {
        for (s, want, len) in [
            ("1_000x", Literal::Int("1000".into()), 5),
            ("0x_fF", Literal::Int("255".into()), 5),
            ("007", Literal::Int("0".into()), 2),
            ("1.5e-3", Literal::Float(1.5e-3), 6),
            ("1.x", Literal::Int("1".into()), 1),
            ("2e3", Literal::Float(2e3), 3),
        ] {
            assert_eq!(number(s, false), Some((want, len)), "{s}");
        }
        assert_eq!(number("1.5", true), Some((Literal::Int("1".into()), 1)));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#"\x41\u00e9\101\q\'\n"#).unwrap(), "Aé\u{41}\\q'\n");
        assert_eq!(unescape("\\é").unwrap(), "\\xe9");
        assert!(unescape("\\x4").is_err());
    }
}
