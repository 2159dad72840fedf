import { CommandError } from '@shardlab/bson'

/** Of an operation that the state of its member ends. */
export const stateChange = (): CommandError =>
  new CommandError('InterruptedDueToReplStateChange', 'operation was interrupted')
