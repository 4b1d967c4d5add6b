//! Counts requests and their durations, without a lock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use herma_protocol::daemon::{MethodCounts, RequestCounts};
use herma_protocol::{ErrorKind, Method, RpcError};

/// Whether a request failed. A missing item or a conflict is an answer and no failure, because clients send requests in
/// order to find out.
pub(crate) fn has_failed<T>(outcome: &Result<T, RpcError>) -> bool {
    outcome.as_ref().is_err_and(|error| !matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict))
}

/// The number of buckets per doubling. A bucket is at most 19 % wide, and its middle at most 12 % off.
const PER_DOUBLING: usize = 4;

/// The number of doublings, from one nanosecond to about eighteen minutes.
const DOUBLINGS: usize = 40;

/// The counters of all methods.
#[derive(Debug)]
pub(crate) struct Metrics {
    methods: Vec<Histogram>,
    unread: AtomicU64,
}

#[derive(Debug)]
struct Histogram {
    count: AtomicU64,
    errors: AtomicU64,
    buckets: [AtomicU64; PER_DOUBLING * DOUBLINGS],
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self { methods: Method::ALL.iter().map(|_| Histogram::new()).collect(), unread: AtomicU64::new(0) }
    }

    /// Counts an answered request.
    pub(crate) fn record(&self, method: Method, took: Duration, failed: bool) {
        if let Some(histogram) = self.methods.get(method as usize) {
            histogram.count.fetch_add(1, Relaxed);
            histogram.errors.fetch_add(u64::from(failed), Relaxed);
            histogram.buckets[bucket(took)].fetch_add(1, Relaxed);
        }
    }

    /// Counts input that was not a request.
    pub(crate) fn record_unreadable(&self) {
        self.unread.fetch_add(1, Relaxed);
    }

    pub(crate) fn report(&self) -> RequestCounts {
        let unread = self.unread.load(Relaxed);
        let mut report = RequestCounts { total: unread, errors: unread, by_method: BTreeMap::new() };
        for (method, histogram) in Method::ALL.iter().zip(&self.methods) {
            let count = histogram.count.load(Relaxed);
            if count > 0 {
                report.total += count;
                report.errors += histogram.errors.load(Relaxed);
                let counts = MethodCounts { count, p50_us: histogram.quantile(0.50), p99_us: histogram.quantile(0.99) };
                report.by_method.insert(method.name().to_owned(), counts);
            }
        }
        report
    }
}

impl Histogram {
    fn new() -> Self {
        Self {
            count: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            buckets: [const { AtomicU64::new(0) }; PER_DOUBLING * DOUBLINGS],
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a quantile of a histogram is an estimate")]
    fn quantile(&self, share: f64) -> f64 {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let wanted = counts.iter().sum::<u64>() as f64 * share;
        let mut seen = 0.0;
        for (at, count) in counts.iter().enumerate() {
            seen += *count as f64;
            if seen >= wanted && seen > 0.0 {
                return middle_us(at);
            }
        }
        0.0
    }
}

fn bucket(took: Duration) -> usize {
    let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(1);
    let doubling = nanoseconds.ilog2() as usize;
    let quarter = if doubling < 2 { 0 } else { (nanoseconds >> (doubling - 2)) & 3 };
    let within = usize::try_from(quarter).unwrap_or(0);
    (doubling * PER_DOUBLING + within).min(PER_DOUBLING * DOUBLINGS - 1)
}

#[expect(clippy::cast_precision_loss, reason = "bucket numbers are below 160")]
fn middle_us(bucket: usize) -> f64 {
    let (doubling, within) = (bucket / PER_DOUBLING, bucket % PER_DOUBLING);
    let low = (1.0 + within as f64 / PER_DOUBLING as f64) * (doubling as f64).exp2();
    let high = (1.0 + (within + 1) as f64 / PER_DOUBLING as f64) * (doubling as f64).exp2();
    f64::midpoint(low, high) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_an_answer() {
        let failed = |kind| has_failed::<()>(&Err(RpcError::new(kind, "")));
        assert!(!has_failed(&Ok(())) && !failed(ErrorKind::NotFound) && !failed(ErrorKind::Conflict));
        assert!(failed(ErrorKind::InvalidParams) && failed(ErrorKind::StorageFull) && failed(ErrorKind::Internal));
    }

    #[test]
    fn quantiles_are_within_an_eighth() {
        for microseconds in [1, 7, 90, 1_000, 77_777, 5_000_000] {
            let metrics = Metrics::new();
            for _ in 0..10 {
                metrics.record(Method::Ping, Duration::from_micros(microseconds), false);
            }
            let p50 = metrics.report().by_method["ping"].p50_us;
            let off = (p50 / Duration::from_micros(microseconds).as_secs_f64() / 1e6 - 1.0).abs();
            assert!(off < 0.125, "{microseconds}: {p50}");
        }
    }

    #[test]
    fn extremes_have_a_bucket() {
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::MAX), PER_DOUBLING * DOUBLINGS - 1);
    }
}
