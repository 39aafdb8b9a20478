//! Runs the statements of a template.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use crate::ast::{Block, BlockDef, Expr, For, Load, Scope, Stmt, StmtKind, Target, Template};
use crate::clock::Moment;
use crate::fail::{self, Error};
use crate::frame::{Context, Frame};
use crate::iter::{self, Iter, Source};
use crate::looping::Loop;
use crate::text;
use crate::value::{Hint, Macro, Object, Value};

/// How deep calls and expressions may nest while a template runs.
const MAX_DEPTH: u32 = 1500;

/// How deep calls of macros, blocks and recursive loops may nest, about where Python's own stack ends.
const MAX_CALLS: u32 = 150;

/// Where the statements of a block end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    On,
    Break,
    Continue,
}

/// One rendering.
pub struct Vm {
    pub now: Option<Moment>,
    pub blocks: HashMap<Rc<str>, Rc<BlockDef>>,
    /// Whether what is printed is escaped for HTML.
    pub autoescape: Cell<bool>,
    fuel: Cell<u64>,
    depth: Cell<u32>,
    calls: Cell<u32>,
    /// Frames that functions inside may hold, and which may hold those functions.
    frames: RefCell<Vec<Weak<Frame>>>,
    context: Rc<Context>,
}

impl Vm {
    pub fn new(now: Option<Moment>, blocks: HashMap<Rc<str>, Rc<BlockDef>>, fuel: u64, context: Rc<Context>) -> Vm {
        Vm {
            now,
            blocks,
            autoescape: Cell::new(false),
            fuel: Cell::new(fuel),
            depth: Cell::new(0),
            calls: Cell::new(0),
            frames: RefCell::default(),
            context,
        }
    }

    /// Renders a template.
    pub fn render(&self, template: &Template) -> Result<String, Error> {
        let frame = Frame::root(template.slots, self.context.clone());
        self.keep(&frame);
        if let Some(slot) = template.this {
            frame.set_here(slot, Value::object(Object::Blocks));
        }
        let mut out = String::new();
        let result = self.enter(&template.scope, &frame).and_then(|()| self.block(&template.body, &frame, &mut out));
        for frame in self.frames.take() {
            if let Some(frame) = frame.upgrade() {
                frame.clear();
            }
        }
        self.context.vars.take();
        result.map(|_| out)
    }

    /// The variables that the template starts with, and those that it sets at its top.
    pub fn context(&self) -> Rc<Context> {
        self.context.clone()
    }

    /// Notes a frame that is to be cleared in the end, because it and its macros may hold each other.
    pub fn keep(&self, frame: &Rc<Frame>) {
        self.frames.borrow_mut().push(Rc::downgrade(frame));
    }

    /// Counts one step.
    pub fn step(&self) -> Result<(), Error> {
        match self.fuel.get().checked_sub(1) {
            Some(left) => {
                self.fuel.set(left);
                Ok(())
            }
            None => Err(fail::limit("the template runs too long")),
        }
    }

    /// Counts one more level of nesting while `run` runs.
    pub fn deeper<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            return Err(fail::runtime("maximum recursion depth exceeded"));
        }
        self.depth.set(depth + 1);
        let result = run();
        self.depth.set(depth);
        result
    }

    /// Counts one more call while `run` runs.
    pub fn calling<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let calls = self.calls.get();
        if calls >= MAX_CALLS {
            return Err(fail::runtime("maximum recursion depth exceeded"));
        }
        self.calls.set(calls + 1);
        let result = run();
        self.calls.set(calls);
        result
    }

    /// Sets the variables of a scope to what they are when it begins.
    pub fn enter(&self, scope: &Scope, frame: &Frame) -> Result<(), Error> {
        for (slot, load) in &scope.loads {
            let value = match load {
                Load::Parameter => continue,
                Load::Resolve(name) => self.resolve(name, frame),
                Load::Alias(from) => frame.get(*from),
                Load::Undefined => Value::Missing,
            };
            frame.set_here(*slot, value);
        }
        Ok(())
    }

    fn resolve(&self, name: &Rc<str>, frame: &Frame) -> Value {
        match frame.context.resolve(name) {
            Value::Missing => crate::call::global(name).map_or(Value::Missing, |f| Value::object(Object::Function(f))),
            found => found,
        }
    }

    fn leave(&self, scope: &Scope, frame: &Frame) {
        for (slot, _) in &scope.loads {
            frame.set_here(*slot, Value::Missing);
        }
    }

    /// Runs statements.
    pub fn block(&self, block: &Block, frame: &Rc<Frame>, out: &mut String) -> Result<Flow, Error> {
        for stmt in block {
            let flow = self.stmt(stmt, frame, out).map_err(|e| e.at(stmt.line))?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// Runs the statements of a scope inside the function of `frame`.
    fn scoped(&self, scope: &Scope, body: &Block, frame: &Rc<Frame>, out: &mut String) -> Result<Flow, Error> {
        self.enter(scope, frame)?;
        let flow = self.block(body, frame, out)?;
        self.leave(scope, frame);
        Ok(flow)
    }

    fn stmt(&self, stmt: &Stmt, frame: &Rc<Frame>, out: &mut String) -> Result<Flow, Error> {
        self.step()?;
        match &stmt.kind {
            StmtKind::Data(text) => out.push_str(text),
            StmtKind::Print(values) => {
                for e in values {
                    let v = self.eval(e, frame)?;
                    self.print(&v, out)?;
                }
            }
            StmtKind::If { branches, otherwise } => {
                for (test, body) in branches {
                    if self.eval(test, frame)?.is_true() {
                        return self.deeper(|| self.block(body, frame, out));
                    }
                }
                return self.deeper(|| self.block(otherwise, frame, out));
            }
            StmtKind::For(f) if f.recursive => {
                let items = self.eval(&f.iter, frame)?;
                out.push_str(&self.recursive(f, frame, &items, 0)?);
            }
            StmtKind::For(f) => {
                let items = self.eval(&f.iter, frame)?;
                return self.deeper(|| self.for_loop(f, frame, frame, &items, 0, out));
            }
            StmtKind::Set { target, value, exports } => {
                self.check_namespaces(target, frame)?;
                let v = self.eval(value, frame)?;
                self.assign(target, v, frame)?;
                self.export(exports, frame);
            }
            StmtKind::SetBlock { target, filter, scope, body, exports } => {
                self.enter(scope, frame)?;
                let mut text = String::new();
                let flow = self.deeper(|| self.block(body, frame, &mut text))?;
                if flow != Flow::On {
                    return Ok(flow);
                }
                let v = match filter {
                    Some(filter) => self.eval_filters(filter, text, frame)?,
                    None => text.into(),
                };
                let v = match v {
                    Value::Str(s) if self.autoescape.get() => Value::Safe(s),
                    v => v,
                };
                self.assign(target, v, frame)?;
                self.export(exports, frame);
                self.leave(scope, frame);
            }
            StmtKind::With { targets, values, scope, body } => {
                self.enter(scope, frame)?;
                for (target, value) in targets.iter().zip(values) {
                    let v = self.eval(value, frame)?;
                    self.assign(target, v, frame)?;
                }
                let flow = self.deeper(|| self.block(body, frame, out))?;
                self.leave(scope, frame);
                return Ok(flow);
            }
            StmtKind::Filter { filter, scope, body } => {
                self.enter(scope, frame)?;
                let mut text = String::new();
                let flow = self.deeper(|| self.block(body, frame, &mut text))?;
                if flow != Flow::On {
                    return Ok(flow);
                }
                self.write(&self.eval_filters(filter, text, frame)?, out)?;
                self.leave(scope, frame);
            }
            StmtKind::Autoescape { value, scope, body } => {
                self.enter(scope, frame)?;
                let on = self.eval(value, frame)?.is_true();
                let before = self.autoescape.replace(on);
                let flow = self.deeper(|| self.block(body, frame, out));
                self.autoescape.set(before);
                self.leave(scope, frame);
                return flow;
            }
            StmtKind::Macro { name, def, export } => {
                let v = Value::object(Object::Macro(Macro { def: def.clone(), frame: frame.clone() }));
                frame.set(name.slot, v);
                if *export {
                    self.export(std::slice::from_ref(name), frame);
                }
            }
            StmtKind::Call { call, def } => {
                let caller = Value::object(Object::Macro(Macro { def: def.clone(), frame: frame.clone() }));
                self.write(&self.eval_call(call, frame, Some(caller))?, out)?;
            }
            StmtKind::Generation(def) => {
                let body = Macro { def: def.clone(), frame: frame.clone() };
                let v = self.call_macro(&body, &crate::args::Args::new("caller", vec![], vec![]))?;
                text::write_str(out, &v)?;
            }
            StmtKind::Block(def) => self.render_block(def, frame, out)?,
            StmtKind::Loader(tag) => return Err(fail::refused(format!("a chat template cannot use '{tag}'"))),
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    /// Writes what a filter or call block makes, which must be text.
    fn write(&self, v: &Value, out: &mut String) -> Result<(), Error> {
        match v.as_str() {
            Some(_) => text::write_str(out, v),
            None => Err(fail::runtime(format!("a block must make text, not {}", v.type_name()))),
        }
    }

    fn print(&self, v: &Value, out: &mut String) -> Result<(), Error> {
        if let Value::Object(o) = v {
            if let Object::Loop(l) = &**o {
                out.push_str(&l.describe(self)?);
                return Ok(());
            }
        }
        if self.autoescape.get() && !matches!(v, Value::Safe(_)) {
            out.push_str(&text::escape_html(&text::str(v)?));
            return Ok(());
        }
        text::write_str(out, v)
    }

    fn export(&self, names: &[crate::ast::Name], frame: &Frame) {
        if self.blocks.is_empty() {
            return;
        }
        for name in names {
            frame.context.vars.borrow_mut().insert(name.name.clone(), frame.get(name.slot));
        }
    }

    fn check_namespaces(&self, target: &Target, frame: &Frame) -> Result<(), Error> {
        match target {
            Target::Name(_) => Ok(()),
            Target::Attribute(name, _) => match frame.get(name.slot) {
                Value::Object(o) if matches!(*o, Object::Namespace(_)) => Ok(()),
                _ => Err(fail::refused("cannot assign attribute on non-namespace object")),
            },
            Target::Tuple(items) => items.iter().try_for_each(|t| self.check_namespaces(t, frame)),
        }
    }

    /// Assigns to names; a tuple of them takes as many values.
    pub fn assign(&self, target: &Target, v: Value, frame: &Frame) -> Result<(), Error> {
        match target {
            Target::Name(name) => frame.set(name.slot, v),
            Target::Attribute(name, attribute) => {
                if let Value::Object(o) = frame.get(name.slot) {
                    if let Object::Namespace(items) = &*o {
                        items.borrow_mut().insert(attribute.clone(), v);
                    }
                }
            }
            Target::Tuple(targets) => {
                if !iter::is_iterable(&v) {
                    return Err(fail::runtime(format!("cannot unpack non-iterable {} object", v.type_name())));
                }
                let items = iter::collect(self, &v)?;
                if items.len() != targets.len() {
                    let many = if items.len() > targets.len() { "too many" } else { "not enough" };
                    return Err(fail::runtime(format!("{many} values to unpack (expected {})", targets.len())));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(target, item, frame)?;
                }
            }
        }
        Ok(())
    }

    /// A loop over `items`, in the function of `frame`; its condition is a function inside `outer`.
    fn for_loop(
        &self,
        f: &Rc<For>,
        outer: &Rc<Frame>,
        frame: &Rc<Frame>,
        items: &Value,
        depth0: usize,
        out: &mut String,
    ) -> Result<Flow, Error> {
        let mut source = Iter::of(items)?;
        let mut length = items.len();
        if let Some(test) = &f.test {
            let frame = Frame::inner(test.slots, outer);
            self.enter(&test.scope, &frame)?;
            source = Iter::Source(Box::new(Filtered { source, def: f.clone(), frame }));
            length = None;
        }
        // jinja2 takes a loop for empty until one iteration has come to its end.
        let mut otherwise = true;
        match f.extended {
            None => {
                while let Some(item) = source.next(self)? {
                    match self.iteration(f, item, frame, out)? {
                        Flow::On => otherwise = false,
                        Flow::Continue => {}
                        Flow::Break => break,
                    }
                }
            }
            Some(slot) => {
                let recurse = f.recursive.then(|| (f.clone(), outer.clone()));
                let this = Rc::new(Object::Loop(Loop::new(source, length, recurse, depth0)));
                let Object::Loop(state) = &*this else { return Ok(Flow::On) };
                while let Some(item) = state.advance(self)? {
                    frame.set_here(slot, Value::Object(this.clone()));
                    match self.iteration(f, item, frame, out)? {
                        Flow::On => otherwise = false,
                        Flow::Continue => {}
                        Flow::Break => break,
                    }
                }
            }
        }
        self.leave(&f.scope, frame);
        if otherwise && !f.otherwise.is_empty() {
            return self.scoped(&f.else_scope, &f.otherwise, frame, out);
        }
        Ok(Flow::On)
    }

    fn iteration(&self, f: &For, item: Value, frame: &Rc<Frame>, out: &mut String) -> Result<Flow, Error> {
        self.step()?;
        self.assign(&f.target, item, frame)?;
        self.enter(&f.scope, frame)?;
        self.block(&f.body, frame, out)
    }

    fn recursive(&self, f: &Rc<For>, outer: &Rc<Frame>, items: &Value, depth0: usize) -> Result<String, Error> {
        let frame = Frame::inner(f.slots, outer);
        self.keep(&frame);
        let mut out = String::new();
        self.calling(|| self.for_loop(f, outer, &frame, items, depth0, &mut out))?;
        Ok(out)
    }

    /// Renders a recursive loop once more.
    pub fn recursive_loop(&self, f: &Rc<For>, outer: &Rc<Frame>, items: &Value, depth0: usize) -> Result<Value, Error> {
        let text = self.recursive(f, outer, items, depth0)?.into();
        Ok(if self.autoescape.get() { Value::Safe(text) } else { Value::Str(text) })
    }

    fn render_block(&self, def: &Rc<BlockDef>, frame: &Rc<Frame>, out: &mut String) -> Result<(), Error> {
        if def.required {
            return Err(fail::runtime(format!("Required block '{}' not found", def.name)));
        }
        let mut context = frame.context.clone();
        if def.scoped {
            let here = def.visible.iter().map(|n| (n.name.clone(), frame.get(n.slot)));
            let vars = here.filter(|(_, v)| !matches!(v, Value::Missing)).collect();
            context = Context::new(vars, Some(context));
        }
        self.run_block(def, context, out)
    }

    /// Renders a block with the variables of `context`.
    pub fn run_block(&self, def: &Rc<BlockDef>, context: Rc<Context>, out: &mut String) -> Result<(), Error> {
        let inner = Frame::root(def.slots, context);
        self.keep(&inner);
        if let Some(slot) = def.this {
            inner.set_here(slot, Value::object(Object::Blocks));
        }
        if let Some(slot) = def.parent {
            inner.set_here(slot, Value::Undefined(Hint::Words("there is no parent block")));
        }
        self.enter(&def.scope, &inner)?;
        self.calling(|| self.block(&def.body, &inner, out))?;
        Ok(())
    }
}

/// The items of a loop for which its condition holds.
struct Filtered {
    source: Iter,
    def: Rc<For>,
    frame: Rc<Frame>,
}

impl Source for Filtered {
    fn next(&mut self, vm: &Vm) -> Result<Option<Value>, Error> {
        let Some(test) = &self.def.test else { return Ok(None) };
        while let Some(item) = self.source.next(vm)? {
            vm.step()?;
            vm.assign(&test.target, item, &self.frame)?;
            if vm.eval(&test.condition, &self.frame)?.is_true() {
                return Ok(Some(assigned(&test.target, &self.frame)));
            }
        }
        Ok(None)
    }
}

/// What was assigned, as the loop that follows gets it.
fn assigned(target: &Target, frame: &Frame) -> Value {
    match target {
        Target::Name(name) | Target::Attribute(name, _) => frame.get(name.slot),
        Target::Tuple(items) => Value::tuple(items.iter().map(|t| assigned(t, frame)).collect()),
    }
}

impl Vm {
    fn eval_filters(&self, filter: &Expr, text: String, frame: &Rc<Frame>) -> Result<Value, Error> {
        let text = if self.autoescape.get() { Value::Safe(text.into()) } else { text.into() };
        self.filtered(filter, &text, frame)
    }
}
