//! The methods of Python's str, list, tuple and dict that templates may call.

use std::rc::Rc;

use crate::args::Args;
use crate::fail::{self, Error};
use crate::text::is_space;
use crate::value::{Dict, Key, Object, Type, Value, View};
use crate::vm::Vm;
use crate::{access, budget, iter, marks, ops, strformat, text};

const STR: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "count",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
    "zfill",
];
const LIST: &[&str] = &["copy", "count", "index"];
const TUPLE: &[&str] = &["count", "index"];
const DICT: &[&str] = &["copy", "fromkeys", "get", "items", "keys", "values"];
const INT: &[&str] = &["bit_length", "conjugate", "is_integer"];
/// What jinja2's immutable sandbox refuses.
const LIST_CHANGES: &[&str] = &["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"];
const DICT_CHANGES: &[&str] = &["clear", "pop", "popitem", "setdefault", "update"];

/// The method of this name, if the value's type has it.
pub fn find(v: &Value, name: &str) -> Option<&'static str> {
    let methods = match v.kind() {
        Type::Str => STR,
        Type::List => LIST,
        Type::Tuple | Type::Range => TUPLE,
        Type::Dict => DICT,
        Type::Float => &["is_integer", "conjugate"],
        Type::Int => &INT[..2],
        _ => return None,
    };
    methods.iter().find(|m| **m == name).copied()
}

/// Whether `name` is a method that would change the value, which no template may do.
pub fn changes(v: &Value, name: &str) -> bool {
    match v.kind() {
        Type::List => LIST_CHANGES.contains(&name),
        Type::Dict => DICT_CHANGES.contains(&name),
        _ => false,
    }
}

/// Calls a method of a value.
pub fn call(vm: &Vm, v: &Value, name: &str, args: &Args) -> Result<Value, Error> {
    match v {
        Value::Str(s) | Value::Safe(s) => string(vm, v, s, name, args),
        Value::List(items) | Value::Tuple(items) | Value::Group(items) => sequence(v, items, name, args),
        Value::Range(_) => sequence(v, &iter::collect(vm, v)?, name, args),
        Value::Dict(d) => dict(vm, v, d, name, args),
        Value::Object(o) => match &**o {
            Object::Loop(l) => l.call_method(name, args),
            Object::Cycler(items, at) => {
                args.expect(&[])?;
                let current = items[at.get()].clone();
                at.set(if name == "next" { (at.get() + 1) % items.len() } else { 0 });
                Ok(if name == "next" { current } else { Value::None })
            }
            _ => Err(fail::runtime(format!("no method '{name}'"))),
        },
        _ => {
            args.expect(&[])?;
            Ok(match (name, v) {
                ("bit_length", Value::Int(n)) => Value::Int(64 - n.unsigned_abs().leading_zeros() as i64),
                ("is_integer", Value::Float(x)) => Value::Bool(x.is_finite() && x.fract() == 0.0),
                _ => v.clone(),
            })
        }
    }
}

fn dict(vm: &Vm, v: &Value, d: &Rc<Dict>, name: &str, args: &Args) -> Result<Value, Error> {
    match name {
        "get" => {
            args.no_keywords()?;
            args.expect(&["key", "default"])?;
            let key = args.need(0, "key")?;
            if let Some(kind) = key.unhashable() {
                return Err(fail::runtime(format!("unhashable type: '{kind}'")));
            }
            let default = || args.get(1, "default").cloned().unwrap_or(Value::None);
            return Ok(d.get(&Key(key.clone())).cloned().unwrap_or_else(default));
        }
        "fromkeys" => {
            args.no_keywords()?;
            args.expect(&["keys", "value"])?;
            let value = args.get(1, "value").cloned().unwrap_or(Value::None);
            let keys = iter::collect(vm, args.need(0, "keys")?)?;
            if let Some(kind) = keys.iter().find_map(Value::unhashable) {
                return Err(fail::runtime(format!("unhashable type: '{kind}'")));
            }
            return Ok(Value::Dict(Rc::new(keys.into_iter().map(|k| (Key(k), value.clone())).collect())));
        }
        _ => args.expect(&[])?,
    }
    let view = match name {
        "keys" => View::Keys,
        "values" => View::Values,
        "items" => View::Items,
        _ => return Ok(v.clone()),
    };
    Ok(access::view(v, view).unwrap_or(Value::None))
}

fn sequence(v: &Value, items: &[Value], name: &str, args: &Args) -> Result<Value, Error> {
    args.no_keywords()?;
    budget::charge(items.len())?;
    if name == "copy" {
        args.expect(&[])?;
        return Ok(v.clone());
    }
    let (mut from, mut to) = (0, items.len());
    if name == "index" {
        args.expect(&["value", "start", "stop"])?;
        let len = items.len() as i64;
        let place = |i: i64| (if i < 0 { i.saturating_add(len) } else { i }).clamp(0, len) as usize;
        from = args.opt_int(1, "start")?.map_or(from, place);
        to = args.opt_int(2, "stop")?.map_or(to, place).max(from);
    } else {
        args.expect(&["value"])?;
    }
    let wanted = args.need(0, "value")?;
    let mut count = 0;
    for (i, item) in items.iter().enumerate().take(to).skip(from) {
        if ops::equal(item, wanted)? {
            if name == "index" {
                return Ok(i.into());
            }
            count += 1;
        }
    }
    if name == "index" {
        return Err(fail::runtime(format!("the value is not in the {}", v.type_name())));
    }
    Ok(Value::Int(count))
}

fn texts(parts: Vec<String>) -> Value {
    Value::list(parts.into_iter().map(Value::from).collect())
}

fn string(vm: &Vm, v: &Value, s: &str, name: &str, args: &Args) -> Result<Value, Error> {
    budget::charge(s.len())?;
    let named: &[&str] = match name {
        "split" | "rsplit" => &["sep", "maxsplit"],
        "splitlines" => &["keepends"],
        "expandtabs" => &["tabsize"],
        "format" | "format_map" => &[],
        "replace" => &["old", "new", "count"],
        "startswith" | "endswith" | "find" | "index" | "rfind" | "rindex" | "count" => &["sub", "start", "end"],
        "center" | "ljust" | "rjust" => &["width", "fillchar"],
        "strip" | "lstrip" | "rstrip" | "join" | "removeprefix" | "removesuffix" | "partition" | "rpartition"
        | "zfill" => &["value"],
        _ => &[],
    };
    if !name.starts_with("format") {
        args.expect(named)?;
        if !matches!(name, "split" | "rsplit" | "splitlines" | "expandtabs") {
            args.no_keywords()?;
        }
    }
    let unmarked = marks::unmark(s);
    let all = |test: fn(char) -> bool| Value::Bool(!s.is_empty() && unmarked.chars().all(test));
    let result: Value = match name {
        "upper" => marks::change_text(s, true).into(),
        "lower" => marks::change_text(s, false).into(),
        "casefold" => marks::change_text(s, false).replace('ß', "ss").into(),
        "capitalize" => capitalize(s).into(),
        "title" => title(s).into(),
        "swapcase" => {
            let swap = |c: char| if marks::plain(c).is_uppercase() { lower(c) } else { upper(c) };
            s.chars().flat_map(swap).collect::<String>().into()
        }
        "strip" | "lstrip" | "rstrip" => Value::str(strip(s, name, args.opt_str(0, "chars")?)),
        "split" => texts(split(s, args)?),
        "rsplit" => texts(rsplit(s, args)?),
        "splitlines" => texts(splitlines(s, args.truth(0, "keepends", false))),
        "startswith" => Value::Bool(affix(s, args, |s, x| marks::strip_prefix(s, x).is_some())?),
        "endswith" => Value::Bool(affix(s, args, |s, x| marks::strip_suffix(s, x).is_some())?),
        "find" | "index" => found(s, name, args, |s, x| marks::find(s, x, 1).first().copied())?,
        "rfind" | "rindex" => found(s, name, args, |s, x| marks::rfind(s, x, 1).first().copied())?,
        "count" => {
            let part = args.str(0, "sub")?;
            match window(s, args)? {
                Some((from, to)) => marks::find(&s[from..to], part, usize::MAX).len().into(),
                None => Value::Int(0),
            }
        }
        "replace" => replace(s, args.str(0, "old")?, args.str(1, "new")?, args.opt_int(2, "count")?)?.into(),
        "join" => {
            let parts = iter::collect(vm, args.need(0, "iterable")?)?;
            join(s, &parts)?.into()
        }
        "removeprefix" => Value::str(marks::strip_prefix(s, args.str(0, "prefix")?).unwrap_or(s)),
        "removesuffix" => {
            let suffix = args.str(0, "suffix")?;
            Value::str(marks::strip_suffix(s, suffix).unwrap_or(s))
        }
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
            Value::tuple(parts.map(Value::str).to_vec())
        }
        "zfill" | "ljust" | "rjust" | "center" => pad(s, name, args)?.into(),
        "expandtabs" => expand(s, args.opt_int(0, "tabsize")?.unwrap_or(8))?.into(),
        "format" => strformat::format(vm, s, args)?,
        "format_map" => {
            args.no_keywords()?;
            let Some(Value::Dict(d)) = args.positional().first() else {
                return Err(fail::runtime("format_map() takes one mapping"));
            };
            let named = d.iter().filter_map(|(k, v)| Some((Rc::from(k.0.as_str()?), v.clone()))).collect();
            strformat::format(vm, s, &Args::new(name, vec![], named))?
        }
        "isdecimal" => all(|c| text::decimal(c).is_some()),
        "isdigit" => all(|c| text::decimal(c).is_some() || text::superscript(c)),
        "isnumeric" => all(char::is_numeric),
        "isalpha" => all(text::is_letter),
        "isalnum" => all(|c| text::is_letter(c) || c.is_numeric()),
        "isspace" => all(is_space),
        "isascii" => Value::Bool(unmarked.is_ascii()),
        "isprintable" => Value::Bool(unmarked.chars().all(|c| c == ' ' || text::printable(c))),
        "isupper" => Value::Bool(text::is_upper(&unmarked)),
        "islower" => Value::Bool(text::is_lower(&unmarked)),
        "istitle" => Value::Bool(is_title(&unmarked)),
        _ => {
            let mut chars = unmarked.chars();
            let first = chars.next().is_some_and(|c| text::is_letter(c) || c == '_');
            Value::Bool(first && chars.all(|c| c.is_alphanumeric() || c == '_'))
        }
    };
    budget::charge(result.as_str().map_or(0, str::len))?;
    Ok(match (v, result) {
        (Value::Safe(_), Value::Str(s)) => Value::Safe(s),
        (_, result) => result,
    })
}

/// Whether upper case begins every word, and stands nowhere else.
fn is_title(s: &str) -> bool {
    let (mut inside, mut found) = (false, false);
    for c in s.chars() {
        if c.is_uppercase() == inside && (c.is_uppercase() || c.is_lowercase()) {
            return false;
        }
        inside = c.is_uppercase() || c.is_lowercase();
        found |= inside;
    }
    found
}

/// `expandtabs`: a tab fills up to the next multiple of `size` in its line.
fn expand(s: &str, size: i64) -> Result<String, Error> {
    let size = ops::size(size);
    let mut out = String::with_capacity(s.len());
    let mut column = 0;
    for c in s.chars() {
        match c {
            '\t' if size == 0 => {}
            '\t' => {
                let fill = size - column % size;
                budget::charge(fill)?;
                out.push_str(&" ".repeat(fill));
                column += fill;
            }
            _ => {
                out.push(c);
                column = if matches!(c, '\n' | '\r') { 0 } else { column + 1 };
            }
        }
    }
    Ok(out)
}

fn upper(c: char) -> Vec<char> {
    marks::change_case(c, true)
}

fn lower(c: char) -> Vec<char> {
    marks::change_case(c, false)
}

/// The letter that begins a word: of letters that are two, only the first is upper case.
fn titled(c: char) -> Vec<char> {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => vec!['ǅ'],
        'Ǉ' | 'ǈ' | 'ǉ' => vec!['ǈ'],
        'Ǌ' | 'ǋ' | 'ǌ' => vec!['ǋ'],
        'Ǳ' | 'ǲ' | 'ǳ' => vec!['ǲ'],
        'ŉ' | 'ǰ' | 'ΐ' | 'ΰ' => upper(c),
        _ => {
            let mut letters = upper(c).into_iter();
            letters.next().into_iter().chain(letters.flat_map(lower)).collect()
        }
    }
}

/// First letter upper case, the rest lower.
pub fn capitalize(s: &str) -> String {
    let mut chars = s.chars();
    let first: String = chars.next().into_iter().flat_map(titled).collect();
    first + &marks::change_text(chars.as_str(), false)
}

/// Every run of letters capitalised.
fn title(s: &str) -> String {
    let mut inside = false;
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        out.extend(if inside { lower(c) } else { titled(c) });
        inside = marks::plain(c).is_uppercase() || marks::plain(c).is_lowercase();
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

pub fn splitlines(s: &str, keep: bool) -> Vec<String> {
    let ends =
        |c: char| matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut lines = Vec::new();
    let mut rest = s;
    while !rest.is_empty() {
        let Some(end) = rest.find(ends) else {
            lines.push(rest.to_string());
            break;
        };
        let width =
            if rest[end..].starts_with("\r\n") { 2 } else { rest[end..].chars().next().map_or(1, char::len_utf8) };
        lines.push(rest[..if keep { end + width } else { end }].to_string());
        rest = &rest[end + width..];
    }
    lines
}

/// The part of `s` that the arguments `start` and `end` leave, as byte offsets; none where it starts after the end.
fn window(s: &str, args: &Args) -> Result<Option<(usize, usize)>, Error> {
    let (start, end) = (args.maybe_int(1, "start")?, args.maybe_int(2, "end")?);
    if start.is_none() && end.is_none() {
        return Ok(Some((0, s.len())));
    }
    let len = s.chars().count() as i64;
    let place = |i: i64| (if i < 0 { i.saturating_add(len) } else { i }).max(0);
    let (start, end) = (place(start.unwrap_or(0)), place(end.unwrap_or(len)).min(len));
    if start > end {
        return Ok(None);
    }
    let offset = |n: i64| s.char_indices().nth(n as usize).map_or(s.len(), |(i, _)| i);
    Ok(Some((offset(start), offset(end))))
}

fn affix(s: &str, args: &Args, test: fn(&str, &str) -> bool) -> Result<bool, Error> {
    let part = window(s, args)?.map(|(from, to)| &s[from..to]);
    let test = |x: &str| part.is_some_and(|part| test(part, x));
    let Value::Tuple(wanted) = args.need(0, "prefix")? else {
        return Ok(test(args.str(0, "prefix")?));
    };
    for x in wanted.iter() {
        let Some(x) = x.as_str() else {
            return Err(fail::runtime(format!("a tuple of str was expected, not {}", x.type_name())));
        };
        if test(x) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn found(s: &str, name: &str, args: &Args, find: fn(&str, &str) -> Option<(usize, usize)>) -> Result<Value, Error> {
    let part = args.str(0, "sub")?;
    let place = window(s, args)?.and_then(|(from, to)| find(&s[from..to], part).map(|(i, _)| from + i));
    match place {
        Some(i) => Ok(s[..i].chars().count().into()),
        None if name.ends_with("index") => Err(fail::runtime("substring not found")),
        None => Ok(Value::Int(-1)),
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
fn join(sep: &str, parts: &[Value]) -> Result<String, Error> {
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        let Some(part) = part.as_str() else {
            return Err(fail::runtime(format!("sequence item {i}: expected str instance, {} found", part.type_name())));
        };
        budget::charge(sep.len() + part.len())?;
        if i > 0 {
            out.push_str(sep);
        }
        out.push_str(part);
    }
    Ok(out)
}

pub fn pad(s: &str, name: &str, args: &Args) -> Result<String, Error> {
    let width = args.opt_int(0, "width")?.ok_or_else(|| fail::runtime("a width is needed"))?;
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
