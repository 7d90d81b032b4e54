package actions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestConfigFile(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"redis.yaml": "addresses: [a:1, b:2]\nmaster_name: rewarm\nusername: op\npassword_file: pass\nsentinel_password_file: spass\ntls: {server_name: redis.internal}\n",
		"pass":       "hunter2\n",
		"spass":      " two \r\n",
	})
	got, err := LoadConfig(filepath.Join(dir, "redis.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Password != "hunter2" || got.SentinelPassword != " two " || got.Username != "op" || got.MasterName != "rewarm" ||
		len(got.Addrs) != 2 || got.TLS.ServerName != "redis.internal" || got.TLS.InsecureSkipVerify {
		t.Errorf("target %+v", got)
	}
	if strings.Contains(got.String(), "hunter2") {
		t.Errorf("it prints as %s", got)
	}
}

func TestConfigMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"addresses: [a:1]\npassword: hunter2\n":    `:2:1: unknown field "password"`,
		"addresses: [a:1]\naddresses: [hunter2]\n": ":2:1: mapping key \"addresses\" already defined",
		"addresses: {a: hunter2}\n":                ":1:",
		"addresses: [hunter2\n":                    ":1:",
		"":                                         "addresses is empty",
		"addresses: [a]\n":                         `address "a" is not host:port`,
		"addresses: [a:1, b:2]\n":                  "several addresses need cluster: true",
		"addresses: [a:1]\ncluster: true\nmaster_name: x\n":        "exclude each other",
		"addresses: [a:1]\ncluster: true\ndatabase: 3\n":           "database 3",
		"addresses: [a:1]\npassword_file: missing\n":               "missing: no such file",
		"addresses: [a:1]\ntls: {ca_file: redis.yaml}\n":           "holds no certificate",
		"addresses: [a:1]\ntls: {cert_file: a, key_file: b}\n":     "cert_file and key_file",
		"addresses: [a:1]\n---\naddresses: [hunter2:1]\n":          "one document",
		"addresses: [a:1]\ntls: {insecure_skip_verify: hunter2}\n": ":2:",
	} {
		dir := writeFiles(t, map[string]string{"redis.yaml": text})
		_, err := LoadConfig(filepath.Join(dir, "redis.yaml"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q tells a secret: %v", text, err)
		}
	}
}

// https://github.com/redis/go-redis/issues/3297
func TestSkippingVerificationIsLoud(t *testing.T) {
	dir := writeFiles(t, map[string]string{"redis.yaml": "addresses: [a:1]\ntls: {insecure_skip_verify: true}\n"})
	for _, o := range []Options{
		{ConfigFile: filepath.Join(dir, "redis.yaml")},
		{URL: "rediss://a:1?skip_verify=true"},
	} {
		o.Service, o.Clock = "catalog", testClock{}
		s, err := Open(o)
		if err != nil || len(s.Warnings()) != 1 || !strings.Contains(s.Warnings()[0], "NOT VERIFIED") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestOptionMistakes(t *testing.T) {
	for _, o := range []Options{
		{Service: "catalog", Clock: testClock{}},
		{Service: "catalog", Clock: testClock{}, URL: "redis://a", ConfigFile: "x"},
		{Service: "Catalog", Clock: testClock{}, URL: "redis://a"},
		{Service: "catalog", URL: "redis://a"},
		{Service: "catalog", Clock: testClock{}, URL: "redis://:hun#ter2@a"},
	} {
		if _, err := Open(o); err == nil || strings.Contains(err.Error(), "ter2") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
