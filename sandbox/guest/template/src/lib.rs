//! Renders chat templates as Python's jinja2 does, inside a WebAssembly sandbox.
//!
//! minijinja parses the template and runs it; `rewrite` replaces every operation whose meaning differs between Rust
//! and Python (attribute lookup, calls of methods, operators, iteration, text conversion) by a function of this
//! crate, so that a template means what it means in the program it was written for. The environment is the one of
//! transformers' `render_jinja_template`.
//!
//! The C ABI is `abi` plus [`render`].

#[path = "../../abi/abi.rs"]
mod abi;
mod args;
mod budget;
mod clock;
mod engine;
mod fail;
mod filters;
mod json;
mod marks;
mod methods;
mod ops;
mod rewrite;
mod source;
mod tests;
mod text;
mod types;

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
