//! Filters over sequences.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::access;
use crate::args::{Args, Kindred};
use crate::fail::{self, Error};
use crate::iter::{self, Iter, Source};
use crate::marks;
use crate::ops;
use crate::text;
use crate::value::{Hint, Key, Value, View};
use crate::vm::Vm;
use crate::{budget, filters, tests};

/// Text in lower case, anything else as it is: what is sorted by unless case matters.
fn folded(v: Value) -> Value {
    match v.as_str() {
        Some(s) => marks::change_text(s, false).into(),
        None => v,
    }
}

/// The argument `attribute`, as a path.
fn path_of(args: &Args, i: usize) -> Vec<Value> {
    args.get(i, "attribute").map(access::path).unwrap_or_default()
}

/// Items with what they are sorted by.
fn ranked(
    vm: &Vm,
    v: &Value,
    path: &[Value],
    default: Option<&Value>,
    fold: bool,
) -> Result<Vec<(Value, Value)>, Error> {
    let rank = |item: Value| {
        let rank = access::follow(vm, &item, path, default)?;
        Ok((if fold { folded(rank) } else { rank }, item))
    };
    iter::collect(vm, v)?.into_iter().map(rank).collect()
}

pub fn list(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    Ok(Value::list(iter::collect(vm, v)?))
}

pub fn first(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    let first = Iter::of(v)?.next(vm)?;
    Ok(first.unwrap_or(Value::Undefined(Hint::Words("No first item, sequence was empty."))))
}

/// The items from the last to the first.
fn backwards(vm: &Vm, v: &Value) -> Result<Vec<Value>, Error> {
    if matches!(v, Value::Iter(_)) || !iter::is_iterable(v) {
        return Err(fail::runtime(format!("'{}' object is not reversible", v.type_name())));
    }
    let mut items = iter::collect(vm, v)?;
    items.reverse();
    Ok(items)
}

pub fn last(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    let last = match v.as_items() {
        Some(items) => items.last().cloned(),
        None => backwards(vm, v)?.into_iter().next(),
    };
    Ok(last.unwrap_or(Value::Undefined(Hint::Words("No last item, sequence was empty."))))
}

pub fn reverse(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    match v {
        Value::Str(s) => {
            budget::charge(s.len())?;
            Ok(s.chars().rev().collect::<String>().into())
        }
        Value::Safe(s) => Ok(Value::Safe(s.chars().rev().collect::<String>().into())),
        Value::Iter(_) => {
            let mut items = iter::collect(vm, v)?;
            items.reverse();
            Ok(Value::list(items))
        }
        _ => backwards(vm, v).map(Iter::ready),
    }
}

pub fn join(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["d", "attribute"])?;
    let sep = args.get(0, "d").cloned().unwrap_or_else(|| Value::str(""));
    let path = path_of(args, 1);
    let mut iter = Iter::of(v)?;
    let mut items = Vec::new();
    while let Some(item) = iter.next(vm)? {
        budget::charge(16)?;
        items.push(if path.is_empty() { item } else { access::follow(vm, &item, &path, None)? });
    }
    let safe = |v: &Value| matches!(v, Value::Safe(_));
    let escape = vm.autoescape.get() && (safe(&sep) || items.iter().any(safe));
    let mut out = String::new();
    let write = |out: &mut String, v: &Value| match v {
        Value::Safe(_) => text::write_str(out, v),
        _ if escape => {
            out.push_str(&text::escape_html(&text::str(v)?));
            Ok(())
        }
        _ => text::write_str(out, v),
    };
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            write(&mut out, &sep)?;
        }
        write(&mut out, item)?;
    }
    Ok(if escape { Value::Safe(out.into()) } else { out.into() })
}

pub fn items(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&[])?;
    match v {
        Value::Undefined(_) => Ok(Iter::ready(vec![])),
        _ => match access::view(v, View::Items) {
            Some(view) => Ok(Iter::ready(iter::collect(vm, &view)?)),
            None => Ok(Iter::generator(Failing)),
        },
    }
}

/// The items of what has none.
struct Failing;

impl Source for Failing {
    fn next(&mut self, _: &Vm) -> Result<Option<Value>, Error> {
        Err(fail::runtime("Can only get item pairs from a mapping."))
    }
}

pub fn dictsort(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["case_sensitive", "by", "reverse"])?;
    let by = match args.get(1, "by").map_or(Some("key"), Value::as_str) {
        Some("key") => 0,
        Some("value") => 1,
        _ => return Err(fail::runtime("You can only sort by either \"key\" or \"value\"")),
    };
    let Value::Dict(d) = v else {
        return Err(if v.is_undefined() {
            ops::undefined(v)
        } else {
            fail::undefined(format!("'{} object' has no attribute 'items'", v.type_name()))
        });
    };
    budget::charge(d.len().saturating_mul(64))?;
    let fold = !args.truth(0, "case_sensitive", false);
    let rank = |pair: [Value; 2]| (if fold { folded(pair[by].clone()) } else { pair[by].clone() }, pair);
    let mut pairs = d.iter().map(|(k, v)| rank([k.0.clone(), v.clone()])).collect();
    sort_ranked(&mut pairs, args.truth(2, "reverse", false))?;
    Ok(Value::list(pairs.into_iter().map(|(_, pair)| Value::tuple(pair.to_vec())).collect()))
}

/// Sorts by rank; equal ones keep their order, backwards too.
fn sort_ranked<T: Clone>(items: &mut Vec<(Value, T)>, backwards: bool) -> Result<(), Error> {
    if backwards {
        items.reverse();
    }
    ops::sort(items, |(rank, _)| rank)?;
    if backwards {
        items.reverse();
    }
    Ok(())
}

pub fn sort(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["reverse", "case_sensitive", "attribute"])?;
    let fold = !args.truth(1, "case_sensitive", false);
    let paths: Vec<Vec<Value>> = match args.get(2, "attribute") {
        Some(a) if a.as_str().is_some() => {
            a.as_str().unwrap_or_default().split(',').map(|part| access::path(&Value::str(part))).collect()
        }
        Some(a) => vec![access::path(a)],
        None => vec![vec![]],
    };
    let rank = |item: &Value| {
        let one = |path: &Vec<Value>| {
            let rank = access::follow(vm, item, path, None)?;
            Ok(if fold { folded(rank) } else { rank })
        };
        paths.iter().map(one).collect::<Result<Vec<_>, Error>>().map(Value::list)
    };
    let mut pairs = Vec::new();
    for item in iter::collect(vm, v)? {
        pairs.push((rank(&item)?, item));
    }
    sort_ranked(&mut pairs, args.truth(0, "reverse", false))?;
    Ok(Value::list(pairs.into_iter().map(|(_, item)| item).collect()))
}

pub fn groupby(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["attribute", "default", "case_sensitive"])?;
    args.need(0, "attribute")?;
    let path = path_of(args, 0);
    let default = args.get(1, "default").filter(|d| !d.is_none());
    let fold = !args.truth(2, "case_sensitive", false);
    let mut pairs = ranked(vm, v, &path, default, fold)?;
    sort_ranked(&mut pairs, false)?;
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (rank, item) in pairs {
        match groups.last_mut() {
            Some((last, items)) if ops::equal(last, &rank)? => items.push(item),
            _ => groups.push((rank, vec![item])),
        }
    }
    let group = |(rank, items): (Value, Vec<Value>)| {
        let grouper = match items.first() {
            Some(first) if fold => access::follow(vm, first, &path, default)?,
            _ => rank,
        };
        Ok(Value::Group(Rc::new(vec![grouper, Value::list(items)])))
    };
    Ok(Value::list(groups.into_iter().map(group).collect::<Result<_, Error>>()?))
}

pub fn unique(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["case_sensitive", "attribute"])?;
    let (fold, path) = (!args.truth(0, "case_sensitive", false), path_of(args, 1));
    later(vm, v, move |vm, v| {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for (rank, item) in ranked(vm, v, &path, None, fold)? {
            if let Some(kind) = rank.unhashable() {
                return Err(fail::runtime(format!("unhashable type: '{kind}'")));
            }
            if seen.insert(Key(rank)) {
                kept.push(item);
            }
        }
        Ok(kept)
    })
}

pub fn batch(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["linecount", "fill_with"])?;
    args.need(0, "linecount")?;
    let (size, fill) = (args.opt_int(0, "linecount")?, args.get(1, "fill_with").filter(|f| !f.is_none()).cloned());
    later(vm, v, move |vm, v| {
        let (mut batches, mut batch) = (Vec::new(), Vec::new());
        for item in iter::collect(vm, v)? {
            if Some(batch.len() as i64) == size {
                batches.push(Value::list(std::mem::take(&mut batch)));
            }
            batch.push(item);
        }
        if !batch.is_empty() {
            if let Some(fill) = fill {
                let missing = ops::size(size.unwrap_or(0)).saturating_sub(batch.len());
                budget::charge(missing.saturating_mul(16))?;
                batch.extend(std::iter::repeat_n(fill, missing));
            }
            batches.push(Value::list(batch));
        }
        Ok(batches)
    })
}

pub fn slice(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["slices", "fill_with"])?;
    args.need(0, "slices")?;
    let (slices, fill) = (args.opt_int(0, "slices")?, args.get(1, "fill_with").filter(|f| !f.is_none()).cloned());
    later(vm, v, move |vm, v| {
        let items = iter::collect(vm, v)?;
        let slices = ops::size(slices.unwrap_or(0));
        if slices == 0 {
            return Err(fail::runtime("integer division or modulo by zero"));
        }
        budget::charge(slices.saturating_mul(32))?;
        let (each, extra) = (items.len() / slices, items.len() % slices);
        let mut rest = items.as_slice();
        let mut result = Vec::new();
        for i in 0..slices {
            let (taken, left) = rest.split_at(each + usize::from(i < extra));
            rest = left;
            let mut taken = taken.to_vec();
            if i >= extra {
                taken.extend(fill.clone());
            }
            result.push(Value::list(taken));
        }
        Ok(result)
    })
}

/// A generator whose items are computed together when the first one is asked for.
fn later(
    _: &Vm,
    v: &Value,
    make: impl FnOnce(&Vm, &Value) -> Result<Vec<Value>, Error> + 'static,
) -> Result<Value, Error> {
    Ok(Iter::generator(Later { make: Some((v.clone(), Box::new(make))), items: vec![] }))
}

type Make = Box<dyn FnOnce(&Vm, &Value) -> Result<Vec<Value>, Error>>;

struct Later {
    make: Option<(Value, Make)>,
    items: Vec<Value>,
}

impl Source for Later {
    fn next(&mut self, vm: &Vm) -> Result<Option<Value>, Error> {
        if let Some((v, make)) = self.make.take() {
            self.items = make(vm, &v)?;
            self.items.reverse();
        }
        Ok(self.items.pop())
    }
}

pub fn sum(vm: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    args.expect(&["attribute", "start"])?;
    let path = path_of(args, 0);
    let mut total = args.get(1, "start").cloned().unwrap_or(Value::Int(0));
    if total.as_str().is_some() {
        return Err(fail::runtime("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    for item in iter::collect(vm, v)? {
        total = ops::binary("+", &total, &access::follow(vm, &item, &path, None)?)?;
    }
    Ok(total)
}

/// `min` and `max`: the first item than which none is further in the direction of `op`.
pub fn extreme(vm: &Vm, v: &Value, args: &Args, op: &'static str) -> Result<Value, Error> {
    args.expect(&["case_sensitive", "attribute"])?;
    let fold = !args.truth(0, "case_sensitive", false);
    let mut best: Option<(Value, Value)> = None;
    for (rank, item) in ranked(vm, v, &path_of(args, 1), None, fold)? {
        let better = match &best {
            None => true,
            Some((than, _)) => ops::compare(vm, op, &rank, than)?,
        };
        if better {
            best = Some((rank, item));
        }
    }
    Ok(best.map_or(Value::Undefined(Hint::Words("No aggregated item, sequence was empty.")), |(_, item)| item))
}

/// The items of a value, one after the other, with something done to each.
struct Each<F> {
    value: Value,
    iter: RefCell<Option<Iter>>,
    each: F,
}

impl<F: FnMut(&Vm, Value) -> Result<Option<Value>, Error>> Source for Each<F> {
    fn next(&mut self, vm: &Vm) -> Result<Option<Value>, Error> {
        if !self.value.is_true() {
            return Ok(None);
        }
        let iter = self.iter.get_mut();
        if iter.is_none() {
            *iter = Some(Iter::of(&self.value)?);
        }
        let Some(iter) = iter else { return Ok(None) };
        while let Some(item) = iter.next(vm)? {
            vm.step()?;
            if let Some(result) = (self.each)(vm, item)? {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }
}

fn each(v: &Value, each: impl FnMut(&Vm, Value) -> Result<Option<Value>, Error> + 'static) -> Value {
    Iter::generator(Each { value: v.clone(), iter: RefCell::new(None), each })
}

pub fn map(_: &Vm, v: &Value, args: &Args) -> Result<Value, Error> {
    let attribute = args.keywords().iter().find(|(k, _)| &**k == "attribute").map(|(_, v)| v.clone());
    if let (true, Some(attribute)) = (args.positional().is_empty(), attribute) {
        let default = args.keywords().iter().find(|(k, _)| &**k == "default").map(|(_, v)| v.clone());
        let unexpected =
            args.keywords().iter().find(|(k, _)| !matches!(&**k, "attribute" | "default")).map(|(k, _)| k.clone());
        let (path, default) = (access::path(&attribute), default.filter(|d| !d.is_none()));
        return Ok(each(v, move |vm, item| match &unexpected {
            Some(key) => Err(fail::runtime(format!("Unexpected keyword argument '{key}'"))),
            None => access::follow(vm, &item, &path, default.as_ref()).map(Some),
        }));
    }
    let name = args.positional().first().cloned();
    let args = args.rest("map");
    Ok(each(v, move |vm, item| {
        let Some(name) = &name else { return Err(fail::runtime("map requires a filter argument")) };
        let name = name.as_str().unwrap_or_default();
        let Some(filter) = filters::find(name) else { return Err(fail::refused(Kindred::Filter.unknown(name))) };
        filter(vm, &item, &args).map(Some)
    }))
}

/// `select`, `reject` and their kin over an attribute.
pub fn pick(v: &Value, args: &Args, keep: bool, attribute: bool) -> Result<Value, Error> {
    let mut given = args.positional().iter();
    let path = if attribute { given.next().map(access::path) } else { Some(vec![]) };
    let test = given.next().cloned();
    let args = Args::new("select", given.cloned().collect(), args.keywords().to_vec());
    Ok(each(v, move |vm, item| {
        let Some(path) = &path else { return Err(fail::runtime("Missing parameter for attribute name")) };
        let subject = access::follow(vm, &item, path, None)?;
        let holds = match &test {
            None => subject.is_true(),
            Some(name) => {
                let name = name.as_str().unwrap_or_default();
                let Some(test) = tests::find(name) else { return Err(fail::refused(Kindred::Test.unknown(name))) };
                test(vm, &subject, &args)?.is_true()
            }
        };
        Ok((holds == keep).then_some(item))
    }))
}
