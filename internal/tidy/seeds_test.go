package tidy

import "testing"

func TestTestsDrawFromSeedsThatCanBeReplayed(t *testing.T) {
	draw := func(path, call string) string {
		return "package p9\nimport \"" + path + "\"\nvar (\n\t_ *rand.Rand\n\t_ = " + call + "\n)"
	}
	const own = "import _ \"" + modulePath + "/internal/seed\""
	checkCases(t, []goCase{
		{"redis/a.go", draw("math/rand/v2", "rand.Uint64()"), ""},
		{"redis/a_test.go", draw("crypto/rand", "rand.Text()"), ""},
		{"redis/a_test.go", draw("math/rand/v2", "rand.NewZipf(r, 2, 1, 9)"), ""},
		{"redis/a_test.go", "package redis\n" + own, ""},
		{"schema/schematest/a.go", "package schematest\n" + own, ""},
		{"internal/seed/seed.go", draw("math/rand/v2", "rand.New(rand.NewPCG(1, 1))"), ""},

		{"redis/a_test.go", draw("math/rand/v2", "rand.Uint64()"),
			"redis/a_test.go:5: a test draws from internal/seed, and not from rand.Uint64"},
		{"schema/schematest/a.go", draw("math/rand/v2", "rand.New(source)"),
			"schema/schematest/a.go:5: a test draws from internal/seed, and not from rand.New"},
		{"redis/a_test.go", draw("math/rand", "rand.Int()"),
			"redis/a_test.go:1: a test draws from internal/seed, and not from math/rand"},
		{"redis/a.go", "package redis\n" + own, "redis/a.go:2: only tests import internal/seed"},
	})
}
