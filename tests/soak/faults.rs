//! Chooses the next fault.

use herma_tests::random::Random;

/// A fault of a process or of its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The daemon is killed and started again.
    KillDaemon,
    /// The daemon is asked to stop, and started again.
    StopDaemon,
    /// The daemon is started again and may open only a few files.
    FewFiles,
    /// The daemon is started again without a way to watch folders.
    NoWatches,
    /// The daemon is paused for a while.
    PauseDaemon,
    /// A worker is killed and started again.
    KillWorker,
    /// A worker is paused for a while.
    PauseWorker,
    /// The disk is full for a while.
    FullDisk,
    /// The daemon's clock jumps by hours.
    ClockJump,
}

impl Fault {
    pub(crate) const ALL: [(Self, u64); 9] = [
        (Self::KillDaemon, 6),
        (Self::StopDaemon, 2),
        (Self::FewFiles, 1),
        (Self::NoWatches, 1),
        (Self::PauseDaemon, 2),
        (Self::KillWorker, 6),
        (Self::PauseWorker, 3),
        (Self::FullDisk, 2),
        (Self::ClockJump, 2),
    ];

    /// Chooses the next fault. In a calm the daemon is not restarted, so that its growth can be measured.
    pub(crate) fn next(random: &mut Random, calm: bool) -> Self {
        let may = |fault: Self| !calm || !fault.ends_daemon();
        let all: Vec<(Self, u64)> = Self::ALL.into_iter().filter(|(fault, _)| may(*fault)).collect();
        let mut left = random.below(all.iter().map(|(_, weight)| weight).sum());
        for (fault, weight) in &all {
            if left < *weight {
                return *fault;
            }
            left -= weight;
        }
        Self::KillWorker
    }

    const fn ends_daemon(self) -> bool {
        matches!(self, Self::KillDaemon | Self::StopDaemon | Self::FewFiles | Self::NoWatches)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KillDaemon => "daemon killed",
            Self::StopDaemon => "daemon stopped",
            Self::FewFiles => "few files",
            Self::NoWatches => "no watches",
            Self::PauseDaemon => "daemon paused",
            Self::KillWorker => "worker killed",
            Self::PauseWorker => "worker paused",
            Self::FullDisk => "disk full",
            Self::ClockJump => "clock jumped",
        }
    }
}
