//go:build realservers

package actions

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/freeport"
)

// https://github.com/redis/redis/issues/7928
// https://github.com/redis/go-redis/issues/3297
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir)
	port := freeport.Take(t)
	startRedis(t, "--tls-port", port, "--tls-cert-file", filepath.Join(dir, "cert.pem"), "--tls-key-file", filepath.Join(dir, "key.pem"),
		"--tls-ca-cert-file", filepath.Join(dir, "cert.pem"), "--tls-auth-clients", "no")
	for tls, want := range map[string]string{
		"{}":                            "tls.server_name",
		"{server_name: redis.internal}": "tls.ca_file",
		"{server_name: other.host, ca_file: cert.pem}":     "tls.server_name",
		"{server_name: redis.internal, ca_file: cert.pem}": "",
		"{insecure_skip_verify: true}":                     "",
	} {
		file := filepath.Join(dir, "redis.yaml")
		text := "addresses: ['127.0.0.1:" + port + "']\ntls: " + tls + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{ConfigFile: file, Service: "catalog", Clock: testClock{}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = s.Take(t.Context(), ana)
		if want == "" && err != nil {
			t.Errorf("%s: %v", tls, err)
		}
		if want != "" && (err == nil || !strings.Contains(fail(peer{}, err).Hint, want) || fail(peer{}, err).Cause != Unreachable) {
			t.Errorf("%s: %v, hint %q", tls, err, fail(peer{}, err).Hint)
		}
		id, err := s.Identity(t.Context())
		if insecure := strings.Contains(tls, "insecure"); want == "" && (err != nil || strings.Contains(id, "NOT VERIFIED") != insecure) {
			t.Errorf("%s: %q, %v", tls, id, err)
		}
	}
	s := openStore(t, "redis://127.0.0.1:"+port, nil, time.Second)
	wantOutcome(t, s.Apply(t.Context(), someLease, somePlan, stamp), NotSent, Unreachable)
}

// writeCertificate writes a certificate that has a name and no address.
func writeCertificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis.internal"}, DNSNames: []string{"redis.internal"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
