//! What the judge of clients' calls knows by name: arguments, programs, files. Each list is one text, parted by spaces, or by `|`
//! where a name holds a space.

/// The names in a list.
pub(super) fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    let parted_by = if list.contains('|') { '|' } else { ' ' };
    list.split(parted_by).filter(|name| !name.is_empty())
}

/// Whether a list has a name.
pub(super) fn lists(list: &'static str, name: &str) -> bool {
    names(list).any(|listed| listed == name)
}

/// Whether a text holds a name of a list.
pub(super) fn holds_any(list: &'static str, text: &str) -> bool {
    names(list).any(|listed| text.contains(listed))
}

// Arguments of tools, besides those in `clients.json`.
pub(super) const LINE_ARGUMENTS: &str = "script command_line commandLine shell_command bash";
pub(super) const TYPED_ARGUMENTS: &str = "input text keys chars data stdin";
pub(super) const FOLDER_ARGUMENTS: &str = "cwd workdir working_directory dir_path directory";
pub(super) const PATH_LISTS: &str = "files paths file_paths filePaths";
pub(super) const CODE_ARGUMENTS: &str = "code python javascript program cell source_code";
pub(super) const PATH_ARGUMENTS: &str = "source destination old_path new_path from_path to_path notebook_path relative_path absolute_path filename dest";
/// Parts of names of tools that type into a terminal.
pub(super) const TERMINAL_TOOLS: &str = "terminal shell bash console stdin exec tmux pty";
/// Parts of names of tools that change files.
pub(super) const WRITING_TOOLS: &str =
    "write edit create delete remove move rename append insert replace patch mkdir save";
/// How names of tools begin that only read.
pub(super) const READING_TOOLS: &str =
    "read view cat list ls glob grep search find fetch get show tree web todo";
/// Words among a build's first that make it a test run, besides those with `test` in them.
pub(super) const TEST_WORDS: &str =
    "check jest mocha tox nox rspec ava karma jasmine tap prove bats tst t";
pub(super) const EDITOR_COMMANDS: &str = "view create str_replace insert undo_edit";
pub(super) const PATCH_HEADERS: &str =
    "*** Add File: |*** Update File: |*** Delete File: |*** Move to: |+++ |rename to ";
/// Programs that run the command after their own options.
pub(super) const WRAPPERS: &str = "sudo doas env nohup nice ionice setsid stdbuf exec command builtin timeout xargs parallel watch strace unbuffer \
     busybox toybox caffeinate";
/// Programs that run another one of a project's tools, and those that do with one of these words.
pub(super) const LAUNCHERS: &str = "npx pnpx bunx uvx pipx";
pub(super) const LAUNCHING_TOOLS: &str =
    "npm pnpm yarn bun uv poetry pipenv pdm hatch rye pixi conda bundle mise rtx direnv dotenv";
pub(super) const LAUNCHING_VERBS: &str = "exec x dlx run";
/// Their options that take a value.
pub(super) const LAUNCHER_OPTIONS: &str = "-p --package -c --call --with --extra --group --python --from --directory --project -n --name -C";
pub(super) const SHELLS: &str =
    "sh bash dash zsh ksh fish ash rbash eval source . iex invoke-expression pwsh powershell";
pub(super) const INTERPRETERS: &str =
    "python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua osascript";
pub(super) const DOWNLOADERS: &str = "curl wget fetch aria2c http https httpie xh lynx nc ncat netcat iwr irm invoke-webrequest invoke-restmethod";
/// Options of downloaders that name the file that they write.
pub(super) const DOWNLOAD_TARGETS: &str = "-o --output -O --output-document";
/// Programs all of whose operands are written.
pub(super) const WRITERS: &str = "mv touch mkdir tee truncate mkfifo mknod rename fallocate wipefs sponge new-item set-content out-file";
/// Programs that show nothing of the files that they are given.
pub(super) const SHOWS_NOTHING: &str = "ls stat test [ [[ file du wc chmod chown touch mkdir rm rmdir mv echo printf git cd find fd which ln source . \
     export ssh ssh-keygen ssh-add docker docker-compose podman node dotenv tslp realpath basename dirname";
/// Folders outside of the workspace where anybody may write.
pub(super) const SCRATCH: &str =
    "/tmp /var/tmp /private/tmp /dev/null /dev/stdout /dev/stderr /dev/tty /dev/fd /dev/shm";
/// Parts of a repository that run programs later.
pub(super) const GIT_FILES: &str = "/.git/hooks/ /.git/config";
/// Files and folders of the home folder that run later by themselves.
pub(super) const START_FILES: &str = ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc \
     .login .cshrc .tcshrc .inputrc .xprofile .xinitrc .xsession .gitconfig .ssh .config/fish .config/autostart \
     .config/systemd .config/git .config/tslp Library/LaunchAgents";
/// Keys of git's configuration whose values are run, or say where the hooks are.
pub(super) const RUNNING_KEYS: &str = "core.hookspath core.fsmonitor core.sshcommand core.pager core.editor alias. credential. filter. url. \
     http.sslverify diff.external init.templatedir";
pub(super) const SHARED_BRANCHES: &str = "main master trunk develop dev release production staging";
/// Options of `find` that leave files out.
pub(super) const FIND_FILTERS: &str =
    "-name -iname -path -ipath -regex -size -mtime -mmin -newer -empty -perm -user";
pub(super) const CREDENTIAL_NAMES: &str = "id_rsa id_dsa id_ecdsa id_ed25519 .netrc _netrc .git-credentials .pypirc .pgpass .vault-token .htpasswd \
     master.key credentials.json service-account.json";
pub(super) const HOME_CREDENTIALS: &str = ".aws/credentials .docker/config.json .kube/config .npmrc .cargo/credentials .cargo/credentials.toml \
     .config/gh/hosts.yml .config/gcloud/application_default_credentials.json .config/gcloud/credentials.db \
     .azure/accessTokens.json .codex/auth.json .claude/.credentials.json .claude.json .my.cnf \
     .terraform.d/credentials.tfrc.json";
pub(super) const CREDENTIAL_COMMANDS: &str = "gh auth token|gcloud auth print-access-token|gcloud auth print-identity-token|aws configure get|\
     aws configure export-credentials|aws secretsmanager get-secret-value|security find-generic-password|\
     security find-internet-password|secret-tool lookup|pass show|op read|kubectl get secret|vault kv get|vault read|\
     heroku config|npm token list";
pub(super) const SECRET_WORDS: &str = "TOKEN SECRET PASSWORD PASSWD CREDENTIAL API_KEY APIKEY";
/// What only the user says to tslp.
pub(super) const OPERATOR_VERBS: &str =
    "stop resume clear off on lock reply accept confirm reject undo rebuild copy";
pub(super) const OPERATOR_TOOL_VERBS: &str = "allow revoke policy";
pub(super) const HARMLESS_VERBS: &str =
    "status show list-units is-active ps logs images build run exec inspect -l -0";
// Calls in other languages.
pub(super) const RUNNING_CALLS: &str = "os.system|popen|Popen|subprocess|check_output|check_call|child_process|execSync|exec(|execFile|spawn|system(|\
     shell_exec|passthru|system |Deno.Command|$`";
pub(super) const DELETING_CALLS: &str =
    "rmtree rmSync rm_rf rm_r( fs.rm( rmdirSync promises.rm( Deno.remove";
pub(super) const WRITING_CALLS: &str = "os.remove os.unlink .unlink( os.rmdir unlinkSync write_text write_bytes writeFile appendFile createWriteStream \
     shutil.move shutil.copy os.rename renameSync os.chmod chmodSync symlink makedirs mkdir File.write FileUtils \
     file_put_contents File.open Deno.writeTextFile .touch(";
pub(super) const FETCHING_CALLS: &str = "urlopen requests.get urllib fetch( httpx.get";
pub(super) const PRINTS_ENVIRONMENT: &str = "print(os.environ)|print(dict(os.environ|os.environ.items()|console.log(process.env)|JSON.stringify(process.env|\
     ENV.to_h|puts ENV.inspect";
