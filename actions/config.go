package actions

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/rewarm/rewarm/actions/controls"
)

// Config is the file of --redis-config. Passwords stand in files of their own,
// named relative to this file.
type Config struct {
	Addresses            []string   `yaml:"addresses"` // host:port of the server, of nodes of its cluster, or of its sentinels
	Cluster              bool       `yaml:"cluster"`
	MasterName           string     `yaml:"master_name"` // watched by sentinels
	Database             int        `yaml:"database"`
	Username             string     `yaml:"username"`
	PasswordFile         string     `yaml:"password_file"`
	SentinelUsername     string     `yaml:"sentinel_username"`
	SentinelPasswordFile string     `yaml:"sentinel_password_file"`
	TLS                  *TLSConfig `yaml:"tls"`
}

// TLSConfig says how to speak TLS; an empty one verifies with the system's
// authorities and each address' own host name.
type TLSConfig struct {
	CAFile             string `yaml:"ca_file"`
	CertFile           string `yaml:"cert_file"`
	KeyFile            string `yaml:"key_file"`
	ServerName         string `yaml:"server_name"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
}

// LoadConfig reads the file of --redis-config. Errors name file, line and column
// and never repeat the file's text.
func LoadConfig(file string) (controls.Target, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return controls.Target{}, err
	}
	c, err := parseConfig(file, text)
	if err != nil {
		return controls.Target{}, err
	}
	t, err := c.target(filepath.Dir(file))
	if err != nil {
		return controls.Target{}, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

func parseConfig(file string, text []byte) (Config, error) {
	var c, second Config
	documents := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	if err := documents.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, yamlError(file, err)
	}
	if err := documents.Decode(&second); !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: a second document begins after ---, one document is read", file)
	}
	return c, nil
}

// yamlError places an error without the excerpt of the source, which may hold
// what should have been in a password file.
func yamlError(file string, err error) error {
	var placed yaml.Error
	if errors.As(err, &placed) && placed.GetToken() != nil {
		at := placed.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, at.Line, at.Column, plain(placed.GetMessage(), false))
	}
	return fmt.Errorf("%s: this is no YAML that can be read", file)
}

func (c Config) target(dir string) (controls.Target, error) {
	t := controls.Target{
		Network: "tcp", Addrs: c.Addresses, Cluster: c.Cluster, MasterName: c.MasterName, DB: c.Database,
		Username: c.Username, SentinelUsername: c.SentinelUsername,
	}
	if err := c.check(); err != nil {
		return t, err
	}
	var err error
	if t.Password, err = readSecret(dir, c.PasswordFile); err != nil {
		return t, err
	}
	if t.SentinelPassword, err = readSecret(dir, c.SentinelPasswordFile); err != nil {
		return t, err
	}
	if c.TLS != nil {
		t.TLS, err = c.TLS.load(dir)
	}
	return t, err
}

func (c Config) check() error {
	if len(c.Addresses) == 0 {
		return errors.New("addresses is empty, give at least one host:port")
	}
	for _, addr := range c.Addresses {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return fmt.Errorf("address %s is not host:port", printable(addr))
		}
	}
	if len(c.Addresses) > 1 && !c.Cluster && c.MasterName == "" {
		return errors.New("several addresses need cluster: true, or the master_name that sentinels know")
	}
	if c.Cluster && c.MasterName != "" {
		return errors.New("cluster and master_name exclude each other")
	}
	if c.Database < 0 || c.Cluster && c.Database != 0 {
		return fmt.Errorf("database %d cannot be used here", c.Database)
	}
	return nil
}

// readSecret reads a password file; one line end at its end does not count.
func readSecret(dir, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := os.ReadFile(under(dir, file))
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

func under(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

func (c TLSConfig) load(dir string) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify} // the last is the user's choice, and warned about
	if c.CAFile != "" {
		text, err := os.ReadFile(under(dir, c.CAFile))
		if err != nil {
			return nil, err
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_file %s holds no certificate", printable(c.CAFile))
		}
	}
	if c.CertFile != "" || c.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(under(dir, c.CertFile), under(dir, c.KeyFile))
		if err != nil {
			return nil, fmt.Errorf("cert_file and key_file: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
