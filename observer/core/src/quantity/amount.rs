//! A number that a source may not have.

use std::fmt;
use std::iter::Sum;

use serde::{Serialize, Serializer};

/// A number of objects, events or bytes of a body. It is unknown if the source has no bodies, as a log; so is each sum with such a number.
///
/// An unknown number is `?` in text and `null` in JSON. It is above no number, and below none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(Option<u64>);

impl Amount {
    /// A number that the source does not have.
    pub const UNKNOWN: Self = Self(None);
    /// Nothing.
    pub const ZERO: Self = Self(Some(0));

    /// A number that is known.
    pub const fn of(number: u64) -> Self {
        Self(Some(number))
    }

    /// The number; `None` if it is unknown.
    pub const fn known(self) -> Option<u64> {
        self.0
    }

    /// The number, or 0 if it is unknown: for counters, which cannot be without a value.
    pub const fn or_zero(self) -> u64 {
        match self.0 {
            Some(number) => number,
            None => 0,
        }
    }

    /// The sum; unknown if one of both is.
    #[must_use]
    pub fn saturating_add(self, other: impl Into<Self>) -> Self {
        Self(self.0.zip(other.into().0).map(|(one, other)| one.saturating_add(other)))
    }

    /// The difference, at least 0; unknown if one of both is.
    #[must_use]
    pub fn saturating_sub(self, other: impl Into<Self>) -> Self {
        Self(self.0.zip(other.into().0).map(|(one, other)| one.saturating_sub(other)))
    }

    /// The quotient; `None` if the number is unknown or the divisor is 0.
    pub const fn checked_div(self, divisor: u64) -> Option<u64> {
        match self.0 {
            Some(number) => number.checked_div(divisor),
            None => None,
        }
    }

    /// Whether it is known to be above a number.
    pub fn is_above(self, number: u64) -> bool {
        self.0.is_some_and(|known| known > number)
    }

    /// Whether it is known to be 0.
    pub const fn is_zero(&self) -> bool {
        matches!(self.0, Some(0))
    }
}

impl Default for Amount {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<u64> for Amount {
    fn from(number: u64) -> Self {
        Self::of(number)
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::saturating_add)
    }
}

impl PartialEq<u64> for Amount {
    fn eq(&self, number: &u64) -> bool {
        self.0 == Some(*number)
    }
}

impl PartialEq<Amount> for u64 {
    fn eq(&self, amount: &Amount) -> bool {
        amount == self
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(formatter),
            None => formatter.write_str("?"),
        }
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_with_an_unknown_number_is_unknown() {
        let known = [1, 2].map(Amount::of);
        assert_eq!(known.into_iter().sum::<Amount>(), 3);
        assert_eq!(known.into_iter().chain([Amount::UNKNOWN]).sum::<Amount>(), Amount::UNKNOWN);
        assert_eq!(Amount::of(u64::MAX).saturating_add(1), u64::MAX);
        assert!(!Amount::UNKNOWN.is_above(0) && !Amount::UNKNOWN.is_zero() && Amount::ZERO.is_zero());
        assert_eq!([Amount::UNKNOWN, Amount::of(5)].map(|amount| serde_json::to_string(&amount).unwrap()), ["null", "5"]);
    }
}
