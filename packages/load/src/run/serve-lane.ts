/** The worker thread's counterpart of ThreadLane. */
import type { MessagePort } from 'node:worker_threads'
import { Lane, type LaneOptions, type Segment } from './lane.js'

export type LaneCall = { readonly id: number } & (
  | { readonly method: 'connect'; readonly options: LaneOptions }
  | { readonly method: 'run'; readonly segment: Segment }
  | { readonly method: 'progress' | 'result' | 'stop' | 'close' }
)

export function serveLane(port: MessagePort): void {
  let lane: Lane | null = null
  const answer = async (call: LaneCall): Promise<unknown> => {
    switch (call.method) {
      case 'connect':
        lane = await Lane.connect(call.options)
        return null
      case 'run':
        return lane!.run(call.segment)
      case 'progress':
        return lane!.progress()
      case 'result':
        return lane!.result()
      case 'stop':
        lane?.stop()
        return null
      case 'close':
        await lane?.close()
        return null
    }
  }
  port.on('message', (call: LaneCall) => {
    answer(call).then(
      (value) => port.postMessage({ id: call.id, value }),
      (error: unknown) =>
        port.postMessage({ id: call.id, error: error instanceof Error ? error.message : String(error) }),
    )
  })
}
