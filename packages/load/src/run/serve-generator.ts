/** A lane elsewhere: the counterpart of RemoteLane. */
import { nowUs } from './clock.js'
import type { FromGenerator, ToGenerator } from './generator-protocol.js'
import { Lane, type LaneOptions, type LaneResult } from './lane.js'
import { newRunId } from './run-id.js'

export interface GeneratorCall {
  /** The options that the pool got. */
  readonly input: unknown
  readonly post: (message: unknown) => void
  readonly onMessage: (listener: (message: unknown) => void) => void
}

/**
 * Without a message for this time, the lane ends: the run may have replaced it, and two generators
 * must not write the same cycles.
 */
const leaseMs = 5000

/** Resolves when the run finishes the lane. Never resolves if the run is silent. */
export async function serveGenerator(call: GeneratorCall): Promise<LaneResult> {
  const lane = await Lane.connect(call.input as LaneOptions)
  const post = (message: FromGenerator): void => call.post(message)
  const name = newRunId()
  let lease: NodeJS.Timeout | undefined
  let isLapsed = false
  const renew = (): void => {
    clearTimeout(lease)
    lease = setTimeout(() => {
      isLapsed = true
      void lane.close()
    }, leaseMs)
  }
  return new Promise((resolve, reject) => {
    let segments = 0
    call.onMessage((sent) => {
      const message = sent as ToGenerator
      if (message.to !== name) return
      if (isLapsed) return post({ from: name, type: 'lapsed' })
      renew()
      switch (message.type) {
        case 'ping':
          lane.limit(message.cycleLimit)
          post({
            ...{ from: name, type: 'pong', ping: message.ping, nowUs: nowUs() },
            progress: { ...lane.progress(), next: lane.next },
          })
          break
        case 'run': {
          const { segment, earlier, fromCycle } = message.run
          for (const each of earlier.slice(segments)) lane.skip(each)
          segments = earlier.length + 1
          lane.run(segment, fromCycle).then((next) => {
            if (!isLapsed) post({ from: name, type: 'ran', next })
          }, reject)
          break
        }
        case 'stop':
          lane.stop()
          break
        case 'finish':
          clearTimeout(lease)
          lane.close().then(() => {
            post({ from: name, type: 'closed' })
            resolve(lane.result())
          }, reject)
      }
    })
    renew()
    post({ from: name, type: 'ready' })
  })
}
