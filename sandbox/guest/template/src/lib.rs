//! Renders chat templates as Python's jinja2 does, inside a WebAssembly sandbox.
//!
//! A template goes through the same steps as there: `lexer` makes tokens of it, `parser` and `expression` a tree,
//! `scope` finds what each name means, and `vm` and `eval` run the tree over Python's values. So it means what it
//! means in the program that it was written for. The environment is the one of transformers' `render_jinja_template`.
//!
//! The C ABI is `abi` plus [`render`].

#[path = "../../abi/abi.rs"]
mod abi;
mod access;
mod args;
mod ast;
mod budget;
mod call;
mod clock;
mod engine;
mod eval;
mod expression;
mod fail;
mod filters;
mod frame;
mod html;
mod iter;
mod json;
mod lexer;
mod literal;
mod looping;
mod marks;
mod methods;
mod number;
mod numeral;
mod ops;
mod parser;
mod printf;
mod scope;
mod sequences;
mod strformat;
mod symbols;
mod tests;
mod text;
mod undeclared;
mod value;
mod vm;
mod wording;

/// Renders the template at `template` with the request at `request` (JSON, see [`engine::Request`]).
///
/// `fuel` bounds the virtual machine's instructions, `work` the bytes that built-in operations read and write.
/// Returns 0 with the text as the result, or 1 with a JSON object `{kind, message, line}`.
///
/// # Safety
/// Both pointers must be buffers of the given lengths.
#[no_mangle]
pub unsafe extern "C" fn render(
    template: *const u8,
    template_len: usize,
    request: *const u8,
    request_len: usize,
    fuel: u64,
    work: u64,
) -> i32 {
    let template = abi::argument(template, template_len);
    let request = abi::argument(request, request_len);
    match engine::render(template, request, fuel, work) {
        Ok(text) => {
            abi::set_result(text.into_bytes());
            0
        }
        Err(failure) => {
            abi::set_result(failure.to_json().into_bytes());
            1
        }
    }
}
