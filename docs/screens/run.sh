#!/bin/sh
# Plays `stopgate run` in tmux and writes what is on the screen:
#   docs/screens/run.sh PROGRAM
# It needs tmux and git. The client is a stand-in that speaks as Claude Code does.
set -eu

program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)

play() {
    columns=$1
    stage=$(mktemp -d "$HOME/screens.XXXXXX")
    mkdir -p "$stage/home" "$stage/bin" "$stage/greeter"
    cp "$program" "$stage/bin/stopgate"
    cd "$stage/greeter"
    git init -q .
    cat >"$stage/bin/claude" <<'P'
#!/bin/sh
# The stand-in: n-th turn of the night.
while [ $# -gt 0 ]; do
    case $1 in --session-id | --resume) session=$2 ;; esac
    shift
done
echo x >>"$HOME/turns"
n=$(wc -l <"$HOME/turns")
record=$HOME/.claude/projects/-greeter/$session.jsonl
mkdir -p "$(dirname "$record")"
say() { printf '{"session_id":"%s",%s}\n' "$session" "$1"; }
uses() {
    printf '{"type":"assistant","timestamp":"%s","message":{"id":"%s-%s","model":"claude-opus-4-5","content":[],"usage":{"input_tokens":%s,"output_tokens":2400}}}\n' \
        "$(date -u +%Y-%m-%dT%H:%M:%S.999Z)" "$session" "$n" "$1" >>"$record"
}
well() {
    say '"type":"assistant","message":{"model":"m"}'
    say "\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$1\""
}
say '"type":"system","subtype":"init"'
sleep 0.3
case $n in
1)
    uses 61000
    well 'The parser is there; its tests are still red.'
    ;;
2)
    say "\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\"resetsAt\":$(date +%s)}"
    say '"type":"result","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"You have hit your limit"'
    exit 1
    ;;
3)
    uses 84000
    read -r opening
    say '"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which database should it use?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}}'
    read -r reply
    say '"type":"result","is_error":true,"terminal_reason":"aborted_tools"'
    exit 1
    ;;
*)
    uses 40000
    touch green.txt
    well 'All tests are green.'
    ;;
esac
P
    chmod +x "$stage/bin/claude"
    tmux -L "screens$$" new-session -d -x "$columns" -y 50 "env -i HOME=$stage/home PATH=$stage/bin:$PATH TERM=screen-256color PS1='\$ ' sh"
    kept() {
        file=$1
        shift
        tmux -L "screens$$" capture-pane "$@" | sed "s#$stage/home#~#g; s#$stage#/home/me#g; s/[[:space:]]*\$//" |
            sed '${/^\$*$/d}' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$here/$file"
    }
    screen() {
        name=$1
        shift
        tmux -L "screens$$" send-keys "clear" Enter
        sleep 0.5
        for line in "$@"; do
            tmux -L "screens$$" send-keys "$line" Enter
            sleep 1
            waited=0
            while [ "$waited" -lt 60 ]; do
                sleep 0.5
                waited=$((waited + 1))
                case $(tmux -L "screens$$" capture-pane -p | grep -v '^$' | tail -1) in
                '$' | '$ ') break ;;
                esac
            done
        done
        kept "$name-$columns.txt" -p
        kept "$name-$columns.ansi" -e -p
    }
    tmux -L "screens$$" send-keys "stopgate start 'the store keeps its data and all tests pass' --check 'tests=test -f green.txt' --max-cost 5 >start.log 2>&1" Enter
    sleep 3
    screen 7-run "stopgate run --headless -- claude | tail -3"
    screen 8-run-answered "stopgate answer \$(stopgate list --json | grep -o '\"id\":\"[^\"]*\"' | head -1 | cut -d'\"' -f4) SQLite" "stopgate run --headless --continue -- claude | head -24"
    tmux -L "screens$$" kill-server
    rm -rf "$stage"
}

play 80
play 120
cd "$here/../.."
cargo run --quiet --package xtask -- record --screens
rm -f "$here"/*.ansi
