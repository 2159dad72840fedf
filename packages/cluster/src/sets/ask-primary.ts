import { RequestFailedError, type Address, type MessageKind, type ReplyOf, type RequestOf } from '@shardlab/actor'
import type { Runtime } from '@shardlab/runtime'
import { primaryOf } from './primary-of.js'

const patienceMs = 60_000
const pauseMs = 100

type AskedRuntime = Pick<Runtime, 'request' | 'resolve' | 'member' | 'now' | 'alarm' | 'during'>

/**
 * Asks `first`, and while it does not answer the primary of its set: on a slow machine heartbeats
 * may come so late that the set has elected another member.
 * @param request may be executed more than once
 * @throws RequestFailedError a set of one member does not answer, or no primary within a minute
 */
export async function askPrimary<K extends MessageKind>(
  runtime: AskedRuntime,
  set: Address,
  first: Address,
  kind: K,
  request: RequestOf<K>,
): Promise<ReplyOf<K>> {
  const untilMs = runtime.now() + patienceMs
  for (let to = first; ;) {
    try {
      return await runtime.request(to, kind, request)
    } catch (error) {
      const hasOthers = runtime.resolve(set).length > 1
      if (!(error instanceof RequestFailedError) || !hasOthers || runtime.now() >= untilMs) throw error
    }
    await runtime.during(new Promise<void>((resolve) => void runtime.alarm(pauseMs, resolve)))
    to = (await primaryOf(runtime, set)) ?? to
  }
}
