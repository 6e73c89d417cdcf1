//! Tests that no byte is changed, lost or reordered.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::timeout;

use super::payload::{Random, StreamHash};
use super::rig::{End, Rig, carried, read_to_end};

#[tokio::test]
async fn messages_of_any_size_arrive_unchanged_in_sequence() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    let mut random = Random::new(1);
    for largest in [1, 2, 9, 100, 1_000, 16_384, 16_385, 65_536, 200_000] {
        for _ in 0..5 {
            let length = 1 + random.below(largest);
            let message = random.bytes(length);
            assert_eq!(carried(&mut client, &mut upstream, &message).await, message);
            assert_eq!(carried(&mut upstream, &mut client, &message).await, message);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_megabytes_arrive_unchanged_in_both_directions_at_once() {
    let mut rig = Rig::start();
    let (client, upstream) = rig.pair().await;
    let ((client_reads, client_writes), (upstream_reads, upstream_writes)) = (split(client), split(upstream));

    let requests = tokio::spawn(write_random(client_writes, 2, 50 << 20));
    let responses = tokio::spawn(write_random(upstream_writes, 3, 50 << 20));
    let seen_by_upstream = tokio::spawn(hash_to_end(upstream_reads));
    let seen_by_client = tokio::spawn(hash_to_end(client_reads));

    let (sent, received) = (requests.await.unwrap(), seen_by_upstream.await.unwrap());
    assert_eq!((received.length, received == sent), (50 << 20, true), "requests");
    let (sent, received) = (responses.await.unwrap(), seen_by_client.await.unwrap());
    assert_eq!((received.length, received == sent), (50 << 20, true), "responses");
}

#[tokio::test]
async fn client_that_does_not_read_blocks_upstream_writes() {
    const MUCH_MORE_THAN_ALL_BUFFERS: usize = 256 << 20;
    const NEVER: Duration = Duration::from_millis(500);

    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    let mut written = 0;
    while timeout(NEVER, upstream.write_all(&[7; 16_384])).await.is_ok() {
        written += 16_384;
        assert!(written < MUCH_MORE_THAN_ALL_BUFFERS, "somebody stores what nobody reads");
    }

    carried(&mut client, &mut upstream, b"the other direction is not affected").await;
    let mut read = vec![0; written];
    let (reading, flushing) = tokio::join!(client.read_exact(&mut read), upstream.flush());
    reading.unwrap();
    flushing.unwrap();
    assert!(read.iter().all(|byte| *byte == 7), "all that was written arrives");
}

#[tokio::test]
async fn half_closed_connection_continues_in_the_other_direction() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;

    client.write_all(b"the whole request").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut upstream).await, (b"the whole request".to_vec(), End::CloseNotify));

    let response = Random::new(4).bytes(300_000);
    let writing = async {
        upstream.write_all(&response).await.unwrap();
        upstream.shutdown().await.unwrap();
    };
    let (reading, ()) = tokio::join!(read_to_end(&mut client), writing);
    assert!(reading == (response.clone(), End::CloseNotify));
    assert_eq!(rig.handle.counts().bare_dials, 0, "an end that answers the client's is no sign of anything");
}

#[tokio::test]
async fn tls_1_2_clients_are_served() {
    let mut rig = Rig::start();
    rig.greeter.versions = vec![&rustls::version::TLS12];
    let (mut client, mut upstream) = rig.pair().await;
    assert_eq!(carried(&mut client, &mut upstream, b"request").await, b"request");
    upstream.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_concurrent_connections_do_not_mix() {
    let mut rig = Rig::start();
    let mut tasks = Vec::new();
    for seed in 0..50 {
        let (mut client, mut upstream) = rig.pair().await;
        tasks.push(tokio::spawn(async move {
            for round in 0..5 {
                let message = Random::new(1_000 * seed + round).bytes(5_000);
                assert!(carried(&mut client, &mut upstream, &message).await == message);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

async fn write_random(mut stream: impl AsyncWrite + Unpin, seed: u64, total: usize) -> StreamHash {
    let (mut random, mut hash, mut left) = (Random::new(seed), StreamHash::new(), total);
    while left > 0 {
        let length = (1 + random.below(100_000)).min(left);
        let bytes = random.bytes(length);
        stream.write_all(&bytes).await.unwrap();
        hash.update(&bytes);
        left -= length;
    }
    stream.shutdown().await.unwrap();
    hash
}

async fn hash_to_end(mut stream: impl AsyncRead + Unpin) -> StreamHash {
    let (mut hash, mut buffer) = (StreamHash::new(), vec![0; 70_000]);
    loop {
        match stream.read(&mut buffer).await.unwrap() {
            0 => return hash,
            read => hash.update(&buffer[..read]),
        }
    }
}
