//! Calls of functions, macros and objects.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::args::Args;
use crate::budget;
use crate::fail::{self, Error};
use crate::frame::Frame;
use crate::iter::{self, Range};
use crate::methods;
use crate::ops;
use crate::text;
use crate::value::{Dict, Hint, Key, Macro, Object, Value};
use crate::vm::Vm;

/// The longest `range`, as jinja2's sandbox has it.
const MAX_RANGE: usize = 100_000;

const GLOBALS: [&str; 7] = ["range", "dict", "namespace", "cycler", "joiner", "raise_exception", "strftime_now"];

/// The function that a name means which is no variable.
pub fn global(name: &str) -> Option<&'static str> {
    GLOBALS.into_iter().find(|g| *g == name)
}

impl Vm {
    /// Calls a value.
    pub fn call(&self, callee: &Value, args: &Args) -> Result<Value, Error> {
        let Value::Object(o) = callee else {
            return Err(if callee.is_undefined() {
                ops::undefined(callee)
            } else {
                fail::runtime(format!("'{}' object is not callable", callee.type_name()))
            });
        };
        match &**o {
            Object::Macro(m) => self.call_macro(m, args),
            Object::Loop(l) => l.call(self, args),
            Object::Method(v, name) => methods::call(self, v, name, args),
            Object::Function(name) => self.function(name, args),
            Object::Joiner(sep, used) => {
                args.expect(&[])?;
                Ok(if used.replace(true) { sep.clone() } else { Value::str("") })
            }
            Object::Block(name) => {
                args.expect(&[])?;
                let Some(def) = self.blocks.get(name) else {
                    return Err(fail::undefined(format!("no block '{name}'")));
                };
                let mut out = String::new();
                self.run_block(def, self.context(), &mut out)?;
                Ok(if self.autoescape.get() { Value::Safe(out.into()) } else { out.into() })
            }
            Object::Namespace(_) | Object::Cycler(..) | Object::Blocks => {
                Err(fail::runtime(format!("'{}' object is not callable", callee.type_name())))
            }
        }
    }

    fn function(&self, name: &str, args: &Args) -> Result<Value, Error> {
        match name {
            "range" => range(args),
            "dict" => dict(self, args),
            "namespace" => {
                let items = dict_items(self, args)?;
                let items = items.into_iter().map(|(k, v)| (Rc::from(k.0.as_str().unwrap_or_default()), v)).collect();
                Ok(Value::object(Object::Namespace(RefCell::new(items))))
            }
            "cycler" => {
                args.no_keywords()?;
                if args.positional().is_empty() {
                    return Err(fail::runtime("at least one item has to be provided"));
                }
                Ok(Value::object(Object::Cycler(Rc::new(args.positional().to_vec()), Cell::new(0))))
            }
            "joiner" => {
                args.expect(&["sep"])?;
                let sep = args.get(0, "sep").cloned().unwrap_or_else(|| Value::str(", "));
                Ok(Value::object(Object::Joiner(sep, Cell::new(false))))
            }
            "raise_exception" => {
                args.expect(&["message"])?;
                Err(fail::raised(text::str(args.need(0, "message")?)?))
            }
            _ => {
                args.expect(&["format"])?;
                match self.now {
                    Some(now) => now.format(args.str(0, "format")?).map(Value::from),
                    None => {
                        Err(fail::runtime("the template asks for the time, which this request does not give (now)"))
                    }
                }
            }
        }
    }

    /// Calls a macro; what it prints is its value.
    pub fn call_macro(&self, m: &Macro, args: &Args) -> Result<Value, Error> {
        let def = &m.def;
        let name = || def.name.as_deref().unwrap_or("caller").to_string();
        let frame = Frame::inner(def.slots, &m.frame);
        if def.closes {
            self.keep(&frame);
        }
        let mut keywords = args.keywords().to_vec();
        let mut take = |name: &str| {
            let i = keywords.iter().position(|(k, _)| &**k == name)?;
            Some(keywords.remove(i).1)
        };
        let given = args.positional();
        let values: Vec<Option<Value>> =
            def.args.iter().enumerate().map(|(i, arg)| given.get(i).cloned().or_else(|| take(&arg.name))).collect();
        if let Some(slot) = def.caller {
            let caller = take("caller").filter(|c| !c.is_none());
            frame.set_here(slot, caller.unwrap_or(Value::Undefined(Hint::Words("No caller defined"))));
        }
        if let Some(slot) = def.kwargs {
            let dict: Dict = keywords.into_iter().map(|(k, v)| (Key(Value::Str(k)), v)).collect();
            frame.set_here(slot, Value::Dict(Rc::new(dict)));
        } else if let Some((key, _)) = keywords.first() {
            return Err(fail::runtime(format!("macro '{}' takes no keyword argument '{key}'", name())));
        }
        if let Some(slot) = def.varargs {
            frame.set_here(slot, Value::tuple(given.iter().skip(def.args.len()).cloned().collect()));
        } else if given.len() > def.args.len() {
            return Err(fail::runtime(format!(
                "macro '{}' takes not more than {} argument(s)",
                name(),
                def.args.len()
            )));
        }
        for (arg, value) in def.args.iter().zip(&values) {
            frame.set(arg.slot, value.clone().unwrap_or(Value::Missing));
        }
        self.enter(&def.scope, &frame)?;
        let mut out = String::new();
        self.calling(|| {
            let first = def.args.len() - def.defaults.len();
            for (i, (arg, value)) in def.args.iter().zip(&values).enumerate() {
                if value.is_some() {
                    continue;
                }
                let value = match i.checked_sub(first).and_then(|i| def.defaults.get(i)) {
                    Some(default) => self.eval(default, &frame)?,
                    None => Value::Undefined(Hint::Name(arg.name.clone())),
                };
                frame.set(arg.slot, value);
            }
            self.block(&def.body, &frame, &mut out)
        })?;
        Ok(if self.autoescape.get() { Value::Safe(out.into()) } else { out.into() })
    }
}

fn range(args: &Args) -> Result<Value, Error> {
    args.no_keywords()?;
    args.expect(&["start", "stop", "step"])?;
    let first = args.opt_int(0, "start")?.ok_or_else(|| fail::runtime("range expected at least 1 argument, got 0"))?;
    let (start, stop) = match args.opt_int(1, "stop")? {
        Some(stop) => (first, stop),
        None => (0, first),
    };
    let step = args.opt_int(2, "step")?.unwrap_or(1);
    if step == 0 {
        return Err(fail::runtime("range() arg 3 must not be zero"));
    }
    let range = Range { start, stop, step };
    if range.len() > MAX_RANGE {
        return Err(fail::runtime(format!(
            "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({MAX_RANGE})."
        )));
    }
    Ok(Value::Range(range))
}

/// `dict(…)`: a mapping or pairs first, then keywords.
fn dict_items(vm: &Vm, args: &Args) -> Result<Dict, Error> {
    let mut dict = match args.positional() {
        [] => Dict::new(),
        [Value::Dict(d)] => {
            budget::charge(d.len().saturating_mul(32))?;
            (**d).clone()
        }
        [pairs] => {
            let mut dict = Dict::new();
            for pair in iter::collect(vm, pairs)? {
                match &iter::collect(vm, &pair)?[..] {
                    [key, _] if key.unhashable().is_some() => return Err(fail::runtime("unhashable type")),
                    [key, value] => dict.insert(Key(key.clone()), value.clone()),
                    _ => return Err(fail::runtime("dictionary update sequence element has not 2 items")),
                };
            }
            dict
        }
        more => return Err(fail::runtime(format!("dict expected at most 1 argument, got {}", more.len()))),
    };
    for (key, value) in args.keywords() {
        dict.insert(Key(Value::Str(key.clone())), value.clone());
    }
    Ok(dict)
}

fn dict(vm: &Vm, args: &Args) -> Result<Value, Error> {
    Ok(Value::Dict(Rc::new(dict_items(vm, args)?)))
}
