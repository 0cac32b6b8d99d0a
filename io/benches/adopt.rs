//! `tslp adopt` on real C and C++, beside the bare reading and extraction of the same files on as many cores, in one run.
//! `cargo bench -p tslp-io --bench adopt [-- FOLDER]`; without a folder the sources in cargo's registry are used.
//!
//! The peer is tree-sitter as it comes, with the system's allocator. The same with the parsers' memory of `tslp` stands
//! beside it, so that nobody takes what that gains for the ledger's merit.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;
use tslp_io::out::Out;

const ROUNDS: usize = 3;

/// Source to adopt at the least, and at the most.
const CORPUS_BYTES_MIN: u64 = 20_000_000;
const CORPUS_BYTES_MAX: u64 = 28_000_000;

/// C and C++ alone: they are read by grammars, which is what the targets are about.
const EXTENSIONS: [&str; 6] = ["c", "h", "cc", "cpp", "hpp", "cxx"];

/// The targets.
const RATIO_MAX: f64 = 1.3;
const RSS_MIB_MAX: f64 = 64.0;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a piece of work took.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    /// On all cores together; tells more than the time where other programs take turns with this one.
    cpu: Duration,
}

/// Where the parsers of the bare extraction take their memory from.
#[derive(Clone, Copy)]
enum Memory {
    System,
    Arenas,
}

impl Memory {
    const ALL: [Self; 2] = [Self::System, Self::Arenas];

    /// The argument by which this program is told to do nothing but extract.
    const fn argument(self) -> &'static str {
        match self {
            Self::System => "--extract-with-the-systems-memory",
            Self::Arenas => "--extract-in-arenas",
        }
    }
}

/// One run of the program.
struct Run {
    cost: Cost,
    rss_kib: u64,
    summary: serde_json::Value,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, how, workspace] = arguments.as_slice()
        && let Some(memory) = Memory::ALL.into_iter().find(|it| it.argument() == how)
    {
        return extraction(memory, Path::new(workspace));
    }
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let given = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let dir = tempfile::tempdir()?;
    let workspace = dir.path().join("workspace");
    let files = corpus(&given.map_or_else(registry, PathBuf::from), &workspace)?;
    let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut out = Out::stdout();
    out.line(format_args!(
        "{} files, {:.1} MB, {cores} cores, median of {ROUNDS} rounds that take turns",
        files.len(),
        megabytes(bytes)
    ))?;
    if bytes < CORPUS_BYTES_MIN {
        out.line("the corpus is smaller than 20 MB: name a folder with more C or C++")?;
    }
    let (mut bare, mut in_arenas) = (Vec::new(), Vec::new());
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let data = dir.path().join(format!("data{round}"));
        bare.push(bare_extraction(Memory::System, &workspace)?);
        in_arenas.push(bare_extraction(Memory::Arenas, &workspace)?);
        first.push(adopt(&workspace, &data)?);
        again.push(adopt(&workspace, &data)?);
        let ledger = std::fs::metadata(data.join("ledger.db"))?.len();
        if round == 0 {
            out.line(format_args!("{}", first[0].summary))?;
            out.line(format_args!("ledger {:.1} MB", megabytes(ledger)))?;
        }
    }
    let bare = median(bare);
    let mut row = |name: &str, cost: Cost| {
        let [seconds, cpu] = [cost.time, cost.cpu].map(|time| time.as_secs_f64());
        let [bare, bare_cpu] = [bare.time, bare.cpu].map(|time| time.as_secs_f64());
        let (ratio, cpu_ratio) = (seconds / bare, cpu / bare_cpu);
        let rate = megabytes(bytes) / seconds;
        out.line(format_args!(
            "{name:36} {seconds:6.2} s {rate:5.1} MB/s {ratio:5.2} x   CPU {cpu:6.2} s {cpu_ratio:5.2} x"
        ))?;
        Ok::<(f64, f64), std::io::Error>((ratio, cpu_ratio))
    };
    let costs = |runs: &[Run]| median(runs.iter().map(|run| run.cost).collect());
    row("reading and extraction alone", bare)?;
    row("the same in arenas", median(in_arenas))?;
    let (ratio, cpu_ratio) = row("tslp adopt, a new ledger", costs(&first))?;
    row("tslp adopt again, all true already", costs(&again))?;
    let runs = first.iter().chain(&again);
    let rss = runs.map(|run| run.rss_kib).max().unwrap_or(0);
    let rss = f64::from(u32::try_from(rss)?) / 1024.0;
    let verdict = |fine: bool| if fine { "within target" } else { "OVER TARGET" };
    for (name, ratio) in [("time", ratio), ("CPU", cpu_ratio)] {
        let verdict = verdict(ratio <= RATIO_MAX);
        out.line(format_args!(
            "ratio of {name} {ratio:.2}, at most {RATIO_MAX}: {verdict}"
        ))?;
    }
    let verdict = verdict(rss <= RSS_MIB_MAX);
    out.line(format_args!(
        "peak RSS {rss:.1} MiB, at most {RSS_MIB_MAX}: {verdict}"
    ))?;
    Ok(())
}

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    home.unwrap_or_default().join("registry/src")
}

/// C and C++ beneath a folder with their sizes in bytes, in a fixed order.
fn sources(from: &Path) -> Outcome<Vec<(RelPath, u64)>> {
    let mut folders = vec![from.to_owned()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let path = entry.path();
            let relative = path.strip_prefix(from)?.to_string_lossy().into_owned();
            let name = RelPath::from_normalised(&relative);
            if name.extension().is_some_and(|it| EXTENSIONS.contains(&it)) {
                sources.push((name, entry.metadata()?.len()));
            }
        }
    }
    Ok(sources)
}

/// Copies sources, so that nothing but them lies in the workspace. Names them with their sizes.
fn corpus(from: &Path, workspace: &Path) -> Outcome<Vec<(RelPath, u64)>> {
    let mut total = 0;
    let mut taken = Vec::new();
    for (name, bytes) in sources(from)? {
        // Over the parser's bound nothing is extracted, and nothing would be compared.
        if bytes > 1 << 20 || total + bytes > CORPUS_BYTES_MAX {
            continue;
        }
        let to = workspace.join(name.as_str());
        std::fs::create_dir_all(to.parent().unwrap_or(workspace))?;
        std::fs::copy(from.join(name.as_str()), to)?;
        total += bytes;
        taken.push((name, bytes));
    }
    Ok(taken)
}

/// Lets this program, as a process of its own, do nothing but extract.
fn bare_extraction(memory: Memory, workspace: &Path) -> Outcome<Cost> {
    let (start, before) = (Instant::now(), cpu_time());
    let status = Command::new(std::env::current_exe()?)
        .arg(memory.argument())
        .arg(workspace)
        .status()?;
    if !status.success() {
        return Err("the bare extraction failed".into());
    }
    Ok(Cost {
        time: start.elapsed(),
        cpu: cpu_time() - before,
    })
}

/// Reads and extracts every file, nothing else, on all cores.
#[expect(
    unsafe_code,
    reason = "the parsers' memory is for the process to decide"
)]
fn extraction(memory: Memory, workspace: &Path) -> Outcome<()> {
    if matches!(memory, Memory::Arenas) {
        // SAFETY: no parser was made yet, and there is no other thread.
        unsafe { tslp_grammars::arena::install() };
    }
    let files = sources(workspace)?;
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, _)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let bytes = std::fs::read(workspace.join(name.as_str())).unwrap_or_default();
            if let Some(language) = TreeSitterGrammars.language_of_path(name) {
                let _ = std::hint::black_box(TreeSitterGrammars.extract(language, &bytes));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    Ok(())
}

/// Processor time of this process, and of the children that it waited for.
fn cpu_time() -> Duration {
    /// What the kernel counts in.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the program's name, which may hold blanks: user and system time, own and the children's.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Runs the program and watches the high-water mark of its memory.
fn adopt(workspace: &Path, data: &Path) -> Outcome<Run> {
    let program = std::env::var("TSLP_BENCH_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_tslp").to_owned());
    let (start, before) = (Instant::now(), cpu_time());
    let mut child = Command::new(program)
        .args([
            "adopt",
            ".",
            "--json",
            "--log-level",
            "error",
            "--workspace",
        ])
        .arg(workspace)
        .arg("--data-dir")
        .arg(data)
        .current_dir(workspace)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut rss_kib = 0;
    while child.try_wait()?.is_none() {
        rss_kib = rss_kib.max(high_water_kib(child.id()));
        thread::sleep(Duration::from_millis(5));
    }
    let time = start.elapsed();
    let output = child.wait_with_output()?;
    let cpu = cpu_time() - before;
    Ok(Run {
        cost: Cost { time, cpu },
        rss_kib,
        summary: serde_json::from_slice(&output.stdout)?,
    })
}

/// `VmHWM` never falls, so the last look before the end tells nearly all.
fn high_water_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// Of the times and of the processor times, each for itself.
fn median(costs: Vec<Cost>) -> Cost {
    let middle = |of: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = costs.iter().map(of).collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    Cost {
        time: middle(|cost| cost.time),
        cpu: middle(|cost| cost.cpu),
    }
}

fn megabytes(bytes: u64) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6
}
