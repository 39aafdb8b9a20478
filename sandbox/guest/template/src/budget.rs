//! Bounds the work of built-in operations, which the virtual machine's fuel does not see.

use std::cell::Cell;

use crate::fail::{self, Error};

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Sets how many bytes built-in operations may still read and write.
pub fn set(bytes: u64) {
    LEFT.set(bytes);
}

/// Takes `bytes` from the budget, or fails when it is used up.
pub fn charge(bytes: usize) -> Result<(), Error> {
    match LEFT.get().checked_sub(bytes as u64) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => Err(fail::limit("the template copies too much text")),
    }
}
