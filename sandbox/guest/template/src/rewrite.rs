//! Replaces the operations that differ between Rust and Python by calls of this crate's functions.
//!
//! The functions are filters whose names start with `$`, which no template can spell. Spans are kept, so errors name
//! the right line.

use minijinja::machinery::ast::{self, BinOpKind, CallArg, CompareOpKind, Expr, Spanned, Stmt, UnaryOpKind};
use minijinja::machinery::Span;
use minijinja::Value;

use crate::fail::Failure;

/// Filters that walk over their input, which fails for values that Python cannot iterate over.
const WALKING: &[&str] = &[
    "batch", "first", "groupby", "join", "list", "max", "min", "slice", "sort", "sum", "unique",
];

/// Filters that do so later, and never for a value that is false.
const WALKING_LATER: &[&str] = &["map", "reject", "rejectattr", "select", "selectattr"];

/// Rewrites a parsed template.
pub fn template<'a>(stmt: &Stmt<'a>) -> Result<Stmt<'a>, Failure> {
    Ok(match stmt {
        Stmt::Template(t) => Stmt::Template(at(t, ast::Template { children: block(&t.children)? })),
        Stmt::EmitExpr(e) => Stmt::EmitExpr(at(e, ast::EmitExpr { expr: emitted(&e.expr) })),
        Stmt::EmitRaw(r) => Stmt::EmitRaw(at(r, ast::EmitRaw { raw: r.raw })),
        Stmt::ForLoop(f) => Stmt::ForLoop(at(
            f,
            ast::ForLoop {
                target: same(&f.target),
                iter: filter("$iter", expr(&f.iter), vec![], f.iter.span()),
                filter_expr: f.filter_expr.as_ref().map(expr),
                recursive: f.recursive,
                body: block(&f.body)?,
                else_body: block(&f.else_body)?,
            },
        )),
        Stmt::IfCond(c) => Stmt::IfCond(at(
            c,
            ast::IfCond {
                expr: expr(&c.expr),
                true_body: block(&c.true_body)?,
                false_body: block(&c.false_body)?,
            },
        )),
        Stmt::WithBlock(w) => Stmt::WithBlock(at(
            w,
            ast::WithBlock {
                assignments: w.assignments.iter().map(|(k, v)| (same(k), expr(v))).collect(),
                body: block(&w.body)?,
            },
        )),
        Stmt::Set(s) => match &s.target {
            Expr::GetAttr(target) => assign_attribute(target, expr(&s.expr), s.span()),
            target => Stmt::Set(at(s, ast::Set { target: same(target), expr: expr(&s.expr) })),
        },
        Stmt::SetBlock(s) => Stmt::SetBlock(at(
            s,
            ast::SetBlock {
                target: same(&s.target),
                filter: s.filter.as_ref().map(expr),
                body: block(&s.body)?,
            },
        )),
        Stmt::AutoEscape(a) => {
            Stmt::AutoEscape(at(a, ast::AutoEscape { enabled: expr(&a.enabled), body: block(&a.body)? }))
        }
        Stmt::FilterBlock(f) => {
            Stmt::FilterBlock(at(f, ast::FilterBlock { filter: expr(&f.filter), body: block(&f.body)? }))
        }
        Stmt::Block(b) => {
            Stmt::Block(at(b, ast::Block { name: b.name, required: b.required, body: block(&b.body)? }))
        }
        Stmt::Macro(m) => Stmt::Macro(declaration(m)?),
        Stmt::CallBlock(c) => Stmt::CallBlock(at(
            c,
            ast::CallBlock { call: plain_call(&c.call), macro_decl: declaration(&c.macro_decl)? },
        )),
        Stmt::Continue(c) => Stmt::Continue(at(c, ast::Continue)),
        Stmt::Break(b) => Stmt::Break(at(b, ast::Break)),
        Stmt::Do(d) => return Err(refused("do", d.span())),
        Stmt::Import(i) => return Err(refused("import", i.span())),
        Stmt::FromImport(i) => return Err(refused("import", i.span())),
        Stmt::Extends(e) => return Err(refused("extends", e.span())),
        Stmt::Include(i) => return Err(refused("include", i.span())),
    })
}

fn refused(tag: &str, span: Span) -> Failure {
    Failure {
        kind: "template",
        message: format!("a chat template cannot use '{tag}'"),
        line: span.start_line as usize,
    }
}

fn block<'a>(stmts: &[Stmt<'a>]) -> Result<Vec<Stmt<'a>>, Failure> {
    stmts.iter().map(template).collect()
}

fn at<T, U>(old: &Spanned<T>, node: U) -> Spanned<U> {
    Spanned::new(node, old.span())
}

fn constant<'a>(value: Value, span: Span) -> Expr<'a> {
    Expr::Const(Spanned::new(ast::Const { value }, span))
}

fn filter<'a>(name: &'a str, on: Expr<'a>, args: Vec<CallArg<'a>>, span: Span) -> Expr<'a> {
    Expr::Filter(Spanned::new(ast::Filter { name, expr: Some(on), args }, span))
}

/// `{% set ns.name = value %}` becomes a call that prints nothing.
fn assign_attribute<'a>(target: &Spanned<ast::GetAttr<'a>>, value: Expr<'a>, span: Span) -> Stmt<'a> {
    let args = vec![CallArg::Pos(constant(target.name.into(), span)), CallArg::Pos(value)];
    let expr = filter("$assign", expr(&target.expr), args, span);
    Stmt::EmitExpr(Spanned::new(ast::EmitExpr { expr }, span))
}

fn declaration<'a>(m: &Spanned<ast::Macro<'a>>) -> Result<Spanned<ast::Macro<'a>>, Failure> {
    Ok(at(
        m,
        ast::Macro {
            name: m.name,
            args: m.args.iter().map(same).collect(),
            defaults: m.defaults.iter().map(expr).collect(),
            body: block(&m.body)?,
        },
    ))
}

/// Rebuilds the target of an assignment, which holds names only.
fn same<'a>(e: &Expr<'a>) -> Expr<'a> {
    match e {
        Expr::Var(v) => Expr::Var(at(v, ast::Var { id: v.id })),
        Expr::List(l) => Expr::List(at(l, ast::List { items: l.items.iter().map(same).collect() })),
        Expr::GetAttr(a) => Expr::GetAttr(at(a, ast::GetAttr { expr: same(&a.expr), name: a.name })),
        other => expr(other),
    }
}

/// The printed expression: a call of `loop` or `super` must stay a plain call, which the code generator looks for.
fn emitted<'a>(e: &Expr<'a>) -> Expr<'a> {
    match e {
        Expr::Call(c) => call(c),
        other => expr(other),
    }
}

fn expr<'a>(e: &Expr<'a>) -> Expr<'a> {
    let span = e.span();
    match e {
        Expr::Var(v) => Expr::Var(at(v, ast::Var { id: v.id })),
        Expr::Const(c) => Expr::Const(at(c, ast::Const { value: c.value.clone() })),
        Expr::Slice(s) => {
            let bound = |b: &Option<Expr<'a>>| {
                CallArg::Pos(b.as_ref().map_or_else(|| constant(Value::from(()), span), expr))
            };
            let args = vec![bound(&s.start), bound(&s.stop), bound(&s.step), described(&s.expr)];
            filter("$slice", expr(&s.expr), args, span)
        }
        Expr::UnaryOp(u) => match u.op {
            UnaryOpKind::Not => {
                Expr::UnaryOp(at(u, ast::UnaryOp { op: UnaryOpKind::Not, expr: expr(&u.expr) }))
            }
            UnaryOpKind::Neg => match &u.expr {
                Expr::Const(_) => {
                    Expr::UnaryOp(at(u, ast::UnaryOp { op: UnaryOpKind::Neg, expr: expr(&u.expr) }))
                }
                operand => filter("$neg", expr(operand), vec![], span),
            },
        },
        Expr::BinOp(b) => match operator(b.op) {
            Some(name) => filter(name, expr(&b.left), vec![CallArg::Pos(expr(&b.right))], span),
            None => {
                Expr::BinOp(at(b, ast::BinOp { op: b.op, left: expr(&b.left), right: expr(&b.right) }))
            }
        },
        Expr::Compare(c) => compare(c),
        Expr::IfExpr(i) => Expr::IfExpr(at(
            i,
            ast::IfExpr {
                test_expr: expr(&i.test_expr),
                true_expr: expr(&i.true_expr),
                false_expr: i.false_expr.as_ref().map(expr),
            },
        )),
        Expr::Filter(f) => {
            let mut on = f.expr.as_ref().map(expr);
            if WALKING.contains(&f.name) {
                on = on.map(|on| filter("$iter", on, vec![], span));
            } else if WALKING_LATER.contains(&f.name) {
                on = on.map(|on| filter("$iterlater", on, vec![], span));
            }
            Expr::Filter(at(f, ast::Filter { name: f.name, expr: on, args: arguments(&f.args) }))
        }
        Expr::Test(t) => {
            Expr::Test(at(t, ast::Test { name: t.name, expr: expr(&t.expr), args: arguments(&t.args) }))
        }
        Expr::GetAttr(a) => {
            let args = vec![CallArg::Pos(constant(a.name.into(), span)), described(&a.expr)];
            filter("$attribute", expr(&a.expr), args, span)
        }
        Expr::GetItem(i) => {
            let args = vec![CallArg::Pos(expr(&i.subscript_expr)), described(&i.expr)];
            filter("$item", expr(&i.expr), args, span)
        }
        Expr::Call(c) => call(c),
        Expr::List(l) => Expr::List(at(l, ast::List { items: l.items.iter().map(expr).collect() })),
        Expr::Map(m) => Expr::Map(at(
            m,
            ast::Map { keys: m.keys.iter().map(expr).collect(), values: m.values.iter().map(expr).collect() },
        )),
    }
}

fn operator(op: BinOpKind) -> Option<&'static str> {
    Some(match op {
        BinOpKind::ScAnd | BinOpKind::ScOr => return None,
        BinOpKind::Eq => "$eq",
        BinOpKind::Ne => "$ne",
        BinOpKind::Lt => "$lt",
        BinOpKind::Lte => "$lte",
        BinOpKind::Gt => "$gt",
        BinOpKind::Gte => "$gte",
        BinOpKind::Add => "$add",
        BinOpKind::Sub => "$sub",
        BinOpKind::Mul => "$mul",
        BinOpKind::Div => "$div",
        BinOpKind::FloorDiv => "$floordiv",
        BinOpKind::Rem => "$rem",
        BinOpKind::Pow => "$pow",
        BinOpKind::Concat => "$concat",
        BinOpKind::In => "$in",
    })
}

/// `a < b < c` becomes `a < b and b < c`; the middle is evaluated twice, which no template can notice.
fn compare<'a>(c: &Spanned<ast::Compare<'a>>) -> Expr<'a> {
    let span = c.span();
    let mut left = &c.expr;
    let mut all: Option<Expr<'a>> = None;
    for op in &c.ops {
        let name = match op.op {
            CompareOpKind::Eq => "$eq",
            CompareOpKind::Ne => "$ne",
            CompareOpKind::Lt => "$lt",
            CompareOpKind::Lte => "$lte",
            CompareOpKind::Gt => "$gt",
            CompareOpKind::Gte => "$gte",
            CompareOpKind::In => "$in",
            CompareOpKind::NotIn => "$notin",
        };
        let one = filter(name, expr(left), vec![CallArg::Pos(expr(&op.expr))], span);
        all = Some(match all {
            None => one,
            Some(before) => {
                Expr::BinOp(Spanned::new(ast::BinOp { op: BinOpKind::ScAnd, left: before, right: one }, span))
            }
        });
        left = &op.expr;
    }
    all.unwrap_or_else(|| expr(&c.expr))
}

fn call<'a>(c: &Spanned<ast::Call<'a>>) -> Expr<'a> {
    let span = c.span();
    match &c.expr {
        Expr::Var(_) => Expr::Call(plain_call(c)),
        Expr::GetAttr(a) => {
            let mut args = vec![CallArg::Pos(constant(a.name.into(), span)), described(&a.expr)];
            args.extend(arguments(&c.args));
            filter("$call", expr(&a.expr), args, span)
        }
        _ => Expr::Call(at(c, ast::Call { expr: expr(&c.expr), args: arguments(&c.args) })),
    }
}

fn plain_call<'a>(c: &Spanned<ast::Call<'a>>) -> Spanned<ast::Call<'a>> {
    at(c, ast::Call { expr: same(&c.expr), args: arguments(&c.args) })
}

fn arguments<'a>(args: &[CallArg<'a>]) -> Vec<CallArg<'a>> {
    args.iter()
        .map(|a| match a {
            CallArg::Pos(e) => CallArg::Pos(expr(e)),
            CallArg::Kwarg(k, e) => CallArg::Kwarg(k, expr(e)),
            CallArg::PosSplat(e) => CallArg::PosSplat(expr(e)),
            CallArg::KwargSplat(e) => CallArg::KwargSplat(expr(e)),
        })
        .collect()
}

/// The source of a simple expression as an argument, so that an error can say what is undefined.
fn described<'a>(e: &Expr<'a>) -> CallArg<'a> {
    CallArg::Pos(constant(description(e).into(), e.span()))
}

fn description(e: &Expr) -> String {
    match e {
        Expr::Var(v) => v.id.to_string(),
        Expr::GetAttr(a) => format!("{}.{}", description(&a.expr), a.name),
        Expr::GetItem(i) => match &i.subscript_expr {
            Expr::Const(c) if c.value.as_str().is_some() => format!("{}['{}']", description(&i.expr), c.value),
            Expr::Const(c) => format!("{}[{}]", description(&i.expr), c.value),
            _ => format!("{}[…]", description(&i.expr)),
        },
        other => format!("the {}", other.description()),
    }
}
