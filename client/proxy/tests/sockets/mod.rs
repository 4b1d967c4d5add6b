//! A proxy between real sockets, for tests.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Arc;
use std::sync::mpsc::channel;

use herma_proxy::api::request::Asked;
use herma_proxy::summaries::Summary;
use herma_proxy::{Exchange, Proxy, Settings, Watcher};

/// A watcher that answers summaries with a text.
pub(crate) struct Watching(Option<&'static str>);

impl Watcher for Watching {
    fn summary(&self, _: &Arc<Asked>, _: &Summary) -> Option<String> {
        self.0.map(str::to_owned)
    }

    fn passed(&self, _: Exchange) {}
}

/// Starts a proxy in a thread that ends with the test's process, and returns its address.
pub(crate) fn proxy(upstream: &str, answer: Option<&'static str>) -> String {
    let settings =
        Settings { listen: "127.0.0.1:0".parse().unwrap(), key: "k3y".into(), upstream: upstream.parse().unwrap() };
    let (sender, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            let started = Proxy::listen(settings, Arc::new(Watching(answer))).await.unwrap();
            sender.send(started.base_url()).unwrap();
            started.serve().await;
        });
    });
    address.recv().unwrap()
}

/// Returns a watcher that answers nothing.
pub(crate) fn nobody() -> Arc<Watching> {
    Arc::new(Watching(None))
}

/// Returns the value of a header in a head.
pub(crate) fn header(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
}
