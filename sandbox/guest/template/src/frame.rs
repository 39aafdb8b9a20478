//! The variables of a running function, and those that a template starts with.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::Slot;
use crate::value::Value;

/// The variables of one call of a function. Functions inside see them, and see what becomes of them.
pub struct Frame {
    slots: RefCell<Vec<Value>>,
    outer: Option<Rc<Frame>>,
    pub context: Rc<Context>,
}

impl Frame {
    /// The frame of the template itself or of a block.
    pub fn root(slots: u32, context: Rc<Context>) -> Rc<Frame> {
        Rc::new(Frame { slots: RefCell::new(vec![Value::Missing; slots as usize]), outer: None, context })
    }

    /// The frame of a function inside `outer`.
    pub fn inner(slots: u32, outer: &Rc<Frame>) -> Rc<Frame> {
        let context = outer.context.clone();
        Rc::new(Frame {
            slots: RefCell::new(vec![Value::Missing; slots as usize]),
            outer: Some(outer.clone()),
            context,
        })
    }

    fn of(&self, slot: Slot) -> &Frame {
        let mut frame = self;
        for _ in 0..slot.up {
            match &frame.outer {
                Some(outer) => frame = outer,
                None => break,
            }
        }
        frame
    }

    pub fn get(&self, slot: Slot) -> Value {
        self.of(slot).slots.borrow().get(slot.index as usize).cloned().unwrap_or(Value::Missing)
    }

    pub fn set(&self, slot: Slot, value: Value) {
        let frame = self.of(slot);
        let old = frame.slots.borrow_mut().get_mut(slot.index as usize).map(|place| std::mem::replace(place, value));
        drop(old);
    }

    pub fn set_here(&self, index: u32, value: Value) {
        self.set(Slot { up: 0, index }, value);
    }

    /// Drops every variable, and with them macros that hold this frame.
    pub fn clear(&self) {
        drop(self.slots.take());
    }
}

/// What a name means that no scope sets.
pub struct Context {
    /// Variables that the template sets at its top, for its blocks.
    pub vars: RefCell<HashMap<Rc<str>, Value>>,
    pub base: Option<Rc<Context>>,
}

impl Context {
    pub fn new(vars: HashMap<Rc<str>, Value>, base: Option<Rc<Context>>) -> Rc<Context> {
        Rc::new(Context { vars: RefCell::new(vars), base })
    }

    pub fn resolve(&self, name: &str) -> Value {
        if let Some(found) = self.vars.borrow().get(name) {
            return found.clone();
        }
        self.base.as_ref().map_or(Value::Missing, |base| base.resolve(name))
    }
}
