#!/usr/bin/env bash
# Deploys. not_me() { }
set -euo pipefail
source ./lib.sh

readonly ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export PATH=/bin:$PATH
NAMES=(
  "one }"
  two
)

# Says what is wrong.
fail() {
  echo "deploy: $* }" >&2
  exit 1
}

function build {
  local target=$1
  case $target in
    all) make all ;;
    (test|check) make "${target}" ;;
    *) fail "unknown: ${target#*/}" ;;
  esac
}

deploy-all ()
{
  for name in "${NAMES[@]}"; do
    if [[ $name =~ ^o\{ ]]; then continue; fi
    cat <<EOF
fake() {
  $name's
EOF
    awk '{ print $1 }' <<<"$name" # {
  done
}

function todo() {
  # TODO
  :
}

count=$(( ${#NAMES[@]} + 1 ))
if [ "$count" -gt 1 ]; then
  deploy-all "$@"
fi
