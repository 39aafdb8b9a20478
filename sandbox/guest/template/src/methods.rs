//! The methods of Python's str, list and dict that templates may call.

use minijinja::{format_filter, Error, FormatStyle, Value};

use crate::args::Args;
use crate::text::is_space;
use crate::types::{self, Type};
use crate::{budget, fail, marks, ops, text};

const STR: &[&str] = &[
    "capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "format", "index", "isalnum",
    "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace",
    "istitle", "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
    "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip",
    "swapcase", "title", "upper", "zfill",
];
const LIST: &[&str] = &["copy", "count", "index"];
const DICT: &[&str] = &["copy", "get", "items", "keys", "values"];
/// What jinja2's immutable sandbox refuses.
const LIST_CHANGES: &[&str] = &["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"];
const DICT_CHANGES: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// Whether `name` is a method of the value's type.
pub fn known(v: &Value, name: &str) -> bool {
    match Type::of(v) {
        Type::Str => STR.contains(&name),
        Type::List => LIST.contains(&name),
        Type::Dict => DICT.contains(&name),
        _ => false,
    }
}

/// Whether `name` is a method that would change the value, which no template may do.
pub fn changes(v: &Value, name: &str) -> bool {
    match Type::of(v) {
        Type::List => LIST_CHANGES.contains(&name),
        Type::Dict => DICT_CHANGES.contains(&name),
        _ => false,
    }
}

/// Calls a method that is [`known`].
pub fn call(v: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let args = Args::new(name, args);
    match Type::of(v) {
        Type::Str => string(v.as_str().unwrap_or_default(), name, &args),
        Type::List => list(v, name, &args),
        _ => dict(v, name, &args),
    }
}

fn dict(v: &Value, name: &str, args: &Args) -> Result<Value, Error> {
    budget::charge(v.len().unwrap_or(0))?;
    Ok(match name {
        "get" => {
            args.expect(&["key", "default"])?;
            let key = args.need(0, "key")?;
            let default = || args.get(1, "default").cloned().unwrap_or_else(|| Value::from(()));
            ops::get(v, key).unwrap_or_else(default)
        }
        "keys" => v.try_iter()?.collect::<Vec<_>>().into(),
        "values" => v.try_iter()?.map(|k| v.get_item(&k)).collect::<Result<Vec<_>, _>>()?.into(),
        "items" => items(v)?,
        _ => v.clone(),
    })
}

/// The pairs of a dict.
pub fn items(v: &Value) -> Result<Value, Error> {
    let pair = |k: Value| Ok(Value::from_object(types::Tuple(vec![k.clone(), v.get_item(&k)?])));
    Ok(v.try_iter()?.map(pair).collect::<Result<Vec<Value>, Error>>()?.into())
}

fn list(v: &Value, name: &str, args: &Args) -> Result<Value, Error> {
    budget::charge(v.len().unwrap_or(0))?;
    if name == "copy" {
        return Ok(v.clone());
    }
    let wanted = args.need(0, "value")?;
    let mut count = 0;
    for (i, item) in v.try_iter()?.enumerate() {
        if ops::equal(&item, wanted)? {
            if name == "index" {
                return Ok(i.into());
            }
            count += 1;
        }
    }
    if name == "index" {
        return Err(fail::runtime("the value is not in the list"));
    }
    Ok(count.into())
}

fn string(s: &str, name: &str, args: &Args) -> Result<Value, Error> {
    budget::charge(s.len())?;
    let unmarked = marks::unmark(s);
    let all = |test: fn(char) -> bool| Value::from(!s.is_empty() && unmarked.chars().all(test));
    let result: Value = match name {
        "upper" => marks::change_text(s, true).into(),
        "lower" | "casefold" => marks::change_text(s, false).into(),
        "capitalize" => capitalize(s).into(),
        "title" => title(s).into(),
        "swapcase" => {
            s.chars().flat_map(|c| if marks::plain(c).is_uppercase() { lower(c) } else { upper(c) }).collect::<String>().into()
        }
        "strip" | "lstrip" | "rstrip" => strip(s, name, args.opt_str(0, "chars")?).into(),
        "split" => split(s, args)?.into(),
        "rsplit" => rsplit(s, args)?.into(),
        "splitlines" => splitlines(s, args.truth(0, "keepends", false)).into(),
        "startswith" => affix(s, args, |s, x| marks::strip_prefix(s, x).is_some())?.into(),
        "endswith" => affix(s, args, |s, x| marks::strip_suffix(s, x).is_some())?.into(),
        "find" | "index" => found(s, name, args, |s, x| marks::find(s, x, 1).first().copied())?,
        "rfind" | "rindex" => found(s, name, args, |s, x| marks::rfind(s, x, 1).first().copied())?,
        "count" => {
            let part = args.str(0, "sub")?;
            let (from, to) = window(s, args)?;
            marks::find(&s[from..to], part, usize::MAX).len().into()
        }
        "replace" => {
            args.expect(&["old", "new", "count"])?;
            replace(s, args.str(0, "old")?, args.str(1, "new")?, args.opt_int(2, "count")?)?.into()
        }
        "join" => {
            let parts = args.need(0, "iterable")?;
            if !matches!(Type::of(parts), Type::List | Type::Dict | Type::Str) {
                return Err(fail::runtime("can only join an iterable"));
            }
            join(s, parts)?.into()
        }
        "removeprefix" => marks::strip_prefix(s, args.str(0, "prefix")?).unwrap_or(s).into(),
        "removesuffix" => marks::strip_suffix(s, args.str(0, "suffix")?).unwrap_or(s).into(),
        "partition" | "rpartition" => {
            let sep = args.str(0, "sep")?;
            if sep.is_empty() {
                return Err(fail::runtime("empty separator"));
            }
            let cut = if name == "partition" { marks::find(s, sep, 1) } else { marks::rfind(s, sep, 1) };
            let parts = match (cut.first(), name) {
                (Some(&(from, to)), _) => [&s[..from], &s[from..to], &s[to..]],
                (None, "partition") => [s, "", ""],
                (None, _) => ["", "", s],
            };
            parts.map(Value::from).to_vec().into()
        }
        "zfill" | "ljust" | "rjust" | "center" => pad(s, name, args)?.into(),
        "expandtabs" => s.replace('\t', &" ".repeat(args.opt_int(0, "tabsize")?.unwrap_or(8).clamp(0, 64) as usize)).into(),
        "format" => format(s, args)?,
        "isdigit" | "isdecimal" | "isnumeric" => all(char::is_numeric),
        "isalpha" => all(char::is_alphabetic),
        "isalnum" => all(char::is_alphanumeric),
        "isspace" => all(is_space),
        "isascii" => unmarked.is_ascii().into(),
        "isprintable" => unmarked.chars().all(|c| c == ' ' || text::printable(c)).into(),
        "isupper" => (unmarked.chars().any(char::is_uppercase) && !unmarked.chars().any(char::is_lowercase)).into(),
        "islower" => (unmarked.chars().any(char::is_lowercase) && !unmarked.chars().any(char::is_uppercase)).into(),
        "istitle" => (unmarked.chars().any(char::is_alphabetic) && title(&unmarked) == unmarked).into(),
        _ => {
            let mut chars = unmarked.chars();
            let first = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
            (first && chars.all(|c| c.is_alphanumeric() || c == '_')).into()
        }
    };
    budget::charge(result.as_str().map_or(0, str::len))?;
    Ok(result)
}

fn upper(c: char) -> Vec<char> {
    marks::change_case(c, true)
}

fn lower(c: char) -> Vec<char> {
    marks::change_case(c, false)
}

/// First letter upper case, the rest lower.
pub fn capitalize(s: &str) -> String {
    let mut chars = s.chars();
    let first: String = chars.next().into_iter().flat_map(upper).collect();
    first + &marks::change_text(chars.as_str(), false)
}

/// Every run of letters capitalised.
fn title(s: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        out.extend(if inside { lower(c) } else { upper(c) });
        inside = marks::plain(c).is_alphabetic();
    }
    out
}

/// `strip`, `lstrip` and `rstrip`.
pub fn strip<'a>(s: &'a str, name: &str, chars: Option<&str>) -> &'a str {
    let drop = |c: char| match chars {
        None => is_space(c),
        Some(set) => set.contains(c) || set.chars().any(|x| marks::plain(x) == marks::plain(c)),
    };
    match name {
        "lstrip" => s.trim_start_matches(drop),
        "rstrip" => s.trim_end_matches(drop),
        _ => s.trim_matches(drop),
    }
}

fn owned(pieces: Vec<&str>) -> Vec<String> {
    pieces.into_iter().map(String::from).collect()
}

fn split(s: &str, args: &Args) -> Result<Vec<String>, Error> {
    args.expect(&["sep", "maxsplit"])?;
    let most = args.opt_int(1, "maxsplit")?.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX - 1);
    match args.opt_str(0, "sep")? {
        Some("") => Err(fail::runtime("empty separator")),
        Some(sep) => Ok(owned(marks::between(s, &marks::find(s, sep, most)))),
        None => {
            let mut parts = Vec::new();
            let mut rest = s.trim_start_matches(is_space);
            while !rest.is_empty() {
                let end = if parts.len() == most { None } else { rest.find(is_space) };
                match end {
                    Some(end) => {
                        parts.push(rest[..end].to_string());
                        rest = rest[end..].trim_start_matches(is_space);
                    }
                    None => {
                        parts.push(rest.to_string());
                        break;
                    }
                }
            }
            Ok(parts)
        }
    }
}

fn rsplit(s: &str, args: &Args) -> Result<Vec<String>, Error> {
    args.expect(&["sep", "maxsplit"])?;
    let most = args.opt_int(1, "maxsplit")?.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX - 1);
    let mut parts: Vec<String> = Vec::new();
    match args.opt_str(0, "sep")? {
        Some("") => return Err(fail::runtime("empty separator")),
        Some(sep) => return Ok(owned(marks::between(s, &marks::rfind(s, sep, most)))),
        None => {
            let mut rest = s.trim_end_matches(is_space);
            while !rest.is_empty() {
                let start = if parts.len() == most { None } else { rest.rfind(is_space) };
                let Some(start) = start else {
                    parts.push(rest.to_string());
                    break;
                };
                let width = rest[start..].chars().next().map_or(1, char::len_utf8);
                parts.push(rest[start + width..].to_string());
                rest = rest[..start].trim_end_matches(is_space);
            }
        }
    }
    parts.reverse();
    Ok(parts)
}

fn splitlines(s: &str, keep: bool) -> Vec<String> {
    let ends = |c: char| {
        matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    let mut lines = Vec::new();
    let mut rest = s;
    while !rest.is_empty() {
        let Some(end) = rest.find(ends) else {
            lines.push(rest.to_string());
            break;
        };
        let width = if rest[end..].starts_with("\r\n") { 2 } else { rest[end..].chars().next().map_or(1, char::len_utf8) };
        lines.push(rest[..if keep { end + width } else { end }].to_string());
        rest = &rest[end + width..];
    }
    lines
}

/// The part of `s` that the arguments `start` and `end` leave, as byte offsets.
fn window(s: &str, args: &Args) -> Result<(usize, usize), Error> {
    let (start, end) = (args.opt_int(1, "start")?, args.opt_int(2, "end")?);
    if start.is_none() && end.is_none() {
        return Ok((0, s.len()));
    }
    let len = s.chars().count() as i64;
    let place = |i: i64| (if i < 0 { i.saturating_add(len) } else { i }).clamp(0, len) as usize;
    let offset = |n: usize| s.char_indices().nth(n).map_or(s.len(), |(i, _)| i);
    let from = offset(place(start.unwrap_or(0)));
    Ok((from, offset(place(end.unwrap_or(len))).max(from)))
}

fn affix(s: &str, args: &Args, test: fn(&str, &str) -> bool) -> Result<bool, Error> {
    let (from, to) = window(s, args)?;
    let wanted = args.need(0, "prefix")?;
    if Type::of(wanted) != Type::List {
        return Ok(test(&s[from..to], args.str(0, "prefix")?));
    }
    for x in wanted.try_iter()? {
        let Some(x) = x.as_str() else {
            return Err(fail::runtime(format!("a tuple of str was expected, not {}", types::name(&x))));
        };
        if test(&s[from..to], x) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn found(s: &str, name: &str, args: &Args, find: fn(&str, &str) -> Option<(usize, usize)>) -> Result<Value, Error> {
    let (from, to) = window(s, args)?;
    match find(&s[from..to], args.str(0, "sub")?) {
        Some((i, _)) => Ok(s[..from + i].chars().count().into()),
        None if name.ends_with("index") => Err(fail::runtime("substring not found")),
        None => Ok((-1).into()),
    }
}

/// `replace`, with at most `count` replacements unless it is absent or negative.
pub fn replace(s: &str, old: &str, new: &str, count: Option<i64>) -> Result<String, Error> {
    let most = count.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    let found = marks::find(s, old, most);
    budget::charge(s.len().saturating_add(found.len().saturating_mul(new.len() + 16)))?;
    Ok(marks::between(s, &found).join(new))
}

/// Joins strings; anything else in `parts` is an error.
fn join(sep: &str, parts: &Value) -> Result<String, Error> {
    let mut out = String::new();
    for (i, part) in parts.try_iter()?.enumerate() {
        let Some(part) = part.as_str() else {
            return Err(fail::runtime(format!(
                "sequence item {i}: expected str instance, {} found",
                types::name(&part)
            )));
        };
        budget::charge(sep.len() + part.len())?;
        if i > 0 {
            out.push_str(sep);
        }
        out.push_str(part);
    }
    Ok(out)
}

fn pad(s: &str, name: &str, args: &Args) -> Result<String, Error> {
    let width = args.opt_int(0, "width")?.unwrap_or(0);
    let missing = ops::size(width).saturating_sub(s.chars().count());
    budget::charge(missing)?;
    let fill = match name {
        "zfill" => "0",
        _ => args.opt_str(1, "fillchar")?.unwrap_or(" "),
    };
    if fill.chars().count() != 1 {
        return Err(fail::runtime("the fill character must be exactly one character long"));
    }
    Ok(match name {
        "ljust" => s.to_string() + &fill.repeat(missing),
        "rjust" => fill.repeat(missing) + s,
        "center" => {
            let left = missing / 2 + (missing & width as usize & 1);
            fill.repeat(left) + s + &fill.repeat(missing - left)
        }
        _ => match s.strip_prefix(['-', '+']) {
            Some(digits) => s[..1].to_string() + &fill.repeat(missing) + digits,
            None => fill.repeat(missing) + s,
        },
    })
}

/// `str.format`.
fn format(s: &str, args: &Args) -> Result<Value, Error> {
    let mut values: Vec<Value> = args.positional().iter().map(printed).collect::<Result<_, _>>()?;
    let keywords: Vec<(String, Value)> =
        args.keywords().map(|(k, v)| Ok((k.to_string(), printed(v)?))).collect::<Result<_, Error>>()?;
    if !keywords.is_empty() {
        values.push(minijinja::value::Kwargs::from_iter(keywords).into());
    }
    widths(s)?;
    format_filter(FormatStyle::StrFormat, s, &values).map(Value::from)
}

/// `%` and the `format` filter.
pub fn printf(s: &str, args: &[Value]) -> Result<Value, Error> {
    let values: Vec<Value> = args.iter().map(printed).collect::<Result<_, _>>()?;
    widths(s)?;
    format_filter(FormatStyle::Printf, s, &values).map(Value::from)
}

/// A value as Python would print it inside a format; numbers keep their type.
fn printed(v: &Value) -> Result<Value, Error> {
    Ok(match Type::of(v) {
        Type::Str | Type::Int | Type::Float => v.clone(),
        _ => text::str(v)?.into(),
    })
}

/// Charges for the widths that a format asks for, which may be far longer than the format.
fn widths(s: &str) -> Result<(), Error> {
    for digits in s.split(|c: char| !c.is_ascii_digit()).filter(|d| !d.is_empty()) {
        budget::charge(digits.parse().unwrap_or(usize::MAX))?;
    }
    budget::charge(s.len())
}
