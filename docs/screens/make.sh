#!/bin/sh
# Plays the first five minutes in tmux, from an empty home, and writes what is on the screen:
#   docs/screens/make.sh PROGRAM
# It needs tmux, git and python3. The agent's stops are sent as Claude Code sends them.
set -eu

program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)

play() {
    columns=$1
    stage=$(mktemp -d "$HOME/screens.XXXXXX")
    mkdir -p "$stage/home" "$stage/bin" "$stage/greeter/tests"
    cp "$program" "$stage/bin/stopgate"
    cd "$stage/greeter"
    git init -q .
    printf 'def greet(name):\n    return "helo, " + name\n' >greeter.py
    printf '[project]\nname = "greeter"\nversion = "1"\n\n[tool.pytest.ini_options]\n' >pyproject.toml
    printf 'from greeter import greet\n\n\ndef test_greet():\n    assert greet("you") == "hello, you"\n' >tests/test_greeter.py
    cat >"$stage/bin/pytest" <<'P'
#!/bin/sh
exec python3 -c 'import greeter, sys
ok = greeter.greet("you") == "hello, you"
print("tests/test_greeter.py", "." if ok else "F")
print("" if ok else "FAILED tests/test_greeter.py::test_greet - assert \"helo, you\" == \"hello, you\"")
print("1 passed in 0.01s" if ok else "1 failed in 0.01s")
sys.exit(0 if ok else 1)'
P
    cat >"$stage/bin/agent-stops" <<'P'
#!/bin/sh
# What Claude Code does when its agent is about to stop.
printf '{"session_id":"demo","hook_event_name":"Stop","cwd":"%s","last_assistant_message":"%s"}' "$PWD" "$1" |
    AI_AGENT=claude-code/2.1.325 stopgate hook claude |
    python3 -c 'import json, sys
text = sys.stdin.read()
answer = json.loads(text) if text.strip() else {}
own = answer.get("hookSpecificOutput", {}).get("additionalContext")
print(own or answer.get("reason") or answer.get("systemMessage") or "(may stop)")'
P
    chmod +x "$stage/bin/pytest" "$stage/bin/agent-stops"

    tmux -L "screens$$" new-session -d -x "$columns" -y 50 "env -i HOME=$stage/home PATH=$stage/bin:$PATH TERM=screen-256color PS1='\$ ' PYTHONPATH=. sh"
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
        sleep 0.3
        for line in "$@"; do
            tmux -L "screens$$" send-keys "$line" Enter
            waited=0
            while [ "$waited" -lt 60 ]; do
                sleep 0.5
                waited=$((waited + 1))
                case $(tmux -L "screens$$" capture-pane -p | grep -v '^$' | tail -1) in
                '$' | '$ ' | *'[Y/n]'* | *'[y/N]'*) break ;;
                esac
            done
        done
        # As text, and with its colours for the picture.
        kept "$name-$columns.txt" -p
        kept "$name-$columns.ansi" -e -p
    }
    screen 1-install "stopgate install claude" "" ""
    screen 2-init "stopgate init" "y"
    screen 3-start "stopgate start 'greet() says hello and all tests pass' --session demo"
    screen 4-held "agent-stops 'All done.'"
    screen 5-status "stopgate status" "stopgate list"
    screen 6-done "sed -i s/helo/hello/ greeter.py" "agent-stops 'Fixed.'" "stopgate status" "stopgate log"
    tmux -L "screens$$" kill-server
    rm -rf "$stage"
}

play 80
play 120
cd "$here/../.."
cargo run --quiet --package xtask -- record --screens
rm -f "$here"/*.ansi
