//! jinja2's filters where Python's text or types matter; the others are minijinja's.

use minijinja::value::Rest;
use minijinja::{filters, Environment, Error, State, Value};

use crate::args::Args;
use crate::types::Type;
use crate::{budget, fail, json, marks, methods, ops, text, types};

/// Registers the filters.
pub fn register(env: &mut Environment) {
    env.add_filter("tojson", json::tojson);
    env.add_filter("string", |v: Value| if v.as_str().is_some() { Ok(v) } else { text::str(&v).map(Value::from) });
    env.add_filter("upper", |v: Value| on_text(v, |s| marks::change_text(s, true)));
    env.add_filter("lower", |v: Value| on_text(v, |s| marks::change_text(s, false)));
    env.add_filter("capitalize", |v: Value| on_text(v, methods::capitalize));
    env.add_filter("title", |v: Value| on_text(v, title));
    env.add_filter("trim", trim);
    env.add_filter("replace", replace);
    env.add_filter("join", join);
    env.add_filter("length", length);
    env.add_filter("count", length);
    env.add_filter("default", default);
    env.add_filter("d", default);
    env.add_filter("items", items);
    env.add_filter("dictsort", dictsort);
    env.add_filter("list", list);
    env.add_filter("first", |v: Value| Ok::<_, Error>(v.try_iter()?.next().unwrap_or(Value::UNDEFINED)));
    env.add_filter("last", last);
    env.add_filter("reverse", reverse);
    env.add_filter("indent", indent);
    env.add_filter("round", round);
    env.add_filter("sum", sum);
    env.add_filter("min", |v: Value, args: Rest<Value>| extreme("min", v, &args));
    env.add_filter("max", |v: Value, args: Rest<Value>| extreme("max", v, &args));
    env.add_filter("truncate", truncate);
    env.add_filter("int", int);
    env.add_filter("float", float);
    env.add_filter("format", |v: Value, args: Rest<Value>| methods::printf(&text::str(&v)?, &args));
    env.add_filter("pprint", |v: Value| {
        let mut out = String::new();
        text::write_repr(&mut out, &v).map(|()| out)
    });
    env.add_filter("center", |v: Value, width: Option<i64>| {
        methods::call(&text::str(&v)?.into(), "center", &[Value::from(width.unwrap_or(80))])
    });
    env.add_filter("wordcount", |v: Value| {
        let s = text::str(&v)?;
        let word = |c: char| c.is_alphanumeric() || c == '_';
        Ok::<_, Error>(s.split(|c| !word(c)).filter(|w| !w.is_empty()).count())
    });
    for name in ["escape", "e"] {
        env.add_filter(name, |v: Value| {
            if v.is_safe() {
                return Ok(v);
            }
            Ok::<_, Error>(Value::from_safe_string(text::escape_html(&text::str(&v)?)))
        });
    }
    env.add_filter("safe", |v: Value| text::str(&v).map(Value::from_safe_string));
    for name in ["batch", "slice", "groupby", "unique", "sort"] {
        weigh(env, name);
    }
}

/// Charges for a filter of minijinja's that copies its whole input.
fn weigh(env: &mut Environment, name: &'static str) {
    env.add_filter(name, move |state: &State, v: Value, args: Rest<Value>| {
        let args = &args.0;
        budget::charge(v.len().unwrap_or(0).saturating_mul(16))?;
        match name {
            "batch" => apply(state, filters::batch, &v, args),
            "slice" => apply(state, filters::slice, &v, args),
            "groupby" => apply(state, filters::groupby, &v, args),
            "unique" => apply(state, filters::unique, &v, args),
            _ => apply(state, filters::sort, &v, args),
        }
    });
}

/// Calls a built-in filter with positional and keyword arguments as they came.
fn apply<F, Rv, A>(state: &State, filter: F, v: &Value, args: &[Value]) -> Result<Value, Error>
where
    F: minijinja::functions::Function<Rv, A>,
    Rv: minijinja::value::FunctionResult,
    A: for<'a> minijinja::value::FunctionArgs<'a>,
{
    let mut all = Vec::with_capacity(args.len() + 1);
    all.push(v.clone());
    all.extend_from_slice(args);
    Value::from_function(filter).call(state, &all)
}

fn on_text(v: Value, change: fn(&str) -> String) -> Result<Value, Error> {
    let s = text::str(&v)?;
    Ok(change(&s).into())
}

/// Capitalises every word, where words end at white space, hyphens and opening brackets.
fn title(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut start = true;
    for c in s.chars() {
        if start {
            out.extend(marks::change_case(c, true));
        } else {
            out.extend(marks::change_case(c, false));
        }
        start = text::is_space(c) || "-({[<".contains(marks::plain(c));
    }
    out
}

fn trim(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("trim", &args);
    args.expect(&["chars"])?;
    let s = text::str(&v)?;
    Ok(methods::strip(&s, "strip", args.opt_str(0, "chars")?).into())
}

fn replace(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("replace", &args);
    args.expect(&["old", "new", "count"])?;
    let (old, new) = (text::str(args.need(0, "old")?)?, text::str(args.need(1, "new")?)?);
    Ok(methods::replace(&text::str(&v)?, &old, &new, args.opt_int(2, "count")?)?.into())
}

fn join(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("join", &args);
    args.expect(&["d", "attribute"])?;
    let sep = args.get(0, "d").map_or(Ok(String::new()), text::str)?;
    let attribute = args.get(1, "attribute").filter(|a| !a.is_none());
    let mut out = String::new();
    for (i, item) in v.try_iter()?.enumerate() {
        if i > 0 {
            budget::charge(sep.len())?;
            out.push_str(&sep);
        }
        match attribute {
            Some(name) => text::write_str(&mut out, &item.get_item(name)?)?,
            None => text::write_str(&mut out, &item)?,
        }
    }
    Ok(out.into())
}

fn length(v: Value) -> Result<usize, Error> {
    match Type::of(&v) {
        Type::Undefined => Ok(0),
        Type::Str | Type::List | Type::Dict => match v.len() {
            Some(n) => Ok(n),
            None => Ok(v.try_iter()?.count()),
        },
        kind => Err(fail::runtime(format!("object of type '{}' has no len()", kind.name()))),
    }
}

fn default(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("default", &args);
    args.expect(&["default_value", "boolean"])?;
    let missing = v.is_undefined() || args.truth(1, "boolean", false) && !v.is_true();
    Ok(if missing { args.get(0, "default_value").cloned().unwrap_or_else(|| "".into()) } else { v })
}

fn items(v: Value) -> Result<Value, Error> {
    match Type::of(&v) {
        Type::Undefined => Ok(Vec::<Value>::new().into()),
        Type::Dict => methods::items(&v),
        _ => Err(fail::runtime("Can only get item pairs from a mapping.")),
    }
}

fn dictsort(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("dictsort", &args);
    args.expect(&["case_sensitive", "by", "reverse"])?;
    match Type::of(&v) {
        Type::Dict => {}
        Type::Undefined => return Err(fail::undefined("dictsort of an undefined value")),
        kind => return Err(fail::undefined(format!("'{} object' has no attribute 'items'", kind.name()))),
    }
    let case_sensitive = args.truth(0, "case_sensitive", false);
    let by = match args.opt_str(1, "by")?.unwrap_or("key") {
        "key" => 0,
        "value" => 1,
        _ => return Err(fail::runtime("you can only sort by either 'key' or 'value'")),
    };
    let mut pairs = Vec::new();
    for key in v.try_iter()? {
        let pair = [key.clone(), v.get_item(&key)?];
        let rank = match pair[by].as_str() {
            Some(s) if !case_sensitive => s.to_lowercase().into(),
            _ => pair[by].clone(),
        };
        pairs.push((rank, pair));
    }
    budget::charge(pairs.len().saturating_mul(16))?;
    for two in pairs.windows(2) {
        ops::order("<", &two[0].0, &two[1].0)?;
    }
    pairs.sort_by(|a, b| ops::order("<", &a.0, &b.0).ok().flatten().unwrap_or(std::cmp::Ordering::Equal));
    if args.truth(2, "reverse", false) {
        pairs.reverse();
    }
    Ok(pairs.into_iter().map(|(_, pair)| Value::from_object(types::Tuple(pair.to_vec()))).collect::<Vec<_>>().into())
}

fn list(v: Value) -> Result<Value, Error> {
    let items: Vec<Value> = v.try_iter()?.collect();
    budget::charge(items.len().saturating_mul(16))?;
    Ok(items.into())
}

fn last(v: Value) -> Result<Value, Error> {
    match Type::of(&v) {
        Type::Undefined => Ok(Value::UNDEFINED),
        Type::Str | Type::List | Type::Dict => {
            budget::charge(v.len().unwrap_or(0))?;
            Ok(v.try_iter()?.last().unwrap_or(Value::UNDEFINED))
        }
        _ => Err(fail::runtime(format!("'{}' object is not reversible", types::name(&v)))),
    }
}

fn reverse(v: Value) -> Result<Value, Error> {
    budget::charge(v.len().unwrap_or(0))?;
    match Type::of(&v) {
        Type::Undefined => Ok(Vec::<Value>::new().into()),
        Type::Str => Ok(v.as_str().unwrap_or_default().chars().rev().collect::<String>().into()),
        Type::List | Type::Dict => {
            let mut items: Vec<Value> = v.try_iter()?.collect();
            items.reverse();
            Ok(items.into())
        }
        _ => Err(fail::runtime("argument must be iterable")),
    }
}

fn indent(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("indent", &args);
    args.expect(&["width", "first", "blank"])?;
    let pad = match args.get(0, "width") {
        Some(w) if w.as_str().is_some() => w.as_str().unwrap_or_default().to_string(),
        _ => " ".repeat(args.opt_int(0, "width")?.unwrap_or(4).clamp(0, 1024) as usize),
    };
    let s = text::str(&v)? + "\n";
    let mut out = String::new();
    for (i, line) in s.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let wanted = if i == 0 { args.truth(1, "first", false) } else { !line.is_empty() || args.truth(2, "blank", false) };
        if wanted {
            out.push_str(&pad);
        }
        out.push_str(line);
        budget::charge(pad.len() + line.len())?;
    }
    Ok(out.into())
}

fn round(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("round", &args);
    args.expect(&["precision", "method"])?;
    let precision = args.opt_int(0, "precision")?.unwrap_or(0).clamp(-300, 300) as i32;
    let method = args.opt_str(1, "method")?.unwrap_or("common");
    match (Type::of(&v), method) {
        (Type::Int | Type::Bool, "common") if precision >= 0 => return Ok(v),
        (Type::Int | Type::Bool | Type::Float, "common" | "ceil" | "floor") => {}
        (Type::Undefined, _) => return Err(fail::undefined("round of an undefined value")),
        (kind, _) => return Err(fail::runtime(format!("round of a {} with the method '{method}'", kind.name()))),
    }
    let x = f64::try_from(v)?;
    let scale = 10f64.powi(precision);
    Ok(Value::from(match method {
        "ceil" => (x * scale).ceil() / scale,
        "floor" => (x * scale).floor() / scale,
        // Rust's formatting rounds the exact value, ties to even, as Python's round does.
        _ if precision >= 0 => format!("{x:.*}", precision as usize).parse().unwrap_or(x),
        _ => (x * scale).round_ties_even() / scale,
    }))
}

/// The items of `v`, or one attribute of each.
fn taken(v: &Value, attribute: Option<&Value>) -> Result<Vec<Value>, Error> {
    budget::charge(v.len().unwrap_or(0).saturating_mul(16))?;
    match attribute.filter(|a| !a.is_none()) {
        None => Ok(v.try_iter()?.collect()),
        Some(name) => v.try_iter()?.map(|item| item.get_item(name)).collect(),
    }
}

fn sum(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("sum", &args);
    args.expect(&["attribute", "start"])?;
    let start = args.get(1, "start").cloned().unwrap_or_else(|| 0.into());
    taken(&v, args.get(0, "attribute"))?.into_iter().try_fold(start, ops::add)
}

fn extreme(name: &str, v: Value, args: &[Value]) -> Result<Value, Error> {
    let args = Args::new(name, args);
    args.expect(&["case_sensitive", "attribute"])?;
    let fold = !args.truth(0, "case_sensitive", false);
    let ranked = taken(&v, args.get(1, "attribute"))?.into_iter().map(|rank| match rank.as_str() {
        Some(s) if fold => s.to_lowercase().into(),
        _ => rank,
    });
    let mut best: Option<(Value, Value)> = None;
    for (rank, item) in ranked.zip(v.try_iter()?) {
        let better = match &best {
            None => true,
            Some((than, _)) if name == "min" => ops::order("<", &rank, than)?.is_some_and(|o| o.is_lt()),
            Some((than, _)) => ops::order(">", &rank, than)?.is_some_and(|o| o.is_gt()),
        };
        if better {
            best = Some((rank, item));
        }
    }
    Ok(best.map_or(Value::UNDEFINED, |(_, item)| item))
}

fn truncate(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("truncate", &args);
    args.expect(&["length", "killwords", "end", "leeway"])?;
    let length = ops::size(args.opt_int(0, "length")?.unwrap_or(255));
    let end = args.opt_str(2, "end")?.unwrap_or("...");
    let leeway = ops::size(args.opt_int(3, "leeway")?.unwrap_or(5));
    let s = text::str(&v)?;
    if s.chars().count() <= length.saturating_add(leeway) {
        return Ok(s.into());
    }
    let mut kept: String = s.chars().take(length.saturating_sub(end.chars().count())).collect();
    if !args.truth(1, "killwords", false) {
        kept.truncate(kept.rfind(' ').unwrap_or(kept.len()));
    }
    Ok((kept + end).into())
}

fn int(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("int", &args);
    args.expect(&["default", "base"])?;
    let fallback = || args.get(0, "default").cloned().unwrap_or_else(|| 0.into());
    Ok(match Type::of(&v) {
        Type::Undefined => return Err(fail::undefined("int of an undefined value")),
        Type::Int => v,
        Type::Bool => (v.is_true() as i64).into(),
        Type::Float => {
            let x = f64::try_from(v)?;
            if x.is_finite() { json::value(serde_json::Value::from(x.trunc() as i64)) } else { fallback() }
        }
        Type::Str => {
            let s = marks::unmark(v.as_str().unwrap_or_default());
            let s = s.trim();
            let base = args.opt_int(1, "base")?.unwrap_or(10).clamp(2, 36) as u32;
            let mut digits = s.replace('_', "").to_lowercase();
            let prefix = match base {
                16 => "0x",
                8 => "0o",
                2 => "0b",
                _ => "",
            };
            if let Some(bare) = digits.strip_prefix(prefix) {
                digits = bare.to_string();
            }
            match (i64::from_str_radix(&digits, base), s.parse::<f64>()) {
                (Ok(n), _) => n.into(),
                (_, Ok(x)) if x.is_finite() => (x.trunc() as i64).into(),
                _ => fallback(),
            }
        }
        _ => fallback(),
    })
}

fn float(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("float", &args);
    args.expect(&["default"])?;
    let fallback = || args.get(0, "default").cloned().unwrap_or_else(|| 0.0.into());
    Ok(match Type::of(&v) {
        Type::Undefined => return Err(fail::undefined("float of an undefined value")),
        Type::Int | Type::Float => f64::try_from(v)?.into(),
        Type::Bool => f64::from(v.is_true() as u8).into(),
        Type::Str => v.as_str().and_then(|s| marks::unmark(s).trim().parse::<f64>().ok()).map_or_else(fallback, Value::from),
        _ => fallback(),
    })
}
