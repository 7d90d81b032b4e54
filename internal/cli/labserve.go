package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/lab"
)

func (p *program) labCommand() *cobra.Command {
	return group("lab", "The modelled catalog service", p.labServeCommand(), p.labCompareCommand())
}

func (p *program) labServeCommand() *cobra.Command {
	var options lab.ServeOptions
	var scenario string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the lab on real ports until it is interrupted",
		Long: `Serves the modelled service on real ports: its metrics for a Prometheus to scrape, a
Prometheus API and a Redis of its own. With --redis URL the lab obeys the controls in that
server instead. It starts at 10:07:30 of the case study, half a minute after the cell is
lost, or where its --scenario starts, and runs in real time or at --speed N. Every figure
is a model's.

When all ports listen it prints one line:

  ready prometheus=URL redis=URL metrics=URL`,
		Args: exactly(0, "lab serve"),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.labServe(cmd.Context(), options, scenario) },
	}
	cmd.Flags().StringVar(&options.PrometheusAddr, "prometheus-listen", "127.0.0.1:0", "`ADDRESS` of the Prometheus API")
	cmd.Flags().StringVar(&options.RedisAddr, "redis-listen", "127.0.0.1:0", "`ADDRESS` of the Redis")
	scenarioFlag(cmd, &scenario)
	cmd.Flags().StringVar(&options.MetricsAddr, "metrics-listen", "127.0.0.1:0", "`ADDRESS` of the metrics")
	return cmd
}

func (p *program) labServe(ctx context.Context, options lab.ServeOptions, scenarioName string) error {
	scenario, err := openScenario(scenarioName)
	if err != nil {
		return err
	}
	options.Scenario, options.Seed = scenario, scenario.Seed
	speed, flatOut, err := p.settings.pace(1)
	if err != nil {
		return err
	}
	if flatOut {
		return usage(errors.New("--speed max has no meaning on real ports"), "give a number, or leave it out for real time")
	}
	if p.settings.redisConfig != "" {
		return usage(errors.New("the lab takes no --redis-config"), "give --redis URL")
	}
	options.RedisURL, options.Clock, options.Speed = p.settings.redis, p.clock, speed
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := p.where.interrupts()
	defer stop()
	server, err := lab.Serve(ctx, options)
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := fmt.Fprintln(p.out, server.Ready()); err != nil {
		return err
	}
	<-signals
	return nil
}
