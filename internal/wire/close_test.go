package wire

import "testing"

// a client knows what to do with a code that is newer than itself.
func TestCloseCodesSayWhetherToRetry(t *testing.T) {
	for code, want := range map[CloseCode]Retry{
		CloseGoodbye: RetryNever, CloseReplaced: RetryNever, CloseVersion: RetryNever, 99: RetryNever,
		CloseTimeout: RetryFresh, CloseBehind: RetryFresh, 199: RetryFresh,
		CloseFull: RetryLater, CloseShutdown: RetryLater, 299: RetryLater, 0: RetryLater, 300: RetryLater, 65535: RetryLater,
	} {
		if got := code.Retry(); got != want {
			t.Errorf("%v: %v, want %v", code, got, want)
		}
	}
	seen := map[string]bool{}
	for code, name := range closeNames {
		if seen[name] || code.String() != name {
			t.Errorf("%d is called %q", code, name)
		}
		seen[name] = true
	}
	if CloseCode(42).String() != "code 42" {
		t.Error("a code without a name")
	}
}
