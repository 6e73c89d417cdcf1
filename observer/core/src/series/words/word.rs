//! Declares the words of a label.

/// Declares the values of a label, each with its word.
macro_rules! words {
    ($(#[$of_enum:meta])* $name:ident { $($(#[$of_value:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of_value])* $value,)+ }

        impl $name {
            /// The words of all values, in their order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub(crate) const fn number(self) -> crate::exchange::ValueNumber {
                crate::exchange::ValueNumber(self as u8)
            }
        }
    };
}

pub(super) use words;
