//! Token masks for JSON Schema and Lark grammars: llguidance behind a small C ABI.
//!
//! One instance serves one vocabulary ([`init`]) and many matchers ([`start`]), each named by a small number. Functions
//! that can fail return a negative number and leave a message as the result (see `abi`).

#[path = "../../abi/abi.rs"]
mod abi;
mod vocabulary;

use std::cell::RefCell;
use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use toktrie::TokEnv;

use vocabulary::Vocabulary;

#[derive(Default)]
struct Engine {
    factory: Option<ParserFactory>,
    matchers: Vec<Option<Matcher>>,
}

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::default();
}

/// Leaves `message` as the result.
fn fail(message: impl ToString) -> i32 {
    abi::set_result(message.to_string().into_bytes());
    -1
}

/// Runs `f` on a matcher; an unknown one is an error.
fn with_matcher(id: u32, f: impl FnOnce(&mut Matcher) -> anyhow::Result<i32>) -> i32 {
    ENGINE.with_borrow_mut(|e| match e.matchers.get_mut(id as usize) {
        Some(Some(m)) => f(m).unwrap_or_else(fail),
        _ => fail("no such matcher"),
    })
}

/// Sets the vocabulary: see [`Vocabulary::parse`]. Called once.
///
/// # Safety
/// `ptr` must be a buffer of `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn init(ptr: *const u8, len: usize) -> i32 {
    let vocabulary = match Vocabulary::parse(abi::argument(ptr, len)) {
        Ok(v) => v,
        Err(e) => return fail(e),
    };
    let env: TokEnv = Arc::new(vocabulary);
    match ParserFactory::new_simple(&env) {
        Ok(mut factory) => {
            factory.quiet();
            factory.limits_mut().verbose_errors = false;
            ENGINE.with_borrow_mut(|e| e.factory = Some(factory));
            0
        }
        Err(e) => fail(e),
    }
}

/// Starts a matcher for a grammar: `kind` 0 is a JSON Schema, 1 a Lark grammar. Returns the matcher's number.
///
/// # Safety
/// `ptr` must be a buffer of `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn start(ptr: *const u8, len: usize, kind: i32) -> i32 {
    let Ok(text) = std::str::from_utf8(abi::argument(ptr, len)) else {
        return fail("the grammar is not UTF-8");
    };
    let grammar = match kind {
        0 => match serde_json::from_str(text) {
            Ok(schema) => TopLevelGrammar::from_json_schema(schema),
            Err(e) => return fail(format!("the schema is not JSON: {e}")),
        },
        _ => TopLevelGrammar::from_lark(text.to_string()),
    };
    ENGINE.with_borrow_mut(|e| {
        let Some(factory) = &e.factory else {
            return fail("there is no vocabulary yet");
        };
        let matcher = Matcher::new(factory.create_parser(grammar));
        if let Some(error) = matcher.get_error() {
            return fail(error);
        }
        let id = e.matchers.iter().position(Option::is_none).unwrap_or_else(|| {
            e.matchers.push(None);
            e.matchers.len() - 1
        });
        e.matchers[id] = Some(matcher);
        id as i32
    })
}

/// Ends a matcher.
#[no_mangle]
pub extern "C" fn free_matcher(id: u32) {
    ENGINE.with_borrow_mut(|e| {
        if let Some(slot) = e.matchers.get_mut(id as usize) {
            *slot = None;
        }
    });
}

/// Writes the tokens that may come next to `out`, one bit each, least significant first. Returns the words written. A
/// matcher that has stopped allows the tokens that end a generation.
///
/// # Safety
/// `out` must be a buffer of `words` 32-bit words.
#[no_mangle]
pub unsafe extern "C" fn mask(id: u32, out: *mut u32, words: usize) -> i32 {
    with_matcher(id, |m| {
        let mask = m.compute_mask_or_eos()?;
        let bits = mask.as_slice();
        let n = bits.len().min(words);
        std::ptr::copy_nonoverlapping(bits.as_ptr(), out, n);
        Ok(n as i32)
    })
}

/// Takes a token that was sampled. Returns 1 if the grammar allows it, 0 if not: then nothing has changed. A matcher that has
/// stopped takes the tokens that end a generation.
#[no_mangle]
pub extern "C" fn consume(id: u32, token: u32) -> i32 {
    with_matcher(id, |m| {
        if m.is_stopped() && !m.is_error() {
            let ends = m.compute_mask_or_eos()?;
            return Ok(((token as usize) < ends.len() && ends.is_allowed(token)) as i32);
        }
        Ok(m.try_consume_tokens(&[token])? as i32)
    })
}

/// Whether the text so far is complete: 1 or 0.
#[no_mangle]
pub extern "C" fn is_accepting(id: u32) -> i32 {
    with_matcher(id, |m| Ok(m.is_accepting()? as i32))
}

/// Whether nothing may follow: 1 or 0.
#[no_mangle]
pub extern "C" fn is_stopped(id: u32) -> i32 {
    with_matcher(id, |m| Ok(m.is_stopped() as i32))
}

/// Leaves the tokens that must come next as the result, as 32-bit numbers, and returns how many there are. They are not
/// consumed.
#[no_mangle]
pub extern "C" fn ff_tokens(id: u32) -> i32 {
    with_matcher(id, |m| {
        let tokens = m.compute_ff_tokens();
        if let Some(error) = m.get_error() {
            anyhow::bail!(error);
        }
        abi::set_result(tokens.iter().flat_map(|t| t.to_le_bytes()).collect());
        Ok(tokens.len() as i32)
    })
}
