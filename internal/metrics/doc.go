// Package metrics keeps the metrics of one walk for Prometheus. Nearly all of them follow from the records alone, so
// after a resume they go on where they were; what only this process knows, such as how long polls take, starts anew.
package metrics
