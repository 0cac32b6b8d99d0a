//! The simulated disk as SQLite sees it: a VFS. The one file with `unsafe`, since a VFS is a table of C functions.
//!
//! Every function here relies on this: SQLite hands over a file that `open` filled in and that wasn't closed, names that
//! end with a zero byte, and buffers of the size that it says. A VFS stays registered for the life of the process, and
//! is reused for the next disk when its own is gone.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rusqlite::ffi;

use super::disk_state::{DiskFailure, DiskSlot, DiskState, OpenedFile, SharedDisk};
use super::locks::{LockLevel, SharedMemory, ShmChange};

/// Longest path, in bytes.
const PATH_BYTES_MAX: c_int = 1024;

/// The disk's properties that SQLite may count on.
const SECTOR_BYTES: c_int = 4096;

/// The time that the clock always shows: the Julian day in milliseconds.
const JULIAN_MILLIS: i64 = 2_460_000 * 86_400_000;

/// Slots without a disk.
static FREE: Mutex<Vec<&'static VfsSlot>> = Mutex::new(Vec::new());

/// The number of slots.
static SLOTS: Mutex<usize> = Mutex::new(0);

/// A registered VFS and its disk.
pub(super) struct VfsSlot {
    name: String,
    disk: Mutex<Weak<SharedDisk>>,
}

impl DiskSlot for VfsSlot {
    fn name(&self) -> &str {
        &self.name
    }

    fn detach(&'static self) {
        *lock_mutex(&self.disk) = Weak::new();
        lock_mutex(&FREE).push(self);
    }
}

impl VfsSlot {
    /// A VFS that no disk uses.
    pub(super) fn acquire() -> &'static Self {
        let free = lock_mutex(&FREE).pop();
        free.unwrap_or_else(Self::register)
    }

    /// Gives access to this disk from now on.
    pub(super) fn attach(&self, disk: &Arc<SharedDisk>) {
        *lock_mutex(&self.disk) = Arc::downgrade(disk);
    }

    fn register() -> &'static Self {
        let mut count = lock_mutex(&SLOTS);
        *count += 1;
        let name = format!("tslp-simulated-{count}");
        let c_name = CString::new(name.clone()).expect("the name has no zero byte");
        let slot: &'static Self = Box::leak(Box::new(Self {
            name,
            disk: Mutex::new(Weak::new()),
        }));
        let vfs = Box::leak(Box::new(ffi::sqlite3_vfs {
            iVersion: 2,
            szOsFile: c_int::try_from(size_of::<SimFile>()).expect("a file is a few words"),
            mxPathname: PATH_BYTES_MAX,
            pNext: ptr::null_mut(),
            zName: c_name.into_raw(),
            pAppData: ptr::from_ref(slot).cast_mut().cast(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            xFullPathname: Some(full_pathname),
            xDlOpen: None,
            xDlError: None,
            xDlSym: None,
            xDlClose: None,
            xRandomness: Some(randomness),
            xSleep: Some(sleep),
            xCurrentTime: Some(current_time),
            xGetLastError: None,
            xCurrentTimeInt64: Some(current_time_int64),
            xSetSystemCall: None,
            xGetSystemCall: None,
            xNextSystemCall: None,
        }));
        // SAFETY: the table and its name are never freed nor changed by us again.
        let registered = unsafe { ffi::sqlite3_vfs_register(vfs, 0) };
        assert_eq!(registered, ffi::SQLITE_OK, "SQLite takes no VFS");
        slot
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open file as SQLite holds it: its own part, then ours.
#[repr(C)]
struct SimFile {
    base: ffi::sqlite3_file,
    /// From `Box::into_raw`, until `close`.
    handle: *mut FileHandle,
}

/// An open file.
struct FileHandle {
    disk: Arc<SharedDisk>,
    opened: OpenedFile,
    path: PathBuf,
    /// A new journal or WAL: its name is made durable with its first sync, as SQLite's own VFS does.
    name_unsynced: bool,
    delete_on_close: bool,
    memory: Option<Arc<SharedMemory>>,
}

impl FileHandle {
    fn with_state<T>(&self, act: impl FnOnce(&mut DiskState, OpenedFile, &Path) -> T) -> T {
        act(&mut self.disk.state(), self.opened, &self.path)
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock_file),
    xUnlock: Some(unlock_file),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The disk of a VFS, unless it is gone.
///
/// # Safety
/// `vfs` is one of ours.
unsafe fn disk_of(vfs: *mut ffi::sqlite3_vfs) -> Option<Arc<SharedDisk>> {
    // SAFETY: `register` put a slot there that lives for ever.
    let slot = unsafe { &*(*vfs).pAppData.cast::<VfsSlot>() };
    lock_mutex(&slot.disk).upgrade()
}

/// The path of a name; `None` for a temporary file, which has none.
///
/// # Safety
/// `name` ends with a zero byte, or is null.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: as this function's.
    let name = unsafe { CStr::from_ptr(name) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// Our part of an open file.
///
/// # Safety
/// `open` filled `file` in, `close` hasn't had it, and nobody else has a reference to its handle: SQLite uses a file on
/// one thread at a time.
unsafe fn handle_of<'a>(file: *mut ffi::sqlite3_file) -> &'a mut FileHandle {
    // SAFETY: as this function's.
    unsafe { &mut *(*file.cast::<SimFile>()).handle }
}

/// SQLite's code for an outcome; `io` for `EIO`.
const fn sqlite_code(outcome: Result<(), DiskFailure>, io: c_int) -> c_int {
    match outcome {
        Ok(()) => ffi::SQLITE_OK,
        Err(DiskFailure::Io) => io,
        Err(DiskFailure::Full) => ffi::SQLITE_FULL,
        Err(DiskFailure::Missing) => ffi::SQLITE_CANTOPEN,
    }
}

fn to_usize(number: impl TryInto<usize>) -> usize {
    number.try_into().unwrap_or(0)
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let sim = file.cast::<SimFile>();
    // SAFETY: SQLite gives `szOsFile` bytes, and looks at nothing of them if the methods are null.
    unsafe { (*sim).base.pMethods = ptr::null() };
    // SAFETY: SQLite calls with our VFS and a name that ends with a zero byte.
    let (disk, path) = unsafe { (disk_of(vfs), path_of(name)) };
    let Some(disk) = disk else {
        return ffi::SQLITE_CANTOPEN;
    };
    let path = path.unwrap_or_else(|| PathBuf::from("/temporary"));
    let has = |flag: c_int| flags & flag != 0;
    let outcome = disk.state().open(&path, has(ffi::SQLITE_OPEN_CREATE));
    let (opened, made) = match outcome {
        Ok(opened) => opened,
        Err(failure) => return sqlite_code(Err(failure), ffi::SQLITE_CANTOPEN),
    };
    let journal = has(ffi::SQLITE_OPEN_MAIN_JOURNAL) || has(ffi::SQLITE_OPEN_WAL);
    let handle = Box::new(FileHandle {
        disk,
        opened,
        path,
        name_unsynced: made && journal,
        delete_on_close: has(ffi::SQLITE_OPEN_DELETEONCLOSE),
        memory: None,
    });
    // SAFETY: as above; from here on SQLite closes the file, which takes the handle back. `out_flags` may be null.
    unsafe {
        (*sim).handle = Box::into_raw(handle);
        (*sim).base.pMethods = &raw const METHODS;
        if let Some(out_flags) = out_flags.as_mut() {
            *out_flags = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once, and `open` made the handle.
    let handle = unsafe { Box::from_raw((*file.cast::<SimFile>()).handle) };
    handle.with_state(|state, opened, path| {
        if !state.is_alive(opened) {
            return;
        }
        if let Some(locks) = state.locks.get_mut(&opened.file) {
            locks.unlock(opened.handle, LockLevel::None);
        }
        if handle.delete_on_close && state.files.find(path) == Some(opened.file) {
            state.files.remove(path);
        }
    });
    if let Some(memory) = &handle.memory {
        memory.release_all(handle.opened.handle);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    amount: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite's buffer holds `amount` bytes; see `handle_of` for the file.
    let (handle, into) = unsafe {
        let into = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), to_usize(amount));
        (handle_of(file), into)
    };
    let read =
        handle.with_state(|state, opened, path| state.read(opened, path, to_usize(offset), into));
    match read {
        Ok(count) if count == into.len() => ffi::SQLITE_OK,
        Ok(count) => {
            into[count..].fill(0);
            ffi::SQLITE_IOERR_SHORT_READ
        }
        Err(failure) => sqlite_code(Err(failure), ffi::SQLITE_IOERR_READ),
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    buffer: *const c_void,
    amount: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: as for `read`.
    let (handle, bytes) = unsafe {
        let bytes = std::slice::from_raw_parts(buffer.cast::<u8>(), to_usize(amount));
        (handle_of(file), bytes)
    };
    let written =
        handle.with_state(|state, opened, path| state.write(opened, path, to_usize(offset), bytes));
    sqlite_code(written, ffi::SQLITE_IOERR_WRITE)
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let resized =
        handle.with_state(|state, opened, path| state.resize(opened, path, to_usize(size)));
    sqlite_code(resized, ffi::SQLITE_IOERR_TRUNCATE)
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let synced = handle.with_state(DiskState::sync);
    if synced.is_ok() && handle.name_unsynced {
        let named = handle.with_state(|state, _, path| state.sync_name(path));
        if named.is_err() {
            return sqlite_code(named, ffi::SQLITE_IOERR_DIR_FSYNC);
        }
        handle.name_unsynced = false;
    }
    sqlite_code(synced, ffi::SQLITE_IOERR_FSYNC)
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    size: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let found = handle.with_state(|state, opened, _| {
        let alive = state.is_alive(opened);
        alive.then(|| state.files.bytes(opened.file).len())
    });
    let Some(found) = found else {
        return ffi::SQLITE_IOERR_FSTAT;
    };
    // SAFETY: SQLite wants the size there.
    unsafe { *size = i64::try_from(found).unwrap_or(i64::MAX) };
    ffi::SQLITE_OK
}

fn lock_level(level: c_int) -> LockLevel {
    match level {
        ffi::SQLITE_LOCK_NONE => LockLevel::None,
        ffi::SQLITE_LOCK_SHARED => LockLevel::SharedDisk,
        ffi::SQLITE_LOCK_RESERVED => LockLevel::Reserved,
        ffi::SQLITE_LOCK_PENDING => LockLevel::Pending,
        _ => LockLevel::Exclusive,
    }
}

unsafe extern "C" fn lock_file(file: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    handle.with_state(|state, opened, _| {
        if !state.is_alive(opened) {
            return ffi::SQLITE_IOERR_LOCK;
        }
        let locks = state.locks.entry(opened.file).or_default();
        match locks.lock(opened.handle, lock_level(wanted)) {
            Ok(()) => ffi::SQLITE_OK,
            Err(_) => ffi::SQLITE_BUSY,
        }
    })
}

unsafe extern "C" fn unlock_file(file: *mut ffi::sqlite3_file, wanted: c_int) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    handle.with_state(|state, opened, _| {
        if state.is_alive(opened)
            && let Some(locks) = state.locks.get_mut(&opened.file)
        {
            locks.unlock(opened.handle, lock_level(wanted));
        }
    });
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(
    file: *mut ffi::sqlite3_file,
    reserved: *mut c_int,
) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let found = handle.with_state(|state, opened, _| {
        let locks = state.locks.get(&opened.file);
        locks.is_some_and(super::locks::FileLocks::is_reserved)
    });
    // SAFETY: SQLite wants the answer there.
    unsafe { *reserved = c_int::from(found) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_control(
    _file: *mut ffi::sqlite3_file,
    _operation: c_int,
    _argument: *mut c_void,
) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_file: *mut ffi::sqlite3_file) -> c_int {
    SECTOR_BYTES
}

/// As with SQLite's own VFS for Unix, the bytes around a write survive a power loss unchanged.
unsafe extern "C" fn device_characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    _region_bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let memory = match &handle.memory {
        Some(memory) => Some(Arc::clone(memory)),
        None => handle.with_state(|state, opened, _| {
            if !state.is_alive(opened) {
                return None;
            }
            let shared = state.shared_memory.entry(opened.file).or_default();
            Some(shared.upgrade().unwrap_or_else(|| {
                let memory = Arc::new(SharedMemory::default());
                *shared = Arc::downgrade(&memory);
                memory
            }))
        }),
    };
    let Some(memory) = memory else {
        return ffi::SQLITE_IOERR_SHMOPEN;
    };
    let found = memory.region(to_usize(region), extend != 0);
    handle.memory = Some(memory);
    // SAFETY: SQLite wants the address there, or null. The memory stays until the file is closed or unmapped.
    unsafe { *out = found.map_or(ptr::null_mut(), <*mut u64>::cast) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    let shared = flags & ffi::SQLITE_SHM_SHARED != 0;
    let change = match (flags & ffi::SQLITE_SHM_LOCK != 0, shared) {
        (true, true) => ShmChange::LockShared,
        (true, false) => ShmChange::LockExclusive,
        (false, true) => ShmChange::UnlockShared,
        (false, false) => ShmChange::UnlockExclusive,
    };
    let Some(memory) = &handle.memory else {
        return ffi::SQLITE_IOERR_SHMLOCK;
    };
    let first = to_usize(offset);
    match memory.change_locks(handle.opened.handle, first..first + to_usize(count), change) {
        Ok(()) => ffi::SQLITE_OK,
        Err(_) => ffi::SQLITE_BUSY,
    }
}

unsafe extern "C" fn shm_barrier(_file: *mut ffi::sqlite3_file) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _delete: c_int) -> c_int {
    // SAFETY: see `handle_of`.
    let handle = unsafe { handle_of(file) };
    if let Some(memory) = handle.memory.take() {
        memory.release_all(handle.opened.handle);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    sync_name: c_int,
) -> c_int {
    // SAFETY: SQLite calls with our VFS and a name that ends with a zero byte.
    let (Some(disk), Some(path)) = (unsafe { (disk_of(vfs), path_of(name)) }) else {
        return ffi::SQLITE_IOERR_DELETE;
    };
    let mut state = disk.state();
    match state.remove(&path) {
        Ok(()) if sync_name != 0 => {
            sqlite_code(state.sync_name(&path), ffi::SQLITE_IOERR_DIR_FSYNC)
        }
        Err(DiskFailure::Missing) => ffi::SQLITE_IOERR_DELETE_NOENT,
        outcome => sqlite_code(outcome, ffi::SQLITE_IOERR_DELETE),
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: as for `delete`.
    let (Some(disk), Some(path)) = (unsafe { (disk_of(vfs), path_of(name)) }) else {
        return ffi::SQLITE_IOERR_ACCESS;
    };
    let Ok(size) = disk.state().size(&path) else {
        return ffi::SQLITE_IOERR_ACCESS;
    };
    // An empty file doesn't exist, as with SQLite's own VFS for Unix.
    let there = match flags {
        ffi::SQLITE_ACCESS_EXISTS => size.is_some_and(|size| size > 0),
        _ => size.is_some(),
    };
    // SAFETY: SQLite wants the answer there.
    unsafe { *out = c_int::from(there) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    out_bytes: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: the name ends with a zero byte.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if bytes.len() > to_usize(out_bytes) {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: the buffer holds `out_bytes` bytes, and is none of ours.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len()) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn randomness(
    _vfs: *mut ffi::sqlite3_vfs,
    bytes: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: the buffer holds `bytes` bytes.
    unsafe { ptr::write_bytes(out, 0x5A, to_usize(bytes)) };
    bytes
}

/// Sleeps in real time, because the threads that hold locks work in real time.
unsafe extern "C" fn sleep(_vfs: *mut ffi::sqlite3_vfs, micros: c_int) -> c_int {
    std::thread::sleep(Duration::from_micros(u64::try_from(micros).unwrap_or(0)));
    micros
}

unsafe extern "C" fn current_time(_vfs: *mut ffi::sqlite3_vfs, out: *mut f64) -> c_int {
    // SAFETY: SQLite wants the time there.
    unsafe { *out = 2_460_000.0 };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_int64(
    _vfs: *mut ffi::sqlite3_vfs,
    out: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite wants the time there.
    unsafe { *out = JULIAN_MILLIS };
    ffi::SQLITE_OK
}
