package controls

import (
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Target says where the Redis is that holds the controls, and as whom to go
// there. It holds secrets: print it through String, which leaves them out.
type Target struct {
	Network          string   // tcp or unix
	Addrs            []string // of the server, of some nodes of its cluster, or of its sentinels
	Cluster          bool
	MasterName       string // of a master watched by sentinels; Addrs are then theirs
	DB               int
	Username         string
	Password         string
	SentinelUsername string
	SentinelPassword string
	TLS              *tls.Config // nil without TLS; an empty ServerName becomes the host of each address
}

// String gives the addresses without user or password.
func (t Target) String() string {
	text := strings.Join(t.Addrs, ",")
	switch {
	case t.MasterName != "":
		return "master " + quote(t.MasterName) + " of sentinels " + text
	case t.Cluster:
		return "cluster " + text
	}
	return text
}

var errURL = errors.New("this is no usable Redis URL, write redis://[user:password@]host:port/db, " +
	"rediss:// for TLS, ?addr=host:port&cluster=true for more nodes of a cluster, " +
	"?master_name=NAME&addr=host:port for sentinels; /, ?, # and @ in a password are written %2F, %3F, %23 and %40")

// ParseURL reads a Redis URL in go-redis' forms. An error never repeats any
// part of the URL, because that may be a secret.
func ParseURL(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, errURL
	}
	query := u.Query()
	if query.Get("master_name") != "" {
		return parseSentinelURL(text)
	}
	t := Target{Cluster: query.Get("cluster") == "true"}
	extra, ok := splitAddrs(query["addr"])
	if !ok || len(extra) > 0 && !t.Cluster {
		return Target{}, errURL
	}
	query.Del("addr")
	query.Del("cluster")
	u.RawQuery = query.Encode()
	o, err := redis.ParseURL(u.String())
	if err != nil {
		return Target{}, errURL
	}
	t.Network, t.DB, t.Username, t.Password = o.Network, o.DB, o.Username, o.Password
	t.Addrs = append([]string{o.Addr}, extra...)
	t.TLS = perHost(o.TLSConfig)
	return t, nil
}

// parseSentinelURL reads the form of ParseFailoverURL: the user and password
// before the host are the sentinels', those of the master are parameters.
func parseSentinelURL(text string) (Target, error) {
	o, err := redis.ParseFailoverURL(text)
	if err != nil {
		return Target{}, errURL
	}
	return Target{
		Network: "tcp", Addrs: o.SentinelAddrs, MasterName: o.MasterName, DB: o.DB,
		Username: o.Username, Password: o.Password,
		SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword,
		TLS: perHost(o.TLSConfig),
	}, nil
}

// perHost forgets the first host's name, because a cluster's nodes each show
// the certificate of their own.
func perHost(c *tls.Config) *tls.Config {
	if c != nil {
		c.ServerName = ""
	}
	return c
}

func splitAddrs(addrs []string) ([]string, bool) {
	for _, addr := range addrs {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || host == "" || port == "" {
			return nil, false
		}
	}
	return addrs, true
}
