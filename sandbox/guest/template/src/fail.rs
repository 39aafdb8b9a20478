//! Failures: what the host is told, and the errors on the way there.

/// Why a template could not be rendered.
#[derive(Debug)]
pub struct Failure {
    /// `raise_exception`, `undefined`, `runtime`, `template`, `request` or `limit`.
    pub kind: &'static str,
    pub message: String,
    /// Line of the template, from 1; 0 when there is none.
    pub line: u32,
}

/// A failure, boxed because results are returned everywhere.
pub type Error = Box<Failure>;

impl Failure {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Error {
        Box::new(Failure { kind, message: message.into(), line: 0 })
    }

    /// The failure at a line, unless it has one that is nearer to its cause.
    pub fn at(mut self: Box<Self>, line: u32) -> Error {
        if self.line == 0 {
            self.line = line;
        }
        self
    }

    pub fn to_json(&self) -> String {
        serde_json::json!({ "kind": self.kind, "message": self.message, "line": self.line }).to_string()
    }
}

/// A Python TypeError, ValueError and the like.
pub fn runtime(message: impl Into<String>) -> Error {
    Failure::new("runtime", message)
}

/// An operation on something that is undefined.
pub fn undefined(message: impl Into<String>) -> Error {
    Failure::new("undefined", message)
}

/// Something that jinja2's sandbox or compiler refuses.
pub fn refused(message: impl Into<String>) -> Error {
    Failure::new("template", message)
}

/// The template called `raise_exception`.
pub fn raised(message: impl Into<String>) -> Error {
    Failure::new("raise_exception", message)
}

/// The template used up what it may.
pub fn limit(message: impl Into<String>) -> Error {
    Failure::new("limit", message)
}
