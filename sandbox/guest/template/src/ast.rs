//! The syntax tree of a template, as jinja2 has it. `scope` fills in where each variable lives.

use std::rc::Rc;

use crate::value::Value;

/// Where a variable lives: in a slot of the frame that many functions out.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Slot {
    pub up: u32,
    pub index: u32,
}

/// A name with its place.
pub struct Name {
    pub name: Rc<str>,
    pub slot: Slot,
}

/// What a scope does to a slot of its function when it is entered.
pub enum Load {
    /// It is set by whoever enters.
    Parameter,
    /// A variable of the context, or missing.
    Resolve(Rc<str>),
    /// The value of another slot.
    Alias(Slot),
    Undefined,
}

/// The variables of a scope.
#[derive(Default)]
pub struct Scope {
    pub loads: Vec<(u32, Load)>,
}

/// What can be assigned to.
pub enum Target {
    Name(Name),
    /// `namespace.attribute`
    Attribute(Name, Rc<str>),
    Tuple(Vec<Target>),
}

/// A statement with its line.
pub struct Stmt {
    pub kind: StmtKind,
    pub line: u32,
}

pub type Block = Vec<Stmt>;

pub enum StmtKind {
    Data(Rc<str>),
    Print(Vec<Expr>),
    If {
        branches: Vec<(Expr, Block)>,
        otherwise: Block,
    },
    For(Rc<For>),
    Set {
        target: Target,
        value: Expr,
        exports: Vec<Name>,
    },
    SetBlock {
        target: Target,
        filter: Option<Expr>,
        scope: Scope,
        body: Block,
        exports: Vec<Name>,
    },
    With {
        targets: Vec<Target>,
        values: Vec<Expr>,
        scope: Scope,
        body: Block,
    },
    Filter {
        filter: Expr,
        scope: Scope,
        body: Block,
    },
    Autoescape {
        value: Expr,
        scope: Scope,
        body: Block,
    },
    Macro {
        name: Name,
        def: Rc<MacroDef>,
        export: bool,
    },
    Call {
        call: Expr,
        def: Rc<MacroDef>,
    },
    /// The tag of transformers: its body is what the assistant said.
    Generation(Rc<MacroDef>),
    Block(Rc<BlockDef>),
    /// `include`, `import` and `extends`, which need a loader that a chat template does not have.
    Loader(&'static str),
    Break,
    Continue,
}

/// A `for` loop.
pub struct For {
    pub target: Target,
    pub iter: Expr,
    pub test: Option<Test>,
    pub body: Block,
    pub otherwise: Block,
    pub recursive: bool,
    /// The slot of `loop`, where something uses it.
    pub extended: Option<u32>,
    pub scope: Scope,
    pub else_scope: Scope,
    /// Slots of the function of a recursive loop.
    pub slots: u32,
}

/// The condition of a loop, a function of its own.
pub struct Test {
    pub target: Target,
    pub condition: Expr,
    pub scope: Scope,
    pub slots: u32,
}

/// A macro, or the body of a `call` block.
pub struct MacroDef {
    pub name: Option<Rc<str>>,
    pub args: Vec<Name>,
    pub defaults: Vec<Expr>,
    pub body: Block,
    pub scope: Scope,
    pub slots: u32,
    /// Slots of the special arguments that the body uses.
    pub caller: Option<u32>,
    pub kwargs: Option<u32>,
    pub varargs: Option<u32>,
    /// Whether an argument is called `caller`.
    pub explicit_caller: bool,
    /// Whether functions inside keep its frame.
    pub closes: bool,
}

/// A block, which is rendered where it stands.
pub struct BlockDef {
    pub name: Rc<str>,
    pub scoped: bool,
    pub required: bool,
    pub body: Block,
    pub scope: Scope,
    pub slots: u32,
    /// Slots of `self` and `super`, where they are used.
    pub this: Option<u32>,
    pub parent: Option<u32>,
    /// What a scoped block sees of the variables around it.
    pub visible: Vec<Name>,
}

/// A whole template.
pub struct Template {
    pub body: Block,
    pub scope: Scope,
    pub slots: u32,
    pub this: Option<u32>,
}

/// An expression with its line.
pub struct Expr {
    pub kind: Kind,
    pub line: u32,
}

pub enum Kind {
    Const(Value),
    Name(Name),
    /// `namespace.attribute` as a target.
    NamespaceRef(Name, Rc<str>),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    Pos(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    Concat(Vec<Expr>),
    Cond(Box<Cond>),
    /// A filter without input stands at the head of a block.
    Filter(Box<Application>),
    Test(Box<Application>),
    Attribute(Box<Expr>, Rc<str>),
    Item(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Box<[Option<Expr>; 3]>),
    Call(Box<Expr>, Arguments),
}

/// `yes if test else no`
pub struct Cond {
    pub test: Expr,
    pub yes: Expr,
    pub no: Option<Expr>,
}

/// A filter or test.
pub struct Application {
    pub name: Rc<str>,
    pub input: Option<Expr>,
    pub args: Arguments,
    /// Set by `scope`; a name that is not known fails when it is used.
    pub function: Option<crate::args::Builtin>,
}

#[derive(Default)]
pub struct Arguments {
    pub positional: Vec<Expr>,
    pub keywords: Vec<(Rc<str>, Expr)>,
    pub more: Option<Box<Expr>>,
    pub more_keywords: Option<Box<Expr>>,
}

impl Arguments {
    /// Every expression, in the order of evaluation.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.positional
            .iter_mut()
            .chain(self.keywords.iter_mut().map(|(_, e)| e))
            .chain(self.more.as_deref_mut())
            .chain(self.more_keywords.as_deref_mut())
    }
}

impl Expr {
    /// Visits its direct parts, in the order of jinja2's fields.
    pub fn each_part(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            Kind::Const(_) | Kind::Name(_) | Kind::NamespaceRef(..) => {}
            Kind::Tuple(items) | Kind::List(items) | Kind::Concat(items) => items.iter_mut().for_each(visit),
            Kind::Dict(pairs) => pairs.iter_mut().for_each(|(k, v)| {
                visit(k);
                visit(v);
            }),
            Kind::Not(e) | Kind::Neg(e) | Kind::Pos(e) | Kind::Attribute(e, _) => visit(e),
            Kind::Binary(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) | Kind::Item(a, b) => {
                visit(a);
                visit(b);
            }
            Kind::Compare(e, more) => {
                visit(e);
                more.iter_mut().for_each(|(_, e)| visit(e));
            }
            Kind::Cond(c) => {
                visit(&mut c.test);
                visit(&mut c.yes);
                c.no.iter_mut().for_each(visit);
            }
            Kind::Filter(a) | Kind::Test(a) => {
                a.input.iter_mut().for_each(&mut *visit);
                a.args.each_mut().for_each(visit);
            }
            Kind::Slice(e, bounds) => {
                visit(e);
                bounds.iter_mut().flatten().for_each(visit);
            }
            Kind::Call(e, args) => {
                visit(e);
                args.each_mut().for_each(visit);
            }
        }
    }
}
