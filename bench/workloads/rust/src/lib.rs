//! A guest in Rust: the Adler-32 checksum of the input, how many of its bytes are letters, and its
//! first 16 bytes back. Shows the whole interface: read_input, write_output, emit, and a panic
//! handler.
#![no_std]

use core::panic::PanicInfo;

extern "C" {
    fn read_input(buf_ptr: *mut *const u8, buf_size: *mut usize);
    fn write_output(output: *const u8, size: usize);
    fn epochd_emit_word(word: u64);
    fn epochd_exit_with(code: u64) -> !;
}

/// What a panic exits with.
const EXIT_PANIC: u64 = 101;

/// Appends one word to the public output.
fn emit(word: u64) {
    unsafe { epochd_emit_word(word) }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { epochd_exit_with(EXIT_PANIC) }
}

fn input() -> &'static [u8] {
    unsafe {
        let (mut at, mut bytes) = (core::ptr::null(), 0);
        read_input(&mut at, &mut bytes);
        core::slice::from_raw_parts(at, bytes)
    }
}

/// RFC 1950, section 8.2.
fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65521;
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % MODULUS;
        (a, (b + a) % MODULUS)
    });
    b << 16 | a
}

#[no_mangle]
pub extern "C" fn main() -> i32 {
    let bytes = input();
    emit(u64::from(adler32(bytes)));
    emit(bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count() as u64);
    unsafe { write_output(bytes.as_ptr(), bytes.len().min(16)) };
    0
}
