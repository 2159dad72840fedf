import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Operation } from '../src/dispatch/operation.js'
import { withDeadline } from '../src/remote/with-deadline.js'
import { FakeWorld } from './support/fake-world.js'

t.test('work that fails after the time of an operation is no unhandled rejection', async (t) => {
  const context = new FakeWorld().context()
  const request = { command: 'find', db: 'app', body: new Uint8Array(5), connectionId: 1, remote: '' }
  const operation = new Operation(1, { ...request, startedAtMs: context.now() - 10, startedSteadyMs: 0 }, 10)
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  await t.rejects(withDeadline(context, operation, Promise.reject(new Error('of the shared work'))), { code: 50 })
  await setImmediate()
  t.same(unhandled, [])
})
