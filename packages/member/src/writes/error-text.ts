import { CommandError } from '@shardlab/bson'

/**
 * A longer message is reported only for the first two errors of a batch. Server:
 * write_ops_exec.cpp, generateError.
 */
const longErrorBytes = 1024 * 1024

export function errorText({ message }: Pick<CommandError, 'message'>, earlierErrors: number): string {
  return earlierErrors > 1 && message.length > longErrorBytes ? '' : message
}
