#!/bin/sh
# Runs the criteria of a repository's stopgate.toml in a pipeline, and says how it came out:
# in the log, in GitHub's summary of the job, and by the exit code of `stopgate verify`.
set -u

program=${STOPGATE_PROGRAM:-stopgate}
if ! command -v "$program" >/dev/null 2>&1; then
    echo "stopgate: \"$program\" was not found; install it in an earlier step, or name it with the input stopgate" >&2
    exit 127
fi

set -- verify --project --junit "${STOPGATE_JUNIT:-stopgate-report.xml}"
if [ -n "${STOPGATE_HASH:-}" ]; then
    set -- "$@" --trust-hash "$STOPGATE_HASH"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The log grows while the checks run; a pipe would hide the exit code, so a file keeps it.
{
    "$program" "$@" 2>&1
    echo $? >"$work/code"
} | tee "$work/log"
code=$(cat "$work/code")

case $code in
0) result=pass ;;
1) result=fail ;;
2) result=nothing ;;
5) result=forged ;;
*) result=error ;;
esac

if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "result=$result" >>"$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    {
        echo "### stopgate: $result"
        echo
        # Four blanks make a block that no output can end.
        sed 's/^/    /' "$work/log"
    } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
