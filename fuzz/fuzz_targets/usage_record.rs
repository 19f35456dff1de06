#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stopgate_fuzz::sessions::usage_record(bytes));
