//! JSON in both directions: request values in, `tojson` out, in Python's form.

use std::fmt::Write;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::args::Args;
use crate::fail::{self, Error};
use crate::value::{Dict, Key, Value};
use crate::vm::Vm;
use crate::{budget, iter, marks, number, ops, text};

/// A template value for what a request holds. Integers stay integers of any size, floats stay floats.
pub fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(b) => Value::Bool(b),
        Json::String(s) => Value::from(s),
        Json::Number(n) => {
            let digits = n.as_str();
            if digits.contains(['.', 'e', 'E']) {
                return Value::Float(digits.parse().unwrap_or(f64::NAN));
            }
            number::parse(digits)
        }
        Json::Array(items) => Value::list(items.into_iter().map(value).collect()),
        Json::Object(map) => {
            Value::Dict(Rc::new(map.into_iter().map(|(k, v)| (Key(Value::from(k)), value(v))).collect()))
        }
    }
}

/// The `tojson` filter: `json.dumps(v, ensure_ascii=False, …)`.
pub fn tojson(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["ensure_ascii", "indent", "separators", "sort_keys"])?;
    let indent = match args.get(1, "indent") {
        Some(pad) if pad.as_str().is_some() => pad.as_str().map(String::from),
        _ => args.maybe_int(1, "indent")?.map(|n| " ".repeat(n.clamp(0, 64) as usize)),
    };
    let (mut item, mut key) = (if indent.is_some() { "," } else { ", " }.to_string(), ": ".to_string());
    if let Some(pair) = args.get(2, "separators").filter(|v| !v.is_none()) {
        let pair: Vec<String> = iter::collect(vm, pair)?.iter().filter_map(|s| s.as_str().map(String::from)).collect();
        let Ok([i, k]) = <[String; 2]>::try_from(pair) else {
            return Err(fail::runtime("tojson() argument 'separators' must be two strings"));
        };
        (item, key) = (i, k);
    }
    let ascii = args.truth(0, "ensure_ascii", false);
    let sort_keys = args.truth(3, "sort_keys", false);
    let mut writer = Writer { out: String::new(), indent, item, key, ascii, sort_keys };
    writer.write(v, 0)?;
    Ok(writer.out.into())
}

struct Writer {
    out: String,
    indent: Option<String>,
    item: String,
    key: String,
    ascii: bool,
    sort_keys: bool,
}

impl Writer {
    fn write(&mut self, v: &Value, depth: usize) -> Result<(), Error> {
        let before = self.out.len();
        match v {
            Value::None => self.out.push_str("null"),
            Value::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Value::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            Value::Big(digits) => self.out.push_str(digits),
            Value::Float(x) => self.float(*x),
            Value::Str(s) | Value::Safe(s) => self.string(s),
            Value::List(items) | Value::Tuple(items) | Value::Group(items) => {
                self.out.push('[');
                let mut empty = true;
                for item in items.iter() {
                    self.separate(&mut empty, depth + 1);
                    self.write(item, depth + 1)?;
                }
                self.close(empty, depth, ']');
            }
            Value::Dict(d) => self.dict(d, depth)?,
            _ => {
                return Err(fail::runtime(format!("Object of type {} is not JSON serializable", v.type_name())));
            }
        }
        budget::charge(self.out.len() - before)
    }

    fn dict(&mut self, d: &Dict, depth: usize) -> Result<(), Error> {
        self.out.push('{');
        let mut entries: Vec<(&Value, &Value)> = d.iter().map(|(k, v)| (&k.0, v)).collect();
        if self.sort_keys {
            ops::sort(&mut entries, |(key, _)| key)?;
        }
        let mut empty = true;
        for (key, value) in entries {
            self.separate(&mut empty, depth + 1);
            match key {
                Value::Str(s) | Value::Safe(s) => self.string(s),
                Value::None | Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                    self.out.push('"');
                    self.write(key, depth)?;
                    self.out.push('"');
                }
                _ => {
                    let kind = key.type_name();
                    return Err(fail::runtime(format!("keys must be str, int, float, bool or None, not {kind}")));
                }
            }
            self.out.push_str(&self.key);
            self.write(value, depth + 1)?;
        }
        self.close(empty, depth, '}');
        Ok(())
    }

    fn separate(&mut self, empty: &mut bool, depth: usize) {
        if !*empty {
            self.out.push_str(&self.item);
        }
        *empty = false;
        self.line(depth);
    }

    fn close(&mut self, empty: bool, depth: usize, bracket: char) {
        if !empty {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if let Some(pad) = &self.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(pad);
            }
        }
    }

    fn float(&mut self, x: f64) {
        let repr = match x {
            x if x.is_nan() => "NaN".to_string(),
            x if x.is_infinite() => if x > 0.0 { "Infinity" } else { "-Infinity" }.to_string(),
            x => text::float(x),
        };
        self.out.push_str(&repr);
    }

    fn string(&mut self, s: &str) {
        self.out.push('"');
        for c in s.chars() {
            match c {
                c if matches!(marks::plain(c), '"' | '\\') => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\x08' => self.out.push_str("\\b"),
                '\x0c' => self.out.push_str("\\f"),
                c if marks::is_mark(c) => self.out.push(c),
                c if c < ' ' || self.ascii && c > '~' => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
