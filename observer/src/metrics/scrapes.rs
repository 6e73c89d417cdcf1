//! Makes at most one page at a time. Scrapes that overlap get the same page, and none is kept after them. Making pages takes at most a
//! fifth of one CPU, however many scrapes there are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep_until};

use super::page::Page;
use super::reader::MetricsReader;
use crate::pipeline::NoSeries;

/// The pause after a page, as a multiple of the time to write it.
const PAUSE: u32 = 4;

/// The longest pause. On a busy machine, writing takes long because others go first.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Makes pages when they are asked for.
#[derive(Debug)]
pub(super) struct Scrapes {
    reader: MetricsReader,
    /// Maximum size of a page, in bytes.
    most_bytes: usize,
    /// The page in the making, which its scrapes hold.
    current: Mutex<Weak<Making>>,
    /// When the next page may be made.
    due: Mutex<Instant>,
}

/// A page, or the reason why there is none. Empty until it is made.
type Making = OnceCell<Result<Arc<Page>, NoSeries>>;

impl Scrapes {
    pub(super) fn new(reader: MetricsReader, most_bytes: usize) -> Self {
        Self { reader, most_bytes, current: Mutex::new(Weak::new()), due: Mutex::new(Instant::now()) }
    }

    /// The page in the making, or else a new one.
    pub(super) async fn page(&self) -> Result<Arc<Page>, NoSeries> {
        let making = self.join();
        making.get_or_init(|| self.make()).await.clone()
    }

    /// Notes how long it took to write a page. A pause follows.
    pub(super) fn note_written(&self, took: Duration) {
        let mut due = self.due();
        *due = (*due).max(Instant::now() + (took * PAUSE).min(LONGEST_PAUSE));
    }

    fn due(&self) -> MutexGuard<'_, Instant> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether observing continues.
    pub(super) fn is_alive(&self) -> bool {
        self.reader.is_alive()
    }

    fn join(&self) -> Arc<Making> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(making) = current.upgrade().filter(|making| !making.initialized()) {
            return making;
        }
        let making = Arc::default();
        *current = Arc::downgrade(&making);
        making
    }

    async fn make(&self) -> Result<Arc<Page>, NoSeries> {
        let due = *self.due();
        if due > Instant::now() {
            sleep_until(due).await;
        }
        self.reader.read().await.map(|samples| Arc::new(Page::new(samples, self.most_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use observer_core::observer::{Limits, Observer};
    use observer_core::series::TapWord;
    use tokio::runtime::Builder;

    use super::*;
    use crate::pipeline::{SeriesReader, SeriesSource};

    #[test]
    fn scrapes_that_overlap_share_a_page_and_later_ones_do_not() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let (reader, mut source) = SeriesReader::begin(&[]);
        let observer = Observer::new(Limits::default());
        let scrapes = Scrapes::new(MetricsReader::new(reader, TapWord::Proxy), 2 << 20);
        let overlapping = async { tokio::join!(scrapes.page(), scrapes.page(), async { answer(&mut source, &observer) }) };
        let (one, other, ()) = runtime.block_on(overlapping);
        let one = one.unwrap();
        assert!(Arc::ptr_eq(&one, &other.unwrap()));
        let (later, ()) = runtime.block_on(async { tokio::join!(scrapes.page(), async { answer(&mut source, &observer) }) });
        assert!(!Arc::ptr_eq(&one, &later.unwrap()));
        assert!(scrapes.current.lock().unwrap().upgrade().is_none(), "no page is kept");
        drop(source);
        assert_eq!(runtime.block_on(scrapes.page()).unwrap_err(), NoSeries::Ended);
    }

    #[test]
    fn next_page_waits_for_the_pause() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let (reader, mut source) = SeriesReader::begin(&[]);
        let observer = Observer::new(Limits::default());
        let scrapes = Scrapes::new(MetricsReader::new(reader, TapWord::Proxy), 2 << 20);
        let took = Duration::from_millis(20);
        let begun = Instant::now();
        scrapes.note_written(took);
        // Another scrape of the same page.
        scrapes.note_written(Duration::ZERO);
        thread::scope(|scope| {
            scope.spawn(|| source.answer_for(took * 10, &observer));
            runtime.block_on(scrapes.page()).unwrap();
        });
        assert!(begun.elapsed() >= took * PAUSE);
        scrapes.note_written(Duration::from_hours(1));
        assert!(*scrapes.due() <= Instant::now() + LONGEST_PAUSE);
    }

    /// Answers as soon as the pause since the last answer is over.
    fn answer(source: &mut SeriesSource, observer: &Observer) {
        while source.is_asked() {
            source.answer(observer);
        }
    }
}
