import { RunningOperation } from '@shardlab/member'
import { inTime, untilAborted, type Entrant } from '@shardlab/node'

const ignore = (): void => {}

/**
 * Waits until a command may enter a collection: for the end of a critical section, or for a
 * placement. Others may wait for the same refresh, so it continues when the command gives up.
 * @throws CommandError 50, or that of a kill
 */
export async function awaitEntry<T>(entering: Promise<T>, { host, operation }: Entrant): Promise<T> {
  if (!(operation instanceof RunningOperation)) return entering
  const entered = entering.then(ignore, ignore)
  await inTime({ host, operation }, (signal) => untilAborted({ host }, entered, signal))
  return entering
}
