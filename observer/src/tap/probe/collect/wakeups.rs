//! How the thread that takes records waits for more.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};

/// Waits for wake-ups of the rings.
///
/// A ring is readable while it holds anything, whether or not a program sent a wake-up. So it is watched edge-triggered (`EPOLLET`
/// of epoll(7)). Then only a wake-up (`BPF_RB_FORCE_WAKEUP`) ends a wait, and other data (`BPF_RB_NO_WAKEUP`) stays until the next
/// read.
#[derive(Debug)]
pub(in crate::tap::probe) struct Wakeups {
    epoll: OwnedFd,
    was_woken: bool,
}

impl Wakeups {
    /// # Errors
    ///
    /// The kernel refuses a call, for example because of the limit on open files.
    pub(in crate::tap::probe) fn of(rings: impl IntoIterator<Item = impl AsFd>) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for ring in rings {
            epoll::add(&epoll, ring, epoll::EventData::new_u64(0), epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        }
        Ok(Self { epoll, was_woken: false })
    }

    /// Waits for a wake-up, at most `most`. If the last wait ended with one, it first waits until `least` after `last_read`.
    pub(in crate::tap::probe) fn wait(&mut self, last_read: Instant, least: Duration, most: Duration) {
        if self.was_woken {
            thread::sleep(least.saturating_sub(last_read.elapsed()));
        }
        let Ok(timeout) = Timespec::try_from(most) else { return };
        let mut woken = [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 2];
        // A signal ends the wait early, which is harmless.
        self.was_woken = epoll::wait(&self.epoll, &mut woken, Some(&timeout)).is_ok_and(|rings| rings > 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, pipe};

    use super::*;

    const LONG: Duration = Duration::from_secs(30);
    const SHORT: Duration = Duration::from_millis(10);

    #[test]
    fn unread_data_does_not_wake_the_wait_again() {
        let (readable, mut writable) = pipe().unwrap();
        let mut wakeups = Wakeups::of([&readable]).unwrap();
        writable.write_all(b"woken for").unwrap();
        wakeups.wait(Instant::now(), Duration::ZERO, LONG);
        assert!(wakeups.was_woken);
        let begun = Instant::now();
        wakeups.wait(begun, Duration::ZERO, SHORT);
        assert!(!wakeups.was_woken && begun.elapsed() >= SHORT, "it is still readable, and was reported");
        writable.write_all(b"woken for once more").unwrap();
        wakeups.wait(Instant::now(), Duration::ZERO, LONG);
        assert!(wakeups.was_woken);
    }

    #[test]
    fn wait_after_a_wakeup_lasts_its_minimum_time() {
        let (readable, mut writable) = pipe().unwrap();
        let mut wakeups = Wakeups::of([&readable]).unwrap();
        for least in [Duration::ZERO, SHORT] {
            writable.write_all(b"woken for").unwrap();
            let begun = Instant::now();
            wakeups.wait(begun, SHORT, LONG);
            assert!(wakeups.was_woken && begun.elapsed() >= least, "{least:?}");
        }
    }
}
