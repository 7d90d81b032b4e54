// Package controls holds the controls of a service in Redis: the names of their
// keys, the spelling of their values, and the Reader that the service embeds to
// obey them.
package controls
