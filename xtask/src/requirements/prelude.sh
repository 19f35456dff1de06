# What every script has. $out and $err are what the last hook printed, $code its exit code.
fail() { echo "$*" >&2; exit 1; }
# hook DIALECT MESSAGE [MEMBERS]: one stop; $task_file and $words go to the hook as they are.
words='' code=0 out='' err=''
hook() {
  dialect=$1; shift; code=0
  payload "$@" | stopgate hook claude --dialect "$dialect" $words >"$ROOM/out" 2>"$ROOM/err" || code=$?
  out=$(cat "$ROOM/out"); err=$(cat "$ROOM/err")
}
exits() { [ "$code" = "$1" ] || fail "exit code $code instead of $1: $out $err"; }
silent() { [ -z "$out" ] || fail "it printed $out"; }
blocks() { exits 2; case $out in *'"decision": "block"'*) ;; *) fail "it does not block: $out" ;; esac; }
lets_go() { exits 0; silent; }
has() { case $1 in *"$2"*) ;; *) fail "\"$2\" is not in: $1" ;; esac; }
hasnt() { case $1 in *"$2"*) fail "\"$2\" is in: $1" ;; esac; }
same() { [ "$1" = "$2" ] || fail "\"$1\" is not \"$2\""; }
answers() { printf '%s' "$out" | like "$1"; }
# idle [ITERATION [MAX [FIELDS…]]]: an idle loop in its file
idle_file=.claude/idle-loop.local.md
idle() {
  mkdir -p .claude
  { printf -- '---\nactive: true\nmode: %s\niteration: %s\nmax_iterations: %s\n' "${mode:-loop}" "${1:-1}" "${2:-10}"
    printf 'updated_at: %s\n' "${at:-$(ago 0)}"; printf -- '---\nDo it\n'; } >$idle_file
}
# store BODY: a stand-in for the message store's command, with BODY as the newest message
topic=.jwz/loop:current.log
store() {
  mkdir -p .jwz; printf '%s\n' "$1" >$topic
  cat >"$ROOM/bin/jwz" <<'EOF'
#!/bin/sh
log=".jwz/$2.log"
case $1 in
  read) [ -f "$log" ] || exit 1
    case $* in *--json*) ;; *) exit 2 ;; esac
    awk '{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); line[NR] = $0 }
      END { printf "["; for (n = NR; n > 0; n--)
        printf "%s{\"id\":\"%04d\",\"created_at\":%d,\"body\":\"%s\"}", n < NR ? "," : "", n, n, line[n]
      print "]" }' "$log" ;;
  post) printf '%s\n' "$4" >>"$log" ;;
  *) exit 2 ;;
esac
EOF
  chmod +x "$ROOM/bin/jwz"
}
frame() { printf '{"id":"%s","mode":"%s","iter":%s,"max":%s,"prompt":"p"}' "$1" "$2" "$3" "$4"; }
state() { printf '{"schema":1,"event":"%s","run_id":"r1","updated_at":"%s","stack":[%s]}' "${event:-STATE}" "${at:-$(ago 0)}" "$1"; }
# features N DONE [ITERATION [MAX]]: a feature list with DONE of N complete
loops=.claude/data/ralph-loops/current
features() {
  mkdir -p $loops; list=''; n=1
  while [ $n -le "$1" ]; do
    done=false; [ $n -gt "$2" ] || done=true
    list="$list${list:+,}{\"id\":$n,\"description\":\"feature $n\",\"passes\":$done}"; n=$((n + 1))
  done
  printf '{"features":[%s]}\n' "$list" >$loops/feature_list.json
  printf 'Iteration: %s\nMax Iterations: %s\nStatus: IN_PROGRESS\n' "${3:-1}" "${4:-15}" >$loops/progress.txt
}
# criteria TESTS LINT EXIT [STUCK]: a criteria loop
criteria() {
  mkdir -p .loop
  cat >.loop/state.json <<EOF
{"spec": "the request", "criteria": ["tests pass", "lint clean"],
 "criteriaStatus": {"tests pass": $1, "lint clean": $2}, "exit_signal": $3,
 "steps": ["one", "two"], "completedSteps": ["one"], "remainingSteps": ["two"],
 "iteration": 2, "status": "${status:-in_progress}", "mine": 7,
 "circuitBreaker": {"stuckCount": ${4:-0}, "lastUnmet": "${5:-}"}}
EOF
}
# task MEMBERS: a task record with this metadata
task() {
  printf '{"id":"t","subject":"Complete: it","description":"all","status":"in_progress","metadata":%s}\n' "$1" >task.json
  words='--task-file task.json'
}
# begin [RULES [PROMISES]]: a task that iterates; $task and $it are their names
begin() {
  task=$(tool task_create '{"title":"t"}' | get /id)
  it=$(tool iteration_start "{\"taskId\":\"$task\",\"maxIterations\":${max:-10},\"completionPromises\":${2:-[\"COMPLETE\",\"BLOCKED\"]},\"validationRules\":${1:-[]}}" | get /iterationId)
}
register() { tool hook_register "{\"taskId\":\"$task\",\"hookType\":\"$1\"}"; }
custom() { tool hook_register "{\"taskId\":\"$task\",\"hookType\":\"custom\",\"gate\":$1}"; }
evaluate() { tool hook_evaluate "{\"iterationId\":\"$it\",\"agentOutput\":\"$1\",\"filesModified\":${2:-[]}}"; }
validate() { tool iteration_validate "{\"iterationId\":\"$it\",\"agentOutput\":\"${1:-on it}\"}"; }
refuses() { if said=$(tool "$@"); then fail "$1 was done: $said"; fi; }

# client BODY: a stand-in that is called and speaks as Claude Code's own program; it notes how it was
# called, with which model, for which feature and session, does BODY, and says $said.
client() {
  cat >"$ROOM/bin/claude" <<'EOF'
#!/bin/sh
how=none model=none id=none session=none said=done loops=.claude/data/ralph-loops/current
while [ $# -gt 0 ]; do
  case $1 in
    --session-id) how=new session=$2; shift ;;
    --resume) how=resumed session=$2; shift ;;
    --model) model=$2; shift ;;
    -p) id=$(printf '%s' "$2" | sed -n 's/.*in this session: \([0-9]*\) - .*/\1/p'); shift ;;
  esac
  shift
done
echo "$how $model ${id:-none} $session" >>"$ROOM/sessions"
EOF
  printf '%s\n' "$1" >>"$ROOM/bin/claude"
  cat >>"$ROOM/bin/claude" <<'EOF'
printf '{"type":"system","subtype":"init","session_id":"%s"}\n' "$session"
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"%s","result":"%s"}\n' "$session" "$said"
EOF
  chmod +x "$ROOM/bin/claude"
}
