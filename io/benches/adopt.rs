//! `tslp adopt` on real C and C++, compared with the bare reading and extraction of the same files on as many cores, in one run.
//! `cargo bench -p tslp-io --bench adopt [-- FOLDER]`; without a folder the sources in cargo's registry are used.

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tslp_core::extract::Grammars;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;
use tslp_io::out::Out;

const ROUNDS: usize = 5;

/// Source to adopt at the least, and at the most.
const CORPUS_BYTES_MIN: u64 = 20_000_000;
const CORPUS_BYTES_MAX: u64 = 28_000_000;

/// C and C++ alone: they are read by grammars, which is what the targets are about.
const EXTENSIONS: [&str; 6] = ["c", "h", "cc", "cpp", "hpp", "cxx"];

/// The targets.
const RATIO_MAX: f64 = 1.6;
const RSS_MIB_MAX: f64 = 64.0;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a piece of work took.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    /// On all cores together; means more than the time where other programs take turns with this one.
    cpu: Duration,
}

/// The argument that makes this program do nothing but extract.
const EXTRACT_ONLY: &str = "--extract-only";

/// One run of the program.
struct Run {
    cost: Cost,
    rss_kib: u64,
    summary: serde_json::Value,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, how, workspace] = arguments.as_slice()
        && how == EXTRACT_ONLY
    {
        return extraction(Path::new(workspace));
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
    let (mut bare, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let data = dir.path().join(format!("data{round}"));
        bare.push(bare_extraction(&workspace)?);
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
fn bare_extraction(workspace: &Path) -> Outcome<Cost> {
    let start = Instant::now();
    let child = Command::new(std::env::current_exe()?)
        .arg(EXTRACT_ONLY)
        .arg(workspace)
        .spawn()?;
    let Ended { success, cpu, .. } = ended(&child)?;
    let time = start.elapsed();
    if !success {
        return Err("the bare extraction failed".into());
    }
    Ok(Cost { time, cpu })
}

/// Reads and extracts every file, nothing else, on all cores.
fn extraction(workspace: &Path) -> Outcome<()> {
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

/// What a child took in all, once it has ended.
struct Ended {
    success: bool,
    cpu: Duration,
    /// The most memory that it had at a time.
    rss_kib: u64,
}

/// Waits for a child. The standard library doesn't report what it took.
#[expect(unsafe_code, reason = "the system reports it through C alone")]
fn ended(child: &Child) -> Outcome<Ended> {
    let mut status = 0;
    // SAFETY: the system fills both places, which are of the types that it asks for; all zeros are a value of either.
    let (pid, usage) = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        let pid = libc::wait4(child.id().try_into()?, &raw mut status, 0, &raw mut usage);
        (pid, usage)
    };
    if pid < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let time = |it: libc::timeval| -> Outcome<Duration> {
        let micros = Duration::from_micros(it.tv_usec.try_into()?);
        Ok(Duration::from_secs(it.tv_sec.try_into()?) + micros)
    };
    Ok(Ended {
        success: status == 0,
        cpu: time(usage.ru_utime)? + time(usage.ru_stime)?,
        rss_kib: usage.ru_maxrss.try_into()?,
    })
}

/// Runs the program.
fn adopt(workspace: &Path, data: &Path) -> Outcome<Run> {
    let program = std::env::var("TSLP_BENCH_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_tslp").to_owned());
    let start = Instant::now();
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
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut output)?;
    }
    let ended = ended(&child)?;
    let time = start.elapsed();
    if !ended.success {
        return Err("tslp adopt failed".into());
    }
    let cpu = ended.cpu;
    Ok(Run {
        cost: Cost { time, cpu },
        rss_kib: ended.rss_kib,
        summary: serde_json::from_slice(&output)?,
    })
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
