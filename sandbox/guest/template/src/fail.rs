//! Failures: what the host is told, and the errors that travel through the virtual machine.

use std::fmt;

use minijinja::{Error, ErrorKind};

/// Why a template could not be rendered.
pub struct Failure {
    /// `raise_exception`, `undefined`, `runtime`, `template`, `request` or `limit`.
    pub kind: &'static str,
    pub message: String,
    /// Line of the template, from 1; 0 when there is none.
    pub line: usize,
}

impl Failure {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), line: 0 }
    }

    pub fn to_json(&self) -> String {
        serde_json::json!({ "kind": self.kind, "message": self.message, "line": self.line }).to_string()
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        let line = err.line().unwrap_or(0);
        if let Some(Marked(kind)) = std::error::Error::source(&err).and_then(|s| s.downcast_ref()) {
            return Failure { kind, message: err.detail().unwrap_or("").to_string(), line };
        }
        let kind = match err.kind() {
            ErrorKind::UndefinedError | ErrorKind::UnknownFunction => "undefined",
            ErrorKind::OutOfFuel => "limit",
            ErrorKind::SyntaxError | ErrorKind::BadEscape | ErrorKind::UnknownFilter | ErrorKind::UnknownTest => {
                "template"
            }
            _ => "runtime",
        };
        let message = match (err.kind(), err.detail()) {
            (ErrorKind::OutOfFuel, _) => "the template runs too long".to_string(),
            (ErrorKind::SyntaxError | ErrorKind::InvalidOperation, Some(detail)) => detail.to_string(),
            (kind, Some(detail)) => format!("{kind}: {detail}"),
            (kind, None) => kind.to_string(),
        };
        Failure { kind, message, line }
    }
}

/// Tags an error with the kind that the host sees.
#[derive(Debug)]
struct Marked(&'static str);

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Marked {}

fn marked(kind: &'static str, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into()).with_source(Marked(kind))
}

/// A Python TypeError, ValueError and the like.
pub fn runtime(message: impl Into<String>) -> Error {
    marked("runtime", message)
}

/// An operation on something that is undefined.
pub fn undefined(message: impl Into<String>) -> Error {
    marked("undefined", message)
}

/// Something that jinja2's sandbox or compiler refuses.
pub fn refused(message: impl Into<String>) -> Error {
    marked("template", message)
}

/// The template called `raise_exception`.
pub fn raised(message: impl Into<String>) -> Error {
    marked("raise_exception", message)
}

/// The template used up what it may.
pub fn limit(message: impl Into<String>) -> Error {
    marked("limit", message)
}
