//! A run and the replay of its capture end in the same state, whatever the splitting of the file's bytes; and a capture that is not whole
//! gives fewer facts, never wrong ones, and says which are missing.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod damage;
mod equality;
mod observations;
mod parts;
mod rig;
mod standing;
