module example.org/tempo

go 1.19
