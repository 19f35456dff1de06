failed=0
check() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "not ok: $1 (got '$3')"
        failed=1
    fi
}
finish() {
    exit "$failed"
}
