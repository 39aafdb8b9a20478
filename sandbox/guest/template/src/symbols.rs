//! Which variable a name means in each scope, found as jinja2's idtracking finds it before anything runs.
//!
//! jinja2 compiles a template to Python functions whose local variables are named by scope and name; here each such
//! variable is a slot of its function's frame.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::ast::{Block, Expr, Kind, Load, Name, Scope, Slot, StmtKind, Target};

/// A variable: the depth of its function, and the slot there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    function: usize,
    slot: u32,
}

#[derive(Clone)]
enum Source {
    Parameter,
    Resolve(Rc<str>),
    Alias(Id),
    Undefined,
}

/// The names of one scope.
#[derive(Clone, Default)]
struct Symbols {
    refs: HashMap<Rc<str>, Id>,
    loads: IndexMap<Id, Source>,
    stores: BTreeSet<Rc<str>>,
}

/// The variables of one function.
#[derive(Default)]
struct Function {
    slots: HashMap<(usize, Rc<str>), u32>,
    closed_over: bool,
}

/// The scopes around a place in a template, the innermost last.
#[derive(Default)]
pub struct Scopes {
    /// Shared with the branches of an `if` until one of them changes something.
    scopes: Vec<Rc<Symbols>>,
    functions: Vec<Function>,
}

impl Scopes {
    pub fn push_function(&mut self) {
        if let Some(outer) = self.functions.last_mut() {
            outer.closed_over = true;
        }
        self.functions.push(Function::default());
    }

    /// Ends a function; returns its number of slots and whether functions inside see its variables.
    pub fn pop_function(&mut self) -> (u32, bool) {
        let f = self.functions.pop().unwrap_or_default();
        (f.slots.len() as u32, f.closed_over)
    }

    pub fn push(&mut self) {
        self.scopes.push(Rc::default());
    }

    /// Ends a scope; returns what is to be done when it is entered.
    pub fn pop(&mut self) -> Scope {
        let symbols = Rc::unwrap_or_clone(self.scopes.pop().unwrap_or_default());
        let loads = symbols.loads.into_iter().map(|(id, source)| {
            let load = match source {
                Source::Parameter => Load::Parameter,
                Source::Resolve(name) => Load::Resolve(name),
                Source::Alias(id) => Load::Alias(self.slot(id)),
                Source::Undefined => Load::Undefined,
            };
            (id.slot, load)
        });
        Scope { loads: loads.collect() }
    }

    fn top(&mut self) -> &mut Symbols {
        if self.scopes.is_empty() {
            self.push();
        }
        let last = self.scopes.len() - 1;
        Rc::make_mut(&mut self.scopes[last])
    }

    fn slot(&self, id: Id) -> Slot {
        Slot { up: (self.functions.len().saturating_sub(1 + id.function)) as u32, index: id.slot }
    }

    fn define(&mut self, name: &Rc<str>, source: Source) -> Id {
        let level = self.scopes.len();
        let function = self.functions.len().saturating_sub(1);
        let slots = &mut self.functions[function].slots;
        let next = slots.len() as u32;
        let slot = *slots.entry((level, name.clone())).or_insert(next);
        let id = Id { function, slot };
        let top = self.top();
        top.refs.insert(name.clone(), id);
        top.loads.insert(id, source);
        id
    }

    fn find(&self, name: &str) -> Option<Id> {
        self.scopes.iter().rev().find_map(|s| s.refs.get(name).copied())
    }

    fn find_outside(&self, name: &str) -> Option<Id> {
        self.scopes.iter().rev().skip(1).find_map(|s| s.refs.get(name).copied())
    }

    /// Where `name` lives, as seen from here.
    pub fn place(&mut self, name: &Rc<str>) -> Slot {
        let id = match self.find(name) {
            Some(id) => id,
            None => self.define(name, Source::Resolve(name.clone())),
        };
        self.slot(id)
    }

    fn load(&mut self, name: &Rc<str>) {
        if self.find(name).is_none() {
            self.define(name, Source::Resolve(name.clone()));
        }
    }

    pub fn store(&mut self, name: &Rc<str>) {
        let known = self.scopes.last().map(|s| (s.stores.contains(name), s.refs.contains_key(name)));
        let (stored, seen) = known.unwrap_or_default();
        if !stored {
            self.top().stores.insert(name.clone());
        }
        if !seen {
            let source = self.find_outside(name).map_or(Source::Undefined, Source::Alias);
            self.define(name, source);
        }
    }

    /// Declares a variable that is set by whoever enters the scope; returns its slot.
    pub fn parameter(&mut self, name: &str) -> u32 {
        let name = Rc::from(name);
        self.top().stores.insert(Rc::clone(&name));
        self.define(&name, Source::Parameter).slot
    }

    pub fn parameters(&mut self, target: &Target) {
        match target {
            Target::Name(n) | Target::Attribute(n, _) => {
                self.parameter(&n.name);
            }
            Target::Tuple(items) => items.iter().for_each(|t| self.parameters(t)),
        }
    }

    /// Every name that is set here or around here, with its place.
    pub fn visible(&self) -> Vec<Name> {
        let names: BTreeSet<_> = self.scopes.iter().flat_map(|s| s.stores.iter().cloned()).collect();
        let place = |name: Rc<str>| self.find(&name).map(|id| Name { slot: self.slot(id), name });
        names.into_iter().filter_map(place).collect()
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Name(n) => self.store(&n.name),
            Target::Attribute(n, _) => self.load(&n.name),
            Target::Tuple(items) => items.iter().for_each(|t| self.target(t)),
        }
    }

    pub fn expr(&mut self, e: &mut Expr) {
        if let Kind::Name(n) = &e.kind {
            let name = n.name.clone();
            self.load(&name);
        }
        e.each_part(&mut |part| self.expr(part));
    }

    /// Notes the names that statements use in this scope; scopes inside are left to their own turn.
    pub fn block(&mut self, block: &mut Block) {
        for stmt in block {
            match &mut stmt.kind {
                StmtKind::Print(values) => values.iter_mut().for_each(|e| self.expr(e)),
                StmtKind::If { branches, otherwise } => self.branches(branches, otherwise),
                StmtKind::For(f) => {
                    if let Some(f) = Rc::get_mut(f) {
                        self.expr(&mut f.iter);
                    }
                }
                StmtKind::Set { target, value, .. } => {
                    self.expr(value);
                    self.target(target);
                }
                StmtKind::SetBlock { target, .. } => self.target(target),
                StmtKind::With { values, .. } => values.iter_mut().for_each(|e| self.expr(e)),
                StmtKind::Filter { filter, .. } => self.expr(filter),
                StmtKind::Macro { name, .. } => self.store(&name.name),
                StmtKind::Call { call, .. } => self.expr(call),
                StmtKind::Data(_)
                | StmtKind::Autoescape { .. }
                | StmtKind::Generation(_)
                | StmtKind::Block(_)
                | StmtKind::Loader(_)
                | StmtKind::Break
                | StmtKind::Continue => {}
            }
        }
    }

    /// An `if` with its `elif`s, which jinja2 takes for `if`s of their own after the first.
    fn branches(&mut self, branches: &mut [(Expr, Block)], otherwise: &mut Block) {
        let Some(((test, body), more)) = branches.split_first_mut() else { return };
        self.expr(test);
        let body = self.branch(|s| s.block(body));
        let elifs = self.branch(|s| {
            for elif in more {
                s.branches(std::slice::from_mut(elif), &mut Vec::new());
            }
        });
        let otherwise = self.branch(|s| s.block(otherwise));
        self.join([body, elifs, otherwise].into_iter().flatten().collect());
    }

    /// What the scope would be after `visit`; none if it would be the same.
    fn branch(&mut self, visit: impl FnOnce(&mut Scopes)) -> Option<Rc<Symbols>> {
        let before = self.scopes.last()?.clone();
        visit(self);
        let after = std::mem::replace(self.scopes.last_mut()?, before.clone());
        (!Rc::ptr_eq(&after, &before)).then_some(after)
    }

    /// Goes on with what the branches did: what only some of them set keeps its value from outside, if it has one.
    fn join(&mut self, branches: Vec<Rc<Symbols>>) {
        if branches.is_empty() {
            return;
        }
        let mut stores: BTreeSet<Rc<str>> = branches.iter().flat_map(|b| b.stores.iter().cloned()).collect();
        stores.retain(|name| !self.top().stores.contains(name));
        for branch in branches {
            let (top, branch) = (self.top(), Rc::unwrap_or_clone(branch));
            top.refs.extend(branch.refs);
            top.loads.extend(branch.loads);
            top.stores.extend(branch.stores);
        }
        for name in stores {
            let source = self.find_outside(&name).map_or_else(|| Source::Resolve(name.clone()), Source::Alias);
            if let Some(id) = self.find(&name) {
                self.top().loads.insert(id, source);
            }
        }
    }
}
