import { CommandError } from '@shardlab/bson'

/**
 * Less than for other collections: the server stores cached chunks under a longer name.
 * Server: namespace_string.h.
 */
const shardedNamespaceBytesMax = 235

/** @param what the subject of the error. @throws CommandError 73 InvalidNamespace */
export function checkShardedNamespace(ns: string, what = 'Namespace'): void {
  if (Buffer.byteLength(ns) > shardedNamespaceBytesMax)
    throw new CommandError('InvalidNamespace', `${what} too long. Namespace: ${ns} Max: ${shardedNamespaceBytesMax}`)
}
