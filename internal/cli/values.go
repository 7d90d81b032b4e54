package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// belowZero is the shape of a negative number or duration. No flag has it.
var belowZero = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\.?[0-9]`) })

// valuesLast puts the arguments of a command behind its flags where one of them is a negative number, which would be
// taken for a flag: a value that is out of bounds is refused as such.
func valuesLast(root *cobra.Command, args []string) []string {
	if !slices.ContainsFunc(args, belowZero().MatchString) {
		return args
	}
	cmd, rest, err := root.Find(args)
	if err != nil { // the parser says what is wrong
		return args
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	flags, values := partArgs(cmd, rest)
	return slices.Concat(path, flags, []string{"--"}, values)
}

// partArgs tells the flags of a command, with what they are set to, from its arguments.
func partArgs(cmd *cobra.Command, args []string) (flags, values []string) {
	for len(args) > 0 {
		arg, taken := args[0], 1
		switch {
		case arg == "--":
			return flags, append(values, args[1:]...)
		case !strings.HasPrefix(arg, "-") || arg == "-" || belowZero().MatchString(arg):
			values, args = append(values, arg), args[1:]
			continue
		case takesNext(cmd.Flag(strings.TrimPrefix(arg, "--"))):
			taken = min(2, len(args))
		}
		flags, args = append(flags, args[:taken]...), args[taken:]
	}
	return flags, values
}

// takesNext reports whether what follows a flag is what it is set to.
func takesNext(flag *pflag.Flag) bool { return flag != nil && flag.NoOptDefVal == "" }
