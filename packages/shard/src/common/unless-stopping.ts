import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'

/**
 * Awaits what may never come once the node stops.
 * @throws CommandError 11600 InterruptedAtShutdown when the node stops first
 */
export async function unlessStopping<T>(
  { stopping: { signal } }: Pick<NodeHost, 'stopping'>,
  work: Promise<T>,
): Promise<T> {
  let interrupt = (): void => {}
  const stopped = new Promise<never>((_, reject) => {
    interrupt = () => reject(new CommandError('InterruptedAtShutdown', 'interrupted at shutdown'))
    if (signal.aborted) interrupt()
    else signal.addEventListener('abort', interrupt)
  })
  try {
    return await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener('abort', interrupt)
  }
}
