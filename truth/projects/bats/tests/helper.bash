expect_count() {
    want=$1
    shift
    run bin/count "$@"
    [ "$status" -eq 0 ]
    [ "$output" = "$want" ]
}
