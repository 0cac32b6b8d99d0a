#!/bin/sh
# Installs the real coding clients into a cache folder, each on its own; what can't be installed is skipped.
#
#   ./install.sh [CACHE] [CLIENT...]      CACHE: default ~/.cache/tslp-agents
#                                         CLIENT: opencode qwen cline continue claude codex aider pi; default all
#
# Versions can be set by OPENCODE_VERSION, QWEN_VERSION, CLINE_VERSION, CONTINUE_VERSION, CLAUDE_VERSION, CODEX_VERSION,
# AIDER_VERSION, PI_VERSION.
set -u

cache=${1:-$HOME/.cache/tslp-agents}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- opencode qwen cline continue claude codex aider pi
mkdir -p "$cache" || exit 1
cache=$(cd "$cache" && pwd)

skip() {
    echo "skip $1: $2 (log: $cache/$1.log)"
}

# npm_client NAME PACKAGE BINARY
npm_client() {
    command -v npm >/dev/null || { skip "$1" 'there is no npm'; return; }
    mkdir -p "$cache/$1"
    if npm install --prefix "$cache/$1" --no-audit --no-fund --no-save --loglevel=error "$2" >"$cache/$1.log" 2>&1 &&
        "$cache/$1/node_modules/.bin/$3" --version >>"$cache/$1.log" 2>&1 </dev/null; then
        echo "ok   $1 $2: $("$cache/$1/node_modules/.bin/$3" --version 2>/dev/null </dev/null | tail -n 1)"
    else
        skip "$1" "$2 can't be installed or started"
    fi
}

aider_client() {
    python=$(command -v python3.11 || command -v python3.12 || command -v python3.10 || command -v python3)
    [ -n "$python" ] || { skip aider 'there is no Python'; return; }
    if "$python" -m venv "$cache/aider" >"$cache/aider.log" 2>&1 &&
        "$cache/aider/bin/python" -m pip install --quiet "aider-chat==${AIDER_VERSION:-0.86.2}" >>"$cache/aider.log" 2>&1 &&
        HOME="$cache/aider" "$cache/aider/bin/aider" --version >>"$cache/aider.log" 2>&1 </dev/null; then
        echo "ok   aider: $(HOME="$cache/aider" "$cache/aider/bin/aider" --version 2>/dev/null </dev/null | tail -n 1)"
    else
        skip aider "aider-chat can't be installed or started"
    fi
}

for name in "$@"; do
    case $name in
    opencode) npm_client opencode "opencode-ai@${OPENCODE_VERSION:-1.18.33}" opencode ;;
    qwen) npm_client qwen "@qwen-code/qwen-code@${QWEN_VERSION:-0.24.4}" qwen ;;
    cline) npm_client cline "cline@${CLINE_VERSION:-3.0.65}" cline ;;
    continue) npm_client continue "@continuedev/cli@${CONTINUE_VERSION:-1.5.47}" cn ;;
    claude) npm_client claude "@anthropic-ai/claude-code@${CLAUDE_VERSION:-2.1.197}" claude ;;
    codex) npm_client codex "@openai/codex@${CODEX_VERSION:-0.169.0}" codex ;;
    aider) aider_client ;;
    pi) npm_client pi "@mariozechner/pi-coding-agent@${PI_VERSION:-0.73.1}" pi ;;
    *) echo "unknown client: $name" >&2; exit 2 ;;
    esac
done
