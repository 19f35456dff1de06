//! Closed lists in which each entry has one word.

/// Declares an enum together with the word of each variant, so that the list is written once.
///
/// `word` gives it, `named` is the inverse, and `ALL` has the variants in their order. An enum
/// that serde reads keeps its own `rename_all`.
#[macro_export]
macro_rules! words {
    (
        $(#[$about:meta])*
        $seen:vis enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        $seen enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every one, in order.
            $seen const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its word, the same wherever it is written.
            $seen const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one with that word.
            $seen fn named(word: &str) -> ::core::option::Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
