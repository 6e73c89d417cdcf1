//! Budgets of bytes, which bound the memory of the queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A budget of bytes, optionally part of a larger one.
#[derive(Debug)]
pub(super) struct Account {
    limit: usize,
    used: AtomicUsize,
    whole: Option<Arc<Account>>,
}

impl Account {
    /// A budget without a parent.
    pub(super) fn of(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), whole: None })
    }

    /// A budget whose charges also count against `whole`.
    pub(super) fn part_of(whole: &Arc<Self>, limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), whole: Some(Arc::clone(whole)) })
    }

    /// Charges `amount` bytes. Returns `None` if this budget or its parent has no room.
    pub(super) fn charge(self: &Arc<Self>, amount: usize) -> Option<Charge> {
        if !self.take(amount) {
            return None;
        }
        if self.whole.as_ref().is_some_and(|whole| !whole.take(amount)) {
            self.used.fetch_sub(amount, Ordering::Relaxed);
            return None;
        }
        Some(Charge { account: Arc::clone(self), amount })
    }

    /// Bytes charged now.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, amount: usize) -> bool {
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        let fits = before.saturating_add(amount) <= self.limit;
        if !fits {
            self.used.fetch_sub(amount, Ordering::Relaxed);
        }
        fits
    }
}

/// Bytes that count against an [`Account`] until this is dropped.
#[derive(Debug)]
pub(super) struct Charge {
    account: Arc<Account>,
    amount: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.used.fetch_sub(self.amount, Ordering::Relaxed);
        if let Some(whole) = &self.account.whole {
            whole.used.fetch_sub(self.amount, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_account_is_bounded_by_itself_and_its_parent() {
        let whole = Account::of(10);
        let (one, other) = (Account::part_of(&whole, 8), Account::part_of(&whole, 8));

        assert!(one.charge(9).is_none(), "more than the part allows");
        let held = one.charge(7).unwrap();
        assert!(other.charge(4).is_none(), "more than the whole has left");
        drop(held);
        assert!(other.charge(8).is_some());
        assert_eq!((whole.used(), one.used(), other.used()), (0, 0, 0), "all was given back");
    }
}
