package cli

// commands is the table of commands. It is made anew for each use: a command's flags are variables of its
// own.
func commands() []*command {
	return []*command{
		initCommand(), importCommand(), exportCommand(), shareCommand(), syncCommand(), hooksInstallCommand(), hooksUninstallCommand(), hooksStatusCommand(), envCommand(), doctorCommand(), demoCommand(), keysAddCommand(), keysListCommand(), keysRevokeCommand(), versionCommand(), docsCommand(), completionCommand(),
		addTaskCommand(), finalizeCommand(), amendTaskCommand(), supersedeCommand(), abandonCommand(), unblockCommand(), reassignCommand(),
		convertDiscoveryCommand(), settleDiscoveryCommand(), alignmentCommand(), specChangeCommand(), ackCommand(), completeGoalCommand(),
		claimCommand(), preExecCommand(), submitCommand(), withdrawCommand(), blockCommand(),
		claimReviewCommand(), reviewCommand(), verdictCommand(), mergeCommand(), retryMergeCommand(),
		registerCommand(), deregisterCommand(), heartbeatCommand(), handoffCommand(), discoverCommand(), anomalyCommand(), primeCommand(),
		promptCommand(), sweepCommand(), releaseCommand(), recoverAgentCommand(), recoverTaskCommand(), logsCommand(), agentCommand(), teamCommand(),
		worktreeListCommand(), worktreeCreateCommand(), worktreeStatusCommand(), worktreeDeleteCommand(), worktreeRepairCommand(),
		statusCommand(), showCommand(), logCommand(), diffCommand(), graphCommand(), noteCommand(), editCommand(), landCommand(), pauseCommand(), resumeCommand(), abortCommand(), checkpointCommand(),
		sprintStartCommand(), sprintEndCommand(), sprintShowCommand(), metricsCommand(), retrospectiveCommand(), watchCommand(), analyzeCommand(), resolveCommand(), archiveCommand(),
		configGetCommand(), configSetCommand(),
		readCommand(), writeCommand(), validateCommand(), verifyCommand(), hookCommand(),
	}
}
