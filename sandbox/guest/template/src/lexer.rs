//! Template text to tokens, as jinja2's lexer does it with `trim_blocks` and `lstrip_blocks`.

use crate::fail::{self, Error};
use crate::literal;
use crate::text::is_space;
use crate::value::Value;

#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    Data(String),
    BlockBegin,
    BlockEnd,
    VariableBegin,
    VariableEnd,
    Name(String),
    Str(String),
    Number(Literal),
    Op(&'static str),
    End,
}

/// A number in a template.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// Decimal digits.
    Int(String),
    Float(f64),
}

impl Literal {
    pub fn value(&self) -> Value {
        match self {
            Literal::Int(digits) => crate::number::parse(digits),
            Literal::Float(x) => Value::Float(*x),
        }
    }
}

const OPERATORS: [&str; 26] = [
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".",
    ":", "|", ",", ";",
];

/// The tokens of `source` with their lines, an [`Token::End`] last.
pub fn tokens(source: &str) -> Result<Vec<(Token, u32)>, Error> {
    let source = normalize(source);
    let mut lexer = Lexer { rest: &source, line: 1, line_starting: true, tokens: Vec::new() };
    while !lexer.rest.is_empty() {
        lexer.root()?;
    }
    lexer.push(Token::End);
    Ok(lexer.tokens)
}

/// Every line end becomes LF, and one at the very end is dropped.
fn normalize(source: &str) -> String {
    let mut text =
        if source.contains('\r') { source.replace("\r\n", "\n").replace('\r', "\n") } else { source.to_string() };
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    /// Whether the last match ended a line.
    line_starting: bool,
    tokens: Vec<(Token, u32)>,
}

/// What begins after some text.
enum Begin {
    Raw,
    Comment,
    Block,
    Variable,
}

impl<'a> Lexer<'a> {
    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    /// Takes `len` bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.line += taken.bytes().filter(|b| *b == b'\n').count() as u32;
        if let Some(last) = taken.bytes().last() {
            self.line_starting = last == b'\n';
        }
        taken
    }

    fn spaces(&self, from: usize) -> usize {
        let s = &self.rest[from..];
        s.len() - s.trim_start_matches(is_space).len()
    }

    /// The sign of white space control at `at`.
    fn sign(&self, at: usize) -> Option<char> {
        self.rest[at..].chars().next().filter(|c| matches!(c, '-' | '+'))
    }

    fn root(&mut self) -> Result<(), Error> {
        let mut from = 0;
        let (at, begin) = loop {
            let Some(i) = self.rest[from..].find('{') else {
                let data = self.rest;
                self.push(Token::Data(data.to_string()));
                self.take(data.len());
                return Ok(());
            };
            let at = from + i;
            match self.rest.as_bytes().get(at + 1) {
                Some(b'#') => break (at, Begin::Comment),
                Some(b'{') => break (at, Begin::Variable),
                Some(b'%') if self.raw_begin(at).is_some() => break (at, Begin::Raw),
                Some(b'%') => break (at, Begin::Block),
                _ => from = at + 1,
            }
        };
        let sign = self.sign(at + 2);
        self.data(at, sign, !matches!(begin, Begin::Variable));
        let width = 2 + sign.map_or(0, char::len_utf8);
        match begin {
            Begin::Comment => {
                self.take(width);
                self.comment()
            }
            Begin::Variable => {
                self.push(Token::VariableBegin);
                self.take(width);
                self.tag(false)
            }
            Begin::Block => {
                self.push(Token::BlockBegin);
                self.take(width);
                self.tag(true)
            }
            Begin::Raw => {
                let len = self.raw_begin(0).unwrap_or(width);
                self.take(len);
                self.raw()
            }
        }
    }

    /// Takes the text before a tag, stripped as its sign says.
    fn data(&mut self, len: usize, sign: Option<char>, strips: bool) {
        let text = &self.rest[..len];
        let mut kept = text;
        if sign == Some('-') {
            kept = text.trim_end_matches(is_space);
        } else if sign != Some('+') && strips {
            let line = text.rfind('\n').map_or(0, |i| i + 1);
            if (line > 0 || self.line_starting) && text[line..].chars().all(is_space) {
                kept = &text[..line];
            }
        }
        if !kept.is_empty() {
            self.push(Token::Data(kept.to_string()));
        }
        self.take(len);
    }

    /// The length of `{% raw %}` at `at`, if that is what stands there.
    fn raw_begin(&self, at: usize) -> Option<usize> {
        let mut i = at + 2;
        if self.sign(i).is_some() {
            i += 1;
        }
        i += self.spaces(i);
        i += self.rest[i..].strip_prefix("raw").map(|_| 3)?;
        i += self.spaces(i);
        if self.rest[i..].starts_with("-%}") {
            i += 3;
            return Some(i + self.spaces(i) - at);
        }
        self.rest[i..].starts_with("%}").then_some(i + 2 - at)
    }

    fn raw(&mut self) -> Result<(), Error> {
        let mut from = 0;
        while let Some(i) = self.rest[from..].find("{%") {
            let at = from + i;
            let sign = self.sign(at + 2);
            let mut i = at + 2 + sign.map_or(0, char::len_utf8);
            i += self.spaces(i);
            if self.rest[i..].starts_with("endraw") {
                i += 6;
                i += self.spaces(i);
                if let Some(len) = self.close(i, "%}", true) {
                    self.data(at, sign, true);
                    self.take(i + len - at);
                    return Ok(());
                }
            }
            from = at + 1;
        }
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.error("Missing end of raw directive"))
    }

    fn comment(&mut self) -> Result<(), Error> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let Some(end) = self.rest.find("#}") else {
            return Err(self.error("Missing end of comment tag"));
        };
        let start = if end > 0 && matches!(self.rest.as_bytes()[end - 1], b'-' | b'+') { end - 1 } else { end };
        let len = self.close(start, "#}", true).unwrap_or(2);
        self.take(start + len);
        Ok(())
    }

    /// The length of the end of a tag at `at`, with the white space that it takes along.
    fn close(&self, at: usize, end: &str, trims: bool) -> Option<usize> {
        let s = &self.rest[at..];
        if s.strip_prefix('-').is_some_and(|s| s.starts_with(end)) {
            return Some(1 + end.len() + self.spaces(at + 1 + end.len()));
        }
        if trims && s.strip_prefix('+').is_some_and(|s| s.starts_with(end)) {
            return Some(1 + end.len());
        }
        let rest = s.strip_prefix(end)?;
        Some(end.len() + usize::from(trims && rest.starts_with('\n')))
    }

    /// The tokens up to the end of a tag.
    fn tag(&mut self, block: bool) -> Result<(), Error> {
        let end = if block { "%}" } else { "}}" };
        let mut open: Vec<char> = Vec::new();
        let mut after_dot = false;
        while let Some(c) = self.rest.chars().next() {
            if open.is_empty() {
                if let Some(len) = self.close(0, end, block) {
                    self.push(if block { Token::BlockEnd } else { Token::VariableEnd });
                    self.take(len);
                    return Ok(());
                }
            }
            let dot = std::mem::take(&mut after_dot);
            if is_space(c) {
                self.take(self.spaces(0));
            } else if c.is_ascii_digit() {
                let (literal, len) = literal::number(self.rest, dot).ok_or_else(|| self.error("invalid number"))?;
                self.push(Token::Number(literal));
                self.take(len);
            } else if c.is_alphanumeric() || c == '_' {
                let len = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
                if c.is_numeric() {
                    return Err(self.error("Invalid character in identifier"));
                }
                self.push(Token::Name(self.rest[..len].to_string()));
                self.take(len);
            } else if matches!(c, '"' | '\'') {
                let len = literal::string_len(self.rest).ok_or_else(|| self.error(format!("unexpected char {c:?}")))?;
                let text = literal::unescape(&self.rest[1..len - 1]).map_err(|e| self.error(e))?;
                self.push(Token::Str(text));
                self.take(len);
            } else {
                let Some(op) = OPERATORS.into_iter().find(|op| self.rest.starts_with(op)) else {
                    return Err(self.error(format!("unexpected char {c:?}")));
                };
                match c {
                    '{' => open.push('}'),
                    '(' => open.push(')'),
                    '[' => open.push(']'),
                    '}' | ')' | ']' if open.pop() != Some(c) => return Err(self.error(format!("unexpected '{c}'"))),
                    _ => {}
                }
                after_dot = op == ".";
                self.push(Token::Op(op));
                self.take(op.len());
            }
        }
        Ok(())
    }

    fn error(&self, message: impl Into<String>) -> Error {
        fail::refused(message).at(self.line)
    }
}

#[cfg(test)]
mod test {
    use super::{normalize, tokens, Token};

    #[test]
    fn white_space() {
        for (source, want) in [
            ("a\r\nb\rc\n", vec!["a\nb\nc"]),
            ("  {% x %}\n  y", vec!["  y"]),
            ("  {%+ x %}\ny", vec!["  ", "y"]),
            ("a \n {%- x -%} \n b", vec!["a", "b"]),
            ("a {# c #}\nb", vec!["a ", "b"]),
            ("a{# c +#}\nb", vec!["a", "\nb"]),
            ("{% raw %}\n{{ x }}{% endraw %}\ny", vec!["\n{{ x }}", "y"]),
            ("  {{ x }}\n", vec!["  "]),
        ] {
            let got: Vec<String> = tokens(source)
                .ok()
                .unwrap()
                .into_iter()
                .filter_map(|(t, _)| if let Token::Data(s) = t { Some(s) } else { None })
                .collect();
            assert_eq!(got, want, "{source:?}");
        }
        assert_eq!(normalize("a\n\n"), "a\n");
    }
}
