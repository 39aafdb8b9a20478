//! What every guest shares with its host: buffers in linear memory and one result slot.
//!
//! The host asks for a buffer with `buffer_new`, writes the argument there, calls, frees it with `buffer_free`, and
//! reads the answer at `result_ptr`/`result_len`, which stays valid until the next call. A guest has one thread.

use std::cell::RefCell;

thread_local! {
    static RESULT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns `len` bytes for the host to fill; null when `len` is 0.
#[no_mangle]
pub extern "C" fn buffer_new(len: usize) -> *mut u8 {
    if len == 0 {
        return std::ptr::null_mut();
    }
    let mut buffer = Vec::<u8>::with_capacity(len);
    let ptr = buffer.as_mut_ptr();
    std::mem::forget(buffer);
    ptr
}

/// Frees what `buffer_new` returned.
///
/// # Safety
/// `ptr` and `len` must come from one `buffer_new` call and be freed once.
#[no_mangle]
pub unsafe extern "C" fn buffer_free(ptr: *mut u8, len: usize) {
    if len != 0 {
        drop(Vec::from_raw_parts(ptr, 0, len));
    }
}

/// Where the answer of the last call starts.
#[no_mangle]
pub extern "C" fn result_ptr() -> *const u8 {
    RESULT.with_borrow(|r| r.as_ptr())
}

/// How many bytes the answer of the last call has.
#[no_mangle]
pub extern "C" fn result_len() -> usize {
    RESULT.with_borrow(|r| r.len())
}

/// Makes `bytes` the answer of this call.
pub fn set_result(bytes: Vec<u8>) {
    RESULT.with_borrow_mut(|r| *r = bytes);
}

/// The argument that the host wrote into a buffer.
///
/// # Safety
/// `ptr` and `len` must describe a buffer from `buffer_new` that the host has filled.
pub unsafe fn argument<'a>(ptr: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    std::slice::from_raw_parts(ptr, len)
}
