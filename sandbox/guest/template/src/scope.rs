//! Gives every variable of a template its slot, and finds what jinja2 refuses before a template runs.

use std::collections::HashMap;
use std::rc::Rc;

use crate::args::Kindred;
use crate::ast::{
    Application, Block, BlockDef, Expr, For, Kind, MacroDef, Name, Scope, Stmt, StmtKind, Target, Template,
};
use crate::fail::{self, Error};
use crate::symbols::Scopes;
use crate::undeclared::undeclared;
use crate::{filters, tests};

/// Resolves a template; returns its blocks by name.
pub fn resolve(template: &mut Template) -> Result<HashMap<Rc<str>, Rc<BlockDef>>, Error> {
    let mut r = Resolver { toplevel: true, ..Resolver::default() };
    r.scopes.push_function();
    r.scopes.push();
    if undeclared(&mut template.body, &["self"]).contains("self") {
        template.this = Some(r.scopes.parameter("self"));
    }
    r.scopes.block(&mut template.body);
    r.block(&mut template.body)?;
    template.scope = r.scopes.pop();
    template.slots = r.scopes.pop_function().0;
    Ok(r.blocks)
}

#[derive(Default)]
struct Resolver {
    scopes: Scopes,
    blocks: HashMap<Rc<str>, Rc<BlockDef>>,
    /// Whether what is set here is seen by blocks.
    toplevel: bool,
    /// Whether an unknown filter is an error only when it is reached.
    soft: bool,
    in_loop: bool,
}

impl Resolver {
    fn block(&mut self, block: &mut Block) -> Result<(), Error> {
        block.iter_mut().try_for_each(|stmt| self.stmt(stmt))
    }

    /// Runs `visit` in the state of an inner scope.
    fn inside<T>(&mut self, visit: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let before = (self.toplevel, self.soft);
        (self.toplevel, self.soft) = (false, false);
        let result = visit(self);
        (self.toplevel, self.soft) = before;
        result
    }

    /// A scope of its own around `body`.
    fn scope(&mut self, body: &mut Block) -> Result<Scope, Error> {
        self.scopes.push();
        self.scopes.block(body);
        self.inside(|r| r.block(body))?;
        Ok(self.scopes.pop())
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> Result<(), Error> {
        let line = stmt.line;
        match &mut stmt.kind {
            StmtKind::Data(_) | StmtKind::Loader(_) => Ok(()),
            StmtKind::Print(values) => values.iter_mut().try_for_each(|e| self.expr(e)),
            StmtKind::If { branches, otherwise } => {
                let soft = std::mem::replace(&mut self.soft, true);
                for (test, body) in branches {
                    self.expr(test)?;
                    self.block(body)?;
                }
                self.block(otherwise)?;
                self.soft = soft;
                Ok(())
            }
            StmtKind::For(f) => unique(f).map_or(Ok(()), |f| self.for_loop(f, line)),
            StmtKind::Set { target, value, exports } => {
                self.expr(value)?;
                self.target(target);
                *exports = self.exports(target);
                Ok(())
            }
            StmtKind::SetBlock { target, filter, scope, body, exports } => {
                self.scopes.push();
                self.scopes.block(body);
                self.inside(|r| {
                    r.block(body)?;
                    filter.iter_mut().try_for_each(|f| r.expr(f))
                })?;
                *scope = self.scopes.pop();
                self.target(target);
                *exports = self.exports(target);
                Ok(())
            }
            StmtKind::With { targets, values, scope, body } => {
                values.iter_mut().try_for_each(|e| self.expr(e))?;
                self.scopes.push();
                targets.iter().for_each(|t| self.scopes.parameters(t));
                self.scopes.block(body);
                targets.iter_mut().for_each(|t| self.target(t));
                self.inside(|r| r.block(body))?;
                *scope = self.scopes.pop();
                Ok(())
            }
            StmtKind::Filter { filter, scope, body } => {
                self.scopes.push();
                self.scopes.block(body);
                self.scopes.expr(filter);
                self.inside(|r| {
                    r.block(body)?;
                    r.expr(filter)
                })?;
                *scope = self.scopes.pop();
                Ok(())
            }
            StmtKind::Autoescape { value, scope, body } => {
                self.scopes.push();
                self.scopes.expr(value);
                self.scopes.block(body);
                self.inside(|r| {
                    r.expr(value)?;
                    r.block(body)
                })?;
                *scope = self.scopes.pop();
                Ok(())
            }
            StmtKind::Macro { name, def, export } => {
                name.slot = self.scopes.place(&name.name);
                *export = self.toplevel;
                unique(def).map_or(Ok(()), |def| self.function(def, line))
            }
            StmtKind::Call { call, def } => {
                unique(def).map_or(Ok(()), |def| self.function(def, line))?;
                self.expr(call)
            }
            StmtKind::Generation(def) => unique(def).map_or(Ok(()), |def| self.function(def, line)),
            StmtKind::Block(def) => self.block_definition(def, line),
            StmtKind::Break | StmtKind::Continue if !self.in_loop => {
                Err(fail::refused("'break' or 'continue' outside of a loop").at(line))
            }
            StmtKind::Break | StmtKind::Continue => Ok(()),
        }
    }

    fn exports(&mut self, target: &Target) -> Vec<Name> {
        if !self.toplevel {
            return vec![];
        }
        match target {
            Target::Name(n) => vec![Name { name: n.name.clone(), slot: n.slot }],
            Target::Attribute(..) => vec![],
            Target::Tuple(items) => items.iter().flat_map(|t| self.exports(t)).collect(),
        }
    }

    fn target(&mut self, target: &mut Target) {
        match target {
            Target::Name(n) | Target::Attribute(n, _) => n.slot = self.scopes.place(&n.name),
            Target::Tuple(items) => items.iter_mut().for_each(|t| self.target(t)),
        }
    }

    fn for_loop(&mut self, f: &mut For, line: u32) -> Result<(), Error> {
        let scoped = blocks_in(&f.body) || blocks_in(&f.otherwise);
        let extended = f.recursive || scoped || undeclared(&mut f.body, &["loop"]).contains("loop");
        if assigns_loop(&f.target) || sets_loop(&f.body) || sets_loop(&f.otherwise) {
            return Err(fail::refused("can't assign to the special variable 'loop' in a loop").at(line));
        }
        self.expr(&mut f.iter)?;
        if let Some(test) = &mut f.test {
            self.scopes.push_function();
            self.scopes.push();
            self.scopes.parameters(&test.target);
            self.scopes.expr(&mut test.condition);
            self.target(&mut test.target);
            self.inside(|r| r.expr(&mut test.condition))?;
            test.scope = self.scopes.pop();
            test.slots = self.scopes.pop_function().0;
        }
        if f.recursive {
            self.scopes.push_function();
        }
        self.scopes.push();
        if extended {
            f.extended = Some(self.scopes.parameter("loop"));
        }
        self.scopes.parameters(&f.target);
        self.scopes.block(&mut f.body);
        self.target(&mut f.target);
        let around = std::mem::replace(&mut self.in_loop, true);
        self.inside(|r| r.block(&mut f.body))?;
        f.scope = self.scopes.pop();
        self.in_loop = around && !f.recursive;
        f.else_scope = self.scope(&mut f.otherwise)?;
        self.in_loop = around;
        if f.recursive {
            f.slots = self.scopes.pop_function().0;
        }
        Ok(())
    }

    fn function(&mut self, def: &mut MacroDef, line: u32) -> Result<(), Error> {
        self.scopes.push_function();
        self.scopes.push();
        self.signature(def);
        let used = undeclared(&mut def.body, &["caller", "kwargs", "varargs"]);
        let named = |name: &str| def.args.iter().position(|a| &*a.name == name);
        if used.contains("caller") {
            match named("caller") {
                Some(i) if i + def.defaults.len() < def.args.len() => {
                    return Err(
                        fail::refused("the special argument 'caller' must be left out or have a default").at(line)
                    );
                }
                Some(_) => {}
                None => def.caller = Some(self.scopes.parameter("caller")),
            }
        }
        if used.contains("kwargs") && named("kwargs").is_none() {
            def.kwargs = Some(self.scopes.parameter("kwargs"));
        }
        if used.contains("varargs") && named("varargs").is_none() {
            def.varargs = Some(self.scopes.parameter("varargs"));
        }
        self.signature(def);
        def.args.iter_mut().for_each(|a| a.slot = self.scopes.place(&a.name));
        let around = std::mem::replace(&mut self.in_loop, false);
        self.inside(|r| {
            def.defaults.iter_mut().try_for_each(|e| r.expr(e))?;
            r.block(&mut def.body)
        })?;
        self.in_loop = around;
        def.scope = self.scopes.pop();
        (def.slots, def.closes) = self.scopes.pop_function();
        Ok(())
    }

    fn signature(&mut self, def: &mut MacroDef) {
        for arg in &def.args {
            self.scopes.parameter(&arg.name);
        }
        def.defaults.iter_mut().for_each(|e| self.scopes.expr(e));
        self.scopes.block(&mut def.body);
    }

    /// A block is a function of its own, which sees nothing of what is around it but the context.
    fn block_definition(&mut self, shared: &mut Rc<BlockDef>, line: u32) -> Result<(), Error> {
        if self.blocks.contains_key(&shared.name) {
            return Err(fail::refused(format!("block '{}' defined twice", shared.name)).at(line));
        }
        let visible = if shared.scoped { self.scopes.visible() } else { vec![] };
        let Some(def) = unique(shared) else { return Ok(()) };
        def.visible = visible;
        let scopes = std::mem::take(&mut self.scopes);
        let around = std::mem::replace(&mut self.in_loop, false);
        self.scopes.push_function();
        self.scopes.push();
        let used = undeclared(&mut def.body, &["self", "super"]);
        def.this = used.contains("self").then(|| self.scopes.parameter("self"));
        def.parent = used.contains("super").then(|| self.scopes.parameter("super"));
        self.scopes.block(&mut def.body);
        self.inside(|r| r.block(&mut def.body))?;
        def.scope = self.scopes.pop();
        def.slots = self.scopes.pop_function().0;
        self.scopes = scopes;
        self.in_loop = around;
        self.blocks.insert(shared.name.clone(), shared.clone());
        Ok(())
    }

    fn expr(&mut self, e: &mut Expr) -> Result<(), Error> {
        let line = e.line;
        match &mut e.kind {
            Kind::Name(n) => n.slot = self.scopes.place(&n.name),
            Kind::Filter(f) => self.apply(f, Kindred::Filter, line)?,
            Kind::Test(t) => self.apply(t, Kindred::Test, line)?,
            _ => {}
        }
        let soft = self.soft;
        self.soft |= matches!(e.kind, Kind::Cond(_));
        let mut result = Ok(());
        e.each_part(&mut |part| {
            if result.is_ok() {
                result = self.expr(part);
            }
        });
        result?;
        self.soft = soft;
        Ok(())
    }

    fn apply(&mut self, a: &mut Application, kindred: Kindred, line: u32) -> Result<(), Error> {
        a.function = match kindred {
            Kindred::Filter => filters::find(&a.name),
            Kindred::Test => tests::find(&a.name),
        };
        if a.function.is_none() && !self.soft {
            return Err(fail::refused(kindred.unknown(&a.name)).at(line));
        }
        Ok(())
    }
}

/// A part of the tree that nothing else shares yet, as none is before a template runs.
fn unique<T>(shared: &mut Rc<T>) -> Option<&mut T> {
    Rc::get_mut(shared)
}

fn assigns_loop(target: &Target) -> bool {
    match target {
        Target::Name(n) => &*n.name == "loop",
        Target::Attribute(..) => false,
        Target::Tuple(items) => items.iter().any(assigns_loop),
    }
}

/// Every block of statements directly inside a statement.
fn bodies(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If { branches, otherwise } => branches.iter().map(|(_, b)| b).chain([otherwise]).collect(),
        StmtKind::For(f) => vec![&f.body, &f.otherwise],
        StmtKind::SetBlock { body, .. }
        | StmtKind::With { body, .. }
        | StmtKind::Filter { body, .. }
        | StmtKind::Autoescape { body, .. } => vec![body],
        StmtKind::Macro { def, .. } | StmtKind::Call { def, .. } | StmtKind::Generation(def) => vec![&def.body],
        StmtKind::Block(def) => vec![&def.body],
        _ => vec![],
    }
}

fn sets_loop(block: &Block) -> bool {
    block.iter().any(|stmt| {
        let here = match &stmt.kind {
            StmtKind::Set { target, .. } | StmtKind::SetBlock { target, .. } => assigns_loop(target),
            StmtKind::For(f) => assigns_loop(&f.target),
            _ => false,
        };
        here || bodies(stmt).into_iter().any(sets_loop)
    })
}

fn blocks_in(block: &Block) -> bool {
    block
        .iter()
        .any(|stmt| matches!(&stmt.kind, StmtKind::Block(def) if def.scoped) || bodies(stmt).into_iter().any(blocks_in))
}
