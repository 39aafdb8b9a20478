//! The variable `loop`, which knows where its loop is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::args::Args;
use crate::ast::For;
use crate::fail::{self, Error};
use crate::frame::Frame;
use crate::iter::Iter;
use crate::ops;
use crate::value::{Hint, Value};
use crate::vm::Vm;

/// A loop and its place.
pub struct Loop {
    source: RefCell<Iter>,
    length: Cell<Option<usize>>,
    /// Iterations begun.
    index: Cell<usize>,
    after: RefCell<Option<Value>>,
    current: RefCell<Option<Value>>,
    before: RefCell<Option<Value>>,
    changed: RefCell<Option<Vec<Value>>>,
    /// What a recursive loop renders again.
    recurse: Option<(Rc<For>, Rc<Frame>)>,
    depth0: usize,
}

/// The attributes of `loop` that are methods.
pub fn method(name: &str) -> Option<&'static str> {
    ["cycle", "changed"].into_iter().find(|m| *m == name)
}

impl Loop {
    pub fn new(source: Iter, length: Option<usize>, recurse: Option<(Rc<For>, Rc<Frame>)>, depth0: usize) -> Loop {
        Loop {
            source: RefCell::new(source),
            length: Cell::new(length),
            index: Cell::new(0),
            after: RefCell::default(),
            current: RefCell::default(),
            before: RefCell::default(),
            changed: RefCell::default(),
            recurse,
            depth0,
        }
    }

    fn pull(&self, vm: &Vm) -> Result<Option<Value>, Error> {
        match self.source.try_borrow_mut() {
            Ok(mut source) => source.next(vm),
            Err(_) => Err(fail::runtime("generator already executing")),
        }
    }

    /// Goes on to the next item.
    pub fn advance(&self, vm: &Vm) -> Result<Option<Value>, Error> {
        let after = self.after.take();
        let Some(item) = (if after.is_some() { after } else { self.pull(vm)? }) else { return Ok(None) };
        self.index.set(self.index.get() + 1);
        let last = self.current.replace(Some(item.clone()));
        self.before.replace(last);
        Ok(Some(item))
    }

    fn peek(&self, vm: &Vm) -> Result<Option<Value>, Error> {
        if self.after.borrow().is_none() {
            let next = self.pull(vm)?;
            self.after.replace(next);
        }
        Ok(self.after.borrow().clone())
    }

    /// The number of items; an iterator is read to its end for it.
    pub fn length(&self, vm: &Vm) -> Result<usize, Error> {
        if let Some(known) = self.length.get() {
            return Ok(known);
        }
        let mut rest = Vec::new();
        while let Some(item) = self.pull(vm)? {
            crate::budget::charge(16)?;
            rest.push(item);
        }
        let length = rest.len() + self.index.get() + self.after.borrow().iter().count();
        rest.reverse();
        self.source.replace(Iter::Reversed(rest));
        self.length.set(Some(length));
        Ok(length)
    }

    /// An attribute that is no method.
    pub fn attribute(&self, vm: &Vm, name: &str) -> Result<Option<Value>, Error> {
        let index = self.index.get() as i64;
        Ok(Some(match name {
            "index" => Value::Int(index),
            "index0" => Value::Int(index - 1),
            "length" => self.length(vm)?.into(),
            "revindex" => Value::Int(self.length(vm)? as i64 - index + 1),
            "revindex0" => Value::Int(self.length(vm)? as i64 - index),
            "first" => Value::Bool(index == 1),
            "last" => Value::Bool(self.peek(vm)?.is_none()),
            "depth" => (self.depth0 + 1).into(),
            "depth0" => self.depth0.into(),
            "previtem" => match self.before.borrow().clone() {
                Some(before) if index != 1 => before,
                _ => Value::Undefined(Hint::Words("there is no previous item")),
            },
            "nextitem" => self.peek(vm)?.unwrap_or(Value::Undefined(Hint::Words("there is no next item"))),
            _ => return Ok(None),
        }))
    }

    /// The loop as Python prints it.
    pub fn describe(&self, vm: &Vm) -> Result<String, Error> {
        Ok(format!("<LoopContext {}/{}>", self.index.get(), self.length(vm)?))
    }

    pub fn call_method(&self, name: &str, args: &Args) -> Result<Value, Error> {
        args.no_keywords()?;
        let given = args.positional();
        if name == "cycle" {
            if given.is_empty() {
                return Err(fail::runtime("no items for cycling given"));
            }
            return Ok(given[(self.index.get().max(1) - 1) % given.len()].clone());
        }
        let same = match &*self.changed.borrow() {
            Some(last) => ops::equal_items(last, given)?,
            None => false,
        };
        if !same {
            self.changed.replace(Some(given.to_vec()));
        }
        Ok(Value::Bool(!same))
    }

    /// `loop(items)`: renders the loop again, one level deeper.
    pub fn call(&self, vm: &Vm, args: &Args) -> Result<Value, Error> {
        let Some((def, frame)) = &self.recurse else {
            return Err(fail::runtime("The loop must have the 'recursive' marker to be called recursively."));
        };
        args.expect(&["iterable"])?;
        let items = args.need(0, "iterable")?;
        vm.recursive_loop(def, frame, items, self.depth0 + 1)
    }
}
