import type { JobCall } from '../../src/index.js'

export interface EchoInput {
  readonly value: unknown
  /** What the job does before it returns the value. */
  readonly does?: 'fail' | 'wait' | 'hang' | 'ask' | 'multiply'
}

export async function echo(call: JobCall<EchoInput>): Promise<unknown> {
  const { value, does } = call.input
  if (does === 'fail') throw new RangeError(`no ${String(value)}`)
  // Until it is stopped, with turns of the event loop.
  if (does === 'wait') while (!call.isStopped()) await new Promise((resolve) => setTimeout(resolve, 5))
  // Without turns, and without load.
  if (does === 'hang') while (!call.isStopped()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  if (does === 'ask') {
    const reply = new Promise((resolve) => call.onMessage(resolve))
    call.post({ asks: value })
    return reply
  }
  return does === 'multiply' ? String(value).repeat(100_000) : value
}
