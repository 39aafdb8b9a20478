//! One rendering: the request becomes variables, the template code, the code text.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use crate::clock::Moment;
use crate::fail::{Error, Failure};
use crate::frame::Context;
use crate::value::Value;
use crate::vm::Vm;
use crate::{budget, json, marks, parser, scope};

/// What a template is rendered with.
///
/// JSON: `{messages, tools, documents, add_generation_prompt, kwargs, special_tokens, now, marks}`. `kwargs` and
/// `special_tokens` become variables; `now` is the local time for `strftime_now`; `marks` maps characters to marks (see
/// [`marks`]).
pub struct Request {
    variables: HashMap<Rc<str>, Value>,
    now: Option<Moment>,
    marks: Vec<(char, char)>,
}

impl Request {
    fn parse(text: &[u8]) -> Result<Request, Error> {
        let bad = |message: String| Failure::new("request", message);
        let json: Json = serde_json::from_slice(text).map_err(|e| bad(format!("not JSON: {e}")))?;
        let Json::Object(mut fields) = json else {
            return Err(bad("the request must be a JSON object".into()));
        };
        let mut variables = HashMap::new();
        let fixed = [
            ("messages", Json::Array(vec![])),
            ("tools", Json::Null),
            ("documents", Json::Null),
            ("add_generation_prompt", Json::Bool(true)),
        ];
        for (name, fallback) in fixed.clone() {
            let value = fields.remove(name).unwrap_or(fallback);
            variables.insert(name.into(), json::value(value));
        }
        for group in ["special_tokens", "kwargs"] {
            for (name, value) in take_object(&mut fields, group).map_err(bad)? {
                if fixed.iter().any(|(taken, _)| *taken == name) {
                    return Err(bad(format!("{group} may not set '{name}'")));
                }
                variables.insert(name.into(), json::value(value));
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

/// Renders `template` with the JSON `request`, as transformers' `render_jinja_template` does.
pub fn render(template: &[u8], request: &[u8], fuel: u64, work: u64) -> Result<String, Error> {
    let template = std::str::from_utf8(template).map_err(|_| Failure::new("template", "the template is not UTF-8"))?;
    let request = Request::parse(request)?;
    budget::set(work);
    marks::set(request.marks);
    let mut template = parser::parse(template)?;
    let blocks = scope::resolve(&mut template)?;
    let vm = Vm::new(request.now, blocks, fuel, Context::new(request.variables, None));
    vm.render(&template)
}
