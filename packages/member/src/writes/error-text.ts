import { CommandError } from '@shardlab/bson'

/** An error's text of this length is only told of the first errors of a batch. Server: write_ops_exec.cpp, generateError. */
const longErrorBytes = 1024 * 1024

/** The text of an error that follows so many others. */
export function errorText({ message }: Pick<CommandError, 'message'>, earlierErrors: number): string {
  return earlierErrors > 1 && message.length > longErrorBytes ? '' : message
}
