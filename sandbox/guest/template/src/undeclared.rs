//! Which special names a body uses before it sets them, as jinja2's `find_undeclared` counts.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ast::{Block, Expr, Kind, MacroDef, Stmt, StmtKind, Target};

/// The names among `names` that `block` reads. jinja2 stops looking for a name that it sees set first, and does not
/// look into blocks.
pub fn undeclared<'a>(block: &mut Block, names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut v = Visitor { names: names.iter().copied().collect(), found: BTreeSet::new() };
    v.block(block);
    v.found
}

struct Visitor<'a> {
    names: BTreeSet<&'a str>,
    found: BTreeSet<&'a str>,
}

impl Visitor<'_> {
    fn set(&mut self, name: &str) {
        self.names.remove(name);
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Name(n) => self.set(&n.name),
            Target::Attribute(..) => {}
            Target::Tuple(items) => items.iter().for_each(|t| self.target(t)),
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        if let Kind::Name(n) = &e.kind {
            if let Some(name) = self.names.get(&*n.name) {
                self.found.insert(name);
            }
        }
        e.each_part(&mut |part| self.expr(part));
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e mut Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn block(&mut self, block: &mut Block) {
        block.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn definition(&mut self, def: &mut Rc<MacroDef>) {
        let Some(def) = Rc::get_mut(def) else { return };
        def.args.iter().for_each(|a| self.set(&a.name));
        self.exprs(&mut def.defaults);
        self.block(&mut def.body);
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Print(values) => self.exprs(values),
            StmtKind::If { branches, otherwise } => {
                for (test, body) in branches {
                    self.expr(test);
                    self.block(body);
                }
                self.block(otherwise);
            }
            StmtKind::For(f) => {
                let Some(f) = Rc::get_mut(f) else { return };
                self.target(&f.target);
                self.expr(&mut f.iter);
                self.block(&mut f.body);
                self.block(&mut f.otherwise);
                self.exprs(f.test.iter_mut().map(|t| &mut t.condition));
            }
            StmtKind::Set { target, value, .. } => {
                self.target(target);
                self.expr(value);
            }
            StmtKind::SetBlock { target, filter, body, .. } => {
                self.target(target);
                self.exprs(filter);
                self.block(body);
            }
            StmtKind::With { targets, values, body, .. } => {
                targets.iter().for_each(|t| self.target(t));
                self.exprs(values);
                self.block(body);
            }
            StmtKind::Filter { filter, body, .. } => {
                self.block(body);
                self.expr(filter);
            }
            StmtKind::Autoescape { value, body, .. } => {
                self.expr(value);
                self.block(body);
            }
            StmtKind::Macro { def, .. } | StmtKind::Generation(def) => self.definition(def),
            StmtKind::Call { call, def } => {
                self.expr(call);
                self.definition(def);
            }
            StmtKind::Data(_) | StmtKind::Block(_) | StmtKind::Loader(_) | StmtKind::Break | StmtKind::Continue => {}
        }
    }
}
