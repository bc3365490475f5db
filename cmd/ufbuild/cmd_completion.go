package main

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for a shell",
		Long: `Prints a script that makes bash, zsh, fish or powershell complete verbs, flags and
the names of tasks, groups and tags.`,
		Example: `  source <(ufbuild completion bash)
  ufbuild completion zsh > "${fpath[1]}/_ufbuild"
  ufbuild completion fish > ~/.config/fish/completions/ufbuild.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.bytesOnly("completion prints"); err != nil {
				return err
			}
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			}
			return root.GenPowerShellCompletionWithDesc(a.out)
		},
	}
}
