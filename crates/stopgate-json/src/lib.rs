//! JSON texts of other programs, edited in place.
//!
//! A value is put in, taken out or replaced by the positions of a parse with comments and trailing
//! commas. Everything else stays byte for byte. Text comes in and text goes out.

mod layout;

mod splice;

use jsonc_parser::ParseOptions;

pub use layout::{JsonLayout, PrintJson, enclose, quote};
pub use splice::{JsonBracket, JsonItem, append, remove, replace};

/// JSON with comments and trailing commas, which people write; nothing looser.
pub const COMMENTED_JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};
