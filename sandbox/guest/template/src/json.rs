//! JSON in both directions: request values in, `tojson` out, in Python's form.

use std::fmt::Write;

use minijinja::value::Rest;
use minijinja::{Error, Value};
use serde_json::Value as Json;

use crate::args::Args;
use crate::types::{BigInt, Type};
use crate::{budget, fail, marks, text, types};

/// A template value for what a request holds. Integers stay integers of any size, floats stay floats.
pub fn value(json: Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(b) => Value::from(b),
        Json::String(s) => Value::from(s),
        Json::Number(n) => number(n.as_str()),
        Json::Array(items) => items.into_iter().map(value).collect::<Vec<_>>().into(),
        Json::Object(map) => map.into_iter().map(|(k, v)| (Value::from(k), value(v))).collect(),
    }
}

fn number(digits: &str) -> Value {
    if digits.contains(['.', 'e', 'E']) {
        return Value::from(digits.parse::<f64>().unwrap_or(f64::NAN));
    }
    match (digits.parse::<i64>(), digits.parse::<i128>()) {
        (Ok(n), _) => Value::from(n),
        (_, Ok(n)) => Value::from(n),
        _ => Value::from_object(BigInt(digits.to_string())),
    }
}

/// The `tojson` filter: `json.dumps(v, ensure_ascii=False, …)`.
pub fn tojson(v: Value, args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("tojson", &args);
    args.expect(&["ensure_ascii", "indent", "separators", "sort_keys"])?;
    let indent = match args.get(1, "indent") {
        Some(pad) if pad.as_str().is_some() => pad.as_str().map(String::from),
        _ => args.opt_int(1, "indent")?.map(|n| " ".repeat(n.clamp(0, 64) as usize)),
    };
    let (mut item, mut key) = (if indent.is_some() { "," } else { ", " }.to_string(), ": ".to_string());
    if let Some(pair) = args.get(2, "separators").filter(|v| !v.is_none()) {
        let pair: Vec<String> = pair.try_iter()?.filter_map(|s| s.as_str().map(String::from)).collect();
        let Ok([i, k]) = <[String; 2]>::try_from(pair) else {
            return Err(fail::runtime("tojson() argument 'separators' must be two strings"));
        };
        (item, key) = (i, k);
    }
    let ascii = args.truth(0, "ensure_ascii", false);
    let sort_keys = args.truth(3, "sort_keys", false);
    let mut writer = Writer { out: String::new(), indent, item, key, ascii, sort_keys };
    writer.write(&v, 0)?;
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
        match Type::of(v) {
            Type::None => self.out.push_str("null"),
            Type::Bool => self.out.push_str(if v.is_true() { "true" } else { "false" }),
            Type::Int => {
                let _ = write!(self.out, "{v}");
            }
            Type::Float => self.float(v)?,
            Type::Str => self.string(v.as_str().unwrap_or_default()),
            Type::List => {
                self.out.push('[');
                let mut empty = true;
                for item in v.try_iter()? {
                    self.separate(&mut empty, depth + 1);
                    self.write(&item, depth + 1)?;
                }
                self.close(empty, depth, ']');
            }
            Type::Dict => self.dict(v, depth)?,
            Type::Other if v.downcast_object_ref::<BigInt>().is_some() => {
                let _ = write!(self.out, "{v}");
            }
            kind => {
                return Err(fail::runtime(format!("Object of type {} is not JSON serializable", kind.name())));
            }
        }
        budget::charge(self.out.len() - before)
    }

    fn dict(&mut self, v: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('{');
        let mut keys: Vec<Value> = v.try_iter()?.collect();
        if self.sort_keys {
            keys.sort_by(|a, b| a.as_str().cmp(&b.as_str()).then_with(|| a.cmp(b)));
        }
        let mut empty = true;
        for key in keys {
            self.separate(&mut empty, depth + 1);
            match Type::of(&key) {
                Type::Str => self.string(key.as_str().unwrap_or_default()),
                Type::None => self.out.push_str("\"null\""),
                Type::Bool => self.out.push_str(if key.is_true() { "\"true\"" } else { "\"false\"" }),
                Type::Int | Type::Float => {
                    self.out.push('"');
                    self.write(&key, depth)?;
                    self.out.push('"');
                }
                _ => {
                    let kind = types::name(&key);
                    return Err(fail::runtime(format!("keys must be str, int, float, bool or None, not {kind}")));
                }
            }
            self.out.push_str(&self.key);
            self.write(&v.get_item(&key)?, depth + 1)?;
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

    fn float(&mut self, v: &Value) -> Result<(), Error> {
        let x = f64::try_from(v.clone())?;
        let repr = match x {
            x if x.is_nan() => "NaN".to_string(),
            x if x.is_infinite() => if x > 0.0 { "Infinity" } else { "-Infinity" }.to_string(),
            x => text::float(x),
        };
        self.out.push_str(&repr);
        Ok(())
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
