//! `watchtap inject --policy` on a real API server: the policy makes of each pod exactly what admission by the webhook makes of it.

mod cost;
mod ground;
mod pods;
mod same_pods;
