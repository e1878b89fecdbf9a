//go:build !race

package throngtest_test

const raced = false
