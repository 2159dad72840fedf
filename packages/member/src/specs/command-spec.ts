import type { CommandRow } from '@shardlab/actor'

/**
 * The part of a command that does not depend on the role that serves it. The rows of routers and
 * nodes spread the same specification; each adds its routing, the extent of its support and `run`.
 */
export type CommandSpec = Omit<
  CommandRow<never>,
  'routing' | 'status' | 'missing' | 'lacks' | 'deviations' | 'summary' | 'run'
>
