import type { CommandRow } from '@shardlab/actor'

/**
 * What a command is, whoever serves it. A router's row and a node's row spread the same specification, and each adds its
 * routing, what it supports and how it runs the command.
 */
export type CommandSpec = Omit<CommandRow<never>, 'routing' | 'status' | 'missing' | 'lacks' | 'summary' | 'run'>
