//! Closed enums without data, whose variants have stable words: one list gives the enum, its words and the way back.

/// Declares such an enum. The title names it in error texts.
#[macro_export]
macro_rules! words {
    ($(#[$outer:meta])* $name:ident, $title:literal { $($(#[$inner:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$inner])* $variant,)+ }

        impl $name {
            /// What the enum is called in error texts.
            pub const TITLE: &str = $title;

            /// All of them, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Their words, in the same order.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// The word for it. It is stable: ledgers, exports or settings hold it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The variant with this word.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
