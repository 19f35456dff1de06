load helper

@test "one word" {
    expect_count 1 one
}

@test "words in one argument" {
    expect_count 3 "one two three"
}

@test "nothing" {
    expect_count 0
}
