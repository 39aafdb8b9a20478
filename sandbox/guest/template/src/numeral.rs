//! Numbers as Python's formats write them.

/// Writes a float as `e`, `f` or `g` (in either case) asks for; `alternate` keeps what `g` cuts off.
pub fn float(x: f64, kind: char, precision: usize, alternate: bool) -> String {
    let lower = kind.to_ascii_lowercase();
    let text = if x.is_nan() {
        "nan".to_string()
    } else if x.is_infinite() {
        if x > 0.0 { "inf" } else { "-inf" }.to_string()
    } else {
        match lower {
            'e' => scientific(x, precision),
            'f' => format!("{x:.precision$}"),
            _ => general(x, precision.max(1), alternate),
        }
    };
    if kind.is_ascii_uppercase() {
        text.to_uppercase()
    } else {
        text
    }
}

fn scientific(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(e) => ('-', e),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

fn general(x: f64, precision: usize, alternate: bool) -> String {
    let rounded = scientific(x, precision - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trimmed = |s: &str| {
        if alternate || !s.contains('.') {
            return s.to_string();
        }
        s.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (digits, e) = rounded.split_once('e').unwrap_or((&rounded, "+00"));
        return format!("{}e{e}", trimmed(digits));
    }
    trimmed(&format!("{x:.*}", (precision as i32 - 1 - exponent).max(0) as usize))
}

/// The digits of a whole number in a base, without sign.
pub fn digits(n: i128, kind: char) -> String {
    let n = n.unsigned_abs();
    match kind {
        'x' => format!("{n:x}"),
        'X' => format!("{n:X}"),
        'o' => format!("{n:o}"),
        'b' => format!("{n:b}"),
        _ => n.to_string(),
    }
}

/// Python's `ascii` of a text that repr made.
pub fn ascii(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match c as u32 {
            0..=0x7f => out.push(c),
            n @ 0x80..=0xff => out += &format!("\\x{n:02x}"),
            n @ 0x100..=0xffff => out += &format!("\\u{n:04x}"),
            n => out += &format!("\\U{n:08x}"),
        }
    }
    out
}

/// Puts `sep` between groups of digits of the whole part.
pub fn grouped(number: &str, sep: char, size: usize) -> String {
    let radix = if size == 3 { 10 } else { 16 };
    let end = number.find(|c: char| !c.is_digit(radix)).unwrap_or(number.len());
    let (whole, rest) = number.split_at(end);
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % size == 0 {
            out.push(sep);
        }
        out.push(c);
    }
    out + rest
}
