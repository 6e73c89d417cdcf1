//! Clients of five libraries with the file layout that a sidecar gives to containers, without a kubelet.

mod ground;
mod rotation;
mod trust;
