#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stopgate_fuzz::sessions::wait_time(bytes));
