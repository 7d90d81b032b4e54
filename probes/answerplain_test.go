package probes

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPlainVector(t *testing.T) {
	const head = `{"status":"success","data":{"resultType":"vector","result":[`
	for _, body := range []string{
		head + `]}}`,
		head + `{"metric":{},"value":[1795946851.752,"0"]}]}}` + "\n",
		head + `{"metric":{"__name__":"up","job":"a"},"value":[1,"NaN"]},{"metric":{"job":"b"},"value":[2,"1e+21"]}]}}`,
	} {
		if !plainVector([]byte(body)) {
			t.Errorf("%s is not plain", body)
		}
	}
	for _, body := range []string{
		``, head, `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`,
		head + `{"metric":{},"value":[0,"0"]}]}}`, head + `{"metric":{},"value":[1,""]}]}}`,
		head + `{"metric":{},"value":[1,0]}]}}`, head + `{"metric":{},"value":[1.,"0"]}]}}`,
		head + `{"metric":{}}]}}`, head + `{"metric":{"a":"\\u00e9"},"value":[1,"0"]}]}}`,
		head + `{"metric":{},"value":[1,"0"]}{"metric":{},"value":[1,"0"]}]}}`,
		head + `{"metric":{},"value":[1,"0"]}]},"warnings":["w"]}`, head + `]}}]`,
	} {
		if plainVector([]byte(body)) {
			t.Errorf("%s is called plain", body)
		}
	}
}

// What is plain passes the whole check, whatever has been done to it.
func TestPlainVectorsPassTheCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"b","le":"1"},"value":[12.5,"1"]},{"metric":{},"value":[2,"3"]}]}}`)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			piece := rapid.SampledFrom([]string{"", `"`, "0", ".", ",", "}", "]", "{}", `\`, "a"}).Draw(t, "piece")
			behind := at + rapid.IntRange(0, 1).Draw(t, "removed")
			body = append(append(append([]byte{}, body[:at]...), piece...), body[behind:]...)
		}
		if !plainVector(body) {
			return
		}
		if err := checkQueryResult(body); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	})
}
