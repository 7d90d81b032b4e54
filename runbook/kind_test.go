package runbook

import "testing"

func TestKindOf(t *testing.T) {
	for source, want := range map[string]string{
		"apiVersion: rewarm/v1\nkind: Scenario\n": "Scenario",
		"{kind: 'Diagnosis', stages: 3}":          DiagnosisKind,
		"a: {kind: Runbook}\n":                    "",
		"kind: [Runbook]\n":                       "",
		"kind: Runbook\n---\nkind: Scenario\n":    "",
		"- kind: Runbook\n":                       "",
		"kind: \x1b[2J\n":                         "",
		"":                                        "",
	} {
		if got := KindOf([]byte(source)); got != want {
			t.Errorf("%q is of kind %q, want %q", source, got, want)
		}
	}
}
