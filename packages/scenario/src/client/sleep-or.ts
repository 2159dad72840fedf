import { Cancellation, RequestFailedError, type ActorContext } from '@shardlab/actor'

/** Also ends when `happened` resolves. */
export async function sleepOr(context: ActorContext, durationMs: number, happened: Promise<void>): Promise<void> {
  const waiting = new Cancellation()
  void happened.then(() => waiting.abort())
  try {
    await context.sleep(durationMs, waiting)
  } catch (error) {
    if (!(error instanceof RequestFailedError)) throw error
  }
}
