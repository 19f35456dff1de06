# Waits until a process whose command line matches $1 works below the tree, as a process that an
# agent left behind could do.
pattern=$1
while :; do
    for entry in /proc/[0-9]*; do
        here=$(readlink "$entry/cwd" 2>/dev/null) || continue
        case $here in "$TREE" | "$TREE"/*) ;; *) continue ;; esac
        if tr '\0' ' ' <"$entry/cmdline" 2>/dev/null | grep -Eq -- "$pattern"; then
            exit 0
        fi
    done
    sleep 0.02
done
