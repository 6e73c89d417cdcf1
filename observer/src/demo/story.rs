//! What happens to the demo cluster, over and over.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::DemoHandle;

/// How long the API server is away.
const AWAY: u32 = 3;

/// Acts until it is dropped; a `beat` is a second of the story. What is done is said before, so that the reader knows what to look for.
pub async fn tell(handle: DemoHandle, beat: Duration, say: impl Fn(&str) + Send) -> Result<()> {
    loop {
        sleep(beat * 25).await;
        say(
            "demo: the watch caches start anew behind a write of the server's own: watches that resume find their revision expired (410)",
        );
        handle.expire_watches();
        sleep(beat * 25).await;
        say(
            "demo: the API server restarts: for a while it refuses connections, and our port with it; watchers resume, or list again",
        );
        // An error means that the server is gone, and so will we be.
        let _restarted = handle.restart(beat * AWAY).await;
        sleep(beat * 25).await;
        say("demo: the store forgets its history: a list that is continued from an old page gets 410");
        handle.compact();
    }
}
