//! One rendering: the request becomes variables, the template code, the code text.

use std::collections::BTreeMap;

use minijinja::machinery::{self, CodeGenerator, Vm, WhitespaceConfig};
use minijinja::value::Rest;
use minijinja::{AutoEscape, Environment, Error, Output, State, Value};
use serde_json::{Map, Value as Json};

use crate::args::Args;
use crate::clock::Moment;
use crate::fail::{self, Failure};
use crate::{budget, filters, json, marks, ops, rewrite, source, tests, text, types};

/// The longest `range`, as jinja2's sandbox has it.
const MAX_RANGE: i64 = 100_000;

/// What a template is rendered with.
///
/// JSON: `{messages, tools, documents, add_generation_prompt, kwargs, special_tokens, now, marks}`. `kwargs` and
/// `special_tokens` become variables; `now` is the local time for `strftime_now`; `marks` maps characters to marks (see
/// [`marks`]).
pub struct Request {
    variables: Vec<(String, Value)>,
    now: Option<Moment>,
    marks: Vec<(char, char)>,
}

impl Request {
    fn parse(text: &[u8]) -> Result<Request, Failure> {
        let bad = |message: String| Failure::new("request", message);
        let json: Json = serde_json::from_slice(text).map_err(|e| bad(format!("not JSON: {e}")))?;
        let Json::Object(mut fields) = json else {
            return Err(bad("the request must be a JSON object".into()));
        };
        let mut variables = Vec::new();
        for (name, fallback) in [
            ("messages", Json::Array(vec![])),
            ("tools", Json::Null),
            ("documents", Json::Null),
            ("add_generation_prompt", Json::Bool(true)),
        ] {
            let value = fields.remove(name).unwrap_or(fallback);
            variables.push((name.to_string(), json::value(value)));
        }
        for group in ["special_tokens", "kwargs"] {
            for (name, value) in take_object(&mut fields, group).map_err(bad)? {
                if variables[..4].iter().any(|(taken, _)| *taken == name) {
                    return Err(bad(format!("{group} may not set '{name}'")));
                }
                variables.push((name, json::value(value)));
            }
        }
        let now = match fields.remove("now") {
            None | Some(Json::Null) => None,
            Some(Json::String(s)) => {
                Some(Moment::parse(&s).ok_or_else(|| bad(format!("now is not a date and time: {s}")))?)
            }
            Some(other) => return Err(bad(format!("now is not a string: {other}"))),
        };
        let mut marks = Vec::new();
        for (plain, mark) in take_object(&mut fields, "marks").map_err(bad)? {
            let mark = mark.as_str().unwrap_or_default().to_string();
            let mut both = plain.chars().chain(mark.chars());
            match (both.next(), both.next(), both.next()) {
                (Some(plain), Some(mark), None) => marks.push((plain, mark)),
                _ => return Err(bad("marks must map one character to another".into())),
            }
        }
        match fields.keys().next() {
            Some(name) => Err(bad(format!("unknown field '{name}'"))),
            None => Ok(Request { variables, now, marks }),
        }
    }
}

fn take_object(fields: &mut Map<String, Json>, name: &str) -> Result<Map<String, Json>, String> {
    match fields.remove(name) {
        None | Some(Json::Null) => Ok(Map::new()),
        Some(Json::Object(map)) => Ok(map),
        Some(_) => Err(format!("{name} must be an object")),
    }
}

/// Renders `template` with the JSON `request`.
pub fn render(template: &[u8], request: &[u8], fuel: u64, work: u64) -> Result<String, Failure> {
    let template = std::str::from_utf8(template).map_err(|_| Failure::new("template", "the template is not UTF-8"))?;
    let request = Request::parse(request)?;
    budget::set(work);
    marks::set(request.marks);

    let prepared = source::prepare(template);
    let whitespace = WhitespaceConfig { keep_trailing_newline: false, lstrip_blocks: true, trim_blocks: true };
    let parsed = machinery::parse(&prepared, "template", Default::default(), whitespace)?;
    let rewritten = rewrite::template(&parsed)?;
    let mut generator = CodeGenerator::new("template", &prepared);
    generator.compile_stmt(&rewritten);
    let (code, blocks) = generator.finish();

    let env = environment(request.now, fuel);
    let variables: BTreeMap<String, Value> = request.variables.into_iter().collect();
    let mut text = String::new();
    let mut out = machinery::make_string_output(&mut text);
    Vm::new(&env).eval(&code, Value::from_object(variables), &blocks, &mut out, AutoEscape::None)?;
    drop(out);
    Ok(text)
}

/// The environment of transformers' `render_jinja_template`.
fn environment<'a>(now: Option<Moment>, fuel: u64) -> Environment<'a> {
    let mut env = Environment::new();
    env.set_fuel(Some(fuel));
    env.set_formatter(print);
    ops::register(&mut env);
    filters::register(&mut env);
    tests::register(&mut env);
    env.add_function("namespace", types::namespace);
    env.add_function("range", range);
    env.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
        Err(fail::raised(text::str(&message)?))
    });
    env.add_function("strftime_now", move |format: &str| match now {
        Some(now) => now.format(format),
        None => Err(fail::runtime("the template asks for the time, which this request does not give (now)")),
    });
    env
}

/// Prints a value as Python's `str` does.
fn print(out: &mut Output, _: &State, v: &Value) -> Result<(), Error> {
    match v.as_str() {
        Some(s) => {
            budget::charge(s.len())?;
            out.write_str(s)
        }
        None => out.write_str(&text::str(v)?),
    }
    .map_err(Error::from)
}

fn range(args: Rest<Value>) -> Result<Value, Error> {
    let args = Args::new("range", &args);
    args.expect(&["start", "stop", "step"])?;
    let first = args.opt_int(0, "start")?.ok_or_else(|| fail::runtime("range() needs an int"))?;
    let (start, stop) = match args.opt_int(1, "stop")? {
        Some(stop) => (first, stop),
        None => (0, first),
    };
    let step = args.opt_int(2, "step")?.unwrap_or(1);
    if step == 0 {
        return Err(fail::runtime("range() arg 3 must not be zero"));
    }
    let span = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    let count = span.max(0).saturating_add(step.saturating_abs() - 1) / step.saturating_abs();
    if count > MAX_RANGE {
        return Err(fail::runtime(format!("range too big, the most is {MAX_RANGE}")));
    }
    budget::charge(count as usize * 16)?;
    Ok((0..count).map(|i| start + i * step).collect::<Vec<_>>().into())
}
