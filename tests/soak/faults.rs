//! Which fault comes next.

use herma_tests::random::Random;

/// Something that happens to the processes, or to what they stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The daemon is killed and started again.
    KillDaemon,
    /// It is asked to stop, and started again.
    StopDaemon,
    /// It is started again with few files that it may open.
    FewFiles,
    /// It is started again where no folder can be watched.
    NoWatches,
    /// It stands still for a while.
    PauseDaemon,
    /// One of the others is killed and started again.
    KillWorker,
    /// One of the others stands still for a while.
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

    /// The next one. In a calm the daemon is not started again, so that it can be seen whether it
    /// grows.
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
